"""Somebody marks a task failed while it works: it stops, is not tried again, and leaves a true record behind."""

from __future__ import annotations

import json

import pytest

from tests.dags.airflow_server import until
from tests.dags.conftest import STOPPED
from tests.dags.locked_portal import DAG, intents, locked_portal, wait_for
from tests.faults.publications import files_below

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("after", "task", "intent"), [(None, "stage", "run"), ("recode", "publish", "publish")])
def test_a_task_that_is_marked_failed_stops_and_record_tells_it(airflow, after, task, intent):
    run_id = until(lambda: airflow.trigger(DAG), 60, "the DAG")
    if after:
        wait_for(airflow, run_id, after, "success")
    with locked_portal(airflow) as portal:
        wait_for(airflow, run_id, task, "running")
        until(lambda: intent in intents(airflow, run_id), 60, f"{task} to begin")
        path = f"/api/v2/dags/{DAG}/dagRuns/{run_id}/taskInstances/{task}"
        airflow.ask("PATCH", path, {"new_state": "failed"}, user="olga")
        assert airflow.wait(DAG, run_id) == "failed"
        states = airflow.states(DAG, run_id)
        assert (states[task], states["record"]) == ("failed", "failed")
    rows = airflow.audit_rows(STOPPED, run_id)
    assert rows["publications"] == []
    assert {row["id"] for row in rows["intents"]} == {row["intent_id"] for row in rows["outcomes"]}, "all closed"
    assert rows["outcomes"][-1]["status"] == "failed"
    (report,) = [
        content
        for path in airflow.anon_home.glob(f"runs/{STOPPED}/*/internal-report.json")
        if (content := json.loads(path.read_bytes()))["run_id"] == run_id
    ]
    assert report["reasons"] == [f"{task}: a person, or a time limit, has stopped it"]
    assert not (portal / STOPPED / "latest").exists()
    assert files_below(airflow.anon_home / "staging") == []


def test_a_task_that_is_cleared_while_it_works_begins_again_and_the_run_publishes(airflow):
    run_id = until(lambda: airflow.trigger(DAG), 60, "the DAG")
    with locked_portal(airflow) as portal:
        until(lambda: "run" in intents(airflow, run_id), 90, "stage to begin")
        body = {"dry_run": False, "dag_run_id": run_id, "task_ids": ["stage"], "only_failed": False}
        airflow.ask("POST", f"/api/v2/dags/{DAG}/clearTaskInstances", body, user="olga")
        until(lambda: airflow.states(DAG, run_id)["stage"] != "running", 60, "stage to be stopped")
    assert airflow.wait(DAG, run_id, 500) == "success"
    assert len(airflow.audit_rows(STOPPED, run_id)["publications"]) == 1
    assert (portal / STOPPED / "latest").exists()
    assert files_below(airflow.anon_home / "staging") == []
