"""How many people share all their classes, or two of them, with few others: the risk of several rows per person.

Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data, 2008, for k^m-anonymity: an attacker
who knows m items of a person finds k people. Here m is 2, and the items are the classes in which a person has rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.errors import InvalidInputError
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable
from anon_core.kernels import Integers

MAX_PAIRS = 30_000_000
"""More pairs of classes of one person are not compared: it would take more than two gigabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSetsFigures:
    """
    How many people share their set of classes with fewer than k people, themselves included.

    ``by_two`` is how many share two of their classes with fewer than k people; None where there are too many pairs of
    classes to compare.
    """

    people: int
    by_all: int
    by_two: int | None


def row_sets(people: FrequencyTable, k: int) -> RowSetsFigures:
    """
    Count the people who are told apart by several of their classes. Rows whose person is not known are left out.

    :raises InvalidInputError: the table counts rows.
    """
    if people.units is None:
        raise InvalidInputError("the classes of a person are not known without a unit")
    known = np.flatnonzero(people.units > UNKNOWN_PERSON)
    starts_of_classes = people.class_starts()
    member = people.of_entries(np.arange(len(starts_of_classes)))[known]
    # The sort is stable, so the classes of each person stay in their order.
    order = np.argsort(people.units[known], kind="stable")
    of_class, units = member[order], people.units[known][order]
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    lengths = np.diff(starts, append=len(units))
    return RowSetsFigures(
        people=len(starts),
        by_all=_in_small_sets(of_class, starts, lengths, len(starts_of_classes), k),
        by_two=_in_small_pairs(of_class, starts, lengths, len(starts_of_classes), k),
    )


def _in_small_sets(of_class: Integers, starts: Integers, lengths: Integers, classes: int, k: int) -> int:
    """Return how many people have a set of classes that fewer than k people have; sets are compared by a number."""
    small = 0
    for length in np.unique(lengths).tolist():
        some = starts[lengths == length]
        sets = kernels.group([of_class[some + at] for at in range(length)], [classes] * length)
        small += int(sets.weights[sets.weights < k].sum())
    return small


def _in_small_pairs(of_class: Integers, starts: Integers, lengths: Integers, classes: int, k: int) -> int | None:
    """Return how many people have two classes that fewer than k people share."""
    after = np.repeat(starts + lengths, lengths) - np.arange(len(of_class)) - 1
    if int(after.sum()) > MAX_PAIRS:
        return None
    first = np.repeat(np.arange(len(of_class)), after)
    if not len(first):
        return 0
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(after) - after, after)
    pairs = kernels.group([of_class[first], of_class[second]], [classes, classes])
    person = np.repeat(np.arange(len(starts)), lengths)[first]
    small = np.zeros(len(starts), np.bool_)
    small[person[(pairs.weights < k)[pairs.member]]] = True
    return int(np.count_nonzero(small))
