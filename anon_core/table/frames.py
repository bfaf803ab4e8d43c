"""Reads frames as tables: every object with the Arrow stream interface, such as a frame of pandas, polars or pyarrow.

A cell gets the text that it has when it is read from Parquet (see :mod:`anon_core.table`), so a frame, the Parquet file
and the CSV file that pyarrow writes of it are the same table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from anon_core.errors import TableError
from anon_core.files.name_rules import BAD_CHARACTERS, has_bad_characters, is_too_long
from anon_core.limits import COLUMNS, NAME
from anon_core.table.assembling import Piece, assemble
from anon_core.table.model import Table
from anon_core.table.options import ReadOptions, check_lengths, columns_at
from anon_core.table.parquet import is_scalar, piece_of_scalars
from anon_core.wording import counted

FRAME = Path("the frame")
"""What messages call a frame, which has no name of its own."""
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


@runtime_checkable
class Frame(Protocol):
    """An object that gives its rows as a stream of Arrow batches: a frame of pandas or polars, a table of pyarrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...


def read_frame(frame: Frame, options: ReadOptions | None = None) -> Table:
    """
    Read a frame, which stays as it is. NaN, NaT, None and the missing words are gaps, as in Parquet.

    A pandas index is left out, unless it has a name: then it is a column.

    >>> read_frame(pa.table({"age": [34, None], "town": ["Alba", ""]})).column("town").gaps.tolist()
    [False, True]

    :raises TableError: no columns, no rows, names that are no text, empty, doubled or no single line, cells that are
        not one value each, or that have no text; all such columns are named, and never a cell.
    """
    options = options or ReadOptions()
    _check_labels(frame)
    reader = _stream(frame)
    kept = _kept(reader.schema)
    names = [reader.schema.field(at).name for at in kept]
    _check_names(names)
    if nested := [name for at, name in zip(kept, names, strict=True) if not is_scalar(reader.schema.field(at).type)]:
        raise _refused(
            f"columns of nested or binary type: {', '.join(nested)}", "flatten them to one value per cell, or drop them"
        )
    pieces, rows = _pieces(reader, kept, names, options)
    if not rows:
        raise _refused("has no rows", "there is nothing to measure: check how it was made")
    columns = (assemble(name, waiting) for name, waiting in zip(names, pieces, strict=True))
    return Table(columns=tuple(columns), rows=rows)


def _refused(what: str, advice: str) -> TableError:
    return TableError(str(FRAME), what, advice)


def _check_labels(frame: Frame) -> None:
    """Refuse labels of pandas that are no text, or doubled: pandas would make texts of them, or quote them."""
    if not _is_pandas(frame):
        return
    labels = list(getattr(frame, "columns", ()))
    if odd := [at for at, label in enumerate(labels, 1) if not isinstance(label, str)]:
        raise _refused(
            f"the name of {columns_at(odd)} is no text", "rename it: frame.columns = [str(name) for name in ...]"
        )
    if labels:  # Else there may be an index with names.
        _check_names(labels)


def _is_pandas(frame: Frame) -> bool:
    return any(kind.__module__.partition(".")[0] == "pandas" for kind in type(frame).__mro__)


def _stream(frame: Frame) -> pa.RecordBatchReader:
    """
    Return the batches of a frame; pandas and Arrow may quote a cell in what they say, so that is withheld.

    :raises TableError: it cannot be had as Arrow.
    """
    reader = _opened(frame)
    if reader is not None:
        return reader
    mixed = _mixed(frame)
    if mixed:
        raise _refused(
            f"columns whose cells are of several types: {', '.join(mixed)}", "make each of them one type, such as text"
        )
    raise _refused("is not a table that Arrow can read", "give one with named columns of plain values")


def _opened(frame: Frame) -> pa.RecordBatchReader | None:
    try:
        return pa.RecordBatchReader.from_stream(frame)
    except Exception:  # noqa: BLE001 - Any error of a library may quote a cell.
        return None


def _mixed(frame: Any) -> list[str]:
    """Return the columns of a pandas frame that are not of one type."""
    if not _is_pandas(frame) or not hasattr(frame, "columns"):
        return []
    return [name for name in frame.columns if _opened(frame[[name]]) is None]


def _kept(schema: pa.Schema) -> list[int]:
    """Return the positions of the columns that are no unnamed index of pandas: a row number is not data."""
    described = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = {name for name in described.get("index_columns", ()) if isinstance(name, str)}
    names = [schema.field(at).name for at in range(len(schema))]
    return [at for at, name in enumerate(names) if not (name in index and _UNNAMED_INDEX.fullmatch(name))]


def _check_names(names: Sequence[str]) -> None:
    """:raises TableError: there are none, too many, or some cannot be the name of a column."""
    if not names:
        raise _refused("has no columns", "give a table with named columns")
    if len(names) > COLUMNS.value():
        raise _refused(f"has {counted(len(names), 'column')}, beyond {COLUMNS.words()}", COLUMNS.advice)
    first: dict[str, int] = {}
    faults = {
        f"is longer than {NAME.words()}": [at for at, name in enumerate(names, 1) if is_too_long(name)],
        f"has {BAD_CHARACTERS}": [at for at, name in enumerate(names, 1) if has_bad_characters(name)],
        "is empty": [at for at, name in enumerate(names, 1) if not name.strip()],
        "is that of one before it": [at for at, name in enumerate(names, 1) if first.setdefault(name, at) != at],
    }
    if found := [f"the name of {columns_at(places)} {what}" for what, places in faults.items() if places]:
        raise _refused("; ".join(found), "give each column a name of its own, one line of text")


def _pieces(
    reader: pa.RecordBatchReader, kept: Sequence[int], names: Sequence[str], options: ReadOptions
) -> tuple[list[list[Piece]], int]:
    words = options.missing_words if options.quoted_missing else ()
    waiting: list[list[Piece]] = [[] for _ in kept]
    rows = 0
    for batch in _batches(reader):
        rows += batch.num_rows
        found = [_piece(batch.column(at), words) for at in kept]
        if odd := [name for name, piece in zip(names, found, strict=True) if piece is None]:
            raise _refused(
                f"columns with values that cannot be written as text: {', '.join(odd)}", "make them text before"
            )
        pieces = [piece for piece in found if piece is not None]
        check_lengths(FRAME, [piece.words for piece in pieces])
        for column, piece in zip(waiting, pieces, strict=True):
            column.append(piece.narrow())
    return waiting, rows


def _batches(reader: pa.RecordBatchReader) -> Any:
    """Yield the batches; what ends the stream may quote a cell, and is withheld."""
    while True:
        failed = False
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except (pa.ArrowException, OSError, ValueError):
            failed = True
        if failed:
            raise _refused("ended before its last row", "what gives its rows has failed: collect it first")
        yield batch


def _piece(values: pa.Array, missing_words: Sequence[str]) -> Piece | None:
    """Return the cells of a column, None where some of them have no text."""
    try:
        return piece_of_scalars(values, missing_words)
    except (pa.ArrowException, UnicodeDecodeError):
        return None
