"""What can only go one way: more columns single out more people, and no recoding makes anybody easier to find."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import InvalidInputError, UnknownColumnError
from anon_core.frequency import FrequencyTable
from anon_core.measures.linkage.four_ks import KFigures, k_anonymity
from anon_core.measures.utility.cells import RecodedCells
from anon_core.measures.utility.loss import changes, loss
from anon_core.plan import RecodingPlan
from tests.properties.plans import plans
from tests.properties.tables import Small, ladders_for, singletons, small_tables, table_of


@settings(max_examples=80, deadline=None)
@given(small=small_tables(), k=st.integers(2, 5), data=st.data())
def test_k_is_what_counting_rows_says(small: Small, k: int, data: st.DataObject) -> None:
    columns = data.draw(st.lists(st.sampled_from(small.names), unique=True))
    rows = small.project(columns)
    sizes = Counter(rows).values()
    assert k_anonymity(FrequencyTable.of(small.table), columns, k=k) == KFigures(
        k=min(sizes),
        singletons=singletons(rows),
        classes=len(sizes),
        rows=len(rows),
        rows_below=sum(size for size in sizes if size < k),
    )


@settings(max_examples=80, deadline=None)
@given(small=small_tables(max_columns=5), data=st.data())
def test_adding_a_column_never_lowers_singletons_and_never_raises_k(small: Small, data: st.DataObject) -> None:
    order = data.draw(st.permutations(small.names))
    frequencies = FrequencyTable.of(small.table)
    steps = [k_anonymity(frequencies, order[:size]) for size in range(len(order) + 1)]
    for before, after in pairwise(steps):
        assert before.singletons <= after.singletons
        assert before.k >= after.k
        assert before.classes <= after.classes
        assert before.rows_below <= after.rows_below


@settings(max_examples=80, deadline=None)
@given(planned=plans())
def test_no_recoding_lowers_k_or_makes_a_singleton(planned: tuple[Small, RecodingPlan]) -> None:
    """A plan speaks of tuples, so whoever shared a tuple before shares one afterwards, removed rows or not."""
    small, plan = planned
    before = k_anonymity(plan.frequencies, small.names)
    if plan.removed.all():
        return
    after = k_anonymity(plan.released(), small.names)
    assert after.k >= before.k
    assert after.singletons <= before.singletons
    assert after.classes <= before.classes


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_climbing_one_level_further_never_lowers_k_and_never_gains_anything_back(data: st.DataObject) -> None:
    small = data.draw(small_tables(max_columns=3))
    ladders = data.draw(ladders_for(small))
    frequencies = FrequencyTable.of(small.table)
    node = [0] * len(ladders)
    reached, lost = 0, 0.0
    while True:
        plan = RecodingPlan(
            frequencies=frequencies,
            ladders=ladders,
            levels=np.repeat(np.array(node, np.int8)[:, None], frequencies.tuples, axis=1),
            removed=np.zeros(frequencies.tuples, np.bool_),
        )
        k, cost = k_anonymity(plan.released(), small.names).k, loss(RecodedCells.by(plan)).overall
        assert k >= reached
        assert cost >= lost - 1e-12
        reached, lost = k, cost
        higher = [i for i, ladder in enumerate(ladders) if node[i] < ladder.height]
        if not higher:
            assert k == len(small.rows)
            return
        node[data.draw(st.sampled_from(higher))] += 1


@settings(max_examples=80, deadline=None)
@given(planned=plans())
def test_utility_is_nothing_lost_at_best_and_everything_at_worst(planned: tuple[Small, RecodingPlan]) -> None:
    small, plan = planned
    cells = RecodedCells.by(plan)
    lost, changed = loss(cells, {name: 1.0 + at for at, name in enumerate(small.names)}), changes(cells)
    shares = [lost.overall, lost.weighted, *lost.by_column.values()]
    assert all(-1e-12 <= share <= 1 + 1e-12 for share in shares)
    assert 0 <= changed.cells <= changed.rows <= 1
    published = len(small.rows) - plan.rows_removed
    if published:
        assert changed.rows == plan.rows_changed / published
    else:
        assert lost.overall == pytest.approx(1)


def test_k_of_no_rows_is_not_defined_and_without_columns_all_rows_are_one_class() -> None:
    table = table_of(["a"], [("x",), ("y",)])
    with pytest.raises(InvalidInputError, match="without rows is not defined"):
        k_anonymity(FrequencyTable.of(table.keep(np.array([False, False]))), ["a"])
    with pytest.raises(UnknownColumnError, match="'b'"):
        k_anonymity(FrequencyTable.of(table), ["b"])
    assert k_anonymity(FrequencyTable.of(table), []).k == 2
