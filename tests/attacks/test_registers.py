"""Real registers: what is refused of them, and what an attacker gets from what passes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from anon_core.table import read
from tests.attacks.attacker import Columns, Release, Rows, publication, refused

pytestmark = pytest.mark.reference
LICENCES = ("anno_nascita", "comune_residenza", "sesso", "categoria_patente", "punti_patente")
QUASI = LICENCES[:3]
TOWNS = "towns.csv"
COLUMNS: Columns = {
    "anno_nascita": {"role": "quasi", "priority": 1, "hierarchy": {"intervals": [5, 10, 20]}},
    "comune_residenza": {"role": "quasi", "priority": 2, "hierarchy": {"file": TOWNS}},
    "sesso": {"role": "quasi", "priority": 3},
    "categoria_patente": "sensitive",
    "punti_patente": "sensitive",
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
    if role == "other":  # Beside the code no class is below k only where a town has k people.
        counts = Counter(row[1:] for row in rows)
        rows = [row for row in rows if counts[row[1:]] >= 5] + [("NUS", "M", numbers["NUS"])]
    spec = publication(
        tmp_path, rows, columns, recode={"method": "global"}, files=provinces(rows, 0), published_uniqueness=limits,
        suppression_limit=0.01,
    )  # fmt: skip
    said = refused(spec)
    assert "restored values" in said or "codice is declared other" in said, said
    print(said[:300])


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
        files=provinces(rows, 1), suppression_limit=0.01, l_diversity=[{"column": "punti_patente", "l": 2}],
        published_uniqueness={"max_share_with_sensitive": 0.1},
    )  # fmt: skip
    yield Release(spec)


def test_nobody_is_linked_to_a_row_with_more_than_one_in_k(released: Release) -> None:
    sizes = released.groups(*QUASI)
    mean = len(sizes) / len(released.rows)
    print("rows", len(released.rows), "classes", len(sizes), "mean chance", mean, "max", 1 / min(sizes.values()))
    assert min(sizes.values()) >= 5 and mean < 0.2


def test_what_classes_give_away_is_what_is_measured(released: Release) -> None:
    """Homogeneity: people whose category all of their class have; the attacker counts them in the released rows."""
    inside: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in released.rows:
        inside[row[:3]][row[3]] += 1
    certain = sum(found.total() for found in inside.values() if len(found) == 1)
    commonest = Counter(row[3] for row in released.rows).most_common(1)[0][0]
    uncommon = sum(found.total() for found in inside.values() if len(found) == 1 and commonest not in found)
    message = released.internal["homogeneity(categoria_patente)"]["message"]
    print(message)
    assert released.internal["homogeneity(categoria_patente)"]["observed"] == certain
    assert f"{uncommon:,} of these" in message


def test_what_a_salary_slip_would_find_is_what_is_measured(released: Release) -> None:
    """Sensitive columns as identifiers: rows that are alone over all columns, and values that fewer than k share."""
    alone = sum(times == 1 for times in released.groups().values())
    whole = released.check("unique_with_sensitive")
    print("alone over all", alone, alone / len(released.rows), released.check("sensitive_alone")["message"])
    assert whole["observed"] == pytest.approx(alone / len(released.rows)) and whole["observed"] <= 0.1
    few: set[int] = set()
    for names in [LICENCES[3:4], LICENCES[4:], LICENCES[3:]]:
        groups = released.groups(*names)
        few |= {at for at, found in enumerate(released.cells(*names)) if groups[found] < 5}
    assert len(few) == released.check("sensitive_alone")["observed"] <= 100


def test_no_column_tells_what_was_generalised(released: Release, reference_data: Path) -> None:
    """The attacker learns from the rows that show a town which town goes with a category, points, or both of them."""
    fine = [row for row in released.rows if row[1] != "Valle d'Aosta" and row[1] != "*"]
    coarse = len(released.rows) - len(fine)
    truth = Counter((row[1], *row[3:]) for row in licences(reference_data))
    shown = Counter((row[1], *row[3:]) for row in fine)
    hidden = truth - shown
    for size in (1, 2):
        for at in combinations((1, 2), size):
            learnt: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
            for row in fine:
                learnt[tuple(row[2 + one] for one in at)][row[1]] += 1
            sure = {key: towns.most_common(1)[0][0] for key, towns in learnt.items()
                    if 20 * towns.most_common(1)[0][1] >= 19 * towns.total() and towns.total() > 1}  # fmt: skip
            right = sum(
                n for (town, *rest), n in hidden.items() if sure.get(tuple(rest[one - 1] for one in at)) == town
            )
            print(at, "coarse", coarse, "right", right)
            assert 20 * right < max(coarse, 1), "one in twenty would be a key"


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
    print(released.internal["removal"]["message"], coarser)
    assert " 0 are missing" in released.internal["removal"]["message"]


def covered(label: tuple[str, ...], own: tuple[str, ...]) -> bool:
    low, dash, high = label[0].partition("-")
    born = label[0] in (own[0], "*") or (bool(dash) and low <= own[0] <= high)
    return born and label[1] in (own[1], "Valle d'Aosta", "*") and label[2] in (own[2], "*")
