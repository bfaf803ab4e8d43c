"""How the values of a column repeat: whether they could be ids of people who have several rows each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.kernels import Integers
from anon_core.table import Column

MAX_GROUP_ROWS = 20
"""A group of at most so many rows is small. On average, a value may have at most so many rows, too."""
MAX_FEW_VALUES = 20
"""A column with so few values, such as sex, does not tell people apart: no table of so few people is published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGroups:
    """How many rows each value of a column has, without gaps."""

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
        """Whether any value occurs in several rows."""
        return self.values < self.rows

    @property
    def are_small(self) -> bool:
        """
        Whether there are more than a few values, at least one for every 20 rows, and most rows share theirs with 1 to
        19.

        >>> ValueGroups(sizes=np.full(30, 5)).are_small, ValueGroups(sizes=np.array([1, 1, 1, 2])).are_small
        (True, False)
        """
        few = self.sizes[(self.sizes > 1) & (self.sizes <= MAX_GROUP_ROWS)]
        return (
            self.values > MAX_FEW_VALUES
            and self.values * MAX_GROUP_ROWS >= self.rows
            and int(few.sum()) * 2 >= self.rows
        )

    @property
    def are_even(self) -> bool:
        """
        Whether groups are small and most values occur in several rows, as ids of people with several rows do.

        Values that are equal by chance, such as amounts to the euro, mostly occur in one row.

        >>> [ValueGroups(sizes=np.repeat(sizes, 10)).are_even for sizes in ([2, 3, 1], [1, 1, 1, 4])]
        [True, False]
        """
        return self.are_small and int(np.count_nonzero(self.sizes > 1)) * 2 >= self.values
