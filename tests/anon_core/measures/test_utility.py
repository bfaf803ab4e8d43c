"""Utility where it has edges: units, wrong labels, too many groups or rows, none at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from anon_core.comparison import Comparison, compare
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.measures.utility import utility
from anon_core.measures.utility.queries import _pairs, queries
from anon_core.plan import RecodingPlan
from tests.properties.tables import table_of


def test_where_the_groups_of_two_columns_are_too_many_a_thousand_are_asked_for() -> None:
    rows = [(f"{n % 50}", f"{n % 49}") for n in range(2450)]
    table = table_of(["a", "b"], rows)
    ladders = [climb(c.name, c.domain, {v: [] for v in c.domain.to_pylist()}, ["root"]) for c in table.columns]
    plan = RecodingPlan.unchanged(FrequencyTable.of(table), ladders)
    plan = replace(plan, removed=np.arange(plan.frequencies.tuples) % 3 == 0)
    one, other = (queries(Comparison.of_plan(plan), seed=seed) for seed in (1, 2))
    assert one.two_columns is not None
    assert (one.two_columns.groups, one.two_columns.queries, one.sampled, one.seed) == (2450, 1000, True, 1)
    assert one.two_columns != other.two_columns
    assert one.one_column == other.one_column


def wide(names: Sequence[str], rows: int = 60) -> Comparison:
    """Columns that differ, each by its name wherever it stands, and a release without every third row."""
    draws = {name: np.random.default_rng(int(name[1:])).integers(0, 5, rows) for name in names}
    table = table_of(names, [tuple(str(draws[name][n]) for name in names) for n in range(rows)])
    released = table.keep(np.arange(rows) % 3 > 0)
    ladders = [climb(c.name, c.domain, {v: [] for v in c.domain.to_pylist()}, ["root"]) for c in table.columns]
    return compare(table, released, ladders)


def test_of_very_many_pairs_of_columns_two_hundred_are_asked_about() -> None:
    names = [f"c{n:02}" for n in range(30)]
    few, many = queries(wide(names[:20])), queries(wide(names), seed=5)
    assert (few.sampled, few.seed) == (False, None)
    assert (many.sampled, many.seed) == (True, 5)
    groups = {size: len(list(combinations(range(size), 2))) * 25 for size in (20, 30)}
    assert few.two_columns is not None and many.two_columns is not None
    assert 0.8 * groups[20] < few.two_columns.groups <= groups[20]
    assert 0.8 * 200 * 25 < many.two_columns.groups == many.two_columns.queries <= 200 * 25 < groups[30]
    assert many.one_column is not None and many.one_column.queries == 30 * 5


def test_all_pairs_and_no_other_are_drawn_from() -> None:
    names = ["a", "b", "c", "d"]
    everything = list(combinations(names, 2))
    assert _pairs(names, np.random.default_rng(0), 6) == everything
    drawn = [_pairs(names, np.random.default_rng(seed), 2) for seed in range(100)]
    assert all(len(set(some)) == 2 and some == sorted(some) for some in drawn)
    assert {pair for some in drawn for pair in some} == set(everything)
    assert _pairs([], np.random.default_rng(0), 2) == _pairs(["a"], np.random.default_rng(0), 2) == []


def test_what_is_sampled_does_not_depend_on_the_order_of_the_columns() -> None:
    names = [f"c{n:02}" for n in range(9)]
    one, other = (queries(wide(order), most=4, most_pairs=11, seed=3) for order in (names, names[::-1]))
    assert one.sampled
    assert one == other


def test_a_unit_counts_once_in_each_class_however_many_rows_it_has() -> None:
    original = table_of(
        ["person", "town"],
        [("1", "a"), ("1", "a"), ("1", "b"), ("2", "a"), ("2", "a"), ("3", "b"), ("3", "c"), ("4", "c")],
    )
    released = table_of(["town"], [("a",), ("*",), ("*",), ("a",), ("a",), ("*",), ("*",), ("c",)])
    town = original.column("town")
    ladder = climb("town", town.domain, {value: [] for value in town.domain.to_pylist()}, ["root"])
    found = utility(compare(original, released, [ladder], same_order=True, unit="person"), k=2)
    # Published: people 1 and 2 in a, 4 in c, 1 and 3 at the root.
    assert (found.classes.classes, found.classes.average, found.classes.discernibility) == (3, 5 / 3, 4 + 1 + 4)
    # Person 1 was in a and is in a and at the root; b, b and c became the root; a and c of 2 and 4 are as they were.
    assert found.changes is not None and found.changes.rows == 4 / 7
    assert found.loss.overall == 4 / 7
    # Of 6 people in towns 2 each; the release has 2 + 2/3, 2/3 and 1 + 2/3 of 5.
    assert found.marginals.worst == pytest.approx(1 / 3 - 2 / 15)
    assert found.queries.one_column is not None
    assert found.queries.one_column.mean == pytest.approx((2 / 3 + 4 / 3 + 1 / 3) / 2 / 3)


def test_a_label_that_does_not_cover_its_value_leaves_entropy_open() -> None:
    original, released = table_of(["a"], [("x",), ("y",), ("z",)]), table_of(["a"], [("x",), ("x",), ("*",)])
    ladder = climb("a", original.column("a").domain, {v: [] for v in "xyz"}, ["root"])
    found = utility(compare(original, released, [ladder], same_order=True))
    assert found.entropy is None
    assert found.reason is not None and found.reason.startswith("1 cell is published as something that does not cover")
    assert found.changes is not None and found.changes.rows == pytest.approx(2 / 3)
    assert found.loss.overall == pytest.approx(1 / 3)


def test_a_release_with_more_rows_than_the_original_is_measured_by_what_it_holds() -> None:
    original, released = table_of(["a"], [("x",), ("y",)]), table_of(["a"], [("x",), ("*",), ("*",), ("*",)])
    ladder = climb("a", original.column("a").domain, {"x": [], "y": []}, ["root"])
    found = utility(compare(original, released, [ladder]))
    assert (found.loss.overall, found.classes.discernibility) == (0.75, 10)
    assert found.marginals.worst == pytest.approx(1 / 8)


def test_a_table_without_rows_or_without_columns_has_nothing_to_lose() -> None:
    some = table_of(["a"], [("x",), ("x",)])
    nothing = some.keep(np.array([False, False]))
    ladder = climb("a", nothing.column("a").domain, {}, ["root"])
    for plan in (
        RecodingPlan.unchanged(FrequencyTable.of(nothing), [ladder]),
        RecodingPlan.unchanged(FrequencyTable.of(some, []), []),
    ):
        for comparison in (Comparison.of_plan(plan), replace(Comparison.of_plan(plan), pairs=None)):
            found = utility(comparison)
            assert comparison.pairs is None or (found.entropy is not None and found.entropy.overall == 1)
            assert (found.loss.overall, found.marginals.worst) == (0, 0)
            assert found.queries.one_column is found.queries.two_columns is None
