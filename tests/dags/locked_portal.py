"""A portal that another process has locked, so that a run of the publication `stopped` stays where it is."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.dags.airflow_server import Airflow, until
from tests.dags.conftest import STOPPED, dag_of

DAG = dag_of(STOPPED)


@contextmanager
def locked_portal(airflow: Airflow) -> Iterator[Path]:
    """Let each run that wants to write to the portal wait, as behind one that publishes very much."""
    portal = airflow.include / "portal-stopped"
    portal.mkdir(exist_ok=True)
    with (portal / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield portal


def wait_for(airflow: Airflow, run_id: str, task: str, state: str) -> None:
    until(lambda: airflow.states(DAG, run_id).get(task) == state, 120, f"{task} to be {state}")


def intents(airflow: Airflow, run_id: str) -> list[str]:
    if not (airflow.anon_home / "audit.db").exists():  # The first run of all has only just begun.
        return []
    return [row["verb"] for row in airflow.audit_rows(STOPPED, run_id)["intents"]]
