"""The order of a column's values: by size, by time, by letters, or as somebody gave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from anon_core.errors import HierarchyError
from anon_core.hierarchy.kinds.dates import form_of, is_like_a_date
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
