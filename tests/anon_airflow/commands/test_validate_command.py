"""``anon validate``: every problem of every file, with its line, and no data read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from anon_airflow.cli import anon
from anon_core.errors import InvalidInputError
from tests.faults.publications import write_publication


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        ended = CliRunner().invoke(anon, ["validate", *map(str, arguments)])
        return ended.exit_code, ended.output

    return call


def test_good_files_have_no_problem_and_no_data_is_read(tmp_path, call):
    spec = write_publication(tmp_path)
    (tmp_path / "include/samples/people.csv").unlink()
    assert call(spec) == (0, "1 publication file, 0 problems in 0 of them\n")
    assert call()[0] == 0, "include/publications is the folder"


def test_every_problem_of_every_file_is_told_with_its_line(tmp_path, call, monkeypatch):
    good = write_publication(tmp_path)
    folder = good.parent
    (folder / "broken.yaml").write_text("dataset: Not A Slug\ncolour: red\n")
    (folder / "twice.yaml").write_text(good.read_text())
    write_publication(tmp_path, dataset="draft", reviewed=False)
    write_publication(tmp_path, dataset="low", privacy={"k": 2, "suppression_limit": 0.9})
    lenient = Path(os.environ["ANON_POLICY"]).read_text()
    (tmp_path / "policy.yaml").write_text(lenient.replace("\nk: 2", "\nk: 5"))
    monkeypatch.setenv("ANON_POLICY", str(tmp_path / "policy.yaml"))
    code, told = call(folder, "--json")
    found = json.loads(told)
    assert (code, found["valid"], len(found["files"])) == (2, False, 5)
    by_file = {}
    for one in found["problems"]:
        by_file.setdefault(one["file"].rsplit("/", 1)[-1], []).append(one)
    assert set(by_file) == {"broken.yaml", "twice.yaml", "draft.yaml", "low.yaml"}
    assert {(one["line"], one["where"]) for one in by_file["broken.yaml"]} >= {(1, "dataset"), (2, "colour")}
    assert "publishes 'people' already" in by_file["twice.yaml"][0]["what"]
    assert "it is a draft" in by_file["draft.yaml"][0]["what"]
    assert any("site policy" in one["what"] for one in by_file["low.yaml"])
    assert f"{folder / 'broken.yaml'}:2: colour: " in call(folder)[1]


def test_a_hierarchy_that_is_not_there_is_a_problem(tmp_path, call):
    spec = write_publication(tmp_path)
    (tmp_path / "include/hierarchies/towns.csv").unlink()
    code, told = call(spec)
    assert code == 2
    assert "hierarchies/towns.csv` cannot be read" in told


def test_a_folder_without_files_is_a_wrong_call(tmp_path):
    with pytest.raises(InvalidInputError, match="no publication file"):
        CliRunner().invoke(anon, ["validate", str(tmp_path)], catch_exceptions=False)
