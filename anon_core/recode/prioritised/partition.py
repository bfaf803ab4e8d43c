"""The tuples that have to be recoded, put into classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.plan import RecodingPlan
from anon_core.recode.prioritised.encoding import Encoded
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """
    Which class every tuple is in, from 0 to ``count`` - 1; -1 for settled ones and those that are in none.

    Classes are never empty, and every class has the lowest levels at which its tuples agree.
    """

    classes: Integers
    count: int

    @classmethod
    def numbered(cls, classes: Integers) -> Partition:
        """Return the partition with classes numbered without gaps, in the order of their first tuples."""
        placed = classes >= 0
        _, first, member = np.unique(classes[placed], return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        renumbered = np.full(len(classes), -1, np.int64)
        renumbered[placed] = rank[member]
        return cls(classes=renumbered, count=len(first))

    def with_settled(self, encoded: Encoded) -> Partition:
        """Return the partition with the classes that are safe as collected."""
        bottom = [0] * encoded.columns
        own = encoded.settled & (self.classes < 0) & encoded.safe_at(bottom)
        return Partition.numbered(np.where(own, self.count + encoded.classes_at(bottom).member, self.classes))

    def without_settled(self, encoded: Encoded) -> Partition:
        """Return the partition without classes of nothing but settled tuples."""
        others = np.zeros(self.count, np.bool_)
        others[self.classes[(self.classes >= 0) & ~encoded.settled]] = True
        own = (self.classes >= 0) & others[self.classes]
        return Partition.numbered(np.where(own, self.classes, -1))

    @property
    def members(self) -> Integers:
        """The tuples in classes, class by class."""
        placed = np.flatnonzero(self.classes >= 0)
        return placed[np.argsort(self.classes[placed], kind="stable")]

    def homeless(self, encoded: Encoded) -> Integers:
        """Return the tuples that have to be recoded and are in no class."""
        return np.flatnonzero((self.classes < 0) & ~encoded.settled)

    def levels(self, encoded: Encoded) -> Integers:
        """Return the levels of every tuple: 0 for settled ones, the roots for homeless ones."""
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
        """Return the plan of the partition, in which homeless tuples are removed."""
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
