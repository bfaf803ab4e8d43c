"""People with several rows: an export that claims one row for each, and one that says whose its rows are."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.attacker import Columns, Release, Rows, publication, refused

TOWNS = [("Alba", "North"), ("Bria", "North"), ("Elva", "South"), ("Fara", "South")]
NAMES = ("tax_code", "case_no", "birth_date", "sex", "town", "income")
QUASI = ("birth_date", "sex", "town")
EXPORT: Columns = {
    "tax_code": "identifier",
    "case_no": "identifier",
    "birth_date": {"role": "quasi", "hierarchy": {"date": ["day", "year", "decade"]}},
    "sex": "quasi",
    "town": {"role": "quasi", "hierarchy": {"file": "towns.csv"}},
    "income": {"role": "sensitive", "coarsen": {"round": 10000, "top": 50000}},
}
LOCAL = {"method": "prioritised", "improve": 0}


@cache
def export(people: int = 500) -> Rows:
    """The export of a municipality: 1 to 6 rows for each person, 3.2 on average, each with a case number of its own."""
    draw, found = random.Random(32), []
    for number in range(people):
        birth = f"{draw.randrange(1940, 2000)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
        person = (birth, draw.choice("FM"), draw.choice(TOWNS)[0], str(draw.randrange(9_000, 60_000)))
        rows = draw.choices(range(1, 7), (10, 23, 27, 22, 12, 6))[0]
        found += [(f"T{number * 7919 % 100_000:05}", *person)] * rows
    draw.shuffle(found)
    return [(code, f"case {at:06}", *more) for at, (code, *more) in enumerate(found)]


def municipal(folder: Path, rows: Rows | None = None, columns: Columns = EXPORT, **changes: Any) -> Path:
    changes = {"recode": LOCAL, "suppression_limit": 0.1, "files": {"towns.csv": TOWNS}, **changes}
    return publication(folder, rows or export(), columns, **changes)


@pytest.mark.parametrize(
    ("roles", "unit", "advice"),
    [
        ({}, "row", "say `unit: tax_code`"),
        ({}, "case_no", "which contradicts `unit: case_no`"),
        ({"tax_code": "drop"}, "row", "say `unit: tax_code`"),
        ({"tax_code": "drop", "case_no": "drop"}, "case_no", "which contradicts `unit: case_no`"),
        ({}, ["case_no", "birth_date"], "which contradicts `unit:"),
    ],
)
def test_rows_that_claim_to_be_people_are_refused_with_their_number(
    tmp_path: Path, roles: Columns, unit: Any, advice: str
) -> None:
    rows = export()
    said = refused(municipal(tmp_path, columns={**EXPORT, **roles}, unit=unit))
    people = len({row[0] for row in rows})
    assert 3.0 < len(rows) / people < 3.4
    assert f"tax_code spans units: {len(rows):,} rows, {people:,} people" in said and advice in said


@cache
def of_two_offices() -> Rows:
    """The same export, of which one office wrote tax codes in lower case, and another one with a blank."""
    written = (str.upper, str.lower, lambda code: f" {code[:3]} {code[3:]}")
    return [(written[at % 3](code), *more) for at, (code, *more) in enumerate(export())]


def test_two_spellings_of_a_tax_code_are_one_person(tmp_path: Path) -> None:
    said = refused(municipal(tmp_path / "claimed", of_two_offices()))
    assert f"tax_code spans units: {len(export()):,} rows, {len({row[0] for row in export()}):,} people" in said
    same = [
        Release(municipal(tmp_path / name, rows, unit="tax_code"))
        for name, rows in (("one", export()), ("two", of_two_offices()))
    ]
    assert same[0].rows == same[1].rows
    assert min(len(found) for found in same[1].people(*QUASI).values()) >= 5


def test_the_birth_date_and_the_income_of_a_person_are_not_alone_however_many_rows_the_person_has(
    tmp_path: Path,
) -> None:
    """As collected nearly every class of birth date, sex and town is one person's."""
    before = {row[2:5] for row in export()}
    assert len(before) > 0.98 * len({row[0] for row in export()})
    collected = {**EXPORT, "birth_date": "quasi"}
    said = refused(municipal(tmp_path, columns=collected, unit="tax_code", recode={"method": "none"}))
    assert "smallest class has 1 person, 5 required" in said


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Release:
    diverse = [{"column": "income", "l": 3}]
    return Release(municipal(tmp_path_factory.mktemp("municipal"), unit="tax_code", l_diversity=diverse))


def test_no_class_has_fewer_people_than_k_and_nobody_fills_more_than_half_of_one(released: Release) -> None:
    assert not {"tax_code", "case_no"} & set(released.names)
    assert Counter(row for row, _ in released.whose) == Counter(released.rows)
    people = released.people(*QUASI)
    assert set(people) == set(released.groups(*QUASI)) and len(people) > 5
    assert min(map(len, people.values())) >= 5
    assert all(2 * max(found.values()) <= found.total() for found in people.values())
    assert "at least <strong>5 people</strong>" in released.page and "The checks count people" in released.page


def test_an_attacker_who_knows_a_person_guesses_their_row_no_better_than_half_the_time(released: Release) -> None:
    """The attacker knows birth date, sex and town of everybody, finds the class, and takes one of its rows."""
    chances = [rows / found.total() for found in released.people(*QUASI).values() for rows in found.values()]
    assert max(chances) <= 0.5 and sum(chances) / len(chances) <= 1 / 5


def test_no_income_is_certain_and_those_that_all_rows_of_a_person_may_have_are_three(released: Release) -> None:
    """The attacker intersects the incomes of all classes in which a person's rows are: everybody has one income."""
    by_class: dict[tuple[str, ...], set[str]] = {}
    for row in released.rows:
        by_class.setdefault(row[:3], set()).add(row[3])
    classes: dict[str, set[tuple[str, ...]]] = {}
    for row, person in released.whose:
        classes.setdefault(person, set()).add(row[:3])
    left = [set.intersection(*(by_class[one] for one in found)) for found in classes.values()]
    assert min(map(len, left)) >= 3
    assert released.internal["common_values(income)"]["passed"]


WITHOUT_NUMBERS: Columns = {name: one for name, one in EXPORT.items() if name not in ("tax_code", "case_no")}


def test_an_export_without_a_person_number_is_contradicted_by_the_rows_of_one_date_of_birth(tmp_path: Path) -> None:
    """Those who are born on one day are of one sex and one town nearly always: they are rows of one person."""
    rows = [row[2:] for row in export()]
    said = refused(municipal(tmp_path, rows, WITHOUT_NUMBERS))
    assert f"birth_date spans units: {len(rows):,} rows, " in said


def test_an_export_without_a_person_number_that_gives_people_away_by_their_income_is_refused(tmp_path: Path) -> None:
    """A person answers for `row`; the rows of one person tell each other's birth date, sex and town all the same."""
    word = {"reason": "The register says that nobody comes twice", "by": "Ada", "until": "2027-06-30"}
    unit = {"rows_are_people": word}
    said = refused(municipal(tmp_path, [row[2:] for row in export()], WITHOUT_NUMBERS, unit=unit))
    assert "restored values" in said and "by income" in said


@pytest.mark.parametrize("called", ["c1", "colore"])
def test_a_pseudonym_of_any_name_is_not_published_beside_the_claim_that_rows_are_people(
    tmp_path: Path, called: str
) -> None:
    """Six rows of each person make classes that are large enough for k = 5, and all of them one person's."""
    own = {row[0]: (hashlib.sha256(row[0].encode()).hexdigest()[:8], *row[3:5]) for row in export()}
    rows = [(*person, "abc"[at % 3]) for person in own.values() for at in range(6)]
    columns: Columns = {called: "other", "sex": "quasi", "town": "quasi", "service": "sensitive"}
    said = refused(publication(tmp_path, rows, columns))
    assert f"{called} spans units: {len(rows):,} rows, {len(own):,} people" in said


def test_what_nothing_contradicts_is_said_not_to_be_verifiable(tmp_path: Path) -> None:
    """The one way past: no number, no date of birth, another value in each row. Readers are told that k counts rows."""
    draw = random.Random(7)
    rows = [(row[2][:4] + "-01-01", *row[3:5], draw.choice("abc")) for row in export()]
    columns: Columns = {name: one for name, one in EXPORT.items() if name in QUASI} | {"service": "sensitive"}
    page = Release(municipal(tmp_path, rows, columns)).page
    assert "The publisher states that every row is another person" in page and "not verifi" in page
    assert "If one person has several rows, the figures do not hold for that person" in page


def test_visits_of_one_person_do_not_make_a_class(tmp_path: Path) -> None:
    """Six rows in each class, all of one person: k in rows would be 6."""
    rows = [(f"T{at // 6:05}", f"case {at:06}", f"{1940 + at // 6}-01-01", "F", "Alba", "x") for at in range(360)]
    columns = {**EXPORT, "birth_date": "quasi", "income": "sensitive"}
    said = refused(municipal(tmp_path, rows, columns, unit="tax_code", recode={"method": "none"}))
    assert "smallest class has 1 person, 5 required" in said


def test_a_person_who_fills_a_class_is_refused(tmp_path: Path) -> None:
    rows = [(f"T{at:05}", f"case {at:06}", "1950-01-01", "F", "Alba", "x") for at in range(6)]
    rows += [("T00000", f"case {at:06}", "1950-01-01", "F", "Alba", "y") for at in range(6, 16)]
    columns = {**EXPORT, "birth_date": "quasi", "income": "sensitive"}
    said = refused(municipal(tmp_path, rows, columns, unit="tax_code", recode={"method": "none"}))
    assert "one person has up to 68.8% of the rows of a class" in said and "max_rows_per_person" in said


def test_rows_of_nobody_known_do_not_fill_a_class(tmp_path: Path) -> None:
    rows = [(f"T{at}" if at < 4 else "", f"case {at:06}", "1950-01-01", "F", "Alba", "x") for at in range(60)]
    columns = {**EXPORT, "birth_date": "quasi", "income": "sensitive"}
    said = refused(municipal(tmp_path, rows, columns, unit="tax_code", recode={"method": "none"}))
    assert "the table, which has 4 people" in said


def test_row_sets_that_fewer_than_k_people_share_are_measured(tmp_path: Path) -> None:
    """Every class has six people, and every set of classes is one person's: measured, and not refused."""
    rows = []
    for number in range(36):
        for visit, town in enumerate(("Alba", "Elva")):
            year = 1950 + (number // 6 if visit else number % 6)
            rows.append((f"T{number:05}", f"case {number * 2 + visit}", str(year), "F", town, "xyz"[number % 3]))
    columns = {**EXPORT, "birth_date": "quasi", "income": "sensitive"}
    release = Release(municipal(tmp_path, rows, columns, unit="tax_code", recode={"method": "none"}))
    sets: dict[str, frozenset[tuple[str, ...]]] = {}
    for row, person in release.whose:
        sets[person] = sets.get(person, frozenset()) | {row[:3]}
    assert max(Counter(sets.values()).values()) == 1
    told = release.internal["row_sets"]
    assert told["required"] is None and "36" in told["message"], told
