"""How many rows, or people, each tuple of one side meets on the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.frequency import FrequencyTable
from anon_core.kernels import AnyCodes, Integers
from anon_core.table import Mask

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


def met(mine: Integers, others: Integers, own: Crowds, other: Crowds, *, k: int, everybody: bool) -> Met:
    """
    Count for every tuple whom it meets: edge ``e`` leads from tuple ``mine[e]`` to ``others[e]`` of the other side.

    Rows are added up; of units, each counts once however many of its rows are met. With ``everybody`` a tuple without
    an edge has met nobody, else it is left out. If all are left out, nobody is met.
    """
    tuples = len(own.sizes)
    most = kernels.weigh(mine, tuples, other.sizes[others])
    counted = np.ones(tuples, np.bool_) if everybody else most > 0
    if not counted.any():
        return Met(fewest=0, below=0)
    if other.people is not None:
        most = _distinct_people(mine, others, other, other.people, most, counted, k)
    return Met(fewest=int(most[counted].min()), below=own.behind(counted & (most < k)))


def _distinct_people(
    mine: Integers, others: Integers, other: Crowds, units: AnyCodes, most: Integers, counted: Mask, k: int
) -> Integers:
    """
    Return how many different units each tuple meets, exactly wherever that is below k or the smallest of all.

    One tuple that it meets has at least so many units, all together at most ``most``: whoever surely meets k, and more
    than somebody else at most, is not looked at more closely.
    """
    least = np.zeros(len(most), np.int64)
    np.maximum.at(least, mine, other.sizes[others])
    close = counted & (least < max(k, int(most[counted].min()) + 1))
    result = np.where(close, most, least)
    edges = np.flatnonzero(close[mine])
    edges = edges[np.argsort(mine[edges], kind="stable")]
    for some in _portions(mine[edges], other.sizes[others[edges]]):
        chosen = edges[some]
        sizes = other.sizes[others[chosen]]
        owner = np.repeat(mine[chosen], sizes)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        people = units[np.repeat(other.starts[others[chosen]], sizes) + within]
        pairs = kernels.group([owner, people], [int(owner.max()) + 1, int(people.max()) + 1])
        different = np.bincount(owner[pairs.first], minlength=len(most))
        result[mine[chosen]] = different[mine[chosen]]
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
