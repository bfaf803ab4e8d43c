"""Runs that wait for a person, and the answers of people."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anon_airflow import steps
from anon_airflow.approval.decision import Outcome
from anon_airflow.approval.request import Answer
from anon_airflow.run.context import Run
from anon_core.errors import RefusedError
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import versions_of, write_publication


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


@pytest.fixture(name="run")
def gated_run(tmp_path: Path) -> Run:
    return waiting_run(tmp_path)


@pytest.fixture(name="asked")
def asked_run(run: Run) -> Run:
    steps.ask(run)
    return run


def refused(step: Callable[..., Any], *args: Any, by: str = "approval") -> str:
    """Take a step, see it refused, and return the reasons."""
    with pytest.raises(RefusedError) as caught:
        step(*args)
    assert caught.value.by == by
    return "; ".join(caught.value.reasons)


def not_published(run: Run) -> str:
    """Try to publish, see it refused for want of an approval and on record, and return why."""
    before = len(rows(run)["refusals"])
    why = refused(steps.publish, run)
    found = rows(run)
    assert len(found["refusals"]) == before + 1
    assert found["refusals"][-1]["by"] == "approval"
    assert found["publications"] == []
    assert versions_of(run.publication.file) == []
    return why


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
