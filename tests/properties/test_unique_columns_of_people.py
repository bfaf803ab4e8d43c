"""Sets of columns on which everybody is alone, where people have several rows, against sets of people."""

from __future__ import annotations

from itertools import combinations
from math import floor, log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.detection.singletons import detect
from anon_core.detection.unique_columns import unique_column_combinations
from anon_core.engines.arrow import ArrowEngine
from anon_core.measures.sensitivity.scores import score_columns
from tests.properties.tables import Row, table_of

NAMES = ("a", "b", "c", "person")
ROWS = st.lists(
    st.tuples(*[st.sampled_from(["x", "y", "z", None])] * 3, st.sampled_from(["1", "2", "3", "4", None])),
    min_size=1,
    max_size=14,
)


def engine_of(rows: list[Row]) -> ArrowEngine:
    return ArrowEngine(table=table_of(NAMES, rows), unit="person")


def alone(rows: list[Row], columns: tuple[int, ...]) -> set[str]:
    """Everybody who is the only known person in one of the classes."""
    people: dict[tuple[object, ...], set[str]] = {}
    for row in rows:
        if row[3] is not None:
            people.setdefault(tuple(row[at] for at in columns), set()).add(row[3])
    return {next(iter(found)) for found in people.values() if len(found) == 1}


def brute(rows: list[Row], approximate: float, *, ignore_duplicates: bool) -> list[tuple[str, ...]]:
    known, whole = {row[3] for row in rows} - {None}, alone(rows, (0, 1, 2))
    searched = len(whole) if ignore_duplicates else len(known)
    wanted = searched - floor(approximate * searched + 1e-9)
    if not whole or len(whole) < wanted:
        return []
    enough = [one for size in (1, 2, 3) for one in combinations(range(3), size) if len(alone(rows, one)) >= wanted]
    minimal = [one for one in enough if not any(set(other) < set(one) for other in enough)]
    return [tuple(NAMES[at] for at in one) for one in minimal]


@settings(max_examples=400, deadline=None)
@given(rows=ROWS, approximate=st.sampled_from([0.0, 0.25, 0.5]), ignore_duplicates=st.booleans())
def test_the_minimal_sets_are_those_that_trying_all_finds(
    rows: list[Row], approximate: float, ignore_duplicates: bool
) -> None:
    found = unique_column_combinations(
        engine_of(rows).people(NAMES[:3]), approximate=approximate, ignore_duplicates=ignore_duplicates
    )
    assert list(found.sets) == brute(rows, approximate, ignore_duplicates=ignore_duplicates)
    known = {row[3] for row in rows} - {None}
    assert found.duplicate_rows == len(known) - len(alone(rows, (0, 1, 2))) and found.counted == "people"
    assert found.exists == bool(found.sets)


@settings(max_examples=200, deadline=None)
@given(rows=ROWS)
def test_they_are_the_identifiers_that_detection_finds(rows: list[Row]) -> None:
    people = engine_of(rows).people(NAMES[:3])
    if any(row[3] for row in rows) and len({row[3] for row in rows} - {None}) > 1:
        assert unique_column_combinations(people).sets == detect(people).identifiers


@settings(max_examples=200, deadline=None)
@given(rows=ROWS)
def test_shares_and_entropy_of_a_column_count_each_person_once_for_a_value(rows: list[Row]) -> None:
    engine = engine_of(rows)
    counted = ArrowEngine(table=engine.table.select(NAMES), unit="person")
    unique = unique_column_combinations(counted.people(NAMES[:3]))
    scores = score_columns(counted, unique, dict.fromkeys(NAMES[:3], 0.5))
    for at, one in enumerate(scores.columns):
        people = counted.people([one.name])
        assert one.unique_share == pytest.approx(people.singletons / people.people)
        pairs = {(row[at], row[3]) for row in rows if row[3] is not None}
        unknown = {row[at] for row in rows} - {value for value, _ in pairs}
        known = {value for value, _ in pairs}
        sizes = [sum(value == other for other, _ in pairs) for value in known] + [1] * len(unknown)
        entropy = -sum(size / sum(sizes) * log2(size / sum(sizes)) for size in sizes)
        assert one.entropy == pytest.approx(entropy, abs=1e-9)
