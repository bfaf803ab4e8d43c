"""Choices, taken from bytes or from Hypothesis: the same generator serves both engines, and every case is a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Draw:
    """Choices read from bytes, front to back; when they run out, every choice is the first one.

    >>> draw = Draw(b"\\x01\\x00abc")
    >>> draw.pick("xyz"), draw.number(5, 9), draw.rest()
    ('y', 5, b'abc')
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``."""
        width = ((high - low).bit_length() + 7) // 8
        return low + int.from_bytes(self.some(width), "little") % (high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        """Return one of several."""
        return options[self.number(0, len(options) - 1)]

    def chance(self, one_in: int) -> bool:
        """Return true about once in so many times; never when the bytes have run out."""
        return self.number(0, one_in - 1) == 1

    def several(self, options: Sequence[T], most: int) -> list[T]:
        """Return up to ``most`` of several, repeated ones too."""
        return [self.pick(options) for _ in range(self.number(0, most))]

    def text(self, most: int = 12) -> str:
        """Return a short text of any characters, halves of surrogate pairs too."""
        return self.some(self.number(0, most)).decode("utf-8", "surrogateescape")

    def some(self, length: int) -> bytes:
        """Return so many bytes, fewer at the end."""
        found = self._data[self._at : self._at + length]
        self._at += length
        return found

    def rest(self, most: int = 400) -> bytes:
        """Return all bytes that are left; ``most`` limits what Hypothesis draws in their place."""
        found = self._data[self._at :]
        self._at = len(self._data)
        return found


class HypothesisDraw(Draw):
    """Choices that Hypothesis makes, kept in ``recorded`` as the bytes from which :class:`Draw` makes them again."""

    def __init__(self, data: Any) -> None:
        super().__init__(b"")
        self._source = data
        self.recorded = bytearray()

    def number(self, low: int, high: int) -> int:
        from hypothesis import strategies as st

        chosen = self._source.draw(st.integers(0, high - low))
        self.recorded += chosen.to_bytes(((high - low).bit_length() + 7) // 8, "little")
        return low + chosen

    def some(self, length: int) -> bytes:
        from hypothesis import strategies as st

        found = self._source.draw(st.binary(min_size=length, max_size=length))
        self.recorded += found
        return found

    def rest(self, most: int = 400) -> bytes:
        from hypothesis import strategies as st

        found = self._source.draw(st.binary(max_size=most))
        self.recorded += found
        return found
