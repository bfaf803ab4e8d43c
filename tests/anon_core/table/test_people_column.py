"""The column that tells people apart: spellings of one value are one person, and words for no value are nobody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anon_core as ac
from anon_core.frequency import UNKNOWN_PERSON, unit_codes
from anon_core.table import Column
from anon_core.table.people import numbered, one_spelling, person_column
from tests.properties.tables import table_of


def persons(*cells: str | None) -> list[int]:
    """Whose each cell is, from 0 on; -1 is nobody."""
    units = unit_codes(one_spelling(table_of(["p"], [(cell,) for cell in cells]).column("p")))
    seen: dict[int, int] = {UNKNOWN_PERSON: -1}
    return [seen.setdefault(unit, len(seen) - 1) for unit in units.tolist()]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("RSSMRA80", "rssmra80"),
        ("RSSMRA80", " RSS MRA80 "),
        ("RSSMRA80", "RSS\u00a0MRA80"),
        ("ＲＳＳ80", "RSS80"),
        ("123", "00123"),
        ("123", "123.0"),
        ("123", "0123,00"),
        ("0", "000"),
        ("12345678Z", "12345678-Z"),
        ("12345678Z", "12.345.678-z"),
        ("85073003328", "85.07.30-033.28"),
        ("1234567", "123/4567"),
    ],
)
def test_two_spellings_are_one_person(one: str, other: str) -> None:
    assert persons(one, other, "x") == [0, 0, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1-23", "12-3"),
        ("1-23", "123"),
        ("123-45678", "1234-5678"),
        ("1.5", "15"),
        ("1.5", "1.50"),
        ("10", "1"),
        ("100", "1"),
        ("-7", "7"),
        ("a1", "a01"),
        ("Élan", "Elan"),
        ("1.000", "1"),
    ],
)
def test_other_values_are_other_people(one: str, other: str) -> None:
    assert persons(one, other) == [0, 1]


@pytest.mark.parametrize(
    "word",
    [
        "",
        " ",
        "NaN",
        "nan",
        "NULL",
        "None",
        "N/A",
        "n.a.",
        "<NA>",
        "n.d.",
        "Unknown",
        "non disponibile",
        "-",
        "--",
        "?",
        ".",
    ],
)
def test_words_for_a_missing_value_are_nobody(word: str) -> None:
    assert persons("7", word, None) == [0, -1, -1]


def test_a_word_for_a_missing_value_makes_no_class_larger() -> None:
    """Four people, and many rows of nobody known, who were a fifth one in every class."""
    rows = [("Enna", name) for name in ["1", "2", "3", "4", "NaN", "NaN", "-"]]
    table = table_of(["town", "person"], rows)
    assert ac.measure(table, ac.KAnonymity(k=4), quasi="town", unit="person").observed == 4


def test_a_gap_among_the_floats_of_a_file_is_nobody(tmp_path: Path) -> None:
    cells = pa.array([1.0, 1.0, 2.0, float("nan"), None])
    pq.write_table(pa.table({"town": ["Enna"] * 5, "person": cells}), tmp_path / "v.parquet")
    table = ac.read(tmp_path / "v.parquet")
    whose = person_column(table, ["person"], "whose")
    assert unit_codes(whose).tolist() == [1, 1, 2, UNKNOWN_PERSON, UNKNOWN_PERSON]


def test_numbers_that_the_files_of_two_months_write_differently_are_one_person() -> None:
    """A gap in one file made floats of its numbers; the other one lost its leading zeros in a spreadsheet."""
    rows = [("Enna", name) for number in range(3) for name in (f"{number:05}", f"{number}.0", f"{number}")]
    found = ac.measure(table_of(["town", "person"], rows), ac.KAnonymity(k=4), quasi="town", unit="person")
    assert (found.observed, found.passed) == (3, False)


def test_a_gap_in_one_part_of_a_composite_unit_is_nobody_and_its_parts_do_not_run_into_each_other() -> None:
    rows = [("ab", "c"), ("a", "bc"), ("ab", None), (None, "c"), ("ab", "n/a"), ("AB", " c")]
    whose = person_column(table_of(["p", "q"], rows), ["p", "q"], "whose")
    units = unit_codes(whose).tolist()
    assert units[2:5] == [UNKNOWN_PERSON] * 3
    assert units[0] == units[5] != units[1]


@settings(max_examples=100, deadline=None)
@given(people=st.lists(st.integers(0, 30), min_size=1, max_size=40), seed=st.integers(0, 9))
def test_the_numbers_that_stage_gives_are_all_different_people(people: list[int], seed: int) -> None:
    column = table_of(["p"], [(f"x{person}",) for person in people]).column("p")
    given_out = numbered(column, np.random.default_rng(seed))
    assert one_spelling(given_out).domain.equals(given_out.domain)
    assert len(given_out.domain) == len(set(people))


def test_a_column_of_gaps_alone_stays_one() -> None:
    column = Column(name="p", codes=np.zeros(3, np.int32), domain=pa.array([None], pa.string()))
    assert unit_codes(one_spelling(column)).tolist() == [UNKNOWN_PERSON] * 3
