"""Grouping equal tuples: the same groups as a dictionary finds, by either way and in any number of bits."""

from __future__ import annotations

from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core import kernels
from anon_core.kernels import Groups, Integers, grouping

Tuples = list[tuple[int, ...]]

HUGE = 2**31 - 1
"""More values than any column has; four such columns need 124 bits."""


@st.composite
def coded_rows(draw: st.DrawFn) -> tuple[list[int], Tuples]:
    """Cardinalities, and rows of codes below them; several high ones together go far beyond 64 bits."""
    cardinalities = draw(st.lists(st.sampled_from([1, 2, 3, 5, 2**16, 2**20 + 1, HUGE]), min_size=1, max_size=8))
    # Few values of each column, the extreme ones included, so that tuples repeat.
    columns = [st.sampled_from(sorted({0, c // 2, max(c - 2, 0), c - 1})) for c in cardinalities]
    return cardinalities, draw(st.lists(st.tuples(*columns), max_size=30))


def columns_of(rows: Tuples, width: int) -> list[np.ndarray[tuple[int], np.dtype[np.int32]]]:
    return [np.array([row[i] for row in rows], np.int32) for i in range(width)]


def assert_groups(groups: Groups, rows: Tuples, weights: list[int]) -> None:
    totals: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, weights, strict=True):
        totals[row] += weight
    order = sorted(totals)
    assert [rows[at] for at in groups.first] == order
    assert groups.first.tolist() == [rows.index(row) for row in order]
    assert groups.weights.tolist() == [totals[row] for row in order]
    assert groups.member.tolist() == [order.index(row) for row in rows]


@settings(max_examples=80, deadline=None)
@given(coded=coded_rows(), data=st.data())
def test_groups_are_those_of_a_counter_in_the_order_of_the_tuples(
    coded: tuple[list[int], Tuples], data: st.DataObject
) -> None:
    cardinalities, rows = coded
    weights = data.draw(
        st.none() | st.lists(st.integers(1, 2**60 // 30), min_size=len(rows), max_size=len(rows)), label="weights"
    )
    given_weights = None if weights is None else np.array(weights, np.int64)
    columns = columns_of(rows, len(cardinalities))
    before = [column.copy() for column in columns]
    found = kernels.group(columns, cardinalities, given_weights)
    assert_groups(found, rows, weights or [1] * len(rows))
    assert all(np.array_equal(a, b) for a, b in zip(before, columns, strict=True)), "an argument was changed"


@settings(max_examples=80, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=40))
def test_counting_by_address_and_by_sorting_agree(rows: Tuples) -> None:
    columns = columns_of(rows, 3)
    weights = np.arange(1, len(rows) + 1)
    direct = kernels.group(columns, [5, 3, 7], weights)
    with mock.patch.object(grouping, "MAX_DIRECT_BITS", -1):
        by_sorting = kernels.group(columns, [5, 3, 7], weights)
    for name in ("first", "weights", "member"):
        assert getattr(direct, name).tolist() == getattr(by_sorting, name).tolist()


def test_both_ways_are_really_taken() -> None:
    column = np.array([0, 1, 1])
    with mock.patch.object(grouping, "_group_sorted", side_effect=AssertionError("sorted")):
        kernels.group([column], [2])
        with pytest.raises(AssertionError, match="sorted"):
            kernels.group([column, column], [HUGE, HUGE])


@settings(max_examples=80, deadline=None)
@given(coded=coded_rows())
def test_packed_words_are_in_the_order_of_the_tuples(coded: tuple[list[int], Tuples]) -> None:
    cardinalities, rows = coded
    words = kernels.pack(columns_of(rows, len(cardinalities)), cardinalities)
    packed = list(zip(*(word.tolist() for word in words), strict=True))
    assert [row for _, row in sorted(zip(packed, rows, strict=True))] == sorted(rows)
    assert len(set(packed)) == len(set(rows))


def test_a_column_never_straddles_two_words() -> None:
    column = np.array([HUGE - 1])
    assert len(kernels.pack([column] * 2, [HUGE] * 2)) == 1
    assert len(kernels.pack([column] * 3, [HUGE] * 3)) == 2
    assert len(kernels.pack([column] * 5, [HUGE] * 5)) == 3


def test_no_rows_make_no_group_and_no_columns_make_one() -> None:
    nothing: Integers = np.zeros(0, np.int64)
    assert_groups(kernels.group([nothing, nothing], [3, 4]), [], [])
    assert_groups(kernels.group([], [], np.array([2, 3])), [(), ()], [2, 3])
    assert len(kernels.group([], [], nothing).weights) == 0
    assert len(kernels.group([], []).weights) == 0


def test_weights_are_added_exactly_where_a_float_would_round() -> None:
    large = 2**53
    groups = kernels.group([np.array([0, 0])], [1], np.array([large, 1]))
    assert groups.weights.tolist() == [large + 1]


def test_people_of_keys_are_counted_alike_by_both_ways() -> None:
    from anon_core.kernels.compiled.people import count_people
    from anon_core.kernels.people import people_of_keys

    draw = np.random.default_rng(3)
    for rows in (0, 1, 300):
        units = np.sort(draw.integers(0, 40, rows))
        keys = draw.integers(0, 12, rows)
        expected = [len({unit for key, unit in zip(keys, units, strict=True) if key == at}) for at in range(12)]
        assert people_of_keys(keys, 12, units).tolist() == expected
        counted = np.zeros(12, np.int64)
        count_people(keys, units, np.full(12, -1, np.int64), counted)
        assert counted.tolist() == expected
