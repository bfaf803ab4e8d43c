"""Which sets of published columns single people out without a person who accepts them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from anon_core import kernels
from anon_core.detection.partition import Partition
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable
from anon_core.kernels import AnyCodes
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueSet:
    """A minimal column set that singles out more rows than allowed."""

    columns: tuple[str, ...]
    singletons: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """The minimal sets that single out too many rows, and of the other sets the one that singles out most."""

    sets: list[UniqueSet]
    most_allowed: UniqueSet | None


def search_uniqueness(
    frequencies: FrequencyTable,
    *,
    max_size: int,
    max_share: float,
    accepted: Sequence[Sequence[str]] = (),
    together: Sequence[Sequence[str]] = (),
    protected: Sequence[Sequence[str]] = (),
) -> Searched:
    """
    Find the minimal column sets up to a size that single out a larger share of rows than allowed.

    The sets in ``together`` are searched too, at any size. An accepted set covers itself and its subsets. Of a larger
    set that contains it, only those rows count that the accepted set does not single out already: a person accepted
    these rows, and no others. A ``protected`` set and its subsets are skipped, because another check judges them; of a
    larger set all rows count. Sets with columns that the table lacks are skipped.

    This search differs from that of detection, although both use partitions: here the number of rows that count may
    fall when a column is added. Where the table counts people, people are singled out, and so are classes of rows whose
    person is not known.
    """
    rows, names = frequencies.rows, frequencies.names
    covers, judged = _indices(accepted, names), _indices(protected, names)
    alone = {cover: Partition.by(frequencies, sorted(cover)).left_out() for cover in covers}
    found: dict[frozenset[int], int] = {}
    allowed: tuple[int, frozenset[int]] = (0, frozenset())

    def breaks(members: frozenset[int], partition: Partition) -> bool:
        """Note a set that singles out too many rows that are not accepted, and the worst of the other sets."""
        nonlocal allowed
        if any(members <= cover for cover in (*covers, *judged)):
            return False
        within = [cover for cover in covers if cover < members]
        count = partition.singletons
        if within:
            answered = np.logical_or.reduce([alone[cover] for cover in within])
            count = _behind(frequencies, partition.left_out() & ~answered)
        count += _unknown(frequencies, members, within)
        if count / rows > max_share:  # Not `max_share * rows`: 0.29 * 100 is below 29.
            found[members] = count
        elif count > allowed[0]:
            allowed = (count, members)
        return members in found

    def visit(chosen: tuple[int, ...], partition: Partition, start: int) -> None:
        for column in range(start, len(names)):
            members = frozenset((*chosen, column))
            if _contains_one(members, found, len(members)):
                continue
            refined = partition.refine(column)
            if not breaks(members, refined) and len(members) < max_size:
                visit((*chosen, column), refined, column + 1)

    if rows:
        visit((), Partition.whole(frequencies), 0)
        for members in _indices(together, names):
            breaks(members, Partition.by(frequencies, sorted(members)))
    minimal = [members for members in found if not _contains_one(members, found, len(members) - 1)]

    def described(members: frozenset[int], count: int) -> UniqueSet:
        return UniqueSet(columns=tuple(names[i] for i in sorted(members)), singletons=count, share=count / rows)

    sets = sorted((described(m, found[m]) for m in minimal), key=lambda s: (len(s.columns), -s.singletons, s.columns))
    return Searched(sets=sets, most_allowed=described(allowed[1], allowed[0]) if allowed[0] else None)


def _indices(sets: Sequence[Sequence[str]], names: Sequence[str]) -> list[frozenset[int]]:
    return [frozenset(names.index(c) for c in columns) for columns in sets if set(columns) <= set(names)]


def _contains_one(members: frozenset[int], found: Collection[frozenset[int]], most: int) -> bool:
    """Whether this set contains one of the sets that were found, which have at most ``most`` columns.

    It looks up the subsets of this set, or compares it with all that were found, whichever is less work.
    """
    if len(found) < 2 ** len(members):
        return any(len(smaller) <= most and smaller <= members for smaller in found)
    sizes = range(1, most + 1)
    return any(frozenset(some) in found for size in sizes for some in combinations(members, size))


def _unknown(frequencies: FrequencyTable, members: frozenset[int], covers: Sequence[frozenset[int]]) -> int:
    """Return how many classes have only rows of unknown people, without those that are such classes of a cover too."""
    if not frequencies.classes_of_unknown:
        return 0
    classes = _of_unknown(frequencies, members)
    for cover in covers:
        known = _of_unknown(frequencies, cover)
        pairs = zip(known, (classes[sorted(members).index(i)] for i in sorted(cover)), strict=True)
        sizes = [len(frequencies.domains[i]) for i in sorted(cover)]
        found = kernels.group([np.concatenate(pair) for pair in pairs], sizes)
        told = np.zeros(len(found.first), np.bool_)
        told[found.member[: len(known[0])]] = True
        classes = [codes[~told[found.member[len(known[0]) :]]] for codes in classes]
    return len(classes[0])


def _of_unknown(frequencies: FrequencyTable, members: frozenset[int]) -> list[AnyCodes]:
    """Return the tuples over some columns that have only rows whose person is not known."""
    found = frequencies.project([frequencies.names[i] for i in sorted(members)])
    return [codes[found.units == UNKNOWN_PERSON] for codes in found.codes]


def _behind(frequencies: FrequencyTable, alone: Mask) -> int:
    """Return how many rows the tuples that are alone have; units count once each."""
    if frequencies.units is None:
        return int(np.count_nonzero(alone))
    return len(np.unique(frequencies.units[alone]))
