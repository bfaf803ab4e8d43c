"""Publications whose policies ask for more than k: reached by recoding, measured by the gate, told in the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anon_airflow import steps
from anon_airflow.gate import measurement
from anon_core.errors import ComplianceError, InvalidInputError, PolicyNotMetError, RefusedError
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.anon_process import anon
from tests.faults.publications import csv_text, portal_of, write_publication

COLUMNS = {
    "id": {"role": "identifier"},
    "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
    "town": {"role": "quasi", "hierarchy": {"file": "hierarchies/towns.csv"}},
    "illness": {"role": "sensitive"},
}
TOWNS = [("Alba", "North"), ("Bria", "North"), ("Elva", "South"), ("Ostia", "South")]
PEOPLE = [
    (("F", "Alba", "flu"), 3),
    (("F", "Alba", "gout"), 1),
    (("M", "Alba", "flu"), 3),
    (("F", "Bria", "gout"), 2),
    (("F", "Bria", "flu"), 2),
    (("M", "Bria", "gout"), 3),
    (("M", "Elva", "flu"), 4),
    (("F", "Elva", "gout"), 3),
    (("F", "Elva", "flu"), 1),
    (("F", "Ostia", "flu"), 1),
]


def people() -> list[tuple[str, ...]]:
    listed = [row for row, times in PEOPLE for _ in range(times)]
    return [(f"P{at:03}", *row) for at, row in enumerate(listed)]


def publication(folder: Path, *, recode=None, columns=COLUMNS, detect=None, table=None, **privacy) -> Path:
    more = {"detect": detect} if detect else {}
    return write_publication(
        folder,
        source=csv_text(people() if table is None else table, ("id", *list(columns)[1:])),
        columns=columns,
        towns=TOWNS,
        privacy={"k": 3, "suppression_limit": 0.2, **privacy},
        recode=recode or {"method": "global"},
        **more,
    )


def report_of(spec: Path) -> dict:
    return json.loads((portal_of(spec) / "people/latest/report.json").read_text())


POLICIES = {
    "l_diversity(illness, distinct)": {"l_diversity": [{"column": "illness", "l": 2}]},
    "t_closeness(illness, equal)": {"t_closeness": [{"column": "illness", "t": 0.37}]},
    "alpha(illness)": {"alpha": [{"column": "illness", "alpha": 0.8}]},
    "max_risk": {"max_risk": 0.2},
}


@pytest.mark.parametrize(("name", "policy"), POLICIES.items(), ids=POLICIES)
def test_what_a_policy_asks_of_classes_is_reached_measured_and_told(tmp_path, name, policy):
    spec = publication(tmp_path, **policy)
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE, "publish")
    checks = [check for check in report_of(spec)["privacy"]["checks"] if check["name"] == name]
    assert [check["passed"] for check in checks] == [True], "once, in what both files hold"
    assert {check["name"] for check in rows(run)["checks"]} >= {name, "k_anonymity"}


@pytest.mark.parametrize(("name", "policy"), POLICIES.items(), ids=POLICIES)
def test_the_gate_refuses_what_recoding_did_not_care_for(tmp_path, name, policy):
    spec = publication(tmp_path, recode={"method": "none"}, **policy)
    run = run_of(spec, tmp_path / "home")
    take(run, "stage", "detect", "score", "recode")
    with pytest.raises(RefusedError):
        take(run, "gate")
    failed = {check["name"] for check in rows(run)["checks"] if not check["passed"]}
    assert name in failed


def test_a_sensitivity_above_the_limit_shuts_the_gate(tmp_path):
    detect = {"ignore_duplicates": True}
    passed = run_of(publication(tmp_path / "a", max_sensitivity=1, detect=detect), tmp_path / "home-a")
    take(passed, *UNTIL_GATE, "publish")
    refused = run_of(publication(tmp_path / "b", max_sensitivity=0.001, detect=detect), tmp_path / "home-b")
    take(refused, "stage", "detect", "score", "recode")
    with pytest.raises(RefusedError, match="sensitivity: the highest is"):
        take(refused, "gate")


def test_a_sensitivity_that_is_not_defined_is_not_a_pass(tmp_path):
    run = run_of(publication(tmp_path, max_sensitivity=1), tmp_path / "home")
    take(run, "stage", "detect", "score", "recode")
    with pytest.raises(RefusedError, match=r"not defined; set `detect\.ignore_duplicates: true`"):
        take(run, "gate")


def typed(kind: str, remark: str = "4") -> dict:
    columns = COLUMNS | {"points": {"role": "sensitive", "type": kind}}
    table = [(*row, remark if at == 7 else str(at % 3)) for at, row in enumerate(people())]
    return {"columns": columns, "table": table}


def test_a_remark_in_a_column_of_numbers_is_refused(tmp_path):
    good = run_of(publication(tmp_path / "a", **typed("integer")), tmp_path / "home-a")
    take(good, *UNTIL_GATE, "publish")
    bad = run_of(publication(tmp_path / "b", **typed("integer", "QanaryRemark")), tmp_path / "home-b")
    take(bad, "stage", "detect", "score", "recode")
    with pytest.raises(RefusedError, match="1 cell of points is no integer") as caught:
        take(bad, "gate")
    assert "Qanary" not in str(caught.value)


LINK = {"k_means": "link"}
PRIORITISED = {"method": "prioritised", "mode": "link"}


def test_link_k_is_measured_beside_the_originals_and_vouched_for_when_they_are_gone(tmp_path):
    spec = publication(tmp_path, recode=PRIORITISED, **LINK)
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE)
    assert not run.staging.exists()
    measured = {check["name"]: check["passed"] for check in rows(run)["checks"]}
    assert measured["link_k"] is measured["source_k"] is True
    assert "k_anonymity" not in measured
    assert take(run, "publish")["status"] == "published"
    told = {check["name"]: check["message"] for check in report_of(spec)["privacy"]["checks"]}
    for means in ("link", "source"):
        assert f"{means} k over" in told[f"{means}_k"]
        assert told[f"{means}_k"].endswith("beside the original, is at least 3: holds")


def test_rows_that_are_not_link_anonymous_are_refused(tmp_path):
    run = run_of(publication(tmp_path, recode={"method": "none"}, **LINK), tmp_path / "home")
    take(run, "stage", "detect", "score", "recode")
    with pytest.raises(RefusedError, match="link k is 1, 3 required"):
        take(run, "gate")


def test_what_only_the_receipt_vouches_for_does_not_pass_without_one(tmp_path):
    run = run_of(publication(tmp_path, recode=PRIORITISED, **LINK), tmp_path / "home")
    take(run, *UNTIL_GATE)
    staged = run.noted("stage")
    files = sorted(path for path in run.gated.glob("*.[cp]*"))
    original = measurement.StagedOriginal(sha256=staged["sha256"])
    verdict = measurement.measure(
        run.publication, files, rows_before=staged["rows"], today=steps._today(), original=original
    )
    assert verdict.vouched == 2
    assert verdict.passed, "with the receipt that publish asks for"
    unknown = measurement.measure(run.publication, files, rows_before=staged["rows"], today=steps._today())
    assert not unknown.passed, "without even the digest of the originals"


def test_the_gate_signs_nothing_that_it_could_not_measure_itself(tmp_path, monkeypatch):
    run = run_of(publication(tmp_path, recode=PRIORITISED, **LINK), tmp_path / "home")
    take(run, "stage", "detect", "score", "recode")
    monkeypatch.setattr(steps, "staged_original", lambda _, digest, surplus: measurement.StagedOriginal(sha256=digest))
    with pytest.raises(RefusedError, match="what needs the originals was not measured beside them"):
        take(run, "gate")
    assert rows(run)["receipts"] == [] and not run.gated.exists()


OF_THE_GATE = {"witness", "evaluated", "same_content", "unchanged", "site_policy", "smallest_table"}


def test_the_gate_and_the_command_call_checks_by_the_same_names(tmp_path):
    policy = {key: value for one in POLICIES.values() for key, value in one.items()}
    spec = publication(tmp_path, detect={"ignore_duplicates": True}, max_sensitivity=1, **policy)
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE, "publish")
    measured = {check["name"] for check in rows(run)["checks"]} - OF_THE_GATE
    file = portal_of(spec) / "people/latest/people.csv"
    source = spec.parent.parent / "samples/people.csv"
    ended = anon("check", file, "--spec", spec, "--original", source, "--json", home=tmp_path / "other")
    checked = {check["name"] for check in json.loads(ended.out)["checks"]} - {"made_from_original", "removal"}
    pairing = {"restored_values", "removal"}  # Without one it is not known what a row was.
    assert measured - pairing == checked, ended.err


def test_an_original_changed_before_the_gate_is_noticed(tmp_path):
    run = run_of(publication(tmp_path, recode=PRIORITISED, **LINK), tmp_path / "home")
    take(run, "stage", "detect", "score", "recode")
    original = run.staging / "original.parquet"
    original.write_bytes(original.read_bytes() + b"\0")
    with pytest.raises((InvalidInputError, ComplianceError), match="missing or was changed"):
        take(run, "gate")


def test_with_link_k_a_column_declared_other_is_not_excused(tmp_path):
    columns = COLUMNS | {"shoe": {"role": "other"}}
    table = [(*row, str(at)) for at, row in enumerate(people())]
    run = run_of(publication(tmp_path, recode=PRIORITISED, columns=columns, table=table, **LINK), tmp_path / "home")
    take(run, "stage", "detect", "score")
    with pytest.raises(PolicyNotMetError, match=r"shoe is declared other.*: drop shoe"):
        take(run, "recode")
