"""The rows of people who were removed leave nothing in the public bytes of a release."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.anon_airflow.portals.random_releases import (
    QUASI,
    Random,
    published_as,
)
from tests.faults.publications import csv_text, write_publication

ALIKE = [("1961", town, sex) for town, sex in (("Alba", "F"), ("Elva", "M"), ("Fara", "F")) for _ in range(6)]
ALONE = [("1999", "Gavi", "M"), ("1940", "Issa", "F"), ("1952", "Dosso", "M"), ("1950", "Bria", "F")]


def of(people: Sequence[tuple[str, str, str]], folder: Path) -> Random:
    """Publish rows of which those that stand out can only be removed."""
    names = ("id", *QUASI, "illness")
    columns = {
        "id": {"role": "identifier"},
        "born": {"role": "quasi"},
        "town": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "illness": {"role": "sensitive"},
    }
    rows = [(f"P{at}", *person, ("flu", "cold")[at % 2]) for at, person in enumerate(people)]
    spec = write_publication(
        folder,
        source=csv_text(rows, names),
        columns=columns,
        privacy={"k": 5, "suppression_limit": 0.5, "published_uniqueness": {"max_share": 1.0}},
        recode={"method": "prioritised"},
    )
    table = [dict(zip(names, row, strict=True)) for row in rows]
    found = published_as(spec, folder, table, "row")
    assert found is not None
    return found


@pytest.mark.parametrize("removed", [[0], [1], [0, 1], [2, 3, 0], [0, 1, 2, 3]])
def test_whoever_was_removed_changes_no_public_byte_but_what_names_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, removed: list[int]
) -> None:
    """The same rows are published of two sources: nobody can tell which, nor whether one or four were removed."""
    public = []
    for name, alone in (("one", []), ("other", removed)):
        monkeypatch.setenv("ANON_HOME", str(tmp_path / name / "home"))
        one = of([*ALIKE, *(ALONE[at] for at in alone)], tmp_path / name)
        manifest = json.loads(one.files["manifest.json"].read_bytes())
        assert set(manifest.pop("audit")) == {"mac"}
        assert all(re.fullmatch("[0-9a-f]{64}", manifest.pop(name)) for name in ("receipt", "publication_file"))
        assert manifest.pop("published_at") and re.fullmatch("[0-9a-f]{64}", manifest.pop("site_policy"))
        page = re.sub(r"\d+ \w+ \d{4}(, \d\d:\d\d UTC)?", "DAY", one.page)
        names = ("report.json", "people.csv", "people.parquet", "datapackage.json")
        found = {each: one.files[each].read_bytes() for each in names}
        public.append((manifest, page, {**found, "datapackage.json": without_day(found["datapackage.json"])}))
        assert len(one.rows) == len(ALIKE)
    assert public[0] == public[1]


def without_day(package: bytes) -> bytes:
    return re.sub(rb'"created": "[^"]*"', b"", package)
