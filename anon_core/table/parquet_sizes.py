"""The sizes that a Parquet file gives for itself, held against the limits before any page is unpacked.

The footer describes every column chunk, and the header of every page gives its size unpacked. Both are read here. A
file with wrong sizes in its footer is refused by the headers of its pages, which the decoder goes by.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from anon_core.errors import TableError
from anon_core.limits import COLUMNS, FOOTER, PAGE
from anon_core.regular_files import open_regular
from anon_core.table.thrift import Chunk, MalformedError, PageHeader, chunks, page_header
from anon_core.table.unpacking import most_unpacked, out_of_proportion
from anon_core.wording import counted

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

_TAIL_BYTES = 8
_HEADER_BYTES, _MAX_HEADER_BYTES = 1 << 10, 1 << 24
"""Statistics in a page header hold a smallest and a largest value, which some writers do not cut short."""


def check_footer(path: Path) -> None:
    """:raises TableError: the description at the end of the file is larger than allowed."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        length = _footer_length(stream, size)
    # One that is longer than the file is damaged, and pyarrow refuses it without reading it.
    if FOOTER.value() < length <= size:
        what = f"the description at its end has {counted(length, 'byte')}, beyond {FOOTER.words()}"
        raise TableError(str(path), what, FOOTER.advice)


def check_columns(path: Path, columns: int, leaves: int) -> None:
    """:raises TableError: there are more columns than allowed, those inside nested ones counted too."""
    found = max(columns, leaves)
    if found > COLUMNS.value():
        raise TableError(str(path), f"has {counted(found, 'column')}, beyond {COLUMNS.words()}", COLUMNS.advice)


def check_sizes(path: Path, described: FileMetaData, *, any_expansion: bool) -> None:
    """
    Check how many cells there are, and how large they and every page are unpacked.

    A cell takes at least a byte in memory, but runs of one value take nearly none in the file: so cells count as bytes.

    :raises TableError: a page is larger than allowed, or all is out of proportion to the file.
    :raises OSError: a page lies outside the file, or its header is none.
    """
    cells = described.num_rows * described.num_columns
    unpacked = 0
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        most = most_unpacked(size)
        if cells > most and not any_expansion:
            raise out_of_proportion(path, size)
        for page in _pages(stream, described, size):
            if page > PAGE.value():
                what = f"has a page of {counted(page, 'byte')}, beyond {PAGE.words()}"
                raise TableError(str(path), what, PAGE.advice)
            unpacked += page
            if unpacked > most and not any_expansion:
                raise out_of_proportion(path, size)


def _pages(stream: BinaryIO, described: FileMetaData, size: int) -> Iterator[int]:
    """Yield the size of every page, unpacked."""
    count = 0
    try:
        for chunk in chunks(_footer(stream, size)):
            count += 1
            yield from _pages_of_chunk(stream, chunk, size)
    except MalformedError:
        raise OSError("the footer is damaged") from None
    if count != described.num_row_groups * described.num_columns:
        raise OSError("the footer does not describe every column of every row group")


def _footer_length(stream: BinaryIO, size: int) -> int:
    stream.seek(max(size - _TAIL_BYTES, 0))
    return int.from_bytes(stream.read(4), "little")


def _footer(stream: BinaryIO, size: int) -> bytes:
    length = _footer_length(stream, size)
    stream.seek(max(size - _TAIL_BYTES - length, 0))
    return stream.read(length)


def _pages_of_chunk(stream: BinaryIO, chunk: Chunk, size: int) -> Iterator[int]:
    if chunk.values <= 0:  # No page of it is ever read, and writers give it no place.
        return
    at, end = chunk.begin, chunk.end
    if not 0 <= at <= end <= size:
        raise OSError("a column chunk lies outside the file")
    while at < end:
        header = _header(stream, at)
        yield header.unpacked
        at += header.length + header.packed


def _header(stream: BinaryIO, at: int) -> PageHeader:
    """Return the header of the page that begins here; few are long."""
    for most in (_HEADER_BYTES, _MAX_HEADER_BYTES):
        stream.seek(at)
        with contextlib.suppress(MalformedError):  # It may be longer than what was read of it.
            return page_header(stream.read(most))
    raise OSError("a page has no header")
