"""How the values of a column repeat: whether they could be the numbers of people who have several rows each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.kernels import Integers
from anon_core.table import Column

LARGEST_GROUP = 20
"""Rows that one person has at most where groups are small; as many rows for each value at most, on average."""
FEW_VALUES = 20
"""Of so few people nothing is published: a column with no more values, such as sex, numbers none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGroups:
    """The rows of each value of a column, gaps left out."""

    sizes: Integers

    @classmethod
    def of(cls, column: Column) -> ValueGroups:
        """Count the rows of each value that occurs."""
        sizes = np.bincount(column.codes, minlength=len(column.domain))
        sizes = sizes[:-1] if column.has_gaps else sizes
        return cls(sizes=sizes[sizes > 0].astype(np.int64))

    @property
    def rows(self) -> int:
        """Rows that have a value."""
        return int(self.sizes.sum())

    @property
    def values(self) -> int:
        return len(self.sizes)

    @property
    def repeat(self) -> bool:
        """Whether any value stands in several rows."""
        return self.values < self.rows

    @property
    def are_small(self) -> bool:
        """
        Whether values are more than a few, one for every 20 rows or more, and most rows share theirs with 1 to 19.

        >>> Groups(sizes=np.full(30, 5)).are_small, Groups(sizes=np.array([1, 1, 1, 2])).are_small
        (True, False)
        """
        few = self.sizes[(self.sizes > 1) & (self.sizes <= LARGEST_GROUP)]
        return self.values > FEW_VALUES and self.values * LARGEST_GROUP >= self.rows and int(few.sum()) * 2 >= self.rows

    @property
    def are_even(self) -> bool:
        """
        Whether groups are small and most values stand in several rows, as numbers of people with several rows do.

        Values that meet by chance, such as amounts to the euro, mostly stand in one row.

        >>> Groups(sizes=np.repeat([2, 3, 1], 10)).are_even, Groups(sizes=np.repeat([1, 1, 1, 4], 10)).are_even
        (True, False)
        """
        return self.are_small and int(np.count_nonzero(self.sizes > 1)) * 2 >= self.values
