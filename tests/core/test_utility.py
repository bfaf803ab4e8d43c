"""Utility where it has edges: units, wrong labels, too many groups or rows, none at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anon_core.comparison import Comparison, compare
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.plan import RecodingPlan
from anon_core.score.utility import utility
from anon_core.score.utility.queries import queries
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
