"""Groups of neighbouring numbers: at least so many rows each, or so many distinct values."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import NotNumbersError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.kinds.intervals import group_numbers
from anon_core.spec import Intervals, Replace, Years
from tests.properties.tables import Cell, spelled, table_of

NUMBERS = st.one_of(
    st.integers(-3, 12).map(str), st.sampled_from(["1.5", "1.50", "1E1", " 7", "0.01", "0.02", "0.03", "-0", None])
)


def grouped(
    cells: list[Cell], intervals: Intervals, size: int, replace: Replace = Replace.RANGE
) -> dict[Cell, list[Cell]]:
    """What each value becomes, at all levels."""
    table = table_of(["year"], [(cell,) for cell in cells])
    years = Years(column="year", intervals=intervals, size=size, replace=replace)
    ladder = group_numbers(FrequencyTable.of(table), years)
    domain = table.column("year").domain.to_pylist()
    return {v: [level[code] for level in spelled(ladder)] for code, v in enumerate(domain)}


def groups_of(levels: dict[Cell, list[Cell]]) -> list[set[Decimal]]:
    """The numbers that share a label, smallest group first."""
    groups: dict[Cell, set[Decimal]] = {}
    for value, (_, name, _) in levels.items():
        if value is not None:
            groups.setdefault(name, set()).add(Decimal(value.strip()))
    return sorted(groups.values(), key=min)


@settings(max_examples=80, deadline=None)
@given(cells=st.lists(NUMBERS, min_size=1, max_size=25), size=st.integers(1, 6))
def test_groups_of_rows_are_the_smallest_that_have_enough(cells: list[Cell], size: int) -> None:
    numbers = sorted(Decimal(cell.strip()) for cell in cells if cell is not None)
    expected: list[set[Decimal]] = []
    rows = 0
    for number in sorted(set(numbers)):
        if not expected or rows >= size:
            expected.append(set())
            rows = 0
        expected[-1].add(number)
        rows += numbers.count(number)
    if len(expected) > 1 and rows < size:
        left_over = expected.pop()
        expected[-1] |= left_over
    assert groups_of(grouped(cells, Intervals.ROWS, size)) == expected


@settings(max_examples=60, deadline=None)
@given(cells=st.lists(NUMBERS, min_size=1, max_size=25), size=st.integers(1, 6))
def test_groups_of_distinct_values_have_that_many_but_for_the_last(cells: list[Cell], size: int) -> None:
    numbers = sorted({Decimal(cell.strip()) for cell in cells if cell is not None})
    expected = [set(numbers[at : at + size]) for at in range(0, len(numbers), size)]
    assert groups_of(grouped(cells, Intervals.DISTINCT, size)) == expected


@settings(max_examples=80, deadline=None)
@given(
    cells=st.lists(NUMBERS, min_size=1, max_size=25),
    size=st.integers(1, 4),
    intervals=st.sampled_from(list(Intervals)),
)
def test_a_mean_in_place_of_a_range_merges_and_splits_nothing(
    cells: list[Cell], size: int, intervals: Intervals
) -> None:
    ranges, means = grouped(cells, intervals, size), grouped(cells, intervals, size, Replace.MEAN)
    assert groups_of(ranges) == groups_of(means)
    for value, (_, name, _) in means.items():
        assert value is None or str(name).startswith("~"), "an invented value must be marked as such"


def test_a_range_names_its_first_and_last_value_and_a_gap_stays_a_gap() -> None:
    levels = grouped(["1950", "1951", "1953", "1990", None], Intervals.DISTINCT, 3)
    assert levels["1951"] == ["1951", "1950-1953", "*"]
    assert levels["1990"] == ["1990", "1990-1990", "*"]
    assert levels[None] == [None, None, "*"]
    assert grouped(["-3", "4"], Intervals.DISTINCT, 2)["4"] == ["4", "[-3, 4]", "*"]


def test_a_mean_counts_every_row_and_has_as_many_decimals_as_it_takes() -> None:
    assert grouped(["1", "1", "4"], Intervals.DISTINCT, 2, Replace.MEAN)["1"][1] == "~2.0"
    close = grouped(["1.01", "1.02", "1.03", "1.04"], Intervals.DISTINCT, 2, Replace.MEAN)
    assert (close["1.01"][1], close["1.04"][1]) == ("~1.02", "~1.04")


def test_a_column_of_gaps_alone_has_no_groups() -> None:
    assert grouped([None, None], Intervals.ROWS, 2) == {None: [None, None, "*"]}


def test_what_is_no_number_is_counted_and_not_quoted() -> None:
    with pytest.raises(NotNumbersError) as caught:
        grouped(["1950", "CANARY", "CANARY", "", None], Intervals.ROWS, 2)
    assert (caught.value.column, caught.value.values, caught.value.rows) == ("year", 2, 3)
    assert "CANARY" not in repr(caught.value)
