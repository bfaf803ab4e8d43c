"""Personal data in what is called sensitive, and generalised cells that other published columns give back."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.attacks.attacker import Columns, Release, Rows, publication, refused

YEARS = ("1950", "1960", "1970", "1980")
TOWNS = [f"T{at:02}" for at in range(40)]
CODES = {town: f"c{at * 7 % 40:02}" for at, town in enumerate(TOWNS)}
PROVINCES = [(town, "N" if at < 20 else "S") for at, town in enumerate(TOWNS)]
TOWN: Columns = {"town": {"role": "quasi", "hierarchy": {"file": "towns.csv"}}}


@pytest.mark.parametrize("rows_of_each", [1, 3])
def test_a_hash_of_a_tax_code_is_refused(tmp_path: Path, rows_of_each: int) -> None:
    """Hashing a list of tax codes tells whose a hash is: it is a name, however many rows each person has."""
    hashes = [hashlib.sha256(f"RSSMRA{at:05}".encode()).hexdigest() for at in range(400)]
    rows = [(f"P{at:04}", YEARS[at % 4], hashes[at]) for at in range(400) for _ in range(rows_of_each)]
    columns: Columns = {"person": "identifier", "year": "quasi", "code": "sensitive"}
    said = refused(publication(tmp_path, rows, columns, unit="person"))
    counted = "rows have" if rows_of_each == 1 else "people have"
    assert f"400 {counted} a value of code that fewer than 5 share" in said and "4 of 400 allowed" in said
    assert rows_of_each > 1 or "100.0% of the values of code occur once" in said


@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_notes_with_three_hundred_addresses_are_refused(tmp_path: Path, role: str) -> None:
    draw = random.Random(300)
    notes = [f"called back, see anna.rossi{at}@example.org" for at in range(300)]
    notes += [draw.choice(("nothing", "called", "wrote")) for _ in range(3700)]
    rows = [(YEARS[at % 4], note) for at, note in enumerate(notes)]
    accept = {"columns": ["notes"], "reason": "a list of contacts", "by": "A. Rossi", "until": "2999-12-31"}
    limits = {"max_share": 1.0, "max_share_alone": 1.0, "accept": [accept] if role == "other" else []}
    said = refused(publication(tmp_path, rows, {"year": "quasi", "notes": role}, published_uniqueness=limits))
    assert re.search(r"notes.*e-mail address", said) and "300" in said and "@" not in said, said


def residents(wrong: float) -> Rows:
    """People, their town and its code, which is another one's for a share of them; the first town has three people."""
    draw, found = random.Random(1), []
    for at in range(1600):
        town = TOWNS[0] if at < 3 else draw.choice(TOWNS[1:])
        found.append((town, CODES[town] if draw.random() >= wrong else draw.choice(sorted(CODES.values()))))
    return found


def coded(folder: Path, wrong: float, role: str = "sensitive") -> Path:
    columns = {**TOWN, "code": role}
    return publication(
        folder, residents(wrong), columns, k=20, recode={"method": "global"}, files={"towns.csv": PROVINCES}
    )


@pytest.mark.parametrize("wrong", [0.0, 0.04, 0.1])
def test_a_code_beside_the_recoded_town_is_refused_also_where_some_are_wrong(tmp_path: Path, wrong: float) -> None:
    said = refused(coded(tmp_path, wrong))
    assert re.search(
        r"restored values: [\d,]+ generalised cells restored, 0 allowed: town of [\d,]+ rows by code", said
    )


@pytest.mark.parametrize("wrong", [0.2, 1.0])
def test_of_what_passes_no_code_tells_a_town_with_certainty(tmp_path: Path, wrong: float) -> None:
    """The attacker knows the town of everybody else: where 19 in 20 of a code agree, fewer than 19 in 20 are right."""
    release = Release(coded(tmp_path, wrong))
    assert set(release.groups("town")) == {("N",), ("S",)}
    province = dict(PROVINCES)
    of_code: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for town, code in residents(wrong):
        of_code[province[town], code][town] += 1
    assert Counter({key: towns.total() for key, towns in of_code.items()}) == release.groups("town", "code")
    guesses, right, best = 0, 0, 0
    for towns in of_code.values():
        best += towns.most_common(1)[0][1]
        for own, people in towns.items():
            others = towns - Counter([own])
            if others and 20 * (most := others.most_common(1)[0])[1] >= 19 * others.total():
                guesses += people
                right += people * (most[0] == own)
    assert 20 * guesses < len(release.rows) or 20 * right < 19 * guesses
    assert best / len(release.rows) < (0.87 if wrong < 1 else 0.25), "the commonest town of each code, sure or not"


def test_two_columns_that_are_a_code_together_are_refused(tmp_path: Path) -> None:
    rows = [(town, code[:2], code[2]) for town, code in residents(0.0)]
    columns: Columns = {**TOWN, "zone": "sensitive", "district": "sensitive"}
    files = {"towns.csv": PROVINCES}
    said = refused(publication(tmp_path, rows, columns, k=20, recode={"method": "global"}, files=files))
    assert "restored values" in said and "by zone with district" in said


def test_a_rounded_income_beside_the_income_is_refused(tmp_path: Path) -> None:
    """Each income is had by many, so neither column is rare: together they publish what was to be coarser."""
    draw = random.Random(11)
    rows = [(YEARS[at % 4], *[str(draw.randrange(60) * 1000)] * 2) for at in range(4000)]
    columns: Columns = {
        "year": "quasi",
        "income": {"role": "sensitive", "coarsen": {"round": 20_000}},
        "pay": "sensitive",
    }
    said = refused(publication(tmp_path, rows, columns))
    assert re.search(
        r"3,\d{3} coarsened cells restored by other columns, 0 allowed: income of 3,\d{3} rows by pay", said
    )
    assert "make them coarser too" in said
    both: Columns = {**columns, "pay": {"role": "sensitive", "coarsen": {"round": 20_000}}}
    assert {row[1] for row in Release(publication(tmp_path / "both", rows, both)).rows} == {
        "0",
        "20000",
        "40000",
        "60000",
    }


@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_a_town_published_as_its_province_beside_its_code_is_refused(tmp_path: Path, role: str) -> None:
    town = {"role": "other", "hierarchy": {"file": "towns.csv"}, "coarsen": {"level": 1}}
    rows = [(YEARS[at % 4], *row) for at, row in enumerate(residents(0.0)) if row[0] != TOWNS[0]]
    columns: Columns = {"year": "quasi", "town": town, "code": role}
    said = refused(publication(tmp_path, rows, columns, files={"towns.csv": PROVINCES}))
    assert re.search(r"coarsened cells restored by other columns, 0 allowed: town of 1,\d{3} rows by code", said)
