"""Parquet as text cells, some rows at a time: every type in its one text, a NaN as a gap."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from anon_core.errors import TableError
from anon_core.table.arrays import integers
from anon_core.table.assembling import Piece, assemble
from anon_core.table.model import Table
from anon_core.table.options import ReadOptions, check_names
from anon_core.table.scalars import is_scalar, is_text, piece_of_scalars

_ROWS = 1 << 18


def read_parquet(path: Path, options: ReadOptions) -> Table:
    """
    Read a Parquet file. Only codes and distinct values are kept of the rows that were read.

    :raises TableError: it is damaged, or has a column whose cells are not one value each.
    """
    names = _names(path)
    waiting: list[list[Piece]] = [[] for _ in names]
    rows = 0
    for pieces in _pieces(path, names, options):
        rows += len(pieces[0].codes)
        for at, piece in enumerate(pieces):
            waiting[at].append(piece.narrow())
    columns = []
    for at, name in enumerate(names):
        columns.append(assemble(name, waiting[at]))
        waiting[at] = []
    return Table(columns=tuple(columns), rows=rows)


def text_batches(path: Path, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Yield the rows as batches of texts, gaps as null; raises as :func:`read_parquet` does."""
    names = _names(path)
    for pieces in _pieces(path, names, options):
        cells = [piece.words.take(integers(piece.codes)) for piece in pieces]
        yield pa.RecordBatch.from_arrays(cells, names=names)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        raise TableError(str(path), "is not a readable Parquet file", "it may be cut short: write it again") from None


def _names(path: Path) -> list[str]:
    # Imported here: most tables are CSV, and a command should answer at once.
    import pyarrow.parquet as pq

    with _explained(path):
        schema = pq.read_schema(path)
    check_names(path, schema.names)
    _check_types(path, schema)
    return list(schema.names)


def _pieces(path: Path, names: Sequence[str], options: ReadOptions) -> Iterator[list[Piece]]:
    """Yield some rows at a time, a piece for each column."""
    import pyarrow.parquet as pq

    with _explained(path):
        # Texts are mostly stored as dictionaries; this leaves them so.
        texts = [field.name for field in pq.read_schema(path) if is_text(field.type)]
        with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
            for batch in file.iter_batches(_ROWS):
                columns = zip(names, batch.columns, strict=True)
                yield [_piece(path, name, values, options) for name, values in columns]


def _check_types(path: Path, schema: pa.Schema) -> None:
    nested = [field.name for field in schema if not is_scalar(field.type)]
    if nested:
        raise TableError(
            str(path), f"columns of nested or binary type: {', '.join(nested)}", "flatten them to one value per cell"
        )


def _piece(path: Path, name: str, values: pa.Array, options: ReadOptions) -> Piece:
    try:
        return piece_of_scalars(values, options.missing_words if options.quoted_missing else ())
    except pa.ArrowInvalid:
        raise TableError(
            str(path),
            f"column {name!r} has {values.type} values that cannot be written as text",
            "have the export write them as text",
        ) from None
