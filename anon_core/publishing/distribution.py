"""The files of a release: CSV and Parquet from one table, the same bytes every time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from anon_core.files.storage import whole_file
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
    with whole_file(path) as part, part.open("wb") as stream:
        write(stream)
