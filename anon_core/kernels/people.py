"""The distinct pairs of tuple and person, and the people of each class: the loops for counting people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.kernels.counting import distinct, in_threads
from anon_core.kernels.effort import spend
from anon_core.kernels.grouping import AnyCodes, Integers, Mask, bits_of, group

UNKNOWN_PERSON = 0
"""The unit of rows whose person is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOfTuples:
    """Distinct pairs in the order of their codes, then of their unit, and the rows of each."""

    codes: tuple[AnyCodes, ...]
    units: AnyCodes
    rows: Integers


def people_of_tuples(
    codes: Sequence[AnyCodes], cardinalities: Sequence[int], units: AnyCodes, weights: Integers | None = None
) -> PeopleOfTuples:
    """Return the pairs of tuple and unit; those of unknown people only where a tuple has no known people."""
    most = int(units.max(initial=0)) + 1
    bits = [*map(bits_of, cardinalities), bits_of(most)]
    total = len(units) if weights is None else int(weights.sum())
    if len(units) and sum(bits) < 64 and total <= 4 * len(units) and spend(len(units) * (len(codes) + 1)):
        return _by_sorting([*codes, units], bits, weights)
    found = distinct([*codes, units], [*cardinalities, most], weights)
    *columns, whose = found.codes
    kept = _without_idle(columns, whose)
    if kept is None:
        return PeopleOfTuples(codes=tuple(columns), units=whose, rows=found.weights)
    return PeopleOfTuples(codes=tuple(column[kept] for column in columns), units=whose[kept], rows=found.weights[kept])


def _by_sorting(codes: Sequence[AnyCodes], bits: Sequence[int], weights: Integers | None) -> PeopleOfTuples:
    """Sort tuple and unit, which stands last, as one number, rows as often as there are."""
    from anon_core.kernels.compiled.counting import fold
    from anon_core.kernels.compiled.people import split_pairs

    keys = np.zeros(len(codes[0]), np.int64)

    def some(start: int, stop: int) -> None:
        for column, width in zip(codes, bits, strict=True):
            fold(keys[start:stop], column[start:stop], 1 << width)

    in_threads(some, len(keys))
    if weights is not None and int(weights.max()) > 1:
        keys = np.repeat(keys, weights)
    keys.sort()
    rests, of_tuple = np.empty(len(keys), np.int64), np.empty(len(keys), np.int32)
    whose, rows = np.empty(len(keys), np.int32), np.empty(len(keys), np.int64)
    found, pairs = split_pairs(keys, bits[-1], rests, of_tuple, whose, rows)
    rests, of_tuple = rests[:found], of_tuple[:pairs]
    columns: list[AnyCodes] = []
    for width in reversed(bits[:-1]):
        # Only tuples are taken apart again: their people have the same codes.
        columns.append((rests & ((1 << width) - 1)).astype(np.int32)[of_tuple])
        rests = rests >> width
    return PeopleOfTuples(codes=tuple(reversed(columns)), units=whose[:pairs].copy(), rows=rows[:pairs].copy())


def _without_idle(columns: Sequence[AnyCodes], units: AnyCodes) -> Integers | None:
    """
    Return the pairs that count: those of unknown people only in tuples without known people. None if all count.

    Pairs are sorted: in a tuple, known people come after unknown ones.
    """
    unknown = np.flatnonzero(units[:-1] == UNKNOWN_PERSON)
    if not len(unknown):
        return None
    idle = np.ones(len(unknown), np.bool_)
    for column in columns:
        idle &= column[unknown] == column[unknown + 1]
    kept: Mask = np.ones(len(units), np.bool_)
    kept[unknown[idle]] = False
    return np.flatnonzero(kept)


def people_of_keys(keys: Integers, number: int, units: AnyCodes) -> Integers:
    """Return how many people have each of so many keys, from entries that stand person by person."""
    if not spend(2 * len(units)):
        first = group([keys, units], [number, int(units.max(initial=0)) + 1]).first
        return np.bincount(keys[first], minlength=number)
    from anon_core.kernels.compiled.people import count_people

    people = np.zeros(number, np.int64)
    count_people(keys, units, np.full(number, -1, np.int64), people)
    return people


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOfClasses:
    """The people of each class, class by class: the entry in which each is met ``first``, and ``who`` each entry is."""

    first: Integers
    who: Integers


def people_of_classes(member: Integers, units: AnyCodes) -> PeopleOfClasses:
    """Number the people of each class, from entries that stand class by class."""
    most = int(units.max(initial=0)) + 1
    if not spend(2 * len(units)):
        found = group([member, units], [int(member[-1]) + 1, most])
        return PeopleOfClasses(first=found.first, who=found.member)
    from anon_core.kernels.compiled.people import meet

    first, who = np.empty(len(units), np.int64), np.empty(len(units), np.int64)
    met = meet(member, units, np.full(most, -1, np.int64), np.empty(most, np.int64), first, who)
    return PeopleOfClasses(first=first[:met].copy(), who=who)
