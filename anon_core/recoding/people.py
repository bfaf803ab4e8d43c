"""The people of the tuples of a task: a person counts once in a class, however many rows they have there.

(X,Y)-anonymity: Wang and Fung, Anonymizing sequential releases, 2006. The size of a class is no sum over its tuples
then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.errors import InternalError
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.classes import SensitiveClasses, sensitive_classes
from anon_core.measures.diversity.bands import bands
from anon_core.plan import RecodingPlan
from anon_core.policy import CountedValues
from anon_core.table import Mask


def expanded(starts: Integers, tuples: Integers) -> tuple[Integers, Integers]:
    """
    Return the pairs of some tuples, tuple by tuple, and how many each has.

    >>> [found.tolist() for found in expanded(np.array([0, 2, 3]), np.array([1, 0]))]
    [[2, 0, 1], [1, 2]]
    """
    lengths = np.diff(starts)[tuples]
    first = np.repeat(starts[tuples] - (np.cumsum(lengths) - lengths), lengths)
    return first + np.arange(lengths.sum()), lengths


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """For each group, how many rows the person with most rows has, and how many rows all known people have."""

    largest: Integers
    rows: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class TuplePeople:
    """
    The people of the tuples of ``table``, which has one entry for each pair of tuple and person.

    Tuple ``t`` has the pairs from ``starts[t]`` to ``starts[t + 1]``, ``member`` is the tuple of each pair. A tuple
    without known people has one pair, with UNKNOWN_PERSON as its person.
    """

    table: FrequencyTable
    units: AnyCodes
    rows: Integers
    starts: Integers
    member: Integers

    @classmethod
    def of(cls, frequencies: FrequencyTable, people: FrequencyTable) -> Self:
        """
        Return the people of tuples, from people counted over these tuples, and over other columns too or not.

        :raises InternalError: people of other tuples, or rows instead of people.
        """
        if people.units is None or people.unit_rows is None:
            raise InternalError("rows in place of people", "recode.people")
        member = tuple_of(people, len(frequencies.names))
        if int(member.max(initial=-1)) + 1 != len(frequencies.weights):
            raise InternalError("people of other tuples", "recode.people")
        return cls(
            table=people,
            units=people.units,
            rows=people.unit_rows,
            starts=np.searchsorted(member, np.arange(len(frequencies.weights) + 1)),
            member=member,
        )

    def each_is_another(self, rows: int) -> bool:
        """Whether the person of each of so many rows is known, and no person has two."""
        return bool((self.units > UNKNOWN_PERSON).all()) and len(np.unique(self.units)) == rows

    @property
    def count(self) -> int:
        """How many people there are; one if no person is known."""
        return self.table.rows

    @property
    def rows_of_each(self) -> Integers:
        """How many rows each known person has."""
        known = self.units > UNKNOWN_PERSON
        return kernels.weigh(np.unique(self.units[known], return_inverse=True)[1], self.table.rows, self.rows[known])

    def sizes(self, tuples: Integers, group: Integers, groups: int) -> Integers:
        """Return how many people are in groups of tuples: ``group[i]`` is that of tuple ``tuples[i]``."""
        at, lengths = expanded(self.starts, tuples)
        return distinct_people(np.repeat(group, lengths), self.units[at], groups)

    def contributions(self, tuples: Integers, group: Integers, groups: int) -> Contributions:
        """Return for each group how many rows the person with most rows has, and how many all known people have."""
        at, lengths = expanded(self.starts, tuples)
        at, member = at[self.units[at] > UNKNOWN_PERSON], np.repeat(group, lengths)[self.units[at] > UNKNOWN_PERSON]
        found = _pairs(member, self.units[at], groups, self.rows[at])
        most: Integers = np.zeros(groups, np.int64)
        np.maximum.at(most, member[found.first], found.weights)
        return Contributions(largest=most, rows=kernels.weigh(member, groups, self.rows[at]))

    def plan(self, plan: RecodingPlan) -> RecodingPlan:
        """Return a plan for the tuples as one for the pairs of tuple and person."""
        return replace(
            plan, frequencies=self.table, levels=plan.levels[:, self.member], removed=plan.removed[self.member]
        )

    def homes(self, k: int) -> Integers:
        """
        Return weights of tuples: up to ``k``, their sum over a union of tuples is at most the number of its people.

        A tuple with ``k`` people of its own has the weight ``k``. In the other tuples each person has one home: their
        rarest tuple, or the first of several. The weight of a tuple is the number of people with their home in it. A
        tuple whose people all have their home elsewhere has the weight 0, though it has rows. The weights serve only to
        show that there are at least k people.
        """
        tuples = len(self.starts) - 1
        own = self.sizes(np.arange(tuples), np.arange(tuples), tuples)
        open_ = np.flatnonzero((own < k)[self.member] & (self.units > UNKNOWN_PERSON))
        order = open_[np.lexsort((self.member[open_], own[self.member[open_]], self.units[open_]))]
        first = np.diff(self.units[order], prepend=UNKNOWN_PERSON) != 0
        homes = kernels.weigh(self.member[order[first]], tuples, None)
        return np.where(own >= k, k, homes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivePeople(TuplePeople):
    """
    Which values of a sensitive column the people of each tuple have, in the order of ``starts``.

    It is made from people counted over the tuples and that column, the last one.
    """

    def counted_as(self, values: CountedValues) -> SensitivePeople:
        """Return them with bands in the place of values."""
        stands_for = bands(self.domain, np.ones(len(self.domain), np.bool_), values)
        if stands_for is None:
            return self
        codes = (*self.table.codes[:-1], stands_for[self.table.codes[-1]])
        return replace(self, table=replace(self.table, codes=codes))

    @property
    def column(self) -> str:
        return self.table.names[-1]

    @property
    def domain(self) -> pa.Array:
        return self.table.domains[-1]

    def within(self, tuples: Integers, group: Integers, groups: int, kept: Mask | None) -> SensitiveClasses:
        """Return the values in groups of tuples, none of them empty; closeness compares with the tuples in ``kept``."""
        at, lengths = expanded(self.starts, tuples)
        found = sensitive_classes(
            self._counted(at, np.repeat(group, lengths), [pa.nulls(groups)]), ["class"], self.column
        )
        return replace(found, whole=self._whole(kept))

    def _counted(self, at: Integers, group: Integers, classes: list[pa.Array]) -> FrequencyTable:
        return FrequencyTable.from_codes(
            ["class", self.column],
            [group, self.table.codes[-1][at]],
            [*classes, self.domain],
            self.rows[at],
            self.units[at],
        )

    def _whole(self, kept: Mask | None) -> Integers:
        """Return how many people have each value in the tuples that are kept."""
        at = np.arange(len(self.units)) if kept is None else np.flatnonzero(kept[self.member])
        values = self.table.codes[-1][at].astype(np.int64)
        return distinct_people(values, self.units[at], len(self.domain))

    def by_class(self, after: FrequencyTable, member: Integers) -> FrequencyTable:
        """Count the column together with published classes; ``member`` is the class of each tuple, -1 if removed."""
        classes = member[self.member]
        at = np.flatnonzero(classes >= 0)
        return FrequencyTable.from_codes(
            [*after.names, self.column],
            [*(codes[classes[at]] for codes in after.codes), self.table.codes[-1][at]],
            [*after.domains, self.domain],
            self.rows[at],
            self.units[at],
        )


def tuple_of(table: FrequencyTable, columns: int) -> Integers:
    """Return which distinct tuple of its first columns each entry has; entries are in their order."""
    if not columns:
        return np.zeros(len(table.weights), np.int64)
    return kernels.group(table.codes[:columns], [len(domain) for domain in table.domains[:columns]]).member


def distinct_people(group: Integers, units: AnyCodes, groups: int) -> Integers:
    """
    Return how many people are in each group; unknown people are one person in a group without known people.

    >>> distinct_people(np.array([0, 0, 0, 1, 1]), np.array([1, 1, 2, 0, 0]), 2).tolist()
    [2, 1]
    """
    found = _pairs(group, units, groups)
    known = units[found.first] > UNKNOWN_PERSON
    people = kernels.weigh(group[found.first][known], groups, None)
    alone = group[found.first][~known]
    people[alone] = np.maximum(people[alone], 1)
    return people


def _pairs(group: Integers, units: AnyCodes, groups: int, weights: Integers | None = None) -> kernels.Groups:
    return kernels.group([group, units], [groups, int(units.max(initial=0)) + 1], weights)
