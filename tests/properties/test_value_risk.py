"""Rows at risk by value, and rows by the size of their class, against plain counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import InvalidInputError, UnknownColumnError
from anon_core.frequency import FrequencyTable
from anon_core.measures.linkage.four_ks import k_anonymity
from anon_core.measures.risk.attackers import risk
from anon_core.measures.risk.rows_by_size import rows_by_size
from anon_core.measures.risk.value_risk import ValueRisk, rows_at_risk_by_value
from tests.properties.persons import members
from tests.properties.sensitive import Question, people_of, questions
from tests.properties.tables import Cell, table_of


def smallest(question: Question) -> dict[Hashable, int]:
    """How many people are in the smallest class of each."""
    found: dict[Hashable, int] = {}
    for some in members(question.small.project(question.quasi), people_of(question)).values():
        for person in some:
            found[person] = min(found.get(person, 10**9), len(some))
    return found


def counted(question: Question, column: str, k: int) -> dict[Cell, tuple[int, int]]:
    """How many people with each value are safe, and how many at risk; nobody known is at risk where a row is."""
    sizes, people = smallest(question), people_of(question)
    classes, keys = members(question.small.project(question.quasi), people), question.small.project(question.quasi)
    values = [value for (value,) in question.small.project([column])]
    found: dict[Cell, tuple[int, int]] = {}
    for value, some in members(values, people).items():
        of_value = [len(classes[key]) for key, own in zip(keys, values, strict=True) if own == value]
        own_sizes = [min(of_value) if isinstance(person, tuple) else sizes[person] for person in some]
        found[value] = (sum(size >= k for size in own_sizes), sum(size < k for size in own_sizes))  # type: ignore[index]
    return found


def found_by_value(found: ValueRisk) -> dict[Cell, tuple[int, int]]:
    values = found.values.to_pylist()
    assert len(set(values)) == len(values)
    return dict(zip(values, zip(found.safe.tolist(), found.at_risk.tolist(), strict=True), strict=True))


@settings(max_examples=250, deadline=None)
@given(question=questions(), k=st.integers(1, 6), data=st.data())
def test_rows_at_risk_by_value_are_what_counting_says(question: Question, k: int, data: st.DataObject) -> None:
    column = data.draw(st.sampled_from([*question.quasi, question.sensitive]))
    found = rows_at_risk_by_value(question.frequencies, question.quasi, column, k=k)
    assert found_by_value(found) == counted(question, column, k)
    assert found.counted == ("rows" if question.unit is None else "people")
    assert (found.column, found.k) == (column, k)


@settings(max_examples=250, deadline=None)
@given(question=questions(), k=st.integers(1, 6))
def test_rows_by_size_are_what_counting_says(question: Question, k: int) -> None:
    found = rows_by_size(question.frequencies, question.quasi)
    sizes = smallest(question)
    assert dict(zip(found.sizes.tolist(), found.rows.tolist(), strict=True)) == Counter(sizes.values())
    assert found.sizes.tolist() == sorted(found.sizes.tolist())
    assert found.total == len(sizes)
    assert found.classes == len(set(question.small.project(question.quasi)))
    assert found.below(k) == sum(size < k for size in sizes.values())


@settings(max_examples=100, deadline=None)
@given(question=questions(), k=st.integers(2, 6))
def test_the_pictures_and_the_report_count_the_same_rows_at_risk(question: Question, k: int) -> None:
    found = rows_by_size(question.frequencies, question.quasi)
    below = {row.limit: row.rows for row in risk(question.frequencies, question.quasi, k=k).below}
    assert found.below(k) == below[k]
    if question.unit is None:
        assert found.below(k) == k_anonymity(question.frequencies, question.quasi, k=k).rows_below
        of_values = rows_at_risk_by_value(question.frequencies, question.quasi, question.sensitive, k=k)
        assert of_values.at_risk.sum() == found.below(k)
        assert of_values.rows.sum() == found.total


def test_a_unit_at_risk_in_one_class_is_at_risk_with_every_value_it_has() -> None:
    visits = [("ann", "x", "flu"), ("ann", "y", "cold"), ("bea", "x", "flu"), ("cid", "x", "flu"), ("cid", "x", "flu")]
    frequencies = FrequencyTable.of(table_of(["who", "town", "ill"], visits), unit="who")
    found = rows_at_risk_by_value(frequencies, ["town"], "ill", k=2)
    # Ann is alone in y, where she had a cold; in x, where she had the flu, she is one of three.
    assert found_by_value(found) == {"cold": (0, 1), "flu": (2, 1)}


def test_values_that_no_row_has_any_more_are_not_listed() -> None:
    frequencies = FrequencyTable.from_codes(["town"], [np.array([2, 2])], [pa.array(["a", "b", "c", None])])
    found = rows_at_risk_by_value(frequencies, ["town"], "town", k=3)
    assert found_by_value(found) == {"c": (0, 2)}


def test_weights_beyond_what_a_float_counts_are_counted_exactly() -> None:
    many = 2**53 + 1
    frequencies = FrequencyTable.from_codes(["x"], [np.array([0, 1])], [pa.array(["a", "b"])], np.array([many, 1]))
    assert found_by_value(rows_at_risk_by_value(frequencies, ["x"], "x", k=2)) == {"a": (many, 0), "b": (0, 1)}


@pytest.mark.parametrize("unit", [None, "who"])
def test_a_table_without_rows_has_no_values_and_no_classes(unit: str | None) -> None:
    frequencies = FrequencyTable.of(table_of(["who", "town"], []), ["town"], unit=unit)
    found = rows_at_risk_by_value(frequencies, ["town"], "town", k=2)
    assert (len(found.values), len(found.safe), len(found.at_risk)) == (0, 0, 0)
    classes = rows_by_size(frequencies, ["town"])
    assert (classes.total, classes.classes, classes.below(5)) == (0, 0, 0)


@pytest.mark.parametrize("unit", [None, "who"])
def test_all_unknown_columns_are_named_at_once(unit: str | None) -> None:
    frequencies = FrequencyTable.of(table_of(["who", "town"], [("a", "x")]), ["town"], unit=unit)
    with pytest.raises(UnknownColumnError) as caught:
        rows_at_risk_by_value(frequencies, ["street", "town"], "ill", k=2)
    assert "street" in str(caught.value)
    assert "ill" in str(caught.value)


def test_a_k_below_one_is_refused() -> None:
    frequencies = FrequencyTable.of(table_of(["town"], [("x",)]))
    with pytest.raises(InvalidInputError, match="at least 1, not 0"):
        rows_at_risk_by_value(frequencies, ["town"], "town", k=0)
