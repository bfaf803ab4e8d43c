"""How many rows, or people, each tuple of one side meets on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.frequency import FrequencyTable
from anon_core.kernels import AnyCodes, Integers
from anon_core.table import Mask

Edges = tuple[Integers, Integers]

_AT_ONCE = 20_000_000
"""Pairs of tuple and unit that are held in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowds:
    """
    The distinct tuples of one side that somebody is behind, and who.

    ``sizes`` counts the rows of each tuple, or its units; ``member`` is the tuple of every entry that came in, -1 where
    nobody is behind it. ``people[starts[t]:starts[t + 1]]`` are the units of tuple ``t``.
    """

    codes: tuple[AnyCodes, ...]
    sizes: Integers
    member: Integers
    people: AnyCodes | None
    starts: Integers

    @classmethod
    def of(cls, frequencies: FrequencyTable, weights: Integers) -> Crowds:
        """Return the tuples of which ``weights`` leaves something."""
        kept = np.flatnonzero(weights)
        codes = [column[kept] for column in frequencies.codes]
        found = kernels.group(codes, [len(domain) for domain in frequencies.domains], weights[kept])
        member = np.full(len(weights), -1, np.int64)
        member[kept] = found.member
        people = None
        if frequencies.units is not None:
            people = frequencies.units[kept][np.argsort(found.member, kind="stable")]
        return cls(
            codes=tuple(column[found.first] for column in codes),
            sizes=found.weights,
            member=member,
            people=people,
            starts=np.concatenate([[0], np.cumsum(found.weights)]) if people is not None else np.zeros(1, np.int64),
        )

    def behind(self, chosen: Mask) -> int:
        """Return how many rows are behind the chosen tuples; of units, each counts once."""
        if self.people is None:
            return int(self.sizes[chosen].sum())
        return len(np.unique(self.people[np.repeat(chosen, self.sizes)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """The fewest that a tuple meets, and how many rows (units) lie behind tuples that meet fewer than wanted."""

    fewest: int
    below: int


class Meetings:
    """Whom every tuple of one side meets on the other, added up edge by edge."""

    def __init__(self, own: Crowds, other: Crowds) -> None:
        self._own, self._other = own, other
        self._most: Integers = np.zeros(len(own.sizes), np.int64)
        self._least: Integers = np.zeros(len(own.sizes), np.int64)

    def add(self, mine: Integers, others: Integers) -> None:
        """Count edges that lead from tuple ``mine[e]`` to ``others[e]`` of the other side."""
        sizes = self._other.sizes[others]
        np.add.at(self._most, mine, sizes)
        np.maximum.at(self._least, mine, sizes)

    def met(self, edges: Callable[[], Iterable[Edges]], *, k: int, everybody: bool) -> Met:
        """
        Return the fewest that a tuple meets. ``edges`` gives all that were added once more.

        Rows are added up; of units, each counts once however many of its rows are met. With ``everybody`` a tuple
        without an edge has met nobody, else it is left out. If all are left out, nobody is met.
        """
        most = self._most
        counted = np.ones(len(most), np.bool_) if everybody else most > 0
        if not counted.any():
            return Met(fewest=0, below=0)
        if self._other.people is not None:
            most = self._distinct_people(self._other.people, edges, counted, k)
        return Met(fewest=int(most[counted].min()), below=self._own.behind(counted & (most < k)))

    def _distinct_people(
        self, units: AnyCodes, edges: Callable[[], Iterable[Edges]], counted: Mask, k: int
    ) -> Integers:
        """
        Return how many different units each tuple meets, exactly wherever that is below k or the smallest of all.

        One tuple that it meets has at least so many units, all together at most ``most``: whoever surely meets k, and
        more than somebody else at most, is not looked at more closely.
        """
        other, least, most = self._other, self._least, self._most
        close = counted & (least < max(k, int(most[counted].min()) + 1))
        result = np.where(close, most, least)
        chosen = [(mine[looked], others[looked]) for mine, others in edges() if (looked := close[mine]).any()]
        if not chosen:
            return result
        mine, others = (np.concatenate(ends) for ends in zip(*chosen, strict=True))
        order = np.argsort(mine, kind="stable")
        mine, others = mine[order], others[order]
        for some in _portions(mine, other.sizes[others]):
            sizes = other.sizes[others[some]]
            owner = np.repeat(mine[some], sizes)
            within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            people = units[np.repeat(other.starts[others[some]], sizes) + within]
            pairs = kernels.group([owner, people], [int(owner.max()) + 1, int(people.max()) + 1])
            different = np.bincount(owner[pairs.first], minlength=len(most))
            result[mine[some]] = different[mine[some]]
        return result


def _portions(owners: Integers, sizes: Integers) -> list[slice]:
    """Cut edges that are sorted by owner into portions that fit into memory; no owner is in two of them."""
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    ends, portions, begin = np.append(first[1:], len(owners)), [], 0
    total = np.concatenate([[0], np.cumsum(sizes)])
    for start, end in zip(first.tolist(), ends.tolist(), strict=True):
        if total[end] - total[begin] > _AT_ONCE and start > begin:
            portions.append(slice(begin, start))
            begin = start
    if len(owners):
        portions.append(slice(begin, len(owners)))
    return portions
