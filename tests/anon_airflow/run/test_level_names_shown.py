"""The names of levels reach everything that people read: summary, reports, page and approval question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anon_airflow.approval.request import question_text
from tests.faults.anon_process import anon
from tests.faults.publications import COLUMNS, portal_of, write_publication

NAMED = {**COLUMNS["town"]["hierarchy"], "levels": ["municipality", "province"]}


@pytest.mark.parametrize(
    ("hierarchy", "shown"),
    [(NAMED, "province"), (COLUMNS["town"]["hierarchy"], "towns grouped, level 1 of 1")],
    ids=["named", "not named"],
)
def test_people_read_the_name_of_a_level(tmp_path: Path, hierarchy: dict[str, object], shown: str) -> None:
    columns = {
        "id": COLUMNS["id"],
        "born": {"role": "drop"},
        "town": {"role": "quasi", "hierarchy": hierarchy},
        "sex": {"role": "drop"},
        "points": {"role": "drop"},
        "notes": {"role": "drop"},
    }
    word = {"reason": "Every row is another person", "by": "Ada", "until": "2027-06-30"}
    spec = write_publication(tmp_path, columns=columns, privacy={"k": 60}, unit={"rows_are_people": word})
    ended = anon("run", spec, "--json", home=tmp_path / "home")
    summary = anon("audit", "show", "people", "--summary", home=tmp_path / "home").out
    assert ended.code == 0, ended.out
    place = portal_of(spec) / "people"
    report = json.loads((place / "latest/report.json").read_text())
    (town,) = [column for column in report["recoding"]["columns"] if column["name"] == "town"]
    page = (place / "index.html").read_text()
    assert [level["name"] for level in town["levels"]] == [shown]
    assert f">{shown}<" in page
    assert f"town {shown}" in summary
    assert f"{shown}: 400 rows" in question_text(report, "0" * 64)
    assert "towns.csv" not in page + summary + json.dumps(report)


def test_a_run_stops_before_the_source_is_read_if_a_level_has_no_name(tmp_path: Path) -> None:
    hierarchy = {**NAMED, "levels": ["municipality", "province", "region"]}
    columns = {**COLUMNS, "town": {"role": "quasi", "hierarchy": hierarchy}}
    spec = write_publication(tmp_path, columns=columns, source="not the table that is declared")
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 2
    assert "columns.town.hierarchy.levels: `hierarchies/towns.csv` has 2 levels" in ended.err
