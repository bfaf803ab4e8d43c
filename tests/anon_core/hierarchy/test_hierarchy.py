"""Ladders made from values and files: intervals, prefixes, dates, a root, lines of a hierarchy file."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import HierarchyError, UnmappedValuesError
from anon_core.hierarchy.build import ladder, ladders
from anon_core.hierarchy.kinds.widths import by_intervals
from anon_core.hierarchy.ladder import Ladder
from anon_core.spec import DateLevel, Hierarchy, Publication, load_spec
from tests.anon_core.table.table_files import write
from tests.properties.tables import Cell, spelled, table_of

NUMBERS = st.one_of(
    st.integers(-30, 2030).map(str),
    st.decimals(-50, 50, places=2).map(str),
    st.sampled_from(["1E3", " 7 ", "+5", "5.0", "05", "-0", "0.30", "123456789012345678901234567890.5", "1e-7"]),
)
WIDTHS = st.sampled_from([(5,), (5, 10, 20), (0.5, 5), (0.1, 0.3), (1, 1000), (3, 9)])


def made(values: list[Cell], hierarchy: Hierarchy | None, folder: Path = Path()) -> Ladder:
    return ladder(table_of(["c"], [(value,) for value in values]).column("c"), hierarchy, folder)


def levels_of(built: Ladder, values: list[Cell]) -> dict[Cell, list[Cell]]:
    """What each value becomes, from level 0 to the root."""
    domain = table_of(["c"], [(value,) for value in values]).column("c").domain.to_pylist()
    return {v: [level[code] for level in spelled(built)] for code, v in enumerate(domain)}


@settings(max_examples=80, deadline=None)
@given(number=NUMBERS, widths=WIDTHS)
def test_an_interval_starts_at_a_multiple_of_its_width_and_holds_the_number(
    number: str, widths: tuple[float, ...]
) -> None:
    path = by_intervals([number], [Decimal(str(width)) for width in widths]).paths[number]
    for text, width in zip(path, widths, strict=True):
        exact = Fraction(str(width))
        low = math.floor(Fraction(Decimal(number)) / exact) * exact
        if text.startswith("["):
            assert tuple(map(Fraction, text[1:-1].split(", "))) == (low, low + exact)
            assert text.endswith(")")
        else:
            assert text == f"{low}-{low + exact - 1}"


@settings(max_examples=80, deadline=None)
@given(
    values=st.lists(st.one_of(NUMBERS, st.sampled_from(["x", "nan", "inf", "1E999999999"]), st.none()), min_size=1),
    widths=WIDTHS,
)
def test_two_numbers_share_a_label_exactly_where_they_share_an_interval(
    values: list[Cell], widths: tuple[float, ...]
) -> None:
    built = made(values, Hierarchy(intervals=widths))
    at = levels_of(built, values)
    numbers = {v: Fraction(Decimal(v)) for v in at if v is not None and v not in ("x", "nan", "inf", "1E999999999")}
    for code, value in enumerate(at):
        assert built.unmapped[code] == (value is not None and value not in numbers)
        assert value is not None or at[value] == [None] * (len(widths) + 1) + ["*"]
    for level, width in enumerate(widths, 1):
        for one in numbers:
            for other in numbers:
                together = numbers[one] // Fraction(str(width)) == numbers[other] // Fraction(str(width))
                assert (at[one][level] == at[other][level]) == together


def test_whole_numbers_get_closed_intervals_unless_the_column_has_a_fraction() -> None:
    whole, mixed = Hierarchy(intervals=(5, 10)), Hierarchy(intervals=(0.5, 5))
    assert levels_of(made(["1957"], whole), ["1957"])["1957"] == ["1957", "1955-1959", "1950-1959", "*"]
    assert levels_of(made(["-3"], whole), ["-3"])["-3"] == ["-3", "[-5, 0)", "[-10, 0)", "*"]
    values: list[Cell] = ["1957", "1957.2"]
    assert levels_of(made(values, whole), values)["1957"] == ["1957", "[1955, 1960)", "[1950, 1960)", "*"]
    assert levels_of(made(values, mixed), values)["1957"] == ["1957", "[1957.0, 1957.5)", "[1955, 1960)", "*"]


@settings(max_examples=80, deadline=None)
@given(
    values=st.lists(st.text("12*é", max_size=5), min_size=1, max_size=8),
    lengths=st.sets(st.integers(1, 4), min_size=1).map(lambda chosen: tuple(sorted(chosen, reverse=True))),
)
def test_values_share_a_prefix_label_exactly_where_they_share_the_prefix(
    values: list[Cell], lengths: tuple[int, ...]
) -> None:
    built = made(values, Hierarchy(prefix=lengths))
    at = levels_of(built, values)
    assert not built.unmapped.any()
    for level, length in enumerate(lengths, 1):
        shown = {value: value if len(str(value)) <= length else str(value)[:length] + "*" for value in at}
        for one in at:
            assert str(at[one][level]).startswith(str(one)[:length])
            for other in at:
                assert (at[one][level] == at[other][level]) == (shown[one] == shown[other])


@settings(max_examples=80, deadline=None)
@given(
    day=st.dates(datetime.date(1, 1, 1)),
    time=st.sampled_from(["", " 00:00:00", "T23:59:59.999Z"]),
    parts=st.sets(st.sampled_from(list(DateLevel)), min_size=1),
)
def test_a_date_climbs_through_the_parts_that_are_asked_for(
    day: datetime.date, time: str, parts: set[DateLevel]
) -> None:
    whole = {
        DateLevel.DAY: day.isoformat(),
        DateLevel.MONTH: day.isoformat()[:7],
        DateLevel.QUARTER: f"{day.year:04}-Q{[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4][day.month - 1]}",
        DateLevel.YEAR: f"{day.year:04}",
        DateLevel.DECADE: f"{day.year:04}"[:3] + "0s",
    }
    asked = [part for part in DateLevel if part in parts]
    value = day.isoformat() + time
    at = levels_of(made([value], Hierarchy(date=tuple(asked))), [value])
    assert at[value] == [value, *(whole[part] for part in asked), "*"]


@pytest.mark.parametrize("value", ["2019-02-30", "2019-13-01", "05/05/2019", "2019-5-1", "2019", "", "2019-05-15x"])
def test_what_is_not_a_date_is_unmapped(value: str) -> None:
    assert made([value], Hierarchy(date=(DateLevel.YEAR,))).unmapped.all()


def test_a_root_has_the_name_it_is_given_and_without_a_hierarchy_it_is_a_star() -> None:
    values: list[Cell] = ["F", "M", None]
    named = levels_of(made(values, Hierarchy(root="any gender")), values)
    assert named == {"F": ["F", "any gender"], "M": ["M", "any gender"], None: [None, "any gender"]}
    assert levels_of(made(values, None), values)["F"] == ["F", "*"]


SPEC = """\
dataset: places
title: Places
source: {file: places.csv}
columns:
  town: {role: quasi, hierarchy: {file: towns.csv}}
  year: {role: quasi, hierarchy: {intervals: [10]%s}}
  day: {role: quasi, hierarchy: {date: [year]}}
  code: {role: quasi}
privacy: {k: 2}
recode: {method: none}
portal: {folder: portal}
unit: row
reviewed: {by: Ada, "on": 2026-01-02}
"""

ROWS = [
    ("COGNE", "1957", "2019-05-15", "a"),
    ("CANARY-1", "CANARY-2", "CANARY-3", "b"),
    ("CANARY-4", "CANARY-2", None, "c"),
]


def publication(folder: Path, unmapped: str = "") -> Publication:
    write(folder, "COGNE;AO\n", "towns.csv")
    return load_spec(write(folder, SPEC % unmapped, "places.yaml"))


def test_every_column_with_unknown_values_is_named_with_counts_and_no_value(tmp_path: Path) -> None:
    table = table_of(["town", "year", "day", "code"], ROWS)
    with pytest.raises(UnmappedValuesError) as caught:
        ladders(publication(tmp_path), table, table.names)
    assert caught.value.unmapped == {"town": (2, 2), "year": (1, 2), "day": (1, 1)}
    assert "column 'town': 2 distinct values, 2 rows, without a line in towns.csv; column 'year': " in str(caught.value)
    assert "1 distinct value, 2 rows, not numbers" in str(caught.value)
    assert "not dates such as" in str(caught.value)
    assert "unmapped: suppress" in str(caught.value)
    assert "CANARY" not in repr(caught.value)


def test_unknown_values_are_suppressed_where_the_publication_says_so(tmp_path: Path) -> None:
    table = table_of(["town", "year", "day", "code"], ROWS)
    suppressing = publication(tmp_path, ", unmapped: suppress")
    with pytest.raises(UnmappedValuesError) as caught:
        ladders(suppressing, table, table.names)
    assert set(caught.value.unmapped) == {"town", "day"}
    built = ladders(suppressing, table, ["year", "code"])
    assert list(built) == ["year", "code"]
    assert built["year"].labels.to_pylist()[built["year"].maps[0, 1]] == "*"
    assert not built["code"].unmapped.any()


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (
            "days.csv",
            "2 hierarchies: {0}/towns.csv: line 3 has 1 level, line 1 has 2; "
            "{0}/towns.csv: line 2 repeats the value of line 1; {0}/days.csv: line 2 has an empty label at level 1",
        ),
        ("towns.csv", "{0}/towns.csv: line 3 has 1 level, line 1 has 2; line 2 repeats the value of line 1"),
    ],
)
def test_the_faults_of_all_hierarchy_files_are_told_together(tmp_path: Path, days: str, said: str) -> None:
    spec = write(tmp_path, (SPEC % "").replace("{date: [year]}", f"{{file: {days}}}"), "places.yaml")
    write(tmp_path, "COGNE;AO\nCOGNE;AO\nAOSTA\n", "towns.csv")
    write(tmp_path, "2019-05-15;2019\n2020-05-15;\n", "days.csv")
    table = table_of(["town", "year", "day", "code"], ROWS)
    with pytest.raises(HierarchyError) as caught:
        ladders(load_spec(spec), table, table.names)
    assert str(caught.value) == said.format(tmp_path)
