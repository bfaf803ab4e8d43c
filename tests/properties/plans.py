"""Any plan for a small table, and what it should publish, one cell at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from anon_core.frequency import FrequencyTable
from anon_core.plan import RecodingPlan
from tests.properties.tables import Row, Small, ladders_for, small_tables, spelled


@st.composite
def plans(draw: st.DrawFn) -> tuple[Small, RecodingPlan]:
    """A small table and any plan for it: any level in any cell, any tuple removed."""
    small = draw(small_tables())
    frequencies = FrequencyTable.of(small.table)
    ladders = draw(ladders_for(small))
    levels = [
        draw(st.lists(st.integers(0, ladder.height), min_size=frequencies.tuples, max_size=frequencies.tuples))
        for ladder in ladders
    ]
    removed = draw(st.lists(st.integers(0, 3), min_size=frequencies.tuples, max_size=frequencies.tuples))
    return small, RecodingPlan(
        frequencies=frequencies,
        ladders=ladders,
        levels=np.array(levels, np.int8),
        removed=np.array([n == 0 for n in removed]),
    )


def expected(small: Small, plan: RecodingPlan) -> list[tuple[Row, Row | None]]:
    """Every row with what it is published as, or None, one cell at a time."""
    codes = list(zip(*(codes.tolist() for codes in plan.frequencies.codes), strict=True))
    domains = [column.domain.to_pylist() for column in small.table.columns]
    labels = [spelled(ladder) for ladder in plan.ladders]
    tuples = {tuple(domains[i][code] for i, code in enumerate(row)): j for j, row in enumerate(codes)}
    published: list[tuple[Row, Row | None]] = []
    for row in small.rows:
        j = tuples[row]
        cells = tuple(labels[i][plan.levels[i, j]][domains[i].index(cell)] for i, cell in enumerate(row))
        published.append((row, None if plan.removed[j] else cells))
    return published
