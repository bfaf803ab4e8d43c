"""Decompose [Omer2016]_: a coded column becomes its parts, and some of them are published.

Omer, Mohamad: Simple and effective method for selecting quasi-identifier, 2016, section 5. A postcode is a state and a
local code, a telephone number a country, an area and a number. The parts of one value side by side are that value
again, so parts are quasi-identifiers and are always checked together: what protects is the part that is left out.
"""

from anon_core.decompose.columns import Decomposition, Split, decompose, measure_effect, split_column

__all__ = ["Decomposition", "Split", "decompose", "measure_effect", "split_column"]
