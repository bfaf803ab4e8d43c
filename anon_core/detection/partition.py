"""Stripped partitions: the classes of rows that a set of columns does not tell apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from anon_core import kernels
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable
from anon_core.kernels import AnyCodes, Integers
from anon_core.table import Mask

_NO_UNITS = np.zeros(0, np.int32)
_NO_WEIGHTS = np.zeros(0, np.int64)


class _WorkSpace(NamedTuple):
    """Work space of the compiled loop, with cells for each value of a column; counts and sizes are 0 between calls."""

    counts: AnyCodes
    sizes: Integers
    places: AnyCodes
    several: Mask
    touched: AnyCodes

    @classmethod
    def of(cls, frequencies: FrequencyTable) -> _WorkSpace:
        cells = max((len(domain) for domain in frequencies.domains), default=0)
        counts, places, touched = (np.zeros(cells, np.int32) for _ in range(3))
        return cls(counts, np.zeros(cells, np.int64), places, np.zeros(cells, np.bool_), touched)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """
    The classes of at least two rows over some columns, without the rows that are alone.

    A row that is alone stays alone when a column is added, so refining does not look at it again. Class ``i`` has the
    members ``members[offsets[i] : offsets[i + 1]]`` (distinct tuples of the whole table) and ``sizes[i]`` rows;
    ``alone`` is the number of classes that were left out, ``rows`` the number of rows of the whole table. Where the
    table counts people, a class is left out if all its rows belong to one person; rows whose person is not known are
    left out too.

    The search for unique columns has its own partitions, on a stack and without weights, because it does little else
    than refine them.
    """

    frequencies: FrequencyTable
    rows: int
    work: _WorkSpace
    members: AnyCodes
    offsets: AnyCodes
    sizes: Integers
    alone: int

    @classmethod
    def whole(cls, frequencies: FrequencyTable) -> Partition:
        """Return the partition by no column: all rows in one class."""
        members, rows = _members(frequencies), frequencies.rows
        several = rows > 1
        return cls(
            frequencies=frequencies,
            rows=rows,
            work=_WorkSpace.of(frequencies),
            members=members if several else members[:0],
            offsets=np.array([0, len(members)] if several else [0], np.int32),
            sizes=np.array([frequencies.weights[members].sum()] if several else [], np.int64),
            alone=0 if several else min(len(members), 1),
        )

    @classmethod
    def by(cls, frequencies: FrequencyTable, columns: Iterable[int]) -> Partition:
        """Return the partition by some columns, given by position."""
        partition = cls.whole(frequencies)
        for column in columns:
            partition = partition.refine(column)
        return partition

    @property
    def classes(self) -> int:
        """How many distinct tuples these columns have, those of one row included; a unit that is alone counts once."""
        return self.alone + len(self.sizes)

    @property
    def singletons(self) -> int:
        """How many rows, or people, are alone."""
        if self.frequencies.units is None:
            return self.rows - int(self.sizes.sum())
        return len(np.unique(self.frequencies.units[self.left_out()]))

    @property
    def weighted(self) -> bool:
        """Whether some member has several rows."""
        return int(self.sizes.sum()) > len(self.members)

    def left_out(self) -> Mask:
        """Return which tuples are alone."""
        single = np.zeros(len(self.frequencies.weights), np.bool_)
        single[_members(self.frequencies)] = True
        single[self.members] = False
        return single

    def singletons_with(self, column: int) -> int:
        """Return how many rows would be alone after a split by one more column, without splitting."""
        if self.weighted or self.frequencies.units is not None or not len(self.members):
            return self.refine(column).singletons
        codes = np.ascontiguousarray(self.frequencies.codes[column], np.int32)
        more = _alone_compiled if kernels.spend(len(self.members), self.rows) else _alone
        return self.rows - len(self.members) + more(self, codes, len(self.frequencies.domains[column]))

    def refine(self, column: int) -> Partition:
        """Split every class by one more column, and leave out the rows that are now alone."""
        if not len(self.members):
            return self
        split = _refine_compiled if kernels.spend(len(self.members), self.rows) else _refine
        return split(self, column)


def _members(frequencies: FrequencyTable) -> AnyCodes:
    """Return the tuples that count: where people are counted, those of known people."""
    if frequencies.units is None:
        return np.arange(len(frequencies.weights), dtype=np.int32)
    return np.flatnonzero(frequencies.units > UNKNOWN_PERSON).astype(np.int32)


def separation(sizes: Integers, rows: int) -> float:
    """Return the share of all pairs of rows that are in different classes; 1 where there is no pair."""
    together = int((sizes * (sizes - 1)).sum())  # Below the square of the rows: no table is that long.
    return 1 - together / (rows * (rows - 1)) if rows > 1 else 1.0


def _alone_compiled(partition: Partition, codes: AnyCodes, _: int) -> int:
    from anon_core.kernels.compiled.refinement import count_alone

    return int(count_alone(partition.members, partition.offsets, codes, tuple(partition.work)))


def _alone(partition: Partition, codes: AnyCodes, cardinality: int) -> int:
    keys, cells = _cells(partition, codes, cardinality)
    return int(np.count_nonzero(np.bincount(keys, minlength=cells) == 1))


def _cells(partition: Partition, codes: AnyCodes, cardinality: int) -> tuple[Integers, int]:
    """Return the cell that each member would be in after a split by a column, and an upper bound of the cells."""
    classes = np.repeat(np.arange(len(partition.sizes)), np.diff(partition.offsets))
    keys = classes * cardinality + codes[partition.members]
    cells = len(partition.sizes) * cardinality
    if cells > 8 * len(keys) + 1024:  # Too many to count in.
        used, keys = np.unique(keys, return_inverse=True)
        cells = len(used)
    return keys, cells


def _refine_compiled(partition: Partition, column: int) -> Partition:
    from anon_core.kernels.compiled.refinement import refine

    frequencies = partition.frequencies
    codes = frequencies.codes[column]
    members, offsets, sizes, alone = refine(
        partition.members,
        partition.offsets,
        np.ascontiguousarray(codes, np.int32),
        tuple(partition.work),  # Without its class, of which a kernel knows nothing.
        frequencies.weights if partition.weighted else _NO_WEIGHTS,
        _NO_UNITS if frequencies.units is None else np.ascontiguousarray(frequencies.units, np.int32),
    )
    return replace(partition, members=members, offsets=offsets, sizes=sizes, alone=partition.alone + int(alone))


def _refine(partition: Partition, column: int) -> Partition:
    frequencies, members = partition.frequencies, partition.members
    keys, cells = _cells(partition, frequencies.codes[column], len(frequencies.domains[column]))
    rows = kernels.weigh(keys, cells, frequencies.weights[members] if partition.weighted else None)
    keep = rows > 1
    if frequencies.units is not None:
        lowest, highest = np.full(cells, np.iinfo(np.int32).max), np.full(cells, -1)
        np.minimum.at(lowest, keys, frequencies.units[members])
        np.maximum.at(highest, keys, frequencies.units[members])
        keep = lowest < highest
    stay = keep[keys]
    classes = (np.cumsum(keep) - 1)[keys[stay]]
    sizes = rows[keep]
    # Numpy sorts short integers by counting them, which is much faster.
    order = np.argsort(classes.astype(np.uint16) if len(sizes) < 1 << 16 else classes, kind="stable")
    return replace(
        partition,
        members=members[stay][order],
        offsets=np.concatenate([[0], np.cumsum(np.bincount(classes, minlength=len(sizes)))]).astype(np.int32),
        sizes=sizes,
        alone=partition.alone + int(np.count_nonzero(rows)) - len(sizes),
    )
