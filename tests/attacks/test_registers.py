"""Real registers: what is refused of them, and what an attacker gets from what passes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from anon_core.table import read
from tests.attacks.attacker import Columns, Release, Rows, publication, refused

pytestmark = pytest.mark.reference
LICENCES = ("anno_nascita", "comune_residenza", "sesso", "punti_patente")
QUASI = LICENCES[:3]
TOWNS = "towns.csv"
COLUMNS: Columns = {
    "anno_nascita": {"role": "quasi", "priority": 2, "hierarchy": {"intervals": [5, 10, 20]}},
    "comune_residenza": {"role": "quasi", "priority": 3, "hierarchy": {"file": TOWNS}},
    "sesso": {"role": "quasi", "priority": 1},
    "punti_patente": {"role": "sensitive", "coarsen": {"round": 10}},
}


@cache
def cells(path: Path, names: tuple[str, ...], rows: int) -> Rows:
    """The first rows of a register; gaps are empty."""
    table = read(path).select(names).to_arrow().slice(0, rows)
    return [
        tuple("" if cell is None else str(cell) for cell in row)
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True)
    ]


def licences(folder: Path, names: tuple[str, ...] = LICENCES, rows: int = 20_000) -> Rows:
    return cells(folder / "driver_licences_valle_aosta.csv.gz", names, rows)


def provinces(rows: Rows, at: int) -> dict[str, list[tuple[str, str]]]:
    return {TOWNS: [(town, "Valle d'Aosta") for town in sorted({row[at] for row in rows} - {""})]}


@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_the_code_of_a_municipality_beside_its_recoded_name_is_refused(
    tmp_path: Path, reference_data: Path, role: str
) -> None:
    known = licences(reference_data)
    numbers = {town: f"{7001 + at:06}" for at, town in enumerate(sorted({row[1] for row in known}))}
    rows = [(row[1], row[2], numbers[row[1]]) for row in known]
    columns: Columns = {name: COLUMNS[name] for name in ("comune_residenza", "sesso")} | {"codice": role}
    limits = {"max_share_alone": 1.0, "max_share": 1.0}
    more = {"files": provinces(rows, 0), "published_uniqueness": limits}
    spec = publication(tmp_path, rows, columns, recode={"method": "global"}, **more)
    said = refused(spec)
    restored = "19,999 generalised cells restored, 0 allowed: comune_residenza of 19,999 rows by codice"
    assert (restored if role == "sensitive" else "codice is declared other") in said
    assert ("drop these columns, or make them quasi" if role == "sensitive" else "declare codice quasi") in said


def test_the_years_of_education_beside_its_recoded_name_are_refused(tmp_path: Path, reference_data: Path) -> None:
    rows = cells(reference_data / "adult.csv.gz", ("education", "sex", "education-num"), 8000)
    columns: Columns = {"education": "quasi", "sex": "quasi", "education-num": "sensitive"}
    said = refused(publication(tmp_path, rows, columns, k=30, recode={"method": "global"}))
    assert "restored values: 8,000 generalised cells restored" in said and "by education-num" in said


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory, reference_data: Path) -> Iterator[Release]:
    rows = licences(reference_data)
    spec = publication(
        tmp_path_factory.mktemp("register"), rows, COLUMNS, recode={"method": "prioritised", "improve": 0},
        files=provinces(rows, 1), suppression_limit=0.01,
        published_uniqueness={"max_share_with_sensitive": 0.1},
    )  # fmt: skip
    yield Release(spec)


def test_nobody_is_linked_to_a_row_with_more_than_one_in_k(released: Release) -> None:
    sizes = released.groups(*QUASI)
    mean = len(sizes) / len(released.rows)
    assert min(sizes.values()) >= 5 and (len(sizes), mean) == (2389, pytest.approx(0.119, abs=0.001))


def test_what_classes_give_away_is_what_is_measured(released: Release) -> None:
    """Homogeneity: people whose points all of their class have; the attacker counts them in the released rows."""
    inside: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in released.rows:
        inside[row[:3]][row[3]] += 1
    certain = sum(found.total() for found in inside.values() if len(found) == 1)
    commonest = Counter(row[3] for row in released.rows).most_common(1)[0][0]
    uncommon = sum(found.total() for found in inside.values() if len(found) == 1 and commonest not in found)
    message = released.internal["homogeneity(punti_patente)"]["message"]
    assert released.internal["homogeneity(punti_patente)"]["observed"] == certain == 6_798
    assert uncommon == 276 and "276 of these" in message


def test_what_a_salary_slip_would_find_is_what_is_measured(released: Release) -> None:
    """Sensitive columns as identifiers: rows that are alone over all columns, and values that fewer than k share."""
    alone = sum(times == 1 for times in released.groups().values())
    whole = released.check("unique_with_sensitive")
    assert whole["observed"] == pytest.approx(alone / len(released.rows)) and alone == 836
    few = sum(times for times in released.groups("punti_patente").values() if times < 5)
    assert few == released.check("sensitive_alone")["observed"] <= 100


def test_points_do_not_tell_what_was_generalised(released: Release, reference_data: Path) -> None:
    """The attacker learns from the rows that show a town which towns go with the points, and with points and sex."""
    fine = [row for row in released.rows if row[1] not in ("Valle d'Aosta", "*")]
    hidden = Counter((row[1], row[2], rounded(row[3])) for row in licences(reference_data))
    hidden -= Counter(row[1:] for row in fine)
    assert hidden.total() > 1000 and len(fine) > 1000
    for known in (slice(2, None), slice(1, None)):
        learnt: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for row in fine:
            learnt[row[1:][known]][row[1]] += 1
        common = {key: towns.most_common(1)[0] for key, towns in learnt.items()}
        sure = {key: town for key, (town, times) in common.items() if 20 * times >= 19 * learnt[key].total() > 19}
        right = sum(times for row, times in hidden.items() if sure.get(row[known]) == row[0])
        assert 20 * right < hidden.total(), "one in twenty would be a key"


def test_nobody_is_missing_whom_k_alone_would_have_kept(released: Release, reference_data: Path) -> None:
    before = Counter(row[:3] for row in licences(reference_data))
    groups = released.groups(*QUASI)
    coarser = 0
    for (year, town, sex), people in before.items():
        if people < 5:
            continue
        fit = sum(count for label, count in groups.items() if covered(label, (year, town, sex)))
        assert fit >= people
        coarser += groups[year, town, sex] < people
    assert " 0 are missing" in released.internal["removal"]["message"]


def rounded(points: str) -> str:
    """As `coarsen: {round: 10}` publishes them."""
    return str((int(points) + 5) // 10 * 10) if points else ""


def covered(label: tuple[str, ...], own: tuple[str, ...]) -> bool:
    low, dash, high = label[0].partition("-")
    born = label[0] in (own[0], "*") or (bool(dash) and low <= own[0] <= high)
    return born and label[1] in (own[1], "Valle d'Aosta", "*") and label[2] in (own[2], "*")
