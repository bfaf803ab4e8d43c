"""``datapackage.json`` is what Frictionless accepts, for the very bytes beside it, and refuses for others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

frictionless = pytest.importorskip("frictionless")

from anon_core.spec import load_spec  # noqa: E402
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take  # noqa: E402
from tests.faults.publications import COLUMNS, csv_text, people, write_publication  # noqa: E402

METADATA = {"publisher": "Town", "licence": "CC-BY-4.0", "contact": "a@b.example", "keywords": ["people", "città"]}


@pytest.fixture(scope="module")
def version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published version with columns of every type, gaps, quotes and commas in it."""
    folder = tmp_path_factory.mktemp("package")
    names = ("id", "born", "town", "sex", "points", "day", "moment", "share", "yes", "words")
    words = ['say "hi", please', "two; parts", "", "plain"]
    rows = [
        [*row[:5], f"2026-01-{1 + at % 28:02}", f"2026-01-01 10:{at % 60:02}", f"{at % 7}.5", "true", words[at % 4]]
        for at, row in enumerate(people(100))
    ]
    rows[3][5] = ""
    columns: dict[str, Any] = {name: COLUMNS[name] for name in names[:5]}
    columns |= {name: {"role": "sensitive", "description": f"About {name}"} for name in names[5:]}
    spec = write_publication(folder, source=csv_text(rows, names), columns=columns, metadata=METADATA)
    run = run_of(spec, folder / "home")
    take(run, *UNTIL_GATE, "publish")
    assert load_spec(spec).dataset == "people"
    return folder / "include" / "portal" / "people" / "latest"


def test_frictionless_accepts_the_package(version: Path) -> None:
    report = frictionless.validate(str(version / "datapackage.json"))
    assert report.valid, report.flatten(["type", "title", "note"])
    assert {task.name for task in report.tasks} == {"people-csv", "people-parquet"}


def test_the_schema_has_types_and_meanings(version: Path) -> None:
    package = json.loads((version / "datapackage.json").read_bytes())
    table = next(each for each in package["resources"] if each["name"] == "people-csv")
    fields = {field["name"]: field for field in table["schema"]["fields"]}
    assert {name: field["type"] for name, field in fields.items()} == {
        "born": "string",
        "town": "string",
        "sex": "string",
        "points": "integer",
        "day": "date",
        "moment": "datetime",
        "share": "number",
        "yes": "boolean",
        "words": "string",
    }
    assert fields["day"]["description"] == "About day"
    assert package["licenses"][0]["name"] == "CC-BY-4.0"
    assert all(each["hash"].startswith("sha256:") and each["bytes"] for each in package["resources"])


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
def test_other_bytes_are_not_accepted(version: Path, tmp_path: Path, file: str) -> None:
    for path in version.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (tmp_path / file).open("ab") as stream:
        stream.write(b"x")
    assert not frictionless.validate(str(tmp_path / "datapackage.json")).valid


def test_the_csv_is_what_rfc_4180_says(version: Path) -> None:
    content = (version / "people.csv").read_bytes()
    assert content.startswith(b'"born","town"')
    assert content.endswith(b"\r\n")
    inside, bare = False, 0
    for at, byte in enumerate(content):
        if byte == ord('"'):
            inside = not inside
        elif byte == ord("\n") and not inside:
            bare += content[at - 1 : at] != b"\r"
    assert (inside, bare) == (False, 0)
    content.decode("utf-8")
