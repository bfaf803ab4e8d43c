"""A draft never publishes; one that is accepted as it is, only `reviewed` filled in, publishes or says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from anon_airflow.cli import anon
from anon_core.errors import InvalidInputError
from anon_core.publishing.distribution import write_csv
from anon_core.spec import load_spec
from tests.parameters import parameters
from tests.proposals.made_tables import Made, held_out, tables

MADE = {made.name: made for made in [*tables(), *held_out()]}
RUN = ("school enrolment (German)", "municipal services (Italian)", "crime statistics (English)",
       "scholarships (Spanish)", "business register (Italian)")  # fmt: skip


def drafted(made: Made, folder: Path, name: str = "table.csv") -> Path:
    write_csv(made.table, folder / name)
    ended = CliRunner().invoke(anon, ["init", str(folder / name), "--output", str(folder / "draft.yaml")])
    assert ended.exit_code == 0, ended.output
    return folder / "draft.yaml"


def run(spec: Path, *more: str) -> Result:
    return CliRunner().invoke(anon, ["run", str(spec), "--json", *more])


def review(spec: Path) -> None:
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace("reviewed: false ", "reviewed: {by: Ada, on: 2026-01-02} "), encoding="utf-8")
    assert load_spec(spec).reviewed


@pytest.mark.parametrize("name", MADE)
def test_the_draft_of_any_made_table_loads_and_has_the_right_unit(name: str, tmp_path: Path) -> None:
    spec = load_spec(drafted(MADE[name], tmp_path))
    assert spec.unit.columns == MADE[name].unit
    assert spec.reviewed is False


@pytest.mark.parametrize("name", parameters(RUN, always=RUN[:1]))
def test_a_draft_that_is_accepted_as_it_is_publishes_or_says_why_not(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    spec = drafted(MADE[name], tmp_path)
    refused = run(spec)
    assert refused.exit_code == 1
    told = json.loads(refused.stdout)
    assert (told["verdict"], told["published"]) == ("refused", False) and "is a draft" in told["reasons"][0]
    assert not (tmp_path / "portal").exists()
    review(spec)
    ended = run(spec)
    assert ended.exit_code in (0, 1), ended.output
    told = json.loads(ended.stdout)
    print(name, told["verdict"], told["reasons"])
    assert told["published"] or (all(len(reason) > 20 for reason in told["reasons"]) and told["reasons"])


def test_a_draft_of_a_dated_file_has_a_template_and_needs_its_period(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    spec = drafted(MADE["school enrolment (German)"], tmp_path, "enrolment_2026-10-01.csv")
    assert load_spec(spec).source.file.endswith("enrolment_{{ ds }}.csv")
    assert load_spec(spec).dataset == "enrolment"
    review(spec)
    without = run(spec)
    assert isinstance(without.exception, InvalidInputError), "which `main` ends with exit code 2"
    assert "give the period it needs with --period" in str(without.exception)
    assert run(spec, "--period", "2026-10-01").exit_code in (0, 1)
