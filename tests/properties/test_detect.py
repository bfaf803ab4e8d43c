"""Detection by singletons, against every subset of the columns."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anon_core.detection.singletons import ColumnSet, detect
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from tests.properties.persons import alone, everybody, members, persons, projected
from tests.properties.tables import Row, Small, singletons, small_tables, subsets, table_of
from tests.properties.tiers import TIERS, tier


def measured(small: Small, columns: tuple[str, ...]) -> tuple[int, int]:
    """Singletons and distinct tuples."""
    rows = small.project(columns)
    return singletons(rows), len(set(rows))


def told_apart(small: Small, columns: tuple[str, ...]) -> float:
    """The share of all pairs of rows that differ in these columns."""
    pairs = list(combinations(small.project(columns), 2))
    return sum(one != other for one, other in pairs) / len(pairs) if pairs else 1.0


def assert_true(found: ColumnSet, small: Small) -> None:
    """What is said about a set is what counting says."""
    assert (found.singletons, found.distinct) == measured(small, found.columns)
    assert found.share == found.singletons / len(small.rows)
    assert found.distinct_ratio == found.distinct / len(small.rows)
    assert found.separation_ratio == pytest.approx(told_apart(small, found.columns))
    assert list(found.columns) == [name for name in small.names if name in found.columns]


# One value in most rows and some in one: there a bound that is too low by one hides the best set.
SKEWED = ("a", "a", "a", "a", "a", "b", "c", "d", None)


@settings(max_examples=200, deadline=None)
@given(
    small=small_tables(max_columns=5, max_rows=14) | small_tables(max_columns=3, max_rows=10, values=SKEWED),
    max_size=st.none() | st.integers(1, 6),
    way=st.sampled_from(TIERS),
)
@example(small=Small(names=("p", "q"), rows=tuple(zip("aaabbc", "aaaabc", strict=True))), max_size=1, way="numpy")
@example(small=Small(names=("p", "q"), rows=(("a", None),)), max_size=None, way="compiled")
@example(small=Small(names=("p", "q"), rows=(("a", None),) * 5), max_size=None, way="numpy")
@example(small=Small(names=("q", "p"), rows=(("a", "b"), ("b", "a"))), max_size=2, way="numpy")
def test_everything_found_is_what_trying_all_subsets_finds(small: Small, max_size: int | None, way: str) -> None:
    with tier(way):
        found = detect(FrequencyTable.of(small.table), max_size=max_size)
    size = min(max_size or len(small.names), len(small.names))
    rows = len(small.rows)
    alone = {columns: measured(small, columns)[0] for columns in subsets(small.names, size)}

    unique = [set(columns) for columns, count in alone.items() if count == rows]
    minimal = [columns for columns in unique if not any(other < columns for other in unique)]
    assert sorted(map(sorted, found.identifiers)) == sorted(map(sorted, minimal))

    assert [len(best.columns) for best in found.best_by_size] == list(range(1, size + 1))
    for best in found.best_by_size:
        assert_true(best, small)
        assert best.singletons == max(count for columns, count in alone.items() if len(columns) == len(best.columns))

    # The paper's election: an identifier and whatever contains it is left out.
    open_sets = {columns: count for columns, count in alone.items() if count < rows}
    if not open_sets:
        assert found.best is None
    else:
        assert found.best is not None
        assert_true(found.best, small)
        assert found.best.columns in open_sets
        most = max(open_sets.values())
        fewest = min(len(columns) for columns, count in open_sets.items() if count == most)
        assert (found.best.singletons, len(found.best.columns)) == (most, fewest)

    assert_true(found.all_columns, small)
    assert found.all_columns.columns == small.names
    assert (found.rows, found.max_size) == (rows, size)
    assert found.sets_examined <= len(alone)


@settings(max_examples=150, deadline=None)
@given(small=small_tables(max_columns=4, max_rows=12), way=st.sampled_from(TIERS), draw=st.data())
def test_with_units_people_are_counted_and_not_rows(small: Small, way: str, draw: st.DataObject) -> None:
    people = draw.draw(persons(len(small.rows)))
    rows = projected(small.rows, people)
    with tier(way):
        found = detect(FrequencyTable.of(table_of([*small.names, "person"], rows), unit="person"))
    known = {person for person in people if person is not None}
    apart = {columns: alone(small.project(columns), people) for columns in subsets(small.names, len(small.names))}
    counts = {columns: len(some) for columns, some in apart.items()}
    unique = [set(columns) for columns, some in apart.items() if known <= some]
    assert found.rows == max(len(known), 1)
    assert sorted(map(sorted, found.identifiers)) == sorted(
        sorted(columns) for columns in unique if not any(other < columns for other in unique)
    )
    for best in (*found.best_by_size, found.all_columns):
        assert best.singletons == counts[best.columns]
        assert best.distinct == len(set(small.project(best.columns)))
        classes = members(small.project(best.columns), people)
        assert best.share == best.singletons / len(everybody(classes.values()))
        assert best.separation_ratio is None
        # Sets that single out everybody who is known are all as good: what is left is rows of nobody.
        same_size = {columns: some for columns, some in apart.items() if len(columns) == len(best.columns)}
        others = [len(some) for some in same_size.values() if not known <= some]
        assert best.singletons >= max(others, default=0)
        assert known <= apart[best.columns] or len(others) == len(same_size) or best.singletons == max(others)


@settings(max_examples=60, deadline=None)
@given(small=small_tables(), order=st.randoms(use_true_random=False))
def test_ties_do_not_depend_on_the_order_of_the_rows(small: Small, order: Random) -> None:
    shuffled = list(small.rows)
    order.shuffle(shuffled)
    other = FrequencyTable.of(table_of(small.names, shuffled))
    assert detect(other) == detect(FrequencyTable.of(small.table))


def test_a_set_that_nothing_refines_is_padded_with_the_first_unused_name() -> None:
    rows: list[Row] = [("x", "1", "k"), ("y", "2", "k"), ("y", "2", "k")]
    found = detect(FrequencyTable.of(table_of(["p", "r", "q"], rows)))
    assert [best.columns for best in found.best_by_size] == [("p",), ("p", "q"), ("p", "r", "q")]


def test_a_search_over_sets_of_every_size_prunes_most_of_them() -> None:
    random = Random(1)
    kinds = [50, 40, 30, 5, 4, 3, 2, 2, 2, 2]
    rows: list[Row] = [tuple(str(random.randrange(kind)) for kind in kinds) for _ in range(3_000)]
    seen: list[int] = []
    names = [f"c{n}" for n in range(10)]
    found = detect(FrequencyTable.of(table_of(names, rows)), max_size=5, progress=seen.append)
    assert found.sets_examined < 637 / 2  # All sets of up to 5 of 10 columns.
    assert seen == list(range(1, found.sets_examined + 1))


def test_there_must_be_something_to_search() -> None:
    frequencies = FrequencyTable.of(table_of(["a"], [("x",)]))
    with pytest.raises(InvalidInputError, match="no columns or no rows"):
        detect(frequencies.project([]))
    with pytest.raises(InvalidInputError, match="no columns or no rows"):
        detect(FrequencyTable.of(table_of(["a"], [("x",)]).keep(np.array([False]))))
    with pytest.raises(InvalidInputError, match="at least 1 column, not 0"):
        detect(frequencies, max_size=0)
