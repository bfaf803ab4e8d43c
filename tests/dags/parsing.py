"""Parse the DAG file as Airflow does, in a process of its own, and tell what came of it."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("pandas", "numba", "great_expectations", "pyarrow", "duckdb", "numpy")


def in_airflow(code: str, folder: Path, environ: Mapping[str, str] | None = None) -> Any:
    """Run code in a fresh interpreter with an Airflow of its own; it leaves its answer in ``answer``."""
    home = folder / "airflow"
    home.mkdir(exist_ok=True)
    ended = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json\nprint('ANSWER', json.dumps(answer))"],
        env={**_environ(home), "ANON_INCLUDE": str(folder / "include"), **(environ or {})},
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    lines = [line for line in ended.stdout.splitlines() if line.startswith("ANSWER ")]
    assert lines, ended.stdout + ended.stderr
    return json.loads(lines[-1].removeprefix("ANSWER "))


def parsed_in_airflow(include: Path, environ: Mapping[str, str] | None = None) -> Any:
    """
    Parse the DAG file of the project, for publication files below this folder, in a process of its own.

    It is forked off one that has parsed before: to import Airflow takes much longer than to parse. What is imported
    cannot be seen in it.
    """
    server = _server()
    assert server.stdin and server.stdout
    server.stdin.write(json.dumps({"ANON_INCLUDE": str(include), **(environ or {})}) + "\n")
    answer = next(line for line in server.stdout if line.startswith("ANSWER "))
    found = json.loads(answer.removeprefix("ANSWER "))
    assert isinstance(found, dict), found
    return found


def _environ(home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
    }


@functools.cache
def _server() -> subprocess.Popen[str]:
    home = Path(tempfile.mkdtemp(prefix="airflow-"))
    server = subprocess.Popen(
        [sys.executable, __file__],
        env={**_environ(home), "ANON_INCLUDE": str(home / "include")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=home,
    )

    def stop() -> None:
        assert server.stdin
        server.stdin.close()
        server.wait(30)
        shutil.rmtree(home, ignore_errors=True)

    atexit.register(stop)
    return server


def _serve() -> None:
    exec(PARSED, {})
    for line in sys.stdin:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            continue
        names: dict[str, Any] = {"answer": "it did not parse"}
        try:
            os.environ.update(json.loads(line))
            exec(PARSED, names)
        except BaseException:
            names["answer"] = traceback.format_exc()
        print("\nANSWER", json.dumps(names["answer"]), flush=True)
        os._exit(0)


PARSED = """
from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.serialized_objects import DagSerialization
bag = DagBag()
errors = dict(bag.import_errors)
for dag_id, dag in bag.dags.items():  # as the DAG processor does, before the scheduler sees anything
    try:
        DagSerialization.to_dict(dag)
    except Exception as error:
        errors[dag_id] = repr(error)
answer = {
    "errors": errors,
    "dags": {
        dag_id: {
            "tags": sorted(dag.tags),
            "doc": dag.doc_md,
            "description": dag.description,
            "active": dag.max_active_runs,
            "catchup": dag.catchup,
            "timetable": type(dag.timetable).__name__,
            "schedule": str(getattr(dag.schedule, "uri", dag.schedule)),
            "tasks": [task.task_id for task in dag.topological_sort()],
            "owner": dag.tasks[0].owner,
            "retries": dag.tasks[0].retries,
            "pool": dag.tasks[0].pool,
            "queue": dag.tasks[0].queue,
            "retry_delay": dag.tasks[0].retry_delay.total_seconds(),
            "execution_timeout": getattr(dag.tasks[0].execution_timeout, "total_seconds", lambda: None)(),
            "start": str(dag.start_date),
            "deadlines": [alert.interval.total_seconds() for alert in dag.deadline or []],
            "outlets": [asset.name for task in dag.tasks for asset in task.outlets],
            "teardowns": [task.task_id for task in dag.tasks if task.is_teardown],
            "after": {task.task_id: sorted(task.upstream_task_ids) for task in dag.tasks},
            "rules": {task.task_id: task.trigger_rule.value for task in dag.tasks},
            "fields": {task.task_id: list(task.template_fields) for task in dag.tasks},
        }
        for dag_id, dag in bag.dags.items()
    },
}
"""

IMPORTED = """
import sys
from airflow.sdk import DAG, Asset, BaseOperator, get_parsing_context
from airflow.sdk.exceptions import AirflowFailException
before = set(sys.modules)
{then}
answer = sorted({{name.split(".")[0] for name in set(sys.modules) - before}})
"""

PARSE_THE_FILE = f"""
import importlib.util
found = importlib.util.spec_from_file_location("publications", {str(ROOT / "dags/publications.py")!r})
found.loader.exec_module(importlib.util.module_from_spec(found))
"""

if __name__ == "__main__":
    _serve()
