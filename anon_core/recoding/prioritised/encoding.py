"""A task as arrays for the compiled loops of local recoding, and partitions of its tuples into classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from anon_core import kernels
from anon_core.frequency import UNKNOWN_PERSON
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import Floats, Integers, Words
from anon_core.plan import RecodingPlan
from anon_core.recoding.task import Task
from anon_core.table import Mask

if TYPE_CHECKING:
    from anon_core.kernels.compiled.local_classes import Behind

_HASH_SEED = 2019


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """
    The tuples of a task with a key for every level of every cell.

    A slot is one level of one column; those of column ``i`` begin at ``base[i]``. ``keys[t, slot]`` is a word for the
    label of tuple ``t`` there; the exclusive or of one slot per column is the key of the whole tuple. ``settled``
    tuples are in classes that are safe as collected, and are not changed.

    A column that is published as collected has one more slot, at which all tuples are equal, so that any two tuples
    have a node where they are equal; a plan removes tuples that need this slot.
    """

    task: Task
    keys: Words
    base: Integers
    settled: Mask

    @classmethod
    def of(cls, task: Task) -> Encoded:
        """Encode a task. Beyond 64 bits keys are hashes, so the classes must be counted again at the end."""
        heights = [ladder.height for ladder in task.ladders]
        base = np.concatenate([[0], np.cumsum(np.maximum(np.array(heights, np.int64), 1) + 1)]).astype(np.int64)
        keys = np.zeros((len(task.frequencies.weights), int(base[-1])), np.uint64)
        for column, (ladder, words) in enumerate(zip(task.ladders, _words(task.ladders), strict=True)):
            for level, labels in enumerate(ladder.maps):
                keys[:, base[column] + level] = words[labels[task.frequencies.codes[column]]]
        encoded = cls(task=task, keys=keys, base=base, settled=np.zeros(len(keys), np.bool_))
        return cls(task=task, keys=keys, base=base, settled=encoded.safe_at([0] * len(heights)))

    @property
    def columns(self) -> int:
        return len(self.base) - 1

    @property
    def heights(self) -> Integers:
        """The highest level of each column that may be published."""
        return np.array([ladder.height for ladder in self.task.ladders], np.int64)

    @property
    def tops(self) -> Integers:
        """The level of each column at which all are equal."""
        return np.diff(self.base) - 1

    @property
    def fixed(self) -> Integers:
        """The columns that are published as collected."""
        return np.flatnonzero(self.heights == 0)

    @property
    def empty(self) -> Integers:
        """The first slot of each column from which on its labels say nothing."""
        levels = np.array([ladder.empty_levels for ladder in self.task.ladders], np.int64)
        levels[self.fixed] = 2  # The other columns decide whether a row says nothing.
        return self.base[1:] - levels

    @property
    def weights(self) -> Integers:
        return self.task.frequencies.weights

    @property
    def behind(self) -> Behind:
        """The people of the tuples, for the compiled loops."""
        from anon_core.kernels.compiled.local_classes import Behind

        people = self.task.people
        if people is None:
            return Behind(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
        known = people.units > UNKNOWN_PERSON
        before = np.concatenate([[0], np.cumsum(known)])
        return Behind(before[people.starts].astype(np.int64), people.units[known].astype(np.int64), people.rows[known])

    @property
    def open(self) -> Integers:
        """The tuples that have to be recoded."""
        return np.flatnonzero(~self.settled)

    @property
    def all_open(self) -> Encoded:
        """The same tuples, all of which may be recoded."""
        return replace(self, settled=np.zeros_like(self.settled))

    def classes_at(self, levels: Sequence[int]) -> kernels.Groups:
        """Return the classes of all tuples at one node, a level per column."""
        codes = [
            ladder.maps[level][codes]
            for ladder, level, codes in zip(self.task.ladders, levels, self.task.frequencies.codes, strict=True)
        ]
        return kernels.group(codes, [len(ladder.labels) for ladder in self.task.ladders], self.weights)

    def safe_at(self, levels: Sequence[int]) -> Mask:
        """Return which tuples are in safe classes at one node."""
        found = self.classes_at(levels)
        every = np.arange(len(self.weights))
        return self.task.requirements.safe(every, found.member, len(found.weights))[found.member]

    def plan(self, levels: Integers, removed: Mask | None = None) -> RecodingPlan:
        """Return the plan with ``levels[t, column]`` for every tuple; it removes tuples without levels."""
        beyond: Mask = np.asarray((levels > self.heights).any(axis=1))
        return RecodingPlan(
            frequencies=self.task.frequencies,
            ladders=self.task.ladders,
            levels=np.ascontiguousarray(np.where(beyond[:, None], 0, levels).T.astype(np.int8)),
            removed=beyond if removed is None else removed | beyond,
        )

    def within_reach(self, classes: Integers, tuples: Integers) -> Integers:
        """Return which tuples can join a class: those with its values in columns that are never changed."""
        if not len(self.fixed):
            return tuples
        codes = [self.task.frequencies.codes[at] for at in self.fixed]
        block = kernels.group(codes, [len(self.task.frequencies.domains[at]) for at in self.fixed]).member
        return tuples[np.isin(block[tuples], block[classes >= 0])]


def _words(ladders: Sequence[Ladder]) -> list[Words]:
    """Return a word for every label, with separate bits for each column; beyond 64 bits the words are random."""
    bits = [kernels.bits_of(len(ladder.labels)) for ladder in ladders]
    if sum(bits) > 64:
        random = np.random.default_rng(_HASH_SEED)
        return [random.integers(0, 1 << 64, len(ladder.labels), np.uint64) for ladder in ladders]
    shifts = np.cumsum([0, *bits[:-1]])
    return [
        np.arange(len(ladder.labels), dtype=np.uint64) << np.uint64(shift)
        for ladder, shift in zip(ladders, shifts, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuplePartition:
    """
    The class of every tuple, from 0 to ``count`` - 1; -1 for settled tuples and those that are in no class.

    Classes are never empty, and every class has the lowest levels at which its tuples are equal.
    """

    classes: Integers
    count: int

    @classmethod
    def of(cls, plan: RecodingPlan) -> TuplePartition:
        """Return the classes that a plan publishes; removed tuples are in none."""
        return cls.numbered(np.where(plan.removed, -1, plan.classes().member))

    @classmethod
    def numbered(cls, classes: Integers) -> TuplePartition:
        """Return the partition with classes numbered without gaps, in the order of their first tuples."""
        placed = classes >= 0
        _, first, member = np.unique(classes[placed], return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        renumbered = np.full(len(classes), -1, np.int64)
        renumbered[placed] = rank[member]
        return cls(classes=renumbered, count=len(first))

    def with_settled(self, encoded: Encoded) -> TuplePartition:
        """Return the partition with the classes that are safe as collected."""
        bottom = [0] * encoded.columns
        own = encoded.settled & (self.classes < 0) & encoded.safe_at(bottom)
        return TuplePartition.numbered(np.where(own, self.count + encoded.classes_at(bottom).member, self.classes))

    def without_settled(self, encoded: Encoded) -> TuplePartition:
        """Return the partition without classes that have only settled tuples."""
        others = np.zeros(self.count, np.bool_)
        others[self.classes[(self.classes >= 0) & ~encoded.settled]] = True
        own = (self.classes >= 0) & others[self.classes]
        return TuplePartition.numbered(np.where(own, self.classes, -1))

    @property
    def members(self) -> Integers:
        """The tuples in classes, class by class."""
        placed = np.flatnonzero(self.classes >= 0)
        return placed[np.argsort(self.classes[placed], kind="stable")]

    def homeless(self, encoded: Encoded) -> Integers:
        """Return the tuples that have to be recoded and are in no class."""
        return np.flatnonzero((self.classes < 0) & ~encoded.settled)

    def levels(self, encoded: Encoded) -> Integers:
        """Return the levels of every tuple: 0 for settled tuples, the roots for tuples without a class."""
        levels = np.zeros((len(self.classes), encoded.columns), np.int64)
        placed = self.classes >= 0
        levels[placed] = self.class_levels(encoded)[self.classes[placed]]
        levels[self.homeless(encoded)] = encoded.heights
        return levels

    def class_levels(self, encoded: Encoded) -> Integers:
        """Return the levels of every class."""
        from anon_core.kernels.compiled.local_classes import Cells, common_levels

        levels = np.zeros((self.count, encoded.columns), np.int64)
        cells = Cells(encoded.keys, np.zeros((0, 0)), encoded.weights, encoded.base, encoded.empty)
        common_levels(cells, self.classes, levels, np.full(self.count, -1, np.int64))
        return levels

    def blank(self, encoded: Encoded) -> Mask:
        """Return which tuples are in classes that say nothing in any column."""
        empty = (self.class_levels(encoded) >= encoded.empty - encoded.base[:-1]).all(axis=1)
        return np.asarray((self.classes >= 0) & np.append(empty, False)[self.classes])

    def plan(self, encoded: Encoded) -> RecodingPlan:
        """Return the plan of the partition; it removes tuples without a class."""
        removed: Mask = np.zeros(len(self.classes), np.bool_)
        removed[self.homeless(encoded)] = True
        return encoded.plan(self.levels(encoded), removed)

    def class_costs(self, encoded: Encoded, costs: Floats) -> Floats:
        """Return what the rows of each class cost."""
        levels, placed = self.class_levels(encoded), self.members
        numbers = self.classes[placed]
        slots = (levels + encoded.base[:-1])[numbers]
        each = encoded.weights[placed] * np.take_along_axis(costs[placed], slots, axis=1).sum(axis=1)
        return np.asarray(np.bincount(numbers, each, minlength=self.count), np.float64)
