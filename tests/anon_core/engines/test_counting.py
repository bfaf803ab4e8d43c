"""Distinct tuples: the same as a dictionary finds, in numpy and in compiled code, by every way through it."""

from __future__ import annotations

from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core import kernels
from anon_core.kernels import Distinct, counting
from tests.anon_core.kernels.test_kernels import Tuples, coded_rows, columns_of
from tests.properties.tiers import TIERS, tier


def assert_distinct(found: Distinct, rows: Tuples, weights: list[int]) -> None:
    totals: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, weights, strict=True):
        totals[row] += weight
    assert list(zip(*(column.tolist() for column in found.codes), strict=True)) == sorted(totals)
    assert found.weights.tolist() == [totals[row] for row in sorted(totals)]


@settings(max_examples=150, deadline=None)
@given(
    coded=coded_rows(),
    way=st.sampled_from(TIERS),
    cells=st.sampled_from([0, 2, counting.MAX_CELLS]),
    in_cache=st.sampled_from([0, counting.MAX_CELLS_IN_CACHE]),
    data=st.data(),
)
def test_distinct_tuples_are_those_of_a_counter_in_their_order(
    coded: tuple[list[int], Tuples], way: str, cells: int, in_cache: int, data: st.DataObject
) -> None:
    cardinalities, rows = coded
    weights = data.draw(st.none() | st.lists(st.integers(1, 2**55), min_size=len(rows), max_size=len(rows)))
    columns = columns_of(rows, len(cardinalities))
    before = [column.copy() for column in columns]
    with tier(way), mock.patch.multiple(counting, MAX_CELLS=cells, MAX_CELLS_IN_CACHE=in_cache):
        found = kernels.distinct(columns, cardinalities, None if weights is None else np.array(weights, np.int64))
    if rows:
        assert_distinct(found, rows, weights or [1] * len(rows))
    assert all(np.array_equal(a, b) for a, b in zip(before, columns, strict=True)), "an argument was changed"


def towns(rows: int) -> tuple[list[np.ndarray[tuple[int], np.dtype[np.int32]]], list[int]]:
    """A province before the town that determines it, a sex, and a region that follows from the province."""
    draw = np.random.default_rng(3)
    town = draw.integers(0, 300, rows)
    province = (town * 7919) % 11
    return [c.astype(np.int32) for c in (province, town, draw.integers(0, 2, rows), province % 3)], [11, 300, 2, 3]


@pytest.mark.parametrize("in_cache", [0, 1 << 30])
def test_columns_that_follow_from_another_one_change_nothing_but_the_speed(in_cache: int) -> None:
    columns, cardinalities = towns(60_000)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    with tier("compiled"), mock.patch.object(counting, "MAX_CELLS_IN_CACHE", in_cache):
        found = kernels.distinct(columns, cardinalities)
    assert_distinct(found, rows, [1] * len(rows))


def test_followers_are_found_by_all_threads_together() -> None:
    columns, cardinalities = towns(60_000)
    with mock.patch.multiple(counting, cores=lambda: 3, _MIN_ROWS_PER_THREAD=1_000):
        found = counting._followers(columns, cardinalities)
    assert {column: leader for column, (leader, _) in found.items()} == {0: 1, 3: 1}
    columns[0][-1] = (columns[0][-1] + 1) % 11  # One row in the last part breaks it.
    with mock.patch.multiple(counting, cores=lambda: 3, _MIN_ROWS_PER_THREAD=1_000):
        assert 0 not in counting._followers(columns, cardinalities)


def test_a_contradiction_between_two_parts_of_the_rows_is_seen() -> None:
    """Within each half the second column follows from the first one, but not the same way."""
    leader = np.tile(np.arange(50, dtype=np.int32), 1_200)
    follower = (leader % 5).astype(np.int32)
    follower[len(follower) // 2 :] = (leader[len(follower) // 2 :] + 1) % 5
    with mock.patch.multiple(counting, cores=lambda: 2, _MIN_ROWS_PER_THREAD=1_000):
        assert counting._followers([leader, follower], [50, 5]) == {}
