"""Publications run by a real Airflow: what is published, what is refused, and that it keeps no cell."""

from __future__ import annotations

import json

import pytest

from tests.dags.airflow_server import until
from tests.dags.conftest import (
    BREAKS,
    CANARIES,
    DATASETS,
    FOLLOWS,
    PASSES,
    REFUSED,
    UNINFORMED,
    UNMAPPED,
    dag_of,
    people_wrote,
)
from tests.faults.publications import files_below
from tests.faults.search import found_in

pytestmark = pytest.mark.slow


def test_a_publication_that_meets_its_policy_is_published(airflow, runs):
    assert runs.states[PASSES] == "success"
    assert set(airflow.states(dag_of(PASSES), runs.ids[PASSES]).values()) == {"success"}
    folder = airflow.include / "portal" / PASSES
    assert {path.name for path in (folder / "latest").iterdir()} == {
        "people.csv",
        "people.parquet",
        "datapackage.json",
        "manifest.json",
        "report.json",
    }
    rows = airflow.audit_rows(PASSES, runs.ids[PASSES])
    assert [row["status"] for row in rows["publications"]] == ["published"]
    assert rows["intents"][0]["actor"] == "admin"


def test_a_published_dataset_is_an_asset_that_others_follow_and_its_event_has_the_manifest(airflow, runs):
    events = airflow.ask("GET", "/api/v2/assets/events?limit=100")["asset_events"]
    (event,) = [event for event in events if event["name"] == f"anonflow://{PASSES}"]
    assert event["source_run_id"] == runs.ids[PASSES]
    manifest = json.loads((airflow.include / "portal" / PASSES / "latest/manifest.json").read_bytes())
    assert event["extra"]["status"] == "published"
    assert event["extra"]["manifest"] == manifest
    path = f"/api/v2/dags/{dag_of(FOLLOWS)}/dagRuns"
    (followed,) = until(lambda: airflow.ask("GET", path)["dag_runs"], 60, "whoever follows")
    assert followed["run_type"] == "asset_triggered"
    assert airflow.wait(dag_of(FOLLOWS), followed["dag_run_id"]) == "success"
    assert (airflow.include / "portal" / FOLLOWS / "latest").is_dir()


def test_a_refused_publication_tells_nobody(airflow, runs):
    events = airflow.ask("GET", "/api/v2/assets/events?limit=100")["asset_events"]
    assert not [event for event in events if event["name"] == f"anonflow://{REFUSED}"]


def test_a_publication_that_does_not_is_refused_by_the_gate_and_recorded(airflow, runs):
    assert runs.states[REFUSED] == "failed"
    states = airflow.states(dag_of(REFUSED), runs.ids[REFUSED])
    assert states["recode"] == "success"
    assert states["gate"] == "failed"
    assert states["publish"] == "upstream_failed"
    assert states["record"] == "failed", "a run that published nothing fails"
    assert not (airflow.include / "portal" / REFUSED).exists()
    rows = airflow.audit_rows(REFUSED, runs.ids[REFUSED])
    assert rows["refusals"][0]["by"] == "gate"
    assert [row["status"] for row in rows["outcomes"]] == ["done", "refused"], "staged, and refused"


@pytest.mark.parametrize(("dataset", "task"), [(BREAKS, "recode"), (UNMAPPED, "stage")])
def test_a_run_that_breaks_is_recorded_and_publishes_nothing(airflow, runs, dataset, task):
    assert runs.states[dataset] == "failed"
    states = airflow.states(dag_of(dataset), runs.ids[dataset])
    assert states[task] == "failed"
    assert states["publish"] == "upstream_failed"
    assert states["record"] == "failed", "a run that published nothing fails"
    assert not (airflow.include / "portal" / dataset).exists()
    assert airflow.audit_rows(dataset, runs.ids[dataset])["outcomes"][-1]["status"] == "failed"


def test_a_run_whose_detect_and_score_fail_is_published_and_its_report_names_them(airflow, runs):
    states = airflow.states(dag_of(UNINFORMED), runs.ids[UNINFORMED])
    assert {task: state for task, state in states.items() if state != "success"} == {
        "detect": "failed",
        "score": "failed",
    }
    assert runs.states[UNINFORMED] == "success"
    assert (airflow.include / "portal" / UNINFORMED / "latest").is_dir()
    (path,) = airflow.anon_home.glob(f"runs/{UNINFORMED}/*/internal-report.json")
    report = json.loads(path.read_bytes())
    assert (report["outcome"], report["reasons"]) == ("published", [])
    assert [one["step"] for one in report["steps_failed"]] == ["detect", "score"]
    assert all("unexpected ValueError" in one["reason"] for one in report["steps_failed"])
    assert (report["detection"], report["before"], report["scores"]) == (None, None, None)


def test_after_a_stage_that_fails_nothing_is_searched(airflow, runs):
    states = airflow.states(dag_of(UNMAPPED), runs.ids[UNMAPPED])
    assert {states[task] for task in ("detect", "score", "recode", "gate")} == {"upstream_failed"}
    assert states["informed"] == "success"


def test_no_original_is_left(airflow, runs):
    assert files_below(airflow.anon_home / "staging") == []


def test_no_canary_is_in_anything_that_was_written(airflow, runs):
    """Task logs, XComs, rendered fields, event log, the whole database, the private folder, the portal, the rest."""
    folder = airflow.home.parent
    assert found_in(folder, [*CANARIES, "QanaryNowhere"], but=people_wrote(folder)) == []


def test_the_search_covered_logs_and_database(airflow, runs):
    """Finding nothing must not be for want of looking: what is harmless is found in the same places."""
    places = found_in(airflow.home, ["k_before", runs.ids[REFUSED], "ValueError"])
    assert any("airflow.db (rows)" in place for place in places)
    assert any("ValueError in logs" in place and "task_id=recode" in place for place in places)
    assert any("k_before in logs" in place for place in places)


def test_the_log_of_a_broken_step_names_the_place(airflow, runs):
    logs = [path.read_text() for path in files_below(airflow.home / "logs") if "task_id=recode" in str(path)]
    assert any("unexpected ValueError at" in text for text in logs)


def test_xcom_holds_counts_and_addresses_only(airflow, runs):
    path = f"/api/v2/dags/{dag_of(PASSES)}/dagRuns/{runs.ids[PASSES]}/taskInstances/~/xcomEntries"
    entries = airflow.ask("GET", path)["xcom_entries"]
    assert {entry["task_id"] for entry in entries} == {
        "stage",
        "detect",
        "score",
        "recode",
        "gate",
        "publish",
        "record",
    }
    assert {entry["key"] for entry in entries} == {"return_value"}


def test_the_receipt_is_in_the_audit_store_and_airflow_has_at_most_its_digest(airflow, runs):
    (receipt,) = airflow.audit_rows(PASSES, runs.ids[PASSES])["receipts"]
    mac = json.loads(receipt["body"])["mac"]
    assert found_in(airflow.home, [mac]) == []
    path = f"/api/v2/dags/{dag_of(PASSES)}/dagRuns/{runs.ids[PASSES]}/taskInstances/gate/xcomEntries/return_value"
    assert receipt["digest"] in json.dumps(airflow.ask("GET", path))


def test_airflow_lists_one_dag_per_file_and_no_import_error(airflow, runs):
    listed = json.loads(airflow.command("dags", "list", "-o", "json").splitlines()[-1])
    assert {dag["dag_id"] for dag in listed} == set(map(dag_of, DATASETS))
    assert airflow.ask("GET", "/api/v2/importErrors")["total_entries"] == 0
    assert airflow.command("dags", "list-import-errors", "-o", "json").splitlines()[-1] in ("[]", "No data found")
