"""What Airflow's tasks do, each as a call of a process of its own; the place is named by its folder."""

from __future__ import annotations

from anon_airflow import steps
from anon_airflow.approval.decision import Outcome
from anon_airflow.approval.request import Answer
from anon_airflow.audit import AuditStore
from anon_airflow.keys.ring import KeyRing
from anon_airflow.run.context import Run
from anon_airflow.run.home import Home
from tests.faults.matrix.place import RUN_ID

UNTIL_GATE = ("detect", "score", "recode", "gate")


def until_gate(spec: str) -> None:
    """Stage, detect, score, recode, gate."""
    run = Run.of(spec, RUN_ID, actor="tester")
    steps.stage(run, "samples/people.csv")
    for name in UNTIL_GATE:
        getattr(steps, name)(run)


def whole_run(spec: str) -> None:
    """All tasks of a run, the last one whatever happens."""
    run = Run.of(spec, RUN_ID, actor="tester")
    try:
        until_gate(spec)
        steps.publish(run)
    finally:
        steps.record(run)


def ask(spec: str) -> None:
    """Ask for an approval."""
    steps.ask(Run.of(spec, RUN_ID, actor="tester"))


def approve(spec: str) -> None:
    """Answer the newest question with yes."""
    run = Run.of(spec, RUN_ID, actor="tester")
    with run.audit() as audit:
        asked = [row for row in audit.run(run.run_id, run.dataset)["intents"] if row["verb"] == "approve"]
    receipt = asked[-1]["details"]["receipt"]
    steps.decide(run, Answer(outcome=Outcome.APPROVED, person="anna", user_id="anna", receipt=receipt))


def publish(spec: str) -> None:
    """Publish what was approved, and close the run whatever happens."""
    run = Run.of(spec, RUN_ID, actor="tester")
    try:
        steps.publish(run)
    finally:
        steps.record(run)


def ask_and_publish(spec: str) -> None:
    """Go on as somebody does who clears the task `approve`."""
    ask(spec)
    approve(spec)
    publish(spec)


def append(_spec: str) -> None:
    """Append one row to the audit store: with a new key, the old one hands over."""
    home = Home.find()
    with AuditStore.open(home.audit_url, home.root, KeyRing.load(home.root)) as store:
        intent = store.intend(run_id="by hand", dataset="people", verb="run", actor="tester")
        store.close(intent, "done")
