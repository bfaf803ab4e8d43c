"""The seams are real: a model, a method, a portal and a source of another package run a whole publication.

They stand in this folder, and nothing else knows them. One test installs them as pip would, by entry points.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from anon_airflow.cli import anon as commands
from anon_airflow.run.context import Run
from anon_airflow.run.home import Home
from anon_airflow.run.local import run_all
from anon_core.errors import InvalidInputError, SpecError
from anon_core.models import Measurement, Subject
from anon_core.models.k_anonymity import KAnonymity
from anon_core.registry import METHODS, MODELS, PORTALS, SOURCES
from anon_core.spec import load_spec
from tests.anon_airflow.audit.audit_databases import postgresql
from tests.anon_airflow.expectations.expectation_engines import (
    Cells,
    Database,
    each_database,
    expectation_context,
    in_postgresql,
    in_sqlite,
)
from tests.faults.publications import LENIENT
from tests.seams.delta_presence import DeltaPresence, Presence
from tests.seams.mondrian import Mondrian
from tests.seams.shelf import NAMES, TOWNS, Drawn, Shelf, people

__all__ = ["each_database", "expectation_context", "in_postgresql", "in_sqlite", "postgresql"]

ROOT = Path(__file__).resolve().parents[2]
START = datetime(2026, 10, 1, tzinfo=UTC)
LIMIT = 0.25
SEAMS = (
    (MODELS, "delta_presence", DeltaPresence),
    (METHODS, "mondrian", Mondrian),
    (PORTALS, "shelf", Shelf),
    (SOURCES, "drawn", Drawn),
)
COLUMNS = {
    "born": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
    "town": {"role": "quasi", "hierarchy": {"file": "towns.csv"}},
    "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
    "illness": {"role": "sensitive"},
}

AGAIN = {"by": "Ada", "on": "2026-01-03"}
"""A second review: the privacy of the dataset has changed."""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    with ExitStack() as stack:
        for registry, key, member in SEAMS:
            stack.enter_context(registry.registered(key, member))
        yield


def publication_file(
    folder: Path, *, limit: float = LIMIT, privacy: dict[str, Any] | None = None, **changes: Any
) -> Path:
    (folder / "towns.csv").write_text("".join(f"{town};{name}\n" for name, towns in TOWNS.items() for town in towns))
    with (folder / "population.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([NAMES, *people(3000)])
    presence = {"population": "population.csv", "max": limit}
    spec = {
        "dataset": "patients",
        "title": "The register of patients",
        "source": {"drawn": "{{ ds }}", "people": 300},
        "columns": COLUMNS,
        "detect": {"max_size": 3},
        "privacy": {"k": 3, "delta_presence": presence, "published_uniqueness": LENIENT, **(privacy or {})},
        "recode": {"method": "mondrian", "mondrian": {"cuts": "levels"}},
        "unit": "row",
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "portal": {"shelf": "shelf"},
        **changes,
    }
    path = folder / "patients.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return path


def published(spec: Path) -> dict[str, Any]:
    result = run_all(load_spec(spec), start=START, end=None)
    assert result["published"], result
    return result


def presence_in(folder: Path, release: Path) -> float:
    """The highest likelihood to be published, counted one by one."""
    rows = list(csv.reader(release.open()))[1:]
    everybody = [row[:3] for row in list(csv.reader((folder / "population.csv").open()))[1:]]
    found = []
    for label in {tuple(row[:3]) for row in rows}:
        covered = sum(all(map(covers, label, person)) for person in everybody)
        found.append(sum(tuple(row[:3]) == label for row in rows) / covered)
    return max(found)


def covers(label: str, value: str) -> bool:
    if label in (value, "any", "*"):
        return True
    low, dash, high = label.partition("-")
    return (bool(dash) and low.isdigit() and int(low) <= int(value) <= int(high)) or value in TOWNS.get(label, ())


@pytest.mark.usefixtures("installed")
def test_a_publication_runs_through_a_model_a_method_a_source_and_a_portal_of_another_package(tmp_path: Path) -> None:
    spec = publication_file(tmp_path)
    assert load_spec(spec).privacy.delta_presence == Presence(population="population.csv", max=LIMIT)  # type: ignore[attr-defined]
    result = published(spec)
    (place,) = (tmp_path / "shelf/patients").iterdir()
    worst = presence_in(tmp_path, place / "patients.csv")
    public = json.loads((place / "report.json").read_text())["privacy"]
    internal = json.loads(Path(result["report"]).read_text())
    for report, observed in ((internal, pytest.approx(worst)), (public, None)):
        (check,) = [check for check in report["checks"] if check["name"] == "delta_presence"]
        assert (check["observed"], check["required"], check["passed"]) == (observed, LIMIT, True)
    promise = f"delta-presence: nobody of population.csv is in the release with a likelihood above {LIMIT}: holds"
    assert check["message"] == promise, "a model says itself that its figures are functions of the published rows"
    assert not any("is in this table at all" in one for one in public["not_measured"]), "it says what it resists"
    assert json.loads((place / "report.json").read_text())["recoding"]["method"] == "mondrian"


@pytest.mark.usefixtures("installed")
def test_recoding_reaches_the_model_and_would_not_without_it(tmp_path: Path) -> None:
    (tmp_path / "with").mkdir(), (tmp_path / "without").mkdir()
    published(publication_file(tmp_path / "with"))
    published(publication_file(tmp_path / "without", privacy={"delta_presence": None}, reviewed=AGAIN))
    worst = {
        name: presence_in(tmp_path / name, next((tmp_path / name).glob("shelf/patients/*/*.csv")))
        for name in ("with", "without")
    }
    assert worst["with"] <= LIMIT < worst["without"]


@pytest.mark.usefixtures("installed")
def test_the_audit_store_and_the_receipt_name_the_model_and_its_package(tmp_path: Path) -> None:
    published(publication_file(tmp_path))
    with Run(
        publication=load_spec(tmp_path / "patients.yaml"), run_id="x", home=Home.find(), actor="x"
    ).audit() as audit:
        (run,) = audit.runs("patients")
        rows = audit.run(run.run_id, "patients")
    (check,) = [row for row in rows["checks"] if row["name"] == "delta_presence"]
    assert check["passed"] and check["required"] == LIMIT
    models = json.loads(rows["receipts"][-1]["body"])["models"]
    assert {
        "key": "delta_presence",
        "package": "tests.seams.delta_presence, not installed",
        "version": "unknown",
    } in models
    assert {one["package"] for one in models if one["key"] != "delta_presence"} == {"anonflow"}


@pytest.mark.usefixtures("installed")
def test_the_page_of_the_portal_shows_the_model_in_its_own_words(tmp_path: Path) -> None:
    page = Path(published(publication_file(tmp_path, portal={"folder": "portal"}))["page"])
    assert "Being in the table cannot be inferred" in page.read_text()


@pytest.mark.usefixtures("installed")
def test_a_model_that_cannot_be_reached_is_refused_and_a_waiver_lets_it_fail(tmp_path: Path) -> None:
    spec = publication_file(tmp_path, limit=0.001)
    assert not run_all(load_spec(spec), start=START, end=None)["published"]
    waiver = {
        "check": "delta_presence",
        "reason": "a survey of them",
        "by": "R. Rossi",
        "until": date.today() + timedelta(30),
    }
    result = published(publication_file(tmp_path, limit=0.001, privacy={"waivers": [waiver]}, reviewed=AGAIN))
    (check,) = [c for c in json.loads(Path(result["report"]).read_text())["checks"] if c["name"] == "delta_presence"]
    assert not check["passed"] and check["waived_by"] == "R. Rossi"


@pytest.mark.usefixtures("installed")
def test_the_model_is_measured_alike_on_pandas_and_in_databases(tmp_path: Path, database: Database) -> None:
    published(publication_file(tmp_path))
    (place,) = (tmp_path / "shelf/patients").iterdir()
    names, *rows = csv.reader((place / "patients.csv").open())
    suite = json.loads(json.dumps(_suite(tmp_path)))
    (entry,) = [one for one in suite["expectations"] if one["type"] == "expect_delta_presence"]
    arguments = {key: value for key, value in entry["kwargs"].items() if key != "weight_column"}
    from anon_airflow.expectations import hierarchies_in

    with hierarchies_in(tmp_path):
        found = database.agreed("expect_delta_presence", Cells(names, [tuple(row) for row in rows]), **arguments)
    assert found.success and found.result["measured"] == pytest.approx(presence_in(tmp_path, place / "patients.csv"))


def _suite(folder: Path) -> dict[str, Any]:
    from anon_airflow.gate.suite import render_suite

    return render_suite(load_spec(folder / "patients.yaml"), rows_before=300, today=date.today())


@pytest.mark.usefixtures("installed")
def test_a_wrong_setting_of_the_model_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as raised:
        load_spec(publication_file(tmp_path, limit=1.5))
    (problem,) = raised.value.problems
    assert (problem.where, problem.what) == ("privacy.delta_presence.max", "should be at most 1, not `1.5`")


def test_a_file_whose_members_are_not_installed_is_read_and_refused_by_what_runs(tmp_path: Path) -> None:
    spec = publication_file(tmp_path)
    publication = load_spec(spec)
    assert [one.split(":")[0] for one in publication.unread] == [
        "source.drawn",
        "privacy.delta_presence",
        "portal.shelf",
        "recode.method",
    ]
    with pytest.raises(InvalidInputError, match="privacy model `delta_presence`; install the one that does"):
        publication.refuse_unread()
    from click.testing import CliRunner

    ended = CliRunner().invoke(commands, ["check", str(tmp_path / "population.csv"), "--spec", str(spec)])
    assert isinstance(ended.exception, InvalidInputError)
    assert str(ended.exception).startswith("privacy.delta_presence: no installed package brings")


def test_a_release_is_withdrawn_where_the_model_method_and_source_that_made_it_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    with ExitStack() as stack:
        for registry, key, member in SEAMS:
            stack.enter_context(registry.registered(key, member))
        version = published(publication_file(tmp_path, portal={"folder": "portal"}))["release"]
    from click.testing import CliRunner

    ended = CliRunner().invoke(commands, ["withdraw", version, "--reason", "a mistake", "--json"])
    assert ended.exit_code == 0 and json.loads(ended.stdout)["withdrawn"] == [version]
    extending = " ".join((ROOT / "docs/extending.md").read_text().split())
    assert "`anon withdraw` needs only the portal" in extending


def test_processes_find_members_by_their_entry_points(tmp_path: Path) -> None:
    metadata = tmp_path / "site/a_package-1.5.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: a-package\nVersion: 1.5\n")
    points = [f"[{registry.group}]\n{key} = {member.__module__}:{member.__name__}\n" for registry, key, member in SEAMS]
    (metadata / "entry_points.txt").write_text("\n".join(points))
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "from anon_airflow.entry import main; main()",
            "run",
            publication_file(tmp_path),
            "--period",
            "2026-10-01",
        ],
        env={**os.environ, "PYTHONPATH": path, "ANON_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert list((tmp_path / "shelf/patients").glob("*/patients.csv"))


def test_the_commands_know_the_model_too(tmp_path: Path, installed: None) -> None:
    from click.testing import CliRunner

    published(publication_file(tmp_path))
    release = next(tmp_path.glob("shelf/patients/*/patients.csv"))
    ended = CliRunner().invoke(commands, ["check", str(release), "--spec", str(tmp_path / "patients.yaml"), "--json"])
    (check,) = [one for one in json.loads(ended.output)["checks"] if one["name"] == "delta_presence"]
    assert check["passed"]


@dataclass(frozen=True, kw_only=True)
class LenientK(KAnonymity):
    """Our model, passed whatever it finds, by a package that would stand for it."""

    def measure(self, subject: Subject) -> Measurement:
        return replace(super().measure(subject), passed=True)


@dataclass(frozen=True, kw_only=True)
class RiskBelow(LenientK):
    """A model whose expectation would have the name of one of ours."""

    key: ClassVar[str] = "risk_below"
    section: ClassVar[str] = "risk_below"


@pytest.mark.parametrize("key", ["my_k", "k__anonymity", "K_Anonymity", "k"])
def test_a_model_that_calls_itself_otherwise_than_its_key_cannot_be_registered(key: str) -> None:
    with pytest.raises(InvalidInputError, match="what the member calls itself must be the same"):
        MODELS.register(key, LenientK)
    assert key not in MODELS


@pytest.mark.usefixtures("installed")
def test_a_model_whose_expectation_has_the_name_of_ours_shuts_the_gate(tmp_path: Path) -> None:
    spec = publication_file(tmp_path)
    with MODELS.registered("risk_below", RiskBelow):
        ended = run_all(load_spec(spec), start=START, end=None)
    assert not ended["published"] and "another expectation has its name" in str(ended["reasons"])


@pytest.mark.parametrize("answer", [float("nan"), "no", 1, None])
def test_a_model_that_answers_with_no_truth_has_not_passed(answer: Any) -> None:
    found = Measurement(model="m", name="m", columns=(), passed=answer, observed=1, required=1, sentence="")
    assert found.passed is False and not found.holds


def test_a_truth_of_numpy_is_a_truth() -> None:
    import numpy as np

    answers = [np.bool_(True), np.bool_(False)]
    made = [
        Measurement(model="m", name="m", columns=(), passed=one, observed=1, required=1, sentence="") for one in answers
    ]
    assert [one.passed for one in made] == [True, False]
