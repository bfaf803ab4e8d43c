"""Intervals of numbers as rules name them, and the pieces into which the ends of several cut the numbers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from anon_core.hierarchy.numbers import number_in

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_PIECE = "\0piece of the numbers "
RANGE = re.compile(
    rf"(?P<opening>[\[(])\s*(?:-(?:inf|∞)|(?P<low>{_NUMBER}))?\s*,\s*(?:\+?(?:inf|∞)|(?P<high>{_NUMBER}))?\s*(?P<closing>[\])])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The numbers from ``low`` to ``high``; None is no end at all, and a closed end belongs to the interval."""

    low: Decimal | None
    high: Decimal | None
    low_closed: bool
    high_closed: bool

    @property
    def is_empty(self) -> bool:
        """Whether it covers nothing: ``[5, 5)``, ``[9, 3]``."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and not (self.low_closed and self.high_closed))


def range_in(text: str) -> Range | None:
    """
    Return the interval that a text is, or None.

    >>> range_in("[18, 30)")
    Range(low=Decimal('18'), high=Decimal('30'), low_closed=True, high_closed=False)
    >>> range_in("[65, )").high, range_in("(-inf, 18)").low, range_in("[a, b)")
    (None, None, None)
    """
    match = RANGE.fullmatch(text.strip())
    if not match:
        return None
    low, high = number_in(match["low"]), number_in(match["high"])
    if (match["low"] and low is None) or (match["high"] and high is None):
        return None  # a number beyond reason
    return Range(low=low, high=high, low_closed=match["opening"] == "[", high_closed=match["closing"] == "]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """
    The numbers cut at some bounds: before the first bound is piece 0, the bound itself piece 1, then up to the next 2.

    So every number is in one piece, and a piece is wholly inside or wholly outside every interval with such ends.

    >>> cut = Pieces.at([Decimal(18), Decimal(30)])
    >>> [cut.holding(Decimal(number)) for number in (3, 18, 20, 30, 31)]
    [0, 1, 2, 3, 4]
    """

    bounds: tuple[Decimal, ...] = ()

    @classmethod
    def at(cls, bounds: Iterable[Decimal]) -> Pieces:
        """Return the pieces between bounds that may come in any order and more than once."""
        return cls(bounds=tuple(sorted(set(bounds))))

    def holding(self, number: Decimal) -> int:
        """Return the piece that a number is in."""
        at = bisect_left(self.bounds, number)
        return 2 * at + (at < len(self.bounds) and self.bounds[at] == number)

    def within(self, wanted: Range) -> range:
        """Return the pieces that an interval consists of; its ends are bounds."""
        first, last = 0, 2 * len(self.bounds)
        if wanted.low is not None:
            first = self.holding(wanted.low) + (not wanted.low_closed)
        if wanted.high is not None:
            last = self.holding(wanted.high) - (not wanted.high_closed)
        return range(first, last + 1)

    def name(self, piece: int) -> str:
        """Return a name for a piece that no cell has: it begins with a character that texts are not written with."""
        bound = self.bounds[min(piece // 2, len(self.bounds) - 1)]
        return f"{_PIECE}{('below', 'at')[piece % 2] if piece < 2 * len(self.bounds) else 'above'} {bound:f}"


def is_piece(name: str) -> bool:
    """Whether this is the name of a piece, not a value or label."""
    return name.startswith(_PIECE)
