"""A salary to the euro, coarsened: from its source to the portal, and in no other file than the source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from anon_airflow import steps
from tests.anon_airflow.run.step_runs import run_of
from tests.faults import publications
from tests.faults.anon_process import anon
from tests.faults.publications import csv_text, people, portal_of, source_of, versions_of, write_publication
from tests.faults.search import found_in

CANARY = "QanarySalary"
COARSEN = {"round": 1000, "top": 60000, "bottom": 21000}
COLUMNS: dict[str, Any] = {
    "id": {"role": "identifier"},
    "born": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}},
    "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
    "salary": {"role": "sensitive", "coarsen": COARSEN},
}
DIVERSE = {"l_diversity": [{"column": "salary", "l": 3}], "published_uniqueness": {"max_share": 1.0}}


def salaries() -> list[str]:
    """Four hundred salaries to the cent, each of them a text that stands nowhere else by chance."""
    return [f"{20_000 + 113 * at}.{at % 90 + 10}" for at in range(400)]


def publication(folder: Path, found: list[str] | None = None, **changes: Any) -> Path:
    cells = salaries() if found is None else found
    rows = [(row[0], row[1], row[3], cell) for row, cell in zip(people(), cells, strict=True)]
    columns = {**COLUMNS, "salary": {**COLUMNS["salary"], **changes.pop("salary", {})}}
    source = csv_text(rows, ("id", "born", "sex", "salary"))
    return write_publication(folder, source=source, columns=columns, **{"privacy": DIVERSE, **changes})


def released(spec: Path) -> Iterator[str]:
    return (row["salary"] for row in publications.released(spec))


def test_a_salary_to_the_euro_is_published_in_bands_and_its_raw_cells_are_in_no_file(tmp_path: Path) -> None:
    spec = publication(tmp_path)
    run = run_of(spec, tmp_path / "home")
    steps.stage(run, str(run.publication.source_template))
    assert (run.staging / "original.parquet").exists()
    assert found_in(tmp_path, salaries(), but=[source_of(spec)]) == []
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 0, ended.err + ended.out
    assert found_in(tmp_path, salaries(), but=[source_of(spec)]) == []
    assert [cell for cell in salaries() if cell in ended.out + ended.err] == []
    cells = set(released(spec))
    assert {"60000 or more", "21000 or less", "22000", "59000"} <= cells and len(cells) == 40


def test_the_page_and_the_report_say_how_a_column_was_coarsened(tmp_path: Path) -> None:
    spec = publication(tmp_path)
    assert anon("run", spec, home=tmp_path / "home").code == 0
    said = "rounded to 1,000, then 60,000 or more together, 21,000 or less together"
    assert any(said in page.read_text() for page in portal_of(spec).rglob("*.html"))
    (report,) = portal_of(spec).glob("people/latest/report.json")
    columns = json.loads(report.read_text())["recoding"]["columns"]
    assert [one["levels"][0]["name"] for one in columns if one["name"] == "salary"] == [said]


def test_numbers_stay_numbers_where_the_type_says_so(tmp_path: Path) -> None:
    spec = publication(tmp_path, salary={"type": "integer"})
    assert anon("run", spec, home=tmp_path / "home").code == 0
    assert {int(cell) for cell in released(spec)} == set(range(21_000, 61_000, 1000))


def test_values_that_are_no_numbers_stop_the_run_without_being_quoted(tmp_path: Path) -> None:
    spec = publication(tmp_path, [CANARY, CANARY, f"{CANARY}2", *salaries()[3:]])
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 2 and CANARY not in ended.err + ended.out
    assert "column 'salary': 2 distinct values, 3 rows, not numbers such as 1957 or 3.5" in ended.err
    assert versions_of(spec) == [] and found_in(tmp_path, [CANARY], but=[source_of(spec)]) == []


def test_values_that_are_no_numbers_are_published_as_nothing_where_the_file_says_so(tmp_path: Path) -> None:
    changed = {"coarsen": {**COARSEN, "unmapped": "suppress"}}
    spec = publication(tmp_path, [CANARY, "", *salaries()[2:]], salary=changed)
    assert anon("run", spec, home=tmp_path / "home").code == 0
    cells = list(released(spec))
    assert cells.count("*") == 1 and cells.count("") == 1
    assert found_in(tmp_path, [CANARY], but=[source_of(spec)]) == []


def test_a_class_of_salaries_a_few_euros_apart_is_refused_by_the_gate(tmp_path: Path) -> None:
    """Everybody born in one decade earns nearly the same: other values, but no others worth hiding among."""
    rows = [
        (f"P{at}", "1955" if at < 60 else "1965", "F", str(50_000 + at if at < 60 else 900 * at)) for at in range(120)
    ]
    columns = {**COLUMNS, "salary": {"role": "sensitive"}}
    sections = {"privacy": {**DIVERSE, "k": 5}, "recode": {"method": "none"}}
    text = csv_text(rows, ("id", "born", "sex", "salary"))
    spec = write_publication(tmp_path, source=text, columns=columns, **sections)
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 1 and versions_of(spec) == []
    assert "distinct l of salary in the worst class: 1, 3 required; 1 of 2 classes fail, 60 of 120 rows" in ended.out
    assert "set `coarsen`" in ended.out


def test_a_level_that_the_hierarchy_file_does_not_have_stops_the_run_before_the_source_is_read(tmp_path: Path) -> None:
    spec = publication(
        tmp_path, salary={"hierarchy": {"file": "hierarchies/towns.csv"}, "coarsen": {"level": "county"}}
    )
    source_of(spec).write_text("no table at all")
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 2
    assert "columns.salary.coarsen.level: `hierarchies/towns.csv` has 1 level above the values" in ended.err


def test_a_table_recoded_by_hand_is_coarsened_too(tmp_path: Path) -> None:
    spec, output = publication(tmp_path), tmp_path / "released.csv"
    written = yaml.safe_load(spec.read_text())
    del written["unit"]
    spec.write_text(yaml.safe_dump(written, sort_keys=False))
    ended = anon("recode", source_of(spec), "--spec", spec, "--output", output, home=tmp_path / "home")
    assert ended.code == 0, ended.err
    assert "60000 or more" in output.read_text()
    assert [cell for cell in salaries() if cell in output.read_text()] == []
