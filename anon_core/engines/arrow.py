"""Rows in memory, as dictionary codes: the default engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Integers
from anon_core.plan import RecodingPlan
from anon_core.table import Column, Table


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
        """
        chosen = self.table.select(plan.frequencies.names).columns
        member: Integers = np.zeros(self.table.rows, np.int64)  # Without quasi-identifiers all rows are one tuple.
        if chosen:
            member = kernels.group([c.codes for c in chosen], [len(c.domain) for c in chosen]).member
        at = {name: i for i, name in enumerate(plan.frequencies.names)}
        columns = []
        for column in self.table.select(published).columns:
            if column.name in at:
                i = at[column.name]
                codes = plan.released_codes(i)[member].astype(np.int32)
                column = Column(name=column.name, codes=codes, domain=plan.ladders[i].labels)
            columns.append(column)
        kept = Table(columns=tuple(columns), rows=self.table.rows).keep(~plan.removed[member])
        return kept if keep_order else _sorted(kept)


def _sorted(table: Table) -> Table:
    """Return the rows in the order of their values, first column first, gaps last."""
    words = kernels.pack([c.codes for c in table.columns], [len(c.domain) for c in table.columns])
    order: Integers = np.lexsort(words[::-1])
    columns = tuple(Column(name=c.name, codes=c.codes[order], domain=c.domain) for c in table.columns)
    return Table(columns=columns, rows=table.rows)
