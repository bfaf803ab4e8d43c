"""Cells that do not read as the declared type of their column."""

from __future__ import annotations

from collections.abc import Mapping

from anon_core.frequency import FrequencyTable
from anon_core.score.profile import reads_as
from anon_core.value_type import ValueType


def cells_of_another_type(frequencies: FrequencyTable, types: Mapping[str, ValueType]) -> dict[str, int]:
    """
    Return how many cells of each column do not read as its type, of the columns that have some; a gap reads as any.

    >>> import pyarrow as pa
    >>> from anon_core.engines.arrow import ArrowEngine
    >>> from anon_core.table import from_arrow
    >>> table = from_arrow(pa.table({"points": ["3", "4", "ask her", None]}))
    >>> cells_of_another_type(ArrowEngine(table=table).count(table.names), {"points": ValueType.INTEGER})
    {'points': 1}

    :raises UnknownColumnError: a column is not in the table.
    """
    wrong = {}
    for name, at in zip(types, frequencies.positions(list(types)), strict=True):
        reads = reads_as(frequencies.domains[at], types[name])[frequencies.codes[at]]
        if cells := int(frequencies.weights[~reads].sum()):
            wrong[name] = cells
    return wrong
