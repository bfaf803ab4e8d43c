"""Distinct tuples with weights: the laws that everything above relies on."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.engines.arrow import ArrowEngine
from anon_core.errors import UnknownColumnError
from anon_core.frequency import FrequencyTable
from tests.properties.tables import Row, Small, singletons, small_tables, table_of


def counted(frequencies: FrequencyTable) -> Counter[Row]:
    """The tuples as values with their weights; a tuple that is there twice would make the counts differ."""
    columns = [d.take(pa.array(c)).to_pylist() for d, c in zip(frequencies.domains, frequencies.codes, strict=True)]
    rows: list[Row] = list(zip(*columns, strict=True)) if columns else [()] * frequencies.tuples
    assert len(set(rows)) == len(rows), "a tuple is listed twice"
    return Counter(dict(zip(rows, frequencies.weights.tolist(), strict=True)))


@settings(max_examples=80, deadline=None)
@given(small=small_tables(), data=st.data())
def test_counting_and_projecting_agree_with_counting_rows(small: Small, data: st.DataObject) -> None:
    whole = FrequencyTable.of(small.table)
    assert counted(whole) == Counter(small.rows)
    columns = data.draw(st.lists(st.sampled_from(small.names), unique=True))
    projected = whole.project(columns)
    assert projected.names == tuple(columns)
    assert counted(projected) == Counter(small.project(columns))
    assert counted(FrequencyTable.of(small.table, columns)) == counted(projected)
    assert projected.rows == whole.rows == len(small.rows)
    assert projected.tuples == len(set(small.project(columns)))
    assert projected.singletons == singletons(small.project(columns))
    assert sorted(projected.class_sizes().tolist()) == sorted(Counter(small.project(columns)).values())


@settings(max_examples=60, deadline=None)
@given(small=small_tables(), data=st.data())
def test_projecting_in_two_steps_is_projecting_at_once(small: Small, data: st.DataObject) -> None:
    outer = data.draw(st.lists(st.sampled_from(small.names), unique=True, min_size=1))
    inner = data.draw(st.lists(st.sampled_from(outer), unique=True))
    whole = FrequencyTable.of(small.table)
    in_steps, at_once = whole.project(outer).project(inner), whole.project(inner)
    assert counted(in_steps) == counted(at_once)
    assert in_steps.weights.tolist() == at_once.weights.tolist()


@settings(max_examples=60, deadline=None)
@given(small=small_tables(), data=st.data())
def test_lifting_a_column_is_replacing_its_values(small: Small, data: st.DataObject) -> None:
    column = data.draw(st.sampled_from(small.names))
    domain = small.table.column(column).domain.to_pylist()
    image = {value: data.draw(st.sampled_from(["x", "y", None]), label=str(value)) for value in domain}
    labels = ["x", "y", None]
    code_map = np.array([labels.index(image[value]) for value in domain])
    whole = FrequencyTable.of(small.table)
    lifted = whole.lift(column, code_map, pa.array(labels))
    at = small.names.index(column)
    assert counted(lifted) == Counter((*row[:at], image[row[at]], *row[at + 1 :]) for row in small.rows)
    assert lifted.rows == whole.rows
    assert lifted.tuples <= whole.tuples
    assert counted(whole) == Counter(small.rows), "the argument was changed"


@settings(max_examples=40, deadline=None)
@given(small=small_tables(), data=st.data())
def test_the_engine_counts_classes_by_their_size(small: Small, data: st.DataObject) -> None:
    columns = data.draw(st.lists(st.sampled_from(small.names), unique=True))
    sizes = Counter(Counter(small.project(columns)).values())
    assert ArrowEngine(table=small.table).class_sizes(columns) == sizes


def test_a_lone_gap_is_a_class_of_its_own() -> None:
    frequencies = FrequencyTable.of(table_of(["a"], [("x",), ("x",), (None,)]))
    assert counted(frequencies) == {("x",): 2, (None,): 1}
    assert frequencies.singletons == 1


def test_over_no_columns_every_row_is_the_same_tuple() -> None:
    whole = FrequencyTable.of(table_of(["a"], [("x",), ("y",)]))
    assert whole.project([]).weights.tolist() == [2]
    assert FrequencyTable.of(table_of(["a"], [("x",), ("y",)]), []).weights.tolist() == [2]


def test_a_table_without_rows_has_no_tuples() -> None:
    empty = table_of(["a", "b"], [("x", "y")]).keep(np.array([False]))
    assert FrequencyTable.of(empty).weights.tolist() == []
    assert FrequencyTable.of(empty).project(["a"]).rows == 0
    assert FrequencyTable.of(empty).project([]).tuples == 0
    assert FrequencyTable.of(empty, []).tuples == 0


def test_unknown_columns_are_all_named() -> None:
    whole = FrequencyTable.of(table_of(["a", "b"], [("x", "y")]))
    with pytest.raises(UnknownColumnError, match="no column named 'c', 'd' among the 2 of the table"):
        whole.project(["a", "c", "d"])
    with pytest.raises(UnknownColumnError, match="'c'"):
        whole.lift("c", np.array([0]), pa.array(["x"]))
