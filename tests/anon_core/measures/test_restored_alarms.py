"""False alarms of restored values on real tables, and on the demo's: the table of docs/measures.md, counted again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from anon_core.measures.restored import Paired, Restored, restored
from anon_core.table import Table, read

ROOT = Path(__file__).parents[3]
LICENCES = "driver_licences_valle_aosta.csv.gz"
DEMO = ("birth_year", "municipality", "sex", "nationality", "issued", "licence_category", "points")


def tens(value: str) -> str:
    return f"{int(value) // 10 * 10}-{int(value) // 10 * 10 + 9}"


def everything(value: str) -> str:
    return "*"


def beside(table: Table, name: str, label: Callable[[str], str], names: Sequence[str]) -> Restored:
    """What others restore of a column whose values are published as labels; a gap stays a gap."""
    column = table.column(name)
    places: dict[str | None, int] = {}
    values = [places.setdefault(value, len(places)) for value in column.domain.to_pylist()]
    labels = [value if value is None else label(value) for value in column.domain.to_pylist()]
    published = [places.setdefault(value, len(places)) for value in labels]
    others = [table.column(one) for one in names if one != name]
    return restored(
        Paired(
            column=name,
            levels=(np.array(values)[column.codes],),
            label=np.array(published)[column.codes],
            names=tuple(one.name for one in others),
            codes=tuple(one.codes for one in others),
            sizes=tuple(len(one.domain) for one in others),
            weights=np.ones(table.rows, np.int64),
        )
    )


def in_the_document(hidden: int, cells: int, loose: int) -> bool:
    document = (ROOT / "docs/measures.md").read_text(encoding="utf-8")
    rows = [line.replace(",", "").split("|") for line in document.splitlines() if line.startswith("| ")]
    figures = [[cell.split()[:1] for cell in row[3:6]] for row in rows if len(row) == 7]
    return [[str(hidden)], [str(cells)], [str(loose)]] in figures


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "column", "label", "without", "cells"),
    [
        ("adult.csv.gz", "age", tens, "", 0),
        ("adult.csv.gz", "native-country", lambda value: "US" if value == "United-States" else "other", "", 0),
        ("adult.csv.gz", "education", everything, "education-num", 0),
        ("adult.csv.gz", "education", everything, "", 32_561),
        ("adult.csv.gz", "marital-status", everything, "relationship", 5_947),
        ("census_income_age_sex_race.csv.gz", "age", tens, "", 0),
        (LICENCES, "anno_nascita", tens, "id", 0),
        (LICENCES, "comune_residenza", lambda value: "Valle d'Aosta", "id", 0),
    ],
)
def test_what_real_tables_restore_is_what_the_document_says(
    reference_data: Path, name: str, column: str, label: Callable[[str], str], without: str, cells: int
) -> None:
    table = read(reference_data / name)
    found = beside(table, column, label, [one for one in table.names if one != without])
    assert found.people == cells
    assert in_the_document(found.hidden, found.people, found.loose), found


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("demo") / "licences.csv"
    script = ROOT / "include/samples/driver_licences.py"
    subprocess.run([sys.executable, script, "--rows", "100000", "--output", path], check=True, capture_output=True)
    return read(path)


@pytest.mark.parametrize(
    ("column", "label"),
    [("birth_year", tens), ("municipality", everything), ("sex", everything), ("issued", lambda value: value[:4])],
)
def test_nothing_of_the_demo_is_restored(sample: Table, column: str, label: Callable[[str], str]) -> None:
    """Beside the columns that the demo publishes, as collected."""
    found = beside(sample, column, label, DEMO)
    assert found.people == 0
    assert in_the_document(found.hidden, 0, found.loose), found
