"""An approval can be revoked until it is used: before, while and after a publication is tried."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from anon_airflow import steps
from anon_airflow.approval.decision import Outcome, revoke
from anon_airflow.run.context import Run
from anon_core.errors import InvalidInputError
from tests.anon_airflow.approval.approvals import answer, asked_run, gated_run, not_published, refused  # noqa: F401 (fixtures)
from tests.anon_airflow.run.step_runs import rows, take


def test_an_approval_copied_after_a_rejection_does_not_revive_it(asked):
    answer(asked)
    kept = rows(asked)["approvals"][-1]
    with asked.audit() as audit:
        revoke(audit, asked.signing_key(), asked.run_id, asked.dataset, person="eva", reason="wrong period")
        columns = ("run_id", "dataset", "receipt_digest", "person", "decision", "mac", "details")
        audit.append("approvals", **{name: kept[name] for name in columns})
    assert "revoked by eva" in not_published(asked)


def test_a_revoked_approval_publishes_nothing_until_somebody_approves_again(asked):
    answer(asked)
    with asked.audit() as audit:
        taken = revoke(audit, asked.signing_key(), asked.run_id, asked.dataset, person="eva", reason="wrong period")
    assert (taken.decision.reason, taken.warning) == ("wrong period", None)
    assert "revoked by eva" in not_published(asked)
    steps.ask(asked)
    answer(asked, person="bea")
    assert take(asked, "publish")["status"] == "published"


def test_what_was_never_approved_or_is_published_cannot_be_revoked(asked):
    def revoked() -> None:
        with asked.audit() as audit:
            revoke(audit, asked.signing_key(), asked.run_id, asked.dataset, person="eva", reason="x")

    with pytest.raises(InvalidInputError, match="it is not decided yet"):
        revoked()
    answer(asked)
    take(asked, "publish")
    with pytest.raises(InvalidInputError, match="published already, as version"):
        revoked()
    assert [row["decision"] for row in rows(asked)["approvals"]] == ["approved"]


def test_a_revocation_while_it_is_being_sent_is_seen_by_one_side_or_the_other(asked, monkeypatch):
    """Revoked when `publish` has looked already but nothing is sent: it looks again."""
    from anon_airflow.gate import measurement

    answer(asked)
    measure = measurement.measure

    def meanwhile(*args, **kwargs):
        with asked.audit() as audit:
            revoke(audit, asked.signing_key(), asked.run_id, asked.dataset, person="eva", reason="x")
        return measure(*args, **kwargs)

    monkeypatch.setattr(measurement, "measure", meanwhile)
    assert "revoked by eva" in not_published(asked)
    with asked.audit() as audit:
        assert [intent.verb for intent in audit.open_intents()] == ["run"]


def revoked_late(run: Run) -> str | None:
    with run.audit() as audit:
        return revoke(audit, run.signing_key(), run.run_id, run.dataset, person="eva", reason="x").warning


def killed(run: Run) -> None:
    """Die when everything is on record and the portal is about to be touched."""
    from anon_airflow.portals.folder.portal import FolderPortal

    FolderPortal.publish = lambda *_: os._exit(9)  # type: ignore[method-assign,assignment]
    steps.publish(run)


def test_a_revocation_while_a_killed_publication_waits_for_its_next_try_is_on_record_and_stops_it(asked):
    answer(asked)
    process = multiprocessing.get_context("fork").Process(target=killed, args=(asked,))
    process.start()
    process.join(120)
    assert process.exitcode == 9
    assert "perhaps too late" in (revoked_late(asked) or "")
    assert [row["decision"] for row in rows(asked)["approvals"]] == ["approved", "revoked"]
    assert "revoked by eva" in not_published(asked)


def test_a_publication_that_failed_is_closed_and_can_be_revoked_before_its_next_try(asked, monkeypatch):
    from anon_airflow.portals.folder.portal import FolderPortal
    from anon_core.errors import StorageError

    def full(*_):
        raise StorageError("portal", "publishing", "no space left")

    answer(asked)
    with monkeypatch.context() as patched:
        patched.setattr(FolderPortal, "publish", full)
        with pytest.raises(StorageError):
            steps.publish(asked)
    assert [(row["status"], row["details"]) for row in rows(asked)["outcomes"]][-1] == (
        "failed",
        {"outcome": "stopped at the portal"},
    )
    assert "perhaps too late" in (revoked_late(asked) or ""), "the portal may fail after it has shown it"
    assert "revoked by eva" in not_published(asked)


def test_a_revocation_that_a_publication_overtakes_is_on_record_and_says_so(asked, monkeypatch):
    """Sent in the moment between the look at the record and the revocation."""
    from anon_airflow.audit import AuditStore

    answer(asked)
    append = AuditStore.append

    def meanwhile(store, table, **values):
        if values.get("decision") == "revoked":
            monkeypatch.setattr(AuditStore, "append", append)
            steps.publish(asked)
        return append(store, table, **values)

    monkeypatch.setattr(AuditStore, "append", meanwhile)
    assert "published in the meantime, as version" in (revoked_late(asked) or "")
    assert rows(asked)["approvals"][-1]["decision"] == "revoked"


def test_clocks_do_not_matter(asked, monkeypatch):
    """The newest is told by its place in the chain: a rejection from a host whose clock is behind counts."""
    from datetime import UTC, datetime

    from anon_airflow.audit import AuditStore

    refused(answer, asked, Outcome.REJECTED)
    steps.ask(asked)
    answer(asked)
    opened = AuditStore.open
    monkeypatch.setattr(AuditStore, "open", lambda *args: opened(*args, clock=lambda: datetime(2001, 1, 1, tzinfo=UTC)))
    with asked.audit() as audit:
        revoke(audit, asked.signing_key(), asked.run_id, asked.dataset, person="eva", reason="x")
    assert rows(asked)["approvals"][-1]["at"] < rows(asked)["approvals"][0]["at"]
    assert "revoked by eva" in not_published(asked)
