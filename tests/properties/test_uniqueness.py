"""Published uniqueness: which column sets single out too many rows, whatever was declared about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.detection.uniqueness import UniqueSet, search_uniqueness
from anon_core.frequency import FrequencyTable
from tests.properties.persons import members, persons, projected
from tests.properties.tables import Row, Small, small_tables, subsets, table_of

SETS = st.lists(st.lists(st.sampled_from("pqrstx"), min_size=1, max_size=4, unique=True), max_size=3)
SHARES = ["0", "0", "0.1", "0.25", "0.29", "0.5", "1"]


def unaccepted(frequencies: FrequencyTable, **limits: Any) -> list[UniqueSet]:
    return search_uniqueness(frequencies, **limits).sets


def alone(small: Small, columns: tuple[str, ...]) -> set[int]:
    """Which rows are alone under some columns."""
    rows = small.project(columns)
    times = Counter(rows)
    return {at for at, row in enumerate(rows) if times[row] == 1}


@settings(max_examples=150, deadline=None)
@given(
    small=small_tables(max_columns=4, max_rows=14),
    max_size=st.integers(1, 5),
    share=st.sampled_from(SHARES),
    accepted=SETS,
    together=SETS,
)
def test_the_sets_found_are_the_minimal_ones_that_nobody_accepted(
    small: Small, max_size: int, share: str, accepted: list[list[str]], together: list[list[str]]
) -> None:
    known = [set(columns) for columns in accepted if set(columns) <= set(small.names)]
    broken: dict[frozenset[str], int] = {}
    looked_at = [*subsets(small.names, min(max_size, len(small.names))), *map(tuple, together)]
    for columns in looked_at:
        if not set(columns) <= set(small.names):
            continue
        if any(set(columns) <= cover for cover in known):
            continue
        rows = alone(small, columns)
        for cover in known:
            if cover < set(columns):
                rows -= alone(small, tuple(sorted(cover)))
        if Fraction(len(rows), len(small.rows)) > Fraction(share):
            broken[frozenset(columns)] = len(rows)
    minimal = {columns: count for columns, count in broken.items() if not any(other < columns for other in broken)}

    found = unaccepted(
        FrequencyTable.of(small.table),
        max_size=max_size,
        max_share=float(share),
        accepted=accepted,
        together=together,
    )
    assert {frozenset(one.columns): one.singletons for one in found} == minimal
    assert all(one.share == one.singletons / len(small.rows) for one in found)
    assert found == sorted(found, key=lambda one: (len(one.columns), -one.singletons, one.columns))


@settings(max_examples=150, deadline=None)
@given(
    small=small_tables(max_columns=4, max_rows=14),
    data=st.data(),
    share=st.sampled_from(SHARES),
    accepted=SETS,
)
def test_with_units_people_are_singled_out_and_classes_of_nobody_known(
    small: Small, data: st.DataObject, share: str, accepted: list[list[str]]
) -> None:
    people = data.draw(persons(len(small.rows)))
    cells = [set(columns) for columns in accepted if set(columns) <= set(small.names)]
    known = len({person for person in people if person is not None}) or 1

    def apart(columns: tuple[str, ...]) -> dict[int, Hashable]:
        """Which rows are alone, and whose they are."""
        keys = small.project(columns)
        inside = members(keys, people)
        return {
            at: next(iter(inside[key]))
            for at, (key, person) in enumerate(zip(keys, people, strict=True))
            if len(inside[key]) == 1 and (person is not None or isinstance(next(iter(inside[key])), tuple))
        }

    broken: dict[frozenset[str], int] = {}
    for columns in subsets(small.names, 3):
        if any(set(columns) <= cover for cover in cells):
            continue
        rows = apart(columns)
        for cover in cells:
            if cover < set(columns):
                answered = apart(tuple(sorted(cover)))
                rows = {at: person for at, person in rows.items() if at not in answered}
        count = len(set(rows.values()))
        if Fraction(count, known) > Fraction(share):
            broken[frozenset(columns)] = count
    minimal = {columns: count for columns, count in broken.items() if not any(other < columns for other in broken)}
    table = table_of([*small.names, "person"], projected(small.rows, people))
    found = unaccepted(FrequencyTable.of(table, unit="person"), max_size=3, max_share=float(share), accepted=accepted)
    assert {frozenset(one.columns): one.singletons for one in found} == minimal


ROWS: list[Row] = [("a", "1", "x"), ("b", "1", "x"), ("b", "2", "x"), ("b", "2", "y"), ("b", "1", "x")]
TABLE = FrequencyTable.of(table_of(["p", "q", "r"], ROWS))


def test_a_column_that_singles_out_one_row_is_found_alone_and_not_with_what_is_added() -> None:
    assert unaccepted(TABLE, max_size=3, max_share=0) == [
        UniqueSet(columns=("p",), singletons=1, share=0.2),
        UniqueSet(columns=("r",), singletons=1, share=0.2),
    ]


def test_accepting_a_set_accepts_the_rows_it_singles_out_and_no_others() -> None:
    found = unaccepted(TABLE, max_size=3, max_share=0, accepted=[["p"], ["r"]])
    # The rows of `p` and `r` are accepted; q and r together leave a third one alone.
    assert found == [UniqueSet(columns=("q", "r"), singletons=1, share=0.2)]
    assert unaccepted(TABLE, max_size=1, max_share=0, accepted=[["p"], ["r"]]) == []


def test_accepting_a_set_accepts_its_subsets() -> None:
    assert unaccepted(TABLE, max_size=3, max_share=0, accepted=[["r", "q", "p"]]) == []


def test_an_acceptance_of_a_column_that_is_not_there_covers_nothing() -> None:
    found = unaccepted(TABLE, max_size=1, max_share=0, accepted=[["p", "gone"], ["r"]])
    assert [one.columns for one in found] == [("p",)]


def test_a_set_beyond_the_size_is_looked_at_where_it_is_named() -> None:
    rows: list[Row] = [("a", "1"), ("a", "2"), ("b", "1"), ("b", "2"), ("b", "2"), ("a", "1"), ("a", "2")]
    frequencies = FrequencyTable.of(table_of(["p", "q"], rows))
    assert unaccepted(frequencies, max_size=1, max_share=0) == []
    found = unaccepted(frequencies, max_size=1, max_share=0, together=[["q", "p"], ["p", "gone"]])
    assert [(one.columns, one.singletons) for one in found] == [(("p", "q"), 1)]
    assert unaccepted(frequencies, max_size=1, max_share=0, together=[["p", "q"]], accepted=[["p", "q"]]) == []


def test_a_share_that_is_reached_and_not_passed_is_allowed() -> None:
    rows: list[Row] = [(str(n),) for n in range(29)] + [("same",)] * 71
    frequencies = FrequencyTable.of(table_of(["p"], rows))
    assert unaccepted(frequencies, max_size=1, max_share=0.29) == []
    assert len(unaccepted(frequencies, max_size=1, max_share=0.28)) == 1


def test_of_no_rows_nobody_is_singled_out() -> None:
    empty = FrequencyTable.of(table_of(["p"], [("x",)]).keep(np.array([False])))
    assert unaccepted(empty, max_size=2, max_share=0) == []
