"""Rows in memory, as dictionary codes: the default engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.engines.release import release_in_order, release_sorted
from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Joined
from anon_core.plan import RecodingPlan
from anon_core.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrowEngine:
    """The three questions of every engine, answered from a table in memory."""

    table: Table

    def count(self, columns: Sequence[str]) -> FrequencyTable:
        """Return the distinct tuples of some columns with their rows."""
        return FrequencyTable.of(self.table, columns)

    def class_sizes(self, columns: Sequence[str]) -> dict[int, int]:
        """Return how many classes there are of each size."""
        sizes, classes = np.unique(self.count(columns).weights, return_counts=True)
        return dict(zip(sizes.tolist(), classes.tolist(), strict=True))

    def apply(self, plan: RecodingPlan, published: Sequence[str], *, keep_order: bool = False) -> Table:
        """
        Return the table to publish: these columns only, recoded by the plan, removed rows left out.

        Its rows are sorted by its own columns, in the order given: the order of the source, or a row number, would link
        back to the original. With ``keep_order`` they stand as in the source, for comparing row by row; that table is
        not one to publish.

        :raises InternalError: the plan is one for another table.
        """
        shown = self.table.select(published)
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
