"""Intervals of numbers: all of one width, nested, or between given cut points."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from anon_core.errors import HierarchyError
from anon_core.hierarchy.levels import Levels
from anon_core.hierarchy.numbers import is_whole, reading_of, written
from anon_core.hierarchy.ranges import Pieces


def by_intervals(values: Sequence[str], widths: Sequence[Decimal]) -> Levels:
    """
    Return the intervals that the numbers of a column lie in; they start at multiples of the width.

    One fraction in the column and every interval is written ``[low, high)``: else 5 and 5.5 would be kept apart.

    >>> by_intervals(["1957", "x"], [Decimal(5), Decimal(10)]).paths
    {'1957': ['1955-1959', '1950-1959']}
    >>> by_intervals(["1957", "-0.5"], [Decimal(5)]).paths
    {'1957': ['[1955, 1960)'], '-0.5': ['[-5, 0)']}

    :raises HierarchyError: a width is not a positive number, or not a multiple of the one before.
    """
    check_widths(widths)
    read = reading_of(values)
    numbers = {value: number for value in values if (number := read(value)) is not None}
    whole = all(map(is_whole, [*numbers.values(), *widths]))
    intervals = [_Intervals(width, whole=whole) for width in widths]
    return Levels(
        paths={value: [each.holding(number) for each in intervals] for value, number in numbers.items()},
        names=[f"intervals of {width:f}" for width in widths],
    )


def check_widths(widths: Sequence[Decimal]) -> None:
    """:raises HierarchyError: naming everything that is wrong with interval widths."""
    problems = [] if widths else ["there is no interval width"]
    unfit = [width for width in widths if not width.is_finite() or width <= 0]
    problems += [f"{width} is no interval width; it must be above 0" for width in unfit]
    if not unfit:
        problems += [
            f"{wide} is no multiple of {narrow}, so the intervals would not nest"
            for narrow, wide in pairwise(widths)
            if wide <= narrow or (Fraction(wide) / Fraction(narrow)).denominator != 1
        ]
    if problems:
        raise HierarchyError("intervals", problems)


class _Intervals:
    """The intervals of one width, each named once."""

    def __init__(self, width: Decimal, *, whole: bool) -> None:
        # In units of the last digit of the width everything is an integer, and no division is rounded.
        self._places = max(0, -int(width.as_tuple().exponent))
        self._units = int(Fraction(width) * 10**self._places)
        self._whole = whole
        self._names: dict[int, str] = {}

    def holding(self, number: Decimal) -> str:
        above, below = number.as_integer_ratio()
        at = above * 10**self._places // (below * self._units)
        if at not in self._names:
            self._names[at] = self._name(at * self._units)
        return self._names[at]

    def _name(self, low: int) -> str:
        if self._whole and low >= 0:
            return f"{low}-{low + self._units - 1}"
        return f"[{written(low, self._places)}, {written(low + self._units, self._places)})"


def by_cuts(values: Sequence[str], cuts: Sequence[Sequence[Decimal]]) -> Levels:
    """
    Return the intervals between cut points; every level after the first leaves out some of the points before.

    >>> by_cuts(["7", "18", "64", "80"], [[Decimal(18), Decimal(30), Decimal(65)]]).paths
    {'7': ['<18'], '18': ['18-29'], '64': ['30-64'], '80': ['>=65']}
    >>> by_cuts(["0.5", "18"], [[Decimal(0), Decimal(30)]]).paths
    {'0.5': ['[0, 30)'], '18': ['[0, 30)']}

    :raises HierarchyError: cut points that are not finite, do not grow, or are not among those of the level below.
    """
    check_cuts(cuts)
    read = reading_of(values)
    numbers = {value: number for value in values if (number := read(value)) is not None}
    whole = all(map(is_whole, [*numbers.values(), *(cut for level in cuts for cut in level)]))
    levels = [(Pieces.at(level), _between(level, whole=whole)) for level in cuts]
    return Levels(
        # A bound begins the interval above it: pieces 1 and 2 are the first one, 3 and 4 the next.
        paths={value: [names[(cut.holding(number) + 1) // 2] for cut, names in levels]
               for value, number in numbers.items()},
        names=[f"cut at {', '.join(f'{cut:f}' for cut in level)}" for level in cuts],
    )  # fmt: skip


def check_cuts(cuts: Sequence[Sequence[Decimal]]) -> None:
    """:raises HierarchyError: naming everything that is wrong with cut points."""
    problems = []
    for level, points in enumerate(cuts, 1):
        if not points or not all(point.is_finite() for point in points):
            problems.append(f"level {level} needs cut points that are numbers, such as 18, 30, 65")
        elif any(low >= high for low, high in pairwise(points)):
            problems.append(f"the cut points of level {level} do not grow: an interval would cover nothing")
        elif level > 1 and (strangers := sorted(set(points) - set(cuts[level - 2]))):
            problems.append(f"level {level} cuts at {strangers[0]}, level {level - 1} does not: they would not nest")
    if problems or not cuts:
        raise HierarchyError("cut points", problems or ["there are none"])


def _between(points: Sequence[Decimal], *, whole: bool) -> list[str]:
    """Return the names of the intervals below, between and above cut points."""
    names = [f"<{points[0]:f}"]
    for low, high in pairwise(points):
        closed = whole and low >= 0
        names.append(f"{int(low)}-{int(high) - 1}" if closed else f"[{low:f}, {high:f})")
    return [*names, f">={points[-1]:f}"]
