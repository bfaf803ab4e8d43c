"""A run of a publication that asks for approval: what its buttons do, and what is on record of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.dags.airflow_server import Airflow, until
from tests.dags.conftest import dag_of


@dataclass(frozen=True)
class Asked:
    """One run of a publication that asks for approval."""

    airflow: Airflow
    dataset: str
    run_id: str

    def ask(self, method: str, path: str, body: Any = None, *, user: str = "admin") -> Any:
        return self.airflow.ask(method, f"/api/v2/dags/{dag_of(self.dataset)}/{path}", body, user=user)

    def states(self) -> dict[str, str | None]:
        return self.airflow.states(dag_of(self.dataset), self.run_id)

    def until_waiting(self) -> None:
        """
        Wait until the question stands and the scheduler knows that nobody works on it, as it does while a person reads.

        Airflow fails a task that is answered before its executor has told that the worker was left, which takes some
        five seconds.
        """
        until(lambda: self.states()["approve"] == "awaiting_input", 300, f"{self.dataset} to ask")
        busy = partial(self.airflow.is_with_executor, dag_of(self.dataset), self.run_id, "approve")
        until(lambda: not busy(), 60, "the scheduler to know")

    def end(self) -> str:
        return self.airflow.wait(dag_of(self.dataset), self.run_id, 300)

    def shown(self) -> dict[str, Any]:
        """Return the question as the page of Airflow shows it."""
        return self.ask("GET", f"dagRuns/{self.run_id}/taskInstances/approve/-1/hitlDetails")

    def answer(self, option: str, user: str, receipt: str | None = None) -> None:
        """Press a button, as the page does (the fields of the form go with it), and wait until that was dealt with."""
        given = receipt or self.shown()["params"]["receipt"]["value"]
        body = {"chosen_options": [option], "params_input": {"receipt": given}}
        self.ask("PATCH", f"dagRuns/{self.run_id}/taskInstances/approve/-1/hitlDetails", body, user=user)
        until(lambda: self.states()["approve"] in ("success", "failed"), 300, f"the answer to {self.dataset}")

    def mark(self, task: str, state: str, user: str = "uwe") -> None:
        self.ask("PATCH", f"dagRuns/{self.run_id}/taskInstances/{task}", {"new_state": state}, user=user)

    def clear(self, task: str, user: str = "olga") -> None:
        body = {"dry_run": False, "dag_run_id": self.run_id, "task_ids": [task], "include_downstream": True}
        self.ask("POST", "clearTaskInstances", {**body, "only_failed": False, "reset_dag_runs": True}, user=user)

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        return self.airflow.audit_rows(self.dataset, self.run_id)

    def decisions(self) -> list[tuple[str, str]]:
        return [(row["decision"], row["person"]) for row in self.rows()["approvals"]]

    def anon(self, *words: str) -> Any:
        ended = subprocess.run(
            [sys.executable, "-c", "from anon_airflow.entry import main; main()", *words, "--json"],
            env={**os.environ, "ANON_HOME": str(self.airflow.anon_home)},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(ended.stdout)

    @property
    def gated(self) -> Path:
        """Where the files wait that passed the gate."""
        (folder,) = {path.parent for path in (self.airflow.anon_home / "gated" / self.dataset).rglob("report.json")}
        return folder

    def assert_not_published(self, reason: str, by: str = "approval") -> None:
        assert self.end() == "failed"
        assert self.states()["record"] == "failed"
        assert not (self.airflow.include / "portal" / self.dataset).exists()
        rows = self.rows()
        assert rows["publications"] == []
        assert rows["refusals"][-1]["by"] == by
        assert reason in "; ".join(rows["refusals"][-1]["reasons"])


def triggered(airflow: Airflow, datasets: Iterable[str]) -> dict[str, Asked]:
    """Trigger publications as admin."""
    wanted = set(map(dag_of, datasets))
    until(lambda: wanted <= {dag["dag_id"] for dag in airflow.ask("GET", "/api/v2/dags")["dags"]}, 60, "the DAGs")
    return {dataset: Asked(airflow, dataset, airflow.trigger(dag_of(dataset))) for dataset in datasets}
