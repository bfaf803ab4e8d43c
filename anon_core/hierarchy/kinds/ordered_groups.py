"""A hierarchy of neighbours: values in order, merged until a group has enough rows, and the groups again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from anon_core.errors import HierarchyError
from anon_core.hierarchy.kinds.dates import form_of, is_like_a_date
from anon_core.hierarchy.kinds.frequency_groups import check_growing
from anon_core.hierarchy.levels import Levels
from anon_core.hierarchy.numbers import reading_of

Place = tuple[int, Any, str]
"""Numbers come first, by size, then dates, then other texts; the last part keeps two texts apart."""


class Order(StrEnum):
    """What the order of a column's values goes by."""

    SIZE = "size"
    TIME = "time"
    LETTERS = "letters"
    GIVEN = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """
    Where each value of a column stands; one that has no place in the order is not in ``places``.

    ``wanted`` says what is wrong with these.
    """

    order: Order
    places: dict[str, Place]
    wanted: str


def ordering_of(values: Sequence[str], given: Sequence[str] = ()) -> Ordering:
    """
    Return the order of a column: the one that is given, else by what more than half of its distinct values are.

    Among numbers, what is no number has no place, and among dates what is no date of their form: a few misspelt cells
    must not put the others into the order of their letters. In that order numbers come first, by size.

    >>> ordering_of(["9", "10", "x"]).places
    {'9': (0, Decimal('9'), '9'), '10': (0, Decimal('10'), '10')}
    >>> ordering_of(["03/04/2019", "05/06/2019"]).wanted[:31]
    'not dates such as 1949-01-21; o'
    >>> sorted(ordering_of(["low", "high", "unheard of"], ["low", "high"]).places)
    ['high', 'low']

    :raises HierarchyError: the given order names a value twice.
    """
    if given:
        return _as_given(values, given)
    if sum(map(is_like_a_date, values)) * 2 > len(values):
        form = form_of(values)
        dates = {value: (1, date, value) for value in values if (date := form.date_in(value)) is not None}
        return Ordering(order=Order.TIME, places={**dates}, wanted=form.wanted)
    read = reading_of(values)
    numbers: dict[str, Place] = {value: (0, number, value) for value in values if (number := read(value)) is not None}
    if len(numbers) * 2 > len(values):
        return Ordering(order=Order.SIZE, places=numbers, wanted="not numbers such as 1957 or 3.5")
    texts = {value: numbers.get(value, (2, value, value)) for value in values}
    return Ordering(order=Order.LETTERS, places=texts, wanted="")


def _as_given(values: Sequence[str], given: Sequence[str]) -> Ordering:
    place = {value: at for at, value in enumerate(given)}
    if len(place) < len(given):
        raise HierarchyError("order", ["it names a value twice"])
    known: dict[str, Place] = {value: (2, place[value], value) for value in values if value in place}
    return Ordering(order=Order.GIVEN, places=known, wanted="without a place in the order that is given")


def in_order(rows: Mapping[str, int], sizes: Sequence[int], given: Sequence[str] = ()) -> Levels:
    """
    Return a level per size on which neighbouring values are merged until a group has at least so many rows.

    For the order see :func:`ordering_of`; what has no place in it has no path. Spellings of one number (5 and 5.0) or
    day are never split. What is left at the end joins the last group. Every level merges whole groups of the one below.
    A group is named by its first and last value, both as collected; a single value stands for itself.

    >>> in_order({"3": 9, "21": 4, "22": 6, "80": 5}, [10, 14]).paths
    {'3': ['3-21', '3-80'], '21': ['3-21', '3-80'], '22': ['22-80', '3-80'], '80': ['22-80', '3-80']}

    :raises HierarchyError: sizes below 2, or that do not grow; a given order that names a value twice.
    """
    check_growing("groups", sizes)
    place = ordering_of(list(rows), given).places
    groups = _same(sorted(place, key=place.__getitem__), place)
    paths: dict[str | None, list[str]] = {value: [] for value in rows if value in place}
    for size in sizes:
        groups = _merged(groups, rows, size)
        taken: set[str] = set()
        for group in groups:
            name = _name(group, place)
            while name in taken:
                name += "'"
            taken.add(name)
            for value in group:
                paths[value].append(name)
    return Levels(paths={**paths}, names=[f"groups of at least {size} rows" for size in sizes])


def _same(values: Sequence[str], place: Mapping[str, Place]) -> list[list[str]]:
    """Return values in order, spellings of one number or day together."""
    groups: list[list[str]] = []
    before: tuple[int, Any] | None = None
    for value in values:
        here = place[value][:2]
        if here[0] < 2 and here == before:
            groups[-1].append(value)
        else:
            groups.append([value])
        before = here
    return groups


def _merged(groups: Sequence[list[str]], rows: Mapping[str, int], size: int) -> list[list[str]]:
    """Return neighbours merged until each has enough rows."""
    merged: list[list[str]] = []
    filled = size
    for group in groups:
        if filled >= size:
            merged.append([])
            filled = 0
        merged[-1].extend(group)
        filled += sum(rows[value] for value in group)
    if len(merged) > 1 and filled < size:
        last = merged.pop()
        merged[-1].extend(last)
    return merged


def _name(group: Sequence[str], place: Mapping[str, Place]) -> str:
    if len(group) == 1:
        return group[0]
    (low_kind, low, _), (high_kind, high, _) = place[group[0]], place[group[-1]]
    if (low_kind, high_kind) == (0, 0) and isinstance(low, Decimal) and isinstance(high, Decimal):
        high = max(low, high)  # of two spellings of one number the first
        return f"{low:f}-{high:f}" if low >= 0 else f"[{low:f}, {high:f}]"
    return f"[{group[0]}, {group[-1]}]"
