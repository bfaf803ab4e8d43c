"""The graph is not the lock: a user with modest rights can turn tasks green, and still nothing is published."""

from __future__ import annotations

import pytest

from tests.dags.airflow_server import RefusedByAirflowError
from tests.dags.conftest import REFUSED, dag_of
from tests.faults.publications import files_below

pytestmark = pytest.mark.slow

DAG = dag_of(REFUSED)


def mark_successful(airflow, run_id, task, user):
    """Turn a task green; Airflow then runs by itself what waited for it, and clearing a running task would delay it."""
    path = f"/api/v2/dags/{DAG}/dagRuns/{run_id}/taskInstances/{task}"
    airflow.ask("PATCH", path, {"new_state": "success"}, user=user)
    airflow.wait(DAG, run_id)


def refusals(airflow, run_id):
    return len(airflow.audit_rows(REFUSED, run_id)["refusals"])


def clear(airflow, run_id, task, user):
    """Have a task run again, with those after it."""
    body = {
        "dry_run": False,
        "dag_run_id": run_id,
        "task_ids": [task],
        "include_downstream": True,
        "only_failed": False,
        "reset_dag_runs": True,
    }
    airflow.ask("POST", f"/api/v2/dags/{DAG}/clearTaskInstances", body, user=user)


def write_xcom(airflow, run_id, task, user):
    """Say that the gate has passed, in the words of the gate."""
    path = f"/api/v2/dags/{DAG}/dagRuns/{run_id}/taskInstances/{task}/xcomEntries"
    value = {"verdict": "passed", "checks": 14, "receipt": "0" * 64, "uri": f"file://{airflow.include}/samples"}
    body = {"value": value, "map_index": -1}
    try:
        airflow.ask("POST", path, {"key": "return_value", **body}, user=user)
    except RefusedByAirflowError:  # there is one already
        airflow.ask("PATCH", f"{path}/return_value", body, user=user)
    assert airflow.ask("GET", f"{path}/return_value")["value"] != {}


def assert_still_refused(airflow, run_id, refused):
    assert airflow.wait(DAG, run_id) == "failed"
    states = airflow.states(DAG, run_id)
    assert states["gate"] == "success", "the task itself was turned green"
    assert states["publish"] == "failed"
    assert not (airflow.include / "portal" / REFUSED).exists()
    rows = airflow.audit_rows(REFUSED, run_id)
    assert rows["publications"] == []
    assert rows["receipts"] == []
    assert len(rows["refusals"]) == refused
    assert rows["refusals"][-1]["by"] == "receipt"
    assert "no receipt" in rows["refusals"][-1]["reasons"][0]
    logs = [path.read_text() for path in files_below(airflow.home / "logs") if "task_id=publish" in str(path)]
    assert any("has no receipt: its gate has not passed" in text for text in logs)


def test_marking_the_gate_successful_and_writing_xcom_publishes_nothing(airflow, runs):
    run_id = runs.ids[REFUSED]

    mark_successful(airflow, run_id, "gate", "olga")
    assert airflow.states(DAG, run_id)["gate"] == "success"
    before = refusals(airflow, run_id)
    clear(airflow, run_id, "publish", "olga")
    assert_still_refused(airflow, run_id, before + 1)

    for task in ("gate", "recode"):
        write_xcom(airflow, run_id, task, "olga")
    clear(airflow, run_id, "publish", "olga")
    assert_still_refused(airflow, run_id, before + 2)

    # A mere `user` can do as much.
    mark_successful(airflow, run_id, "publish", "uwe")
    before = refusals(airflow, run_id)
    clear(airflow, run_id, "publish", "uwe")
    assert_still_refused(airflow, run_id, before + 1)

    events = airflow.ask("GET", f"/api/v2/eventLogs?dag_id={DAG}&limit=200")["event_logs"]
    assert "olga" in {event["owner"] for event in events}, "Airflow's own log shows who it was"


def test_a_viewer_cannot_even_try(airflow, runs):
    with pytest.raises(RefusedByAirflowError, match="403"):
        mark_successful(airflow, runs.ids[REFUSED], "gate", "vic")
