"""A table in memory: every column as codes into its sorted domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_core.errors import UnknownColumnError
from anon_core.table.arrays import nulls, numbers
from anon_core.table.assembling import Piece, assemble
from anon_core.table.column import Column, Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table in memory, one :class:`Column` each."""

    columns: tuple[Column, ...]
    rows: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """:raises UnknownColumnError: there is no such column."""
        return self.select([name]).columns[0]

    def select(self, names: Sequence[str]) -> Table:
        """Return these columns, in this order."""
        known = {column.name: column for column in self.columns}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UnknownColumnError(unknown, self.names)
        return Table(columns=tuple(known[name] for name in names), rows=self.rows)

    def keep(self, rows: Mask) -> Table:
        """Return the rows where the mask holds; domains keep no value that no row has any more."""
        kept = (assemble(c.name, [Piece(codes=c.codes[rows], words=c.domain)]) for c in self.columns)
        return Table(columns=tuple(kept), rows=int(np.count_nonzero(rows)))

    def to_arrow(self) -> pa.Table:
        """Return plain text arrays, gaps as null: a dictionary would carry values that no row has."""
        arrays = [Piece(codes=column.codes, words=column.domain).cells for column in self.columns]
        return pa.table(arrays, names=list(self.names))


def from_arrow(table: pa.Table) -> Table:
    """Encode an Arrow table of text columns; codes do not depend on the order of the rows."""
    columns = zip(table.column_names, table.columns, strict=True)
    return Table(
        columns=tuple(assemble(name, [piece_of(chunk) for chunk in values.chunks]) for name, values in columns),
        rows=table.num_rows,
    )


def piece_of(values: pa.Array) -> Piece:
    """Number the words of one Arrow array of texts or of a dictionary of texts; its own dictionary is kept."""
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    words = encoded.dictionary.cast(pa.string())
    indices = encoded.indices.cast(pa.int32())
    if not indices.null_count:
        return Piece(codes=numbers(indices), words=words)
    codes = np.where(nulls(indices), np.int32(len(words)), numbers(indices))
    return Piece(codes=codes, words=pa.concat_arrays([words, pa.nulls(1, pa.string())]))
