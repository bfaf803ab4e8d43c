"""Columns declared other or sensitive in tables of people with several rows: rows of one person are no crowd."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from tests.attacks.attacker import Columns, Release, Rows, publication, refused

YEARS = ("1950", "1960", "1970", "1980")
ROLES: Columns = {"person": "identifier", "year": "quasi"}


def visits(value: list[str], rows: int = 6) -> Rows:
    """As many rows for each person, all with the person's own value."""
    return [(f"P{at:04}", YEARS[at % 4], one) for at, one in enumerate(value) for _ in range(rows)]


def test_a_harmless_column_of_which_each_person_has_six_rows_is_refused(tmp_path: Path) -> None:
    """Counted in rows every class of year and shoe would have 6."""
    rows = visits([f"shoe {at}" for at in range(100)])
    said = refused(publication(tmp_path, rows, {**ROLES, "shoe": "other"}, unit="person"))
    assert "k-anonymity with all other columns: smallest class has 1 person, 5 required over year, shoe" in said
    assert "100 people are alone; shoe is the smallest set without which it holds" in said


def test_a_sensitive_value_of_which_one_person_has_six_rows_is_refused(tmp_path: Path) -> None:
    rows = visits([f"salary {at}" for at in range(100)])
    said = refused(publication(tmp_path, rows, {**ROLES, "salary": "sensitive"}, unit="person"))
    assert "100 people have a value of salary that fewer than 5 share; 1 of 100 allowed" in said


def test_people_are_alone_over_all_columns_however_many_rows_they_have(tmp_path: Path) -> None:
    """Each value alone, and any two, are common; all three are one person's."""
    draw = random.Random(5)
    cells = [tuple(draw.choice("abcd") for _ in range(3)) for _ in range(160)]
    rows = [(f"P{at:04}", YEARS[at % 4], *one) for at, one in enumerate(cells) for _ in range(6)]
    columns = {**ROLES, **dict.fromkeys(("x", "y", "z"), "sensitive")}
    alone = sum(times == 1 for times in Counter((row[1], *row[2:]) for row in rows[::6]).values())
    limits = {"max_share_with_sensitive": 0.01, "max_share_alone": 1.0}
    said = refused(publication(tmp_path, rows, columns, unit="person", published_uniqueness=limits))
    assert alone > 5 and f"{alone} people are alone over all 4 published columns" in said


def test_a_class_whose_people_all_have_a_value_is_measured_by_people(tmp_path: Path) -> None:
    """Everybody of 1950 has HIV in one row, and something else in another one: certain, and not all of the rows."""
    rows = [(f"P{at:04}", YEARS[at % 4], "flu") for at in range(80) for _ in range(2)]
    rows += [(f"P{at:04}", YEARS[at % 4], "HIV" if at % 4 == 0 else "cold") for at in range(80)]
    release = Release(publication(tmp_path, rows, {**ROLES, "illness": "sensitive"}, unit="person"))
    assert release.internal["homogeneity(illness)"]["observed"] == 80
    rows = [row for row in release.rows if row[0] == "1950"]
    assert {illness for _, illness in rows} == {"flu", "HIV"}, "by rows nothing would be certain"
