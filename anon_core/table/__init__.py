"""Files in, dictionary codes out: the only reader of CSV and Parquet in the product.

Everything is read as text and nothing is inferred, so no two different cells are ever merged: ``01`` is not ``1``, and
``NA`` is a word unless the caller lists it as missing. The gate rereads releases through the same function. A gap is
``null`` in Arrow and the last code of its column; Parquet types become their canonical text (a NaN becomes a gap).
"""

from anon_core.table.model import Codes, Column, Mask, Table, from_arrow
from anon_core.table.options import RELEASED, ReadOptions
from anon_core.table.reading import read

__all__ = ["RELEASED", "Codes", "Column", "Mask", "ReadOptions", "Table", "from_arrow", "read"]
