"""Runs of which the steps are taken one by one."""

from __future__ import annotations

from pathlib import Path

from anon_airflow import steps
from anon_airflow.run.context import Run
from anon_airflow.run.home import Home
from anon_core.spec import load_spec

UNTIL_GATE = ("stage", "detect", "score", "recode", "gate")


def run_of(spec: Path, home: Path, run_id: str = "manual__1", **changes) -> Run:
    return Run(publication=load_spec(spec), run_id=run_id, home=Home(home), actor="tester", **changes)


def take(run: Run, *names: str, times: int = 1) -> dict:
    result = {}
    for name in names:
        for _ in range(times):
            result = getattr(steps, name)(run, *([run.publication.source_template] if name == "stage" else []))
    return result


def rows(run: Run) -> dict[str, list]:
    with run.audit() as audit:
        return audit.run(run.run_id, run.dataset)
