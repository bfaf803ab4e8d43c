"""Look for texts in everything that was written: files, databases, and what compressed files hold."""

from __future__ import annotations

import gzip
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.faults.publications import files_below

_ZSTD_FRAME = re.compile(re.escape(b"\x28\xb5\x2f\xfd"))


def found_in(folder: Path, texts: Iterable[str], *, but: Iterable[Path] = ()) -> list[str]:
    """Return each place below a folder where one of the texts stands, other than in these files."""
    wanted = [text.encode() for text in texts]
    allowed = {path.resolve() for path in but}
    return [
        f"{text.decode()} in {path.relative_to(folder)} ({how})"
        for path in files_below(folder)
        if path.resolve() not in allowed
        for how, content in contents(path)
        for text in wanted
        if text in content
    ] + [f"{text.decode()} in the name {path}" for path in folder.rglob("*") for text in wanted if text in bytes(path)]


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what a file holds, in every way it can be read."""
    raw = path.read_bytes()
    yield "bytes", raw
    yield "bytes, UTF-16", raw.decode("utf-16-le", "ignore").encode("utf-8", "ignore")
    if raw.startswith(b"\x1f\x8b"):
        yield "unzipped", gzip.decompress(raw)
    if raw.startswith(b"PAR1"):
        yield "pages", b"\n".join(pages_of(raw))
        yield "cells and footer", parquet_text(path)
    if raw.startswith(b"SQLite format 3"):
        yield "rows", sqlite_text(path)


def pages_of(raw: bytes) -> Iterator[bytes]:
    """Yield every zstd frame of a file, decompressed: data pages and dictionary pages, used or not."""
    for match in _ZSTD_FRAME.finditer(raw):
        stream = pa.CompressedInputStream(pa.BufferReader(raw[match.start() :]), "zstd")
        page = bytearray()
        try:
            while block := stream.read(1):
                page += block
        except OSError:  # what comes after the frame is another page's header
            pass
        yield bytes(page)


def parquet_text(path: Path) -> bytes:
    """The schema, statistics, metadata and cells of a Parquet file, dictionaries as they were written."""
    file = pq.ParquetFile(path, read_dictionary=pq.read_schema(path).names)
    table = file.read()
    parts = [str(file.metadata), str(file.metadata.metadata), str(file.schema), str(table.schema.metadata)]
    for group in range(file.metadata.num_row_groups):
        for column in range(file.metadata.num_columns):
            chunk = file.metadata.row_group(group).column(column)
            parts += [str(chunk), str(chunk.statistics)]
    for column in table.columns:
        for chunk in column.chunks:
            parts += [str(chunk.dictionary.to_pylist()), str(chunk.to_pylist())]
    return "\n".join(parts).encode()


def sqlite_text(path: Path) -> bytes:
    """All rows of all tables of a database."""
    parts = []
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        connection.text_factory = bytes
        tables = [name.decode() for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        for table in tables:
            parts += [repr(row).encode() for row in connection.execute(f'SELECT * FROM "{table}"')]
    connection.close()
    return b"\n".join(parts)
