"""Selective, against counting every subset; and what may be dropped before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.detection.preparation import prepare
from anon_core.detection.selective import MAX_COLUMNS, select
from anon_core.errors import InvalidInputError, UnknownColumnError
from anon_core.frequency import FrequencyTable
from tests.properties.tables import Row, Small, rows_of, singletons, small_tables, subsets, table_of
from tests.properties.tiers import TIERS, tier


@settings(max_examples=100, deadline=None)
@given(small=small_tables(max_columns=5), way=st.sampled_from(TIERS))
def test_every_subset_is_counted_and_the_one_with_most_tuples_and_fewest_columns_elected(
    small: Small, way: str
) -> None:
    with tier(way):
        found = select(FrequencyTable.of(small.table))
    expected = [(c, len(set(small.project(c))), singletons(small.project(c))) for c in subsets(small.names, 5)]
    assert [(s.columns, s.distinct, s.singletons) for s in found.subsets] == expected
    most = max(distinct for _, distinct, _ in expected)
    fewest = min(len(columns) for columns, distinct, _ in expected if distinct == most)
    first = next(columns for columns, distinct, _ in expected if distinct == most and len(columns) == fewest)
    assert found.elected == first


def test_too_many_nominated_columns_are_refused_with_what_they_would_cost() -> None:
    names = [f"c{n}" for n in range(MAX_COLUMNS + 1)]
    with pytest.raises(InvalidInputError, match="21 nominated columns have 2,097,151 subsets; nominate at most 20"):
        select(FrequencyTable.of(table_of(names, [("x",) * len(names)])))


def test_there_must_be_something_to_select_from() -> None:
    frequencies = FrequencyTable.of(table_of(["a"], [("x",)]))
    with pytest.raises(InvalidInputError, match="no columns or no rows"):
        select(frequencies.project([]))


ROWS: list[Row] = [("a", "1", None), ("a", "1", None), ("a", "1", "x"), (None, "2", "y"), ("b", None, "z")]


def test_nothing_is_dropped_unless_asked_for() -> None:
    table = table_of(["p", "q", "r"], ROWS)
    prepared = prepare(table, ["p", "q"])
    assert prepared.table is table
    assert (prepared.with_gaps, prepared.duplicates, prepared.dropped) == (0, 0, 0)


def test_only_gaps_in_the_nominated_columns_count_and_only_whole_rows_are_duplicates() -> None:
    table = table_of(["p", "q", "r"], ROWS)
    prepared = prepare(table, ["p", "q"], drop_missing=True, drop_duplicates=True)
    assert (prepared.with_gaps, prepared.duplicates, prepared.dropped) == (2, 1, 3)
    assert rows_of(prepared.table) == [("a", "1", None), ("a", "1", "x")]
    assert rows_of(table) == ROWS


def test_when_no_row_is_left_it_says_so() -> None:
    table = table_of(["p", "q"], [(None, "1"), (None, "2")])
    with pytest.raises(InvalidInputError, match="every row has a gap"):
        prepare(table, ["p"], drop_missing=True)
    with pytest.raises(UnknownColumnError):
        prepare(table, ["x"])


@settings(max_examples=60, deadline=None)
@given(small=small_tables())
def test_dropping_leaves_what_reading_the_rows_one_by_one_leaves(small: Small) -> None:
    complete = [row for row in small.rows if None not in row]
    if not complete:
        return
    prepared = prepare(small.table, small.names, drop_missing=True, drop_duplicates=True)
    assert rows_of(prepared.table) == list(dict.fromkeys(complete))
    assert prepared.dropped == len(small.rows) - len(set(complete))
    assert np.unique([len(c.codes) for c in prepared.table.columns]).tolist() == [prepared.table.rows]
