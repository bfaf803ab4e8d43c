"""Notifications: which notifier is called for which event, with which facts, and what happens if it fails."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from click.testing import CliRunner

from anon_airflow.cli import anon
from anon_airflow.operators.record import RecordOperator
from anon_airflow.run.notify import Facts, late, notify, tell
from anon_core.errors import RefusedError, SpecError
from anon_core.spec import Event, Notification, load_spec
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take
from tests.faults.publications import write_publication


class Heard:
    """A notifier that keeps what it was given."""

    calls: ClassVar[list[tuple[str, dict[str, Any]]]] = []

    def __init__(self, to: str = "nobody", **_: Any) -> None:
        self.to = to

    def __call__(self, context: dict[str, Any]) -> None:
        self.calls.append((self.to, context["anonflow"]))


class Fails(Heard):
    """A notifier of which the error quotes a secret."""

    def __call__(self, context: dict[str, Any]) -> None:
        raise ConnectionError("smtp://user:QanarySecret@mail")


HERE = "tests.anon_airflow.run.test_notify"
EVERY = [event.value for event in Event]


def entry(name: str = "Heard", **more: Any) -> dict[str, Any]:
    return {"notifier": f"{HERE}.{name}", "arguments": {"to": "dpo"}, **more}


@pytest.fixture(autouse=True)
def heard(monkeypatch, tmp_path):
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    Heard.calls.clear()
    return Heard.calls


def test_without_a_choice_people_are_notified_of_what_went_wrong_and_what_waits():
    assert set(Notification(notifier="a.b").on) == {Event.REFUSED, Event.FAILED, Event.APPROVAL, Event.LATE}


def test_only_those_are_notified_who_asked_for_the_event(tmp_path, heard):
    spec = write_publication(
        tmp_path,
        airflow={"notify": [entry(on=["published"]), entry(on=["refused"], arguments={"to": "steward"})]},
    )
    tell(str(spec), {}, Event.REFUSED, reasons=["k is 1"])
    assert [to for to, _ in heard] == ["steward"]
    (_, facts) = heard[0]
    assert facts["subject"] == "The register of people: refused, nothing was published"
    assert facts["reasons"] == ["k is 1"]
    assert "- k is 1" in facts["text"]


def test_a_text_is_escaped_for_html():
    facts = Facts(event=Event.FAILED, dataset="d", title="<b>", reasons=["<script>"]).as_mapping()
    assert "<script>" not in facts["html"]
    assert "&lt;script&gt;" in facts["html"]


def test_a_notifier_that_fails_is_named_without_the_text_of_its_error_and_stops_no_other(heard):
    told = []
    both = [Notification(**entry("Fails")), Notification(**entry("Missing")), Notification(**entry())]
    notify(both, Facts(event=Event.LATE, dataset="d", title="T"), {}, told.append)
    assert len(heard) == 1
    assert len(told) == 2
    assert "Fails failed (ConnectionError)" in told[0]
    assert "Qanary" not in "".join(told)


def test_a_file_that_broke_notifies_those_whom_it_named_when_it_last_ran(tmp_path, heard):
    spec = write_publication(tmp_path, airflow={"notify": [entry()]})
    take(run_of(spec, tmp_path / "home"), "stage")
    spec.write_text("dataset: [")
    late(str(spec), {})
    assert [facts["event"] for _, facts in heard] == ["late"]


def test_a_withdrawal_notifies(tmp_path, heard):
    spec = write_publication(tmp_path, airflow={"notify": [entry(on=["withdrawn"])]})
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE, "publish", "record")
    ended = CliRunner().invoke(anon, ["withdraw", "people", "--reason", "a wrong column"], catch_exceptions=False)
    assert ended.exit_code == 0
    ((_, facts),) = heard
    assert facts["reasons"] == ["a wrong column"]
    assert facts["version"].startswith("manual.")


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ([{"notifier": "os; system"}], "airflow.notify[0].notifier"),
        ([{"notifier": "a.b", "on": ["sometimes"]}], "airflow.notify[0].on[0]"),
        ([{"notifier": "a.b", "colour": 1}], "airflow.notify[0].colour"),
    ],
)
def test_a_wrong_entry_is_a_problem_of_the_file(tmp_path, written, key):
    spec = write_publication(tmp_path)
    spec.write_text(spec.read_text() + f"airflow: {{notify: {written}}}\n".replace("'", '"'))
    with pytest.raises(SpecError) as found:
        load_spec(spec)
    assert [one.where for one in found.value.problems] == [key]


@pytest.mark.parametrize(("recode", "verdict"), [("best", "published"), ("none", "refused")])
def test_record_notifies_of_how_the_run_ended(tmp_path, heard, monkeypatch, recode, verdict):
    spec = write_publication(tmp_path, recode={"method": recode}, airflow={"notify": [entry(on=EVERY)]})
    run = run_of(spec, tmp_path / "home")
    if verdict == "published":
        take(run, *UNTIL_GATE, "publish")
    else:
        with pytest.raises(RefusedError):
            take(run, *UNTIL_GATE)
    operator = RecordOperator(task_id="record", spec=str(spec))
    monkeypatch.setattr(operator, "take", lambda step, context: step(run))
    monkeypatch.setattr(operator, "lock_file", lambda context: run.lock)
    if verdict == "published":
        operator.execute({"run_id": run.run_id})
    else:
        with pytest.raises(SystemExit, match="refused"):
            operator.execute({"run_id": run.run_id})
    ((_, facts),) = heard
    assert facts["event"] == verdict
    assert bool(facts["reasons"]) == (verdict == "refused")


def test_a_notification_never_has_the_text_of_an_error_that_is_not_ours(tmp_path, heard, monkeypatch):
    spec = write_publication(tmp_path, airflow={"notify": [entry()]})
    run = run_of(spec, tmp_path / "home")
    operator = RecordOperator(task_id="record", spec=str(spec))

    def broken(step, context):
        raise ValueError("could not convert 'QanaryTown' to float")

    monkeypatch.setattr(operator, "take", broken)
    monkeypatch.setattr(operator, "staging", lambda context: run.staging)
    with pytest.raises(ValueError, match="could not convert"):
        operator.execute({"run_id": run.run_id})
    ((_, facts),) = heard
    assert facts["reasons"] == ["ValueError"]
    assert "Qanary" not in str(facts)
