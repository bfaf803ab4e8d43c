"""Stripped partitions: the rows that a set of columns leaves indistinguishable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.frequency import FrequencyTable
from anon_core.kernels import AnyCodes, Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """
    The classes of at least two rows under some columns; rows that are alone are left out for good.

    A row that is alone stays alone whatever column is added, so refining never looks at it again. ``tuples`` are the
    members (distinct tuples of the whole table), ``clusters`` the class each is in (numbered from 0), ``sizes`` the
    rows of each class.
    """

    tuples: Integers
    clusters: Integers
    sizes: Integers

    @classmethod
    def whole(cls, frequencies: FrequencyTable) -> Partition:
        """Return the partition by no column at all: everybody in one class."""
        count = frequencies.tuples
        if frequencies.rows < 2:
            return cls(tuples=np.zeros(0, np.int64), clusters=np.zeros(0, np.int64), sizes=np.zeros(0, np.int64))
        return cls(
            tuples=np.arange(count),
            clusters=np.zeros(count, np.int64),
            sizes=np.array([frequencies.rows], np.int64),
        )

    @property
    def rows(self) -> int:
        """How many rows are not alone."""
        return int(self.sizes.sum())

    def refine(self, codes: AnyCodes, cardinality: int, weights: Integers) -> Partition:
        """Split every class by one more column, and leave out the rows that are now alone."""
        if not len(self.tuples):
            return self
        groups = kernels.group(
            [self.clusters, codes[self.tuples]], [len(self.sizes), cardinality], weights[self.tuples]
        )
        keep = groups.weights > 1
        number = np.cumsum(keep) - 1
        members = keep[groups.member]
        return Partition(
            tuples=self.tuples[members], clusters=number[groups.member[members]], sizes=groups.weights[keep]
        )
