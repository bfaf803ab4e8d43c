"""The state of a run in Airflow is what is on record: no run is green that published nothing."""

from __future__ import annotations

import json

import pytest

from tests.dags.airflow_server import until
from tests.dags.conftest import PASSES, REFUSED, STOPPED, dag_of
from tests.dags.locked_portal import DAG, intents, locked_portal, wait_for
from tests.faults.publications import files_below

pytestmark = pytest.mark.slow


def set_run(airflow, dag, run_id, state):
    airflow.ask("PATCH", f"/api/v2/dags/{dag}/dagRuns/{run_id}", {"state": state}, user="olga")


def set_task(airflow, run_id, task, state):
    path = f"/api/v2/dags/{DAG}/dagRuns/{run_id}/taskInstances/{task}"
    airflow.ask("PATCH", path, {"new_state": state}, user="olga")


@pytest.mark.parametrize(("after", "task", "intent"), [(None, "stage", "run"), ("recode", "publish", "publish")])
def test_a_run_that_is_set_to_failed_while_a_task_works_stays_failed(airflow, after, task, intent):
    run_id = until(lambda: airflow.trigger(DAG), 60, "the DAG")
    if after:
        wait_for(airflow, run_id, after, "success")
    with locked_portal(airflow):
        wait_for(airflow, run_id, task, "running")
        until(lambda: intent in intents(airflow, run_id), 60, f"{task} to begin")
        set_run(airflow, DAG, run_id, "failed")
        until(lambda: airflow.states(DAG, run_id)["record"] in ("failed", "success"), 120, "record")
    assert airflow.states(DAG, run_id)["record"] == "failed"
    assert airflow.wait(DAG, run_id) == "failed"
    rows = airflow.audit_rows(STOPPED, run_id)
    assert rows["publications"] == []
    assert rows["outcomes"][-1]["status"] == "failed"
    assert files_below(airflow.anon_home / "staging") == []


def test_a_run_whose_gate_and_publish_are_marked_successful_fails(airflow):
    run_id = until(lambda: airflow.trigger(DAG), 60, "the DAG")
    with locked_portal(airflow):
        wait_for(airflow, run_id, "stage", "running")
        for task in ("gate", "publish"):
            set_task(airflow, run_id, task, "success")
    assert airflow.wait(DAG, run_id, 300) == "failed"
    states = airflow.states(DAG, run_id)
    assert (states["gate"], states["publish"], states["record"]) == ("success", "success", "failed")
    assert airflow.audit_rows(STOPPED, run_id)["publications"] == []
    assert files_below(airflow.anon_home / "staging") == []


def test_a_refused_run_that_is_set_to_success_is_noticed_by_the_next_one_and_shown(airflow, runs):
    refused, dag = runs.ids[REFUSED], dag_of(REFUSED)
    set_run(airflow, dag, refused, "success")
    assert airflow.wait(dag, refused) == "success"
    following = airflow.trigger(dag)
    assert airflow.wait(dag, following) == "failed"
    rows = airflow.audit_rows(REFUSED, refused)
    assert [row["details"] for row in rows["intents"] if row["verb"] == "mismatch"] == [
        {"airflow": "success", "on_record": "refused"}
    ]
    logs = [path.read_text() for path in files_below(airflow.home / "logs") if f"run_id={following}" in str(path)]
    assert any(f"run {refused} is success in Airflow and refused on record" in text for text in logs)


def test_a_run_that_agrees_with_the_record_is_no_mismatch(airflow, runs):
    following = airflow.trigger(dag_of(PASSES))
    assert airflow.wait(dag_of(PASSES), following) == "success"
    rows = airflow.audit_rows(PASSES, runs.ids[PASSES])
    assert "mismatch" not in [row["verb"] for row in rows["intents"]]


def test_the_log_of_a_refused_task_has_the_reasons_and_no_traceback(airflow, runs):
    found = [
        path.read_text()
        for path in files_below(airflow.home / "logs")
        if f"run_id={runs.ids[REFUSED]}" in str(path) and "task_id=gate" in str(path)
    ]
    (log,) = found
    lines = [json.loads(line) for line in log.splitlines()]
    errors = [line["event"] for line in lines if line["level"] == "error"]
    assert errors[0] == "REFUSED by the gate, nothing was published:"
    assert errors[1].startswith("- ")
    assert not [line for line in lines if line.get("error_detail") or "Traceback" in line["event"]]
