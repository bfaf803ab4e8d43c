"""As much of Thrift's compact protocol as Parquet's sizes need: those of a page, and where the column chunks are.

Pyarrow has the places of the chunks too. But where the statistics of a chunk are damaged, pyarrow aborts the whole
process when it is asked for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_UNPACKED, _PACKED = 2, 3
_ROW_GROUPS, _COLUMNS, _DESCRIPTION = 4, 1, 3
_VALUES, _SIZE, _DATA, _DICTIONARY = 5, 7, 9, 11
_MAX_DEPTH = 8


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
