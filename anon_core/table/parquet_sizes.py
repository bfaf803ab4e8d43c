"""The sizes that a Parquet file gives for itself, held against the limits before any page is unpacked.

The footer describes every column chunk, and the header of every page gives its size unpacked. Both are read here, by as
much of Thrift's compact protocol as they need. A file with wrong sizes in its footer is refused by the headers of its
pages, which the decoder uses. Pyarrow has the positions of the chunks too. But if the statistics of a chunk are
damaged, pyarrow aborts the whole process when a program reads them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from anon_core.errors import TableError
from anon_core.files.regular import open_regular
from anon_core.limits import COLUMNS, FOOTER, PAGE
from anon_core.table.unpacking import most_unpacked, out_of_proportion
from anon_core.wording import counted

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_UNPACKED, _PACKED = 2, 3
_ROW_GROUPS, _COLUMNS, _DESCRIPTION = 4, 1, 3
_VALUES, _SIZE, _DATA, _DICTIONARY = 5, 7, 9, 11
_MAX_DEPTH = 8
_TAIL_BYTES = 8
_HEADER_BYTES, _MAX_HEADER_BYTES = 1 << 10, 1 << 24
"""Statistics in a page header hold a smallest and a largest value, which some writers do not cut short."""


class MalformedError(Exception):
    """These bytes are not what they should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHeader:
    """How many bytes the header has, and the page behind it, as it is stored and unpacked."""

    length: int
    packed: int
    unpacked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Where the pages of one column in one row group are, and how many values they hold."""

    values: int
    begin: int
    end: int


def page_header(content: bytes) -> PageHeader:
    """
    Read the header that stands at the beginning of these bytes.

    >>> page_header(bytes([0x15, 0, 0x15, 200, 1, 0x15, 40, 0, 9, 9]))
    PageHeader(length=8, packed=20, unpacked=100)

    :raises MalformedError: there is none.
    """
    reader = _Reader(content)
    sizes = reader.integers_of_struct()
    if not {_UNPACKED, _PACKED} <= set(sizes) or min(sizes[_UNPACKED], sizes[_PACKED]) < 0:
        raise MalformedError
    return PageHeader(length=reader.at, packed=sizes[_PACKED], unpacked=sizes[_UNPACKED])


def chunks(footer: bytes) -> Iterator[Chunk]:
    """
    Yield every column chunk that the footer of a file describes, from the first row group to the last.

    :raises MalformedError: it is none, or has a field twice: other readers could go by the second one.
    """
    reader = _Reader(footer)
    for _ in reader.fields({_ROW_GROUPS: _LIST}):
        for _ in reader.structs():
            for _ in reader.fields({_COLUMNS: _LIST}, needed=True):
                for _ in reader.structs():
                    for _ in reader.fields({_DESCRIPTION: _STRUCT}, needed=True):
                        yield _chunk(reader.integers_of_struct())


def _chunk(numbers: dict[int, int]) -> Chunk:
    """Return a chunk that begins where its dictionary is, if it has one."""
    if not {_VALUES, _SIZE, _DATA} <= set(numbers):
        raise MalformedError
    begin = numbers[_DATA]
    dictionary = numbers.get(_DICTIONARY, 0)
    begin = dictionary if 0 < dictionary < begin else begin
    return Chunk(values=numbers[_VALUES], begin=begin, end=begin + numbers[_SIZE])


class _Reader:
    """Goes through bytes, field by field."""

    def __init__(self, content: bytes) -> None:
        self.at = 0
        self._content = content

    def integers_of_struct(self) -> dict[int, int]:
        """Return the integers that are fields of a struct, by the numbers of the fields; all else is passed over."""
        found: dict[int, int] = {}
        number = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self._integer()
            if kind not in (_I16, _I32, _I64):
                self._skip(kind, 1)
            elif number in found:
                raise MalformedError
            else:
                found[number] = self._integer()
        return found

    def fields(self, wanted: dict[int, int], *, needed: bool = False) -> Iterator[int]:
        """Stop at each field of a struct that has one of these numbers and its kind; all else is passed over."""
        seen: set[int] = set()
        number = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self._integer()
            if number not in wanted:
                self._skip(kind, 1)
            elif kind != wanted[number] or number in seen:
                raise MalformedError
            else:
                seen.add(number)
                yield number
        if needed and len(seen) < len(wanted):
            raise MalformedError

    def structs(self) -> Iterator[int]:
        """Stop at each struct of a list."""
        head = self._byte()
        count = head >> 4 if head >> 4 != 15 else self._varint()
        if count and head & 15 != _STRUCT:
            raise MalformedError
        yield from range(count)

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise MalformedError
        if kind == _BYTE:
            self._pass(1)
        elif kind in (_I16, _I32, _I64):
            self._varint()
        elif kind == _DOUBLE:
            self._pass(8)
        elif kind == _BINARY:
            self._pass(self._varint())
        elif kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 != 15 else self._varint()
            self._skip_items(count, head & 15, depth)
        elif kind == _STRUCT:
            while head := self._byte():
                if not head >> 4:
                    self._varint()
                self._skip(head & 15, depth + 1)
        elif kind not in (_TRUE, _FALSE):  # A map stands in no header of a page.
            raise MalformedError

    def _skip_items(self, count: int, kind: int, depth: int) -> None:
        if count > len(self._content):
            raise MalformedError
        for _ in range(count):
            self._pass(1) if kind in (_TRUE, _FALSE) else self._skip(kind, depth + 1)

    def _byte(self) -> int:
        self._pass(1)
        return self._content[self.at - 1]

    def _pass(self, count: int) -> None:
        self.at += count
        if self.at > len(self._content):
            raise MalformedError

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                if value >> 64:
                    raise MalformedError
                return value
            shift += 7
            if shift > 63:
                raise MalformedError

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


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
