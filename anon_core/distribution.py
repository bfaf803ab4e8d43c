"""The files of a release: CSV and Parquet from one table, the same bytes every time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from anon_core.errors import StorageError
from anon_core.table import Table

MEDIA_TYPES = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}


def write_csv(table: Table, path: Path) -> None:
    """Write UTF-8 as RFC 4180 has it, with CRLF: texts quoted, a gap as a bare empty cell, so the two stay apart."""
    arrow, options = table.to_arrow(), pyarrow.csv.WriteOptions(eol="\r\n")
    _write(path, lambda stream: pyarrow.csv.write_csv(arrow, stream, options))


def write_parquet(table: Table, path: Path) -> None:
    """Write plain text columns: no dictionary that remembers unpublished values in the schema, no pandas metadata."""
    arrow = table.to_arrow()
    _write(path, lambda stream: pq.write_table(arrow, stream, compression="zstd", store_schema=False))


def _write(path: Path, write: Callable[[pa.NativeFile], None]) -> None:
    """Write a private file completely or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StorageError(
            str(path), "writing", os.strerror(error.errno) if error.errno else type(error).__name__
        ) from None
