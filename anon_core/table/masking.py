"""Masking: the last characters of every value of a column become ``*`` (gong2020, Figure 2)."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from anon_core.errors import InvalidInputError
from anon_core.table.assembling import Piece, assemble
from anon_core.table.column import Column
from anon_core.table.model import Table

_MAX_CHARACTERS = 2**31 - 1
"""No value is longer."""


def mask(table: Table, characters: Mapping[str, int]) -> Table:
    """
    Return the table with the last so many characters of every value of some columns replaced by ``*``.

    Characters are Unicode code points. A value keeps its length, so a shorter one becomes all ``*``. Gaps stay gaps,
    and values that become equal are one value afterwards: masking never makes a set of columns more unique.

    >>> from anon_core.table import from_arrow
    >>> table = from_arrow(pa.table({"zip": ["10115", "10117", "1", None]}))
    >>> mask(table, {"zip": 2}).column("zip").domain.to_pylist()
    ['*', '101**', None]

    :raises UnknownColumnError: some are not columns of the table.
    :raises InvalidInputError: fewer than 1 character, all columns named.
    """
    table.select(list(characters))
    wrong = [name for name, count in characters.items() if count < 1]
    if wrong:
        raise InvalidInputError(f"at least 1 character must be masked, in every column named: {', '.join(wrong)}")
    columns = (
        _mask(column, characters[column.name]) if column.name in characters else column for column in table.columns
    )
    return Table(columns=tuple(columns), rows=table.rows)


def _mask(column: Column, count: int) -> Column:
    count = min(count, _MAX_CHARACTERS)
    stars = pc.binary_repeat("*", pc.min_element_wise(pc.utf8_length(column.domain), count))
    kept = pc.utf8_slice_codeunits(column.domain, 0, -count)
    masked = pc.binary_join_element_wise(kept, stars.cast(kept.type), pa.scalar("", kept.type))
    return assemble(column.name, [Piece(codes=column.codes, words=masked)])
