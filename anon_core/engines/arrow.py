"""Rows in memory, as dictionary codes: the default engine."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np

from anon_core import kernels
from anon_core.engines.release import release_in_order, release_sorted
from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Joined
from anon_core.plan import RecodingPlan
from anon_core.table import RELEASED, Column, Table, read

MAX_TABLES_KEPT = 8
"""So many counted tables are kept: each may be as large as the columns that it counts."""

_CountKey = tuple[tuple[str, ...], bool]
"""Columns, and whether the people are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrowEngine:
    """
    An :class:`~anon_core.engines.engine.Engine` whose rows are a table in memory.

    Each set of columns is counted once. Fewer columns are counted from the distinct tuples of more, never from rows.
    """

    table: Table
    unit: str | None = None
    _counted: dict[_CountKey, FrequencyTable] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def reads(cls, path: Path) -> bool:
        """Whether the source is a file; reading refuses a file that is neither CSV nor Parquet."""
        return True

    @classmethod
    def open(cls, path: Path, *, unit: str | None = None) -> Self:
        """Read a file that this product has written."""
        # The reader takes patterns: a path that looks like one must lead to no other file.
        return cls(table=read(Path(glob.escape(str(path))), RELEASED), unit=unit)

    @classmethod
    def of(cls, table: Table, *, unit: str | None = None) -> Self:
        return cls(table=table, unit=unit)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.table.names if name != self.unit)

    @property
    def rows(self) -> int:
        return self.table.rows

    def column(self, name: str) -> Column:
        return self.table.column(name)

    def count(self, columns: Sequence[str]) -> FrequencyTable:
        """Return the distinct tuples of some columns with their rows."""
        return self._count((tuple(columns), False))

    def people(self, columns: Sequence[str]) -> FrequencyTable:
        """Return the distinct tuples of some columns with the people behind them: the rows where there is no unit."""
        return self._count((tuple(columns), self.unit is not None))

    def _count(self, asked: _CountKey) -> FrequencyTable:
        if asked not in self._counted:
            (columns, people), larger = asked, self._larger(asked)
            unit = self.unit if people else None
            counted = larger.project(columns) if larger else FrequencyTable.of(self.table, columns, unit=unit)
            while len(self._counted) >= MAX_TABLES_KEPT:
                self._counted.pop(next(iter(self._counted)))
            self._counted[asked] = counted
        return self._counted[asked]

    def _larger(self, asked: _CountKey) -> FrequencyTable | None:
        """Return the smallest counted table with these columns, if counting from it is less work than from rows."""
        columns, people = asked
        found = [
            counted
            for (names, of_people), counted in self._counted.items()
            if of_people == people and columns and set(columns) <= set(names)
            and 2 * len(counted.weights) <= self.table.rows
        ]  # fmt: skip
        return min(found, key=lambda counted: len(counted.weights), default=None)

    def class_sizes(self, columns: Sequence[str]) -> dict[int, int]:
        """Return how many classes there are of each size."""
        sizes, classes = np.unique(self.count(columns).weights, return_counts=True)
        return dict(zip(sizes.tolist(), classes.tolist(), strict=True))

    def apply(
        self,
        plan: RecodingPlan,
        published: Sequence[str],
        *,
        keep_order: bool = False,
        beside: Mapping[str, str] | None = None,
    ) -> Table:
        """Return the table to publish, as the protocol says."""
        shown = self.table.select(published)
        if beside:
            as_collected = [replace(self.table.column(name), name=other) for name, other in beside.items()]
            shown = Table(columns=(*shown.columns, *as_collected), rows=shown.rows)
        way = release_in_order if keep_order else release_sorted
        return way(shown, plan, self._joined(plan))

    def _joined(self, plan: RecodingPlan) -> Joined:
        """Return which tuple of the plan each row is."""
        rows = self.table.rows
        chosen = self.table.select(plan.frequencies.names).columns
        if not chosen:  # Without quasi-identifiers all rows are one tuple.
            return Joined(member=np.zeros(rows, np.int32), rows=np.full(len(plan.removed), rows, np.int64))
        found = kernels.join([c.codes for c in chosen], plan.frequencies.codes, [len(c.domain) for c in chosen])
        if found is None:
            raise InternalError("rows that the plan does not know", "engines.arrow")
        return found
