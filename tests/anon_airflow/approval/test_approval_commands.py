"""``anon audit pending``, ``anon approval revoke``, and that ``anon run`` leaves approvals to Airflow."""

from __future__ import annotations

import getpass

import pytest

from anon_airflow import steps
from tests.anon_airflow.approval.approvals import answer, waiting_run
from tests.anon_airflow.run.step_runs import rows, take
from tests.faults.anon_process import anon
from tests.faults.publications import portal_of, write_publication


@pytest.fixture
def run(tmp_path):
    run = waiting_run(tmp_path, users=["anna", "bea"], timeout="2h")
    steps.ask(run)
    return run


def revoke(home, *words):
    return anon("approval", "revoke", *words, home=home)


def test_what_waits_is_listed_until_somebody_decides(run, home):
    (listed,) = anon("audit", "pending", "--json", home=home).json["pending"]
    assert listed["dataset"] == "people"
    assert listed["run_id"] == run.run_id
    assert listed["users"] == ["anna", "bea"]
    assert listed["seconds"] == 7200
    assert listed["receipt"] == rows(run)["receipts"][-1]["digest"]
    assert anon("audit", "pending", "--dataset", "others", "--json", home=home).json == {"pending": []}
    shown = anon("audit", "pending", home=home).out
    assert "anna, bea" in shown
    assert listed["receipt"] in shown
    answer(run)
    assert anon("audit", "pending", "--json", home=home).json == {"pending": []}


def test_a_run_that_waits_is_open_and_one_that_was_rejected_is_refused(run, home):
    from anon_airflow.approval.decision import Outcome
    from anon_core.errors import RefusedError

    assert anon("audit", "list", "--json", home=home).json["runs"][0]["verdict"] == "open"
    with pytest.raises(RefusedError):
        answer(run, Outcome.REJECTED)
    take(run, "record")
    assert anon("audit", "list", "--json", home=home).json["runs"][0]["verdict"] == "refused"
    shown = anon("audit", "show", "people", "--summary", home=home).out
    assert "approval            rejected by anna" in shown
    assert "REFUSED by the approval" in shown


def test_an_approval_is_revoked_by_whoever_is_at_work_here_and_publish_refuses(run, home):
    answer(run)
    ended = revoke(home, run.run_id, "--reason", "wrong period", "--json")
    assert ended.code == 0
    assert ended.json["decision"] == "revoked"
    assert ended.json["person"] == getpass.getuser()
    with pytest.raises(Exception, match="revoked by"):
        take(run, "publish")
    assert anon("audit", "verify", home=home).code == 0
    again = revoke(home, run.run_id, "--reason", "wrong period")
    assert again.code == 2
    assert "the newest decision is: revoked" in again.err


def test_a_revocation_that_is_perhaps_too_late_is_on_record_and_ends_with_1(run, home):
    answer(run)
    with run.audit() as audit:  # As a publication leaves it that was killed.
        audit.intend(run_id=run.run_id, dataset=run.dataset, verb="publish", actor="x")
    ended = revoke(home, run.run_id, "--reason", "wrong period")
    assert ended.code == 1
    assert "revoked by" in ended.out
    assert "perhaps too late" in ended.err and f"anon audit show {run.run_id}" in ended.err
    with pytest.raises(Exception, match="revoked by"):
        take(run, "publish")


def test_what_nobody_approved_or_is_published_cannot_be_revoked(run, home):
    early = revoke(home, run.run_id, "--reason", "x")
    assert early.code == 2
    assert "it is not decided yet" in early.err
    answer(run)
    take(run, "publish", "record")
    late = revoke(home, run.run_id, "--reason", "x")
    assert late.code == 2
    assert "published already, as version" in late.err


def test_a_revocation_needs_a_reason_and_a_run(run, home):
    assert revoke(home, run.run_id).code == 2
    assert revoke(home, run.run_id, "--reason", "  ").code == 2
    assert "no run called" in revoke(home, "manual__9", "--reason", "x").err


def test_where_two_datasets_have_a_run_of_this_name_it_must_be_said_which(run, home, tmp_path):
    other = waiting_run(tmp_path, dataset="others")
    steps.ask(other)
    answer(other)
    ended = revoke(home, run.run_id, "--reason", "x")
    assert ended.code == 2
    assert "others, people all have a run" in ended.err
    assert revoke(home, run.run_id, "--dataset", "others", "--reason", "x").code == 0


def test_anon_run_refuses_before_any_work_what_needs_an_approval(tmp_path, home):
    spec = write_publication(tmp_path, approval={"required": True})
    ended = anon("run", spec, home=home)
    assert ended.code == 2
    assert "approvals are given in Airflow" in ended.err
    assert "publish_people" in ended.err
    assert not (home / "audit.db").exists()
    assert not portal_of(spec).exists()
