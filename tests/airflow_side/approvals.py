"""Runs that wait for a person, and the answers of people."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from anon_airflow import steps
from anon_airflow.approval import Outcome
from anon_airflow.asking import Answer
from anon_airflow.run import Run
from tests.airflow_side.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import write_publication


def waiting_run(folder: Path, *, run_id: str = "manual__1", dataset: str = "people", **approval: Any) -> Run:
    """Return a run that has passed the gate, of a file that asks for an approval; nobody is asked yet."""
    spec = write_publication(folder, dataset=dataset, approval={"required": True, **approval})
    run = run_of(spec, folder / "home", run_id)
    take(run, *UNTIL_GATE)
    return run


def answer(run: Run, outcome: Outcome = Outcome.APPROVED, person: str = "anna", **changes: Any) -> dict:
    """Answer the newest question as somebody who has read it."""
    given = {"person": person, "user_id": person, "receipt": newest_question(run)["details"]["receipt"], **changes}
    return steps.decide(run, Answer(outcome=outcome, **given))


def newest_question(run: Run) -> dict:
    return [intent for intent in rows(run)["intents"] if intent["verb"] == "approve"][-1]


def git(folder: Path, *words: str, author: str = "Ada Rossi <ada@example.org>") -> str:
    name, _, address = author.rstrip(">").partition(" <")
    who = ("-c", f"user.name={name}", "-c", f"user.email={address}", "-c", "commit.gpgsign=false")
    ended = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return ended.stdout


def committed(folder: Path, author: str = "Ada Rossi <ada@example.org>") -> None:
    """Commit everything in a folder, as this author."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    git(folder, "add", "--all", author=author)
    git(folder, "commit", "--quiet", "--message", "change", author=author)
