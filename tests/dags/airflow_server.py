"""A real Airflow for the tests: its own home, database and port, bound to this machine only."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anon_airflow.audit import AuditStore
from anon_airflow.keys.signing import SigningKey
from include import up
from tests.dags.parsing import ROOT

AIRFLOW = str(Path(sys.executable).with_name("airflow"))
ENDED = ("success", "failed")
USERS = {"admin": "admin", "olga": "op", "uwe": "user", "vic": "viewer"}


class RefusedByAirflowError(Exception):
    """The API answered with an error."""


@dataclass
class Airflow:
    """Airflow's parts as processes, and its API as each of its users sees it."""

    home: Path
    include: Path
    anon_home: Path
    port: int
    environ: dict[str, str]
    tokens: dict[str, str] = field(default_factory=dict, repr=False)

    def ask(self, method: str, path: str, body: Any = None, *, user: str = "admin") -> Any:
        """Send a request as this user and return the answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        if path != "/auth/token" and not path.endswith("/health"):
            request.add_header("Authorization", f"Bearer {self.token(user)}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            raise RefusedByAirflowError(f"{error.code} {error.read().decode(errors='replace')[:500]}") from None
        return json.loads(content) if content else None

    def token(self, user: str) -> str:
        if user not in self.tokens:
            passwords = json.loads((self.home / "simple_auth_manager_passwords.json.generated").read_text())
            login = {"username": user, "password": passwords[user]}
            self.tokens[user] = self.ask("POST", "/auth/token", login)["access_token"]
        return self.tokens[user]

    def trigger(self, dag_id: str) -> str:
        run = self.ask("POST", f"/api/v2/dags/{dag_id}/dagRuns", {"logical_date": None, "conf": {}})
        return str(run["dag_run_id"])

    def states(self, dag_id: str, run_id: str) -> dict[str, str | None]:
        """Return the state of every task."""
        listed = self.ask("GET", f"/api/v2/dags/{dag_id}/dagRuns/{run_id}/taskInstances")
        return {task["task_id"]: task["state"] for task in listed["task_instances"]}

    def wait(self, dag_id: str, run_id: str, seconds: float = 180) -> str:
        """Wait until a run has ended and return how."""
        run = until(
            lambda: ended_or_none(self.ask("GET", f"/api/v2/dags/{dag_id}/dagRuns/{run_id}")),
            seconds,
            f"{dag_id} to end",
        )
        return str(run["state"])

    def is_with_executor(self, dag_id: str, run_id: str, task_id: str) -> bool:
        """Whether the scheduler has given a task to its executor more often than it heard back of it."""
        log = (self.home / "scheduler.log").read_text(errors="replace")
        given = log.count(f"Queueing workload for TI: <TaskInstance: {dag_id}.{task_id} {run_id} ")
        key = f"TaskInstanceKey(dag_id='{dag_id}', task_id='{task_id}', run_id='{run_id}',"
        heard = log.count(f"Received executor event with state success for task instance {key}")
        assert given, "the scheduler's words have changed"
        return given > heard

    def audit_rows(self, dataset: str, run_id: str) -> dict[str, list[dict[str, Any]]]:
        """Return what is on record of a run; the record must be untouched."""
        key = SigningKey.load(self.anon_home, {}, create=False)
        with AuditStore.open(None, self.anon_home, key) as store:
            assert store.verify().ok
            return store.run(run_id, dataset)

    def command(self, *arguments: str) -> str:
        """Run the ``airflow`` command and return its stdout."""
        ended = subprocess.run(
            [AIRFLOW, *arguments], env=self.environ, capture_output=True, text=True, check=True, cwd=self.home
        )
        return ended.stdout


def ended_or_none(run: dict[str, Any]) -> dict[str, Any] | None:
    return run if run["state"] in ENDED else None


def until(found: Any, seconds: float, what: str) -> Any:
    """Ask again and again until there is an answer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(RefusedByAirflowError, OSError):
            if answer := found():
                return answer
        time.sleep(0.5)
    raise TimeoutError(f"waited {seconds:.0f} s for {what}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running_airflow(folder: Path, include: Path, python_path: Path) -> Iterator[Airflow]:
    """Start Airflow and stop it with all its children."""
    home, port = folder / "airflow", free_port()
    home.mkdir()
    environ = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{name}:{role}" for name, role in USERS.items()),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "DEBUG",
        "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.5",
        "AIRFLOW__SCHEDULER__TRIGGER_TIMEOUT_CHECK_INTERVAL": "1",
        "ANON_HOME": str(folder / "anon-home"),
        "ANON_INCLUDE": str(include),
        "ANON_SPEC_CHANGED_BY": "Ada Rossi <ada@example.org>",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(python_path), os.environ.get("PYTHONPATH")])),
        "TMPDIR": str(folder / "tmp"),
    }
    (folder / "tmp").mkdir()
    airflow = Airflow(home, include, folder / "anon-home", port, environ)
    airflow.command("db", "migrate")
    running = up.start(home, port, without=("triggerer",), env=environ, cwd=home)
    try:
        until(lambda: up.healthy(port), 120, "Airflow to start")
        yield airflow
    finally:
        up.stop(running)
