"""A table in memory: every column as codes into its sorted domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.errors import UnknownColumnError

Codes = np.ndarray[Any, np.dtype[np.int32]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column as codes into its sorted domain; where there are gaps, the last domain entry is null."""

    name: str
    codes: Codes
    domain: pa.Array

    @property
    def has_gaps(self) -> bool:
        return bool(self.domain.null_count)

    @property
    def gaps(self) -> Mask:
        """Which rows have a gap here."""
        return np.asarray(self.codes == len(self.domain) - 1) if self.has_gaps else np.zeros(len(self.codes), np.bool_)


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
        return Table(columns=tuple(_compact(c, c.codes[rows]) for c in self.columns), rows=int(np.count_nonzero(rows)))

    def to_arrow(self) -> pa.Table:
        """Return plain text arrays, gaps as null: a dictionary would carry values that no row has."""
        arrays = [column.domain.take(pa.array(column.codes)) for column in self.columns]
        return pa.table(arrays, names=list(self.names))


def from_arrow(table: pa.Table) -> Table:
    """Encode an Arrow table of text columns."""
    return Table(
        columns=tuple(_encode(name, table.column(at)) for at, name in enumerate(table.column_names)),
        rows=table.num_rows,
    )


def _encode(name: str, values: pa.ChunkedArray) -> Column:
    """Return codes into the sorted distinct values, so that codes do not depend on the order of the rows."""
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    encoded = values.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], values.type)
    words = encoded.dictionary
    indices = encoded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    domain = pa.concat_arrays([words, pa.nulls(1, words.type)])
    return _compact(Column(name=name, codes=indices, domain=domain), indices)


def _compact(column: Column, codes: Codes) -> Column:
    """Return the codes renumbered over the sorted values that occur."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(column.domain)))
    values = column.domain.take(pa.array(used))
    order = pc.sort_indices(values).to_numpy()
    renumber = np.zeros(len(column.domain), np.int32)
    renumber[used[order]] = np.arange(len(used), dtype=np.int32)
    return Column(name=column.name, codes=renumber[codes], domain=values.take(pa.array(order)))
