"""An approval is a signed row in the audit store: what counts as one, and everything that does not."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from anon_airflow import steps
from anon_airflow.approval.decision import Decision, Outcome
from anon_airflow.keys.signing import SigningKey
from anon_airflow.run.context import Run
from anon_core.errors import RefusedError
from tests.anon_airflow.approval.approvals import (  # noqa: F401 (fixtures)
    answer,
    asked_run,
    gated_run,
    newest_question,
    not_published,
    refused,
    waiting_run,
)
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import csv_text, files_below, people, source_of, staged_files, versions_of


def forge(run: Run, key: SigningKey | None = None, **changes) -> None:
    """Put a decision on record as somebody would who can write the database but not sign."""
    question = newest_question(run)
    values = {
        "dataset": run.dataset,
        "run_id": run.run_id,
        "receipt": question["details"]["receipt"],
        "question": question["id"],
        "decision": "approved",
        "person": "anna",
        "user_id": "anna",
        "reason": "",
    }
    signed = Decision.sign(key or run.signing_key(), **values)
    with run.audit() as audit:
        audit.append("approvals", **dataclasses.replace(signed, **changes).row())


def test_what_is_approved_is_published_and_the_approval_is_on_record(asked):
    assert answer(asked) == {"decision": "approved", "receipt": rows(asked)["receipts"][-1]["digest"]}
    assert take(asked, "publish")["status"] == "published"
    ended = take(asked, "record")
    (decided,) = json.loads(Path(ended["report"]).read_bytes())["approvals"]
    assert (decided["person"], decided["decision"]) == ("anna", "approved")
    assert decided["receipt"] == rows(asked)["receipts"][-1]["digest"]
    assert decided["at"] == rows(asked)["approvals"][0]["at"]
    with asked.audit() as audit:
        assert audit.verify().ok
        assert audit.open_intents() == []


def test_the_public_report_says_that_a_person_approved_and_names_nobody(asked):
    answer(asked, person="annabella")
    take(asked, "publish", "record")
    portal = asked.publication.root / "portal"
    assert json.loads((portal / "people/latest/report.json").read_bytes())["approved"] is True
    assert "A person has approved the publication" in (portal / "people/index.html").read_text()
    assert all(b"annabella" not in path.read_bytes() for path in files_below(portal))


def test_without_an_approval_nothing_is_published(run):
    assert "marking it successful signs nothing" in not_published(run)


def test_a_question_that_nobody_answered_publishes_nothing(asked):
    assert "it is not approved" in not_published(asked)


def test_a_rejection_is_on_record_and_publishes_nothing(asked):
    assert refused(answer, asked, Outcome.REJECTED) == "anna rejected it"
    assert [row["decision"] for row in rows(asked)["approvals"]] == ["rejected"]
    assert rows(asked)["outcomes"][-1]["status"] == "refused"
    assert "anna has rejected it" in not_published(asked)


def test_no_answer_in_time_is_on_record_as_nobodys_and_publishes_nothing(asked):
    assert refused(answer, asked, Outcome.TIMED_OUT, "nobody") == "the question was not answered in time"
    assert [(row["decision"], row["person"]) for row in rows(asked)["approvals"]] == [("timed out", "nobody")]
    assert "the question was not answered in time" in not_published(asked)


def test_a_question_is_answered_once(asked):
    refused(answer, asked, Outcome.REJECTED)
    assert "no question is open" in refused(answer, asked)
    assert [row["decision"] for row in rows(asked)["approvals"]] == ["rejected"]


def test_after_a_rejection_it_can_be_asked_again(asked):
    refused(answer, asked, Outcome.REJECTED)
    steps.ask(asked)
    answer(asked, person="bea")
    assert take(asked, "publish")["status"] == "published"


def test_asked_again_the_earlier_approval_no_longer_counts(asked):
    answer(asked)
    steps.ask(asked)
    assert "approval was requested again since" in not_published(asked)


def test_asking_twice_leaves_one_question_open(asked):
    steps.ask(asked)
    with asked.audit() as audit:
        assert [intent.verb for intent in audit.open_intents()] == ["run", "approve"]


def test_without_a_receipt_nobody_is_asked(tmp_path):
    run = waiting_run(tmp_path)
    other = run_of(run.publication.file, tmp_path / "home", "manual__2")
    take(other, "stage")
    assert "its gate has not passed" in refused(steps.ask, other, by="receipt")
    assert [intent["verb"] for intent in rows(other)["intents"]] == ["run", "stage"]


def test_nobody_is_asked_about_files_that_are_gone(run):
    from anon_airflow.run.home import wipe

    wipe(run.gated)
    assert "are gone" in refused(steps.ask, run, by="receipt")


def test_nobody_is_asked_by_another_publication_file_than_the_gate_measured(run):
    spec = run.publication.file
    spec.write_text(spec.read_text().replace("k: 5", "k: 6"))
    changed = run_of(spec, run.home.root)
    assert "another publication file" in refused(steps.ask, changed, by="receipt")


def test_a_run_begun_again_needs_a_new_approval_even_for_the_same_bytes(asked):
    answer(asked)
    take(asked, *UNTIL_GATE)
    assert "the approval is for another receipt" in not_published(asked)
    steps.ask(asked)
    answer(asked)
    assert take(asked, "publish")["status"] == "published"


def test_a_run_begun_again_with_other_rows_needs_a_new_approval(asked):
    answer(asked)
    source_of(asked.publication.file).write_text(csv_text(people(seed=2)))
    take(asked, *UNTIL_GATE)
    assert "for another receipt" in not_published(asked)


def test_a_gate_that_ran_again_while_somebody_was_thinking_makes_the_answer_void(asked):
    receipt = newest_question(asked)["details"]["receipt"]
    with asked.audit() as audit:
        again = rows(asked)["receipts"][-1]
        audit.append("receipts", **{name: again[name] for name in ("run_id", "dataset", "digest", "body")})
    assert "signed the same receipt again" in refused(answer, asked)
    assert rows(asked)["approvals"][-1]["decision"] == "refused"
    assert rows(asked)["approvals"][-1]["receipt_digest"] == receipt
    assert "signed the same receipt again" in not_published(asked)


@pytest.mark.parametrize("shown", ["", "0" * 64, "short"])
def test_an_answer_to_another_question_than_was_asked_is_refused(asked, shown):
    assert "Airflow keeps showing" in refused(lambda: answer(asked, receipt=shown))
    assert rows(asked)["approvals"][-1]["decision"] == "refused"
    assert "was refused" in not_published(asked)


def test_the_beginning_of_a_receipt_names_it(asked):
    answer(asked, receipt=" " + newest_question(asked)["details"]["receipt"][:12].upper() + "\n")
    assert take(asked, "publish")["status"] == "published"


def test_whoever_is_not_among_the_users_cannot_approve_and_is_told_who_may(tmp_path):
    run = waiting_run(tmp_path, users=["bea", "carla"])
    assert steps.ask(run).users == ("bea", "carla")
    assert "anna may not approve it: `approval.users` names bea, carla" in refused(answer, run)
    assert "was refused: anna may not approve it" in not_published(run)
    steps.ask(run)
    answer(run, person="bea")
    assert take(run, "publish")["status"] == "published"


def test_a_user_is_known_by_the_id_whatever_the_name(tmp_path):
    run = waiting_run(tmp_path, users=["17"])
    steps.ask(run)
    answer(run, person="bea", user_id="17")
    assert take(run, "publish")["status"] == "published"


def test_the_name_of_somebody_who_may_approve_is_worth_nothing(tmp_path):
    """Names to show are whatever people, or a directory, make of them."""
    run = waiting_run(tmp_path, users=["bea"])
    steps.ask(run)
    assert "bea (id mallory) may not approve it" in refused(lambda: answer(run, person="bea", user_id="mallory"))
    assert "was refused: bea (id mallory)" in not_published(run)


def test_an_answer_without_a_person_is_refused(asked):
    assert "does not report who answered" in refused(lambda: answer(asked, person="nobody", user_id=""))
    assert "does not report who answered" in not_published(asked)


def test_publish_asks_the_users_again_whatever_was_signed(tmp_path):
    run = waiting_run(tmp_path, users=["bea"])
    steps.ask(run)
    forge(run)  # Signed by the right key, as by a worker whose file named somebody else.
    assert "anna may not approve it" in not_published(run)


@pytest.mark.parametrize(
    "changes", [{"mac": "0" * 64}, {"mac": ""}, {"person": "bea"}, {"user_id": "bea"}, {"reason": "because"}]
)
def test_an_approval_that_was_changed_or_never_signed_counts_for_nothing(asked, changes):
    forge(asked, **changes)
    assert "signature is wrong" in not_published(asked)


def test_an_approval_by_another_key_counts_for_nothing(asked):
    other = SigningKey.of(b"another key that is long enough to sign")
    forge(asked, other)
    assert f"signed with key {other.key_id}" in not_published(asked)
    forge(asked, other, key_id=asked.signing_key().key_id)
    assert "signature is wrong" in not_published(asked)


@pytest.mark.parametrize("answered_before", [True, False])
def test_after_a_change_of_keys_one_thing_is_advised(run, tmp_path, monkeypatch, answered_before):
    """The receipt is of the retired key, so asking again would not help: it has to be staged again."""
    retired = tmp_path / "retired.keys"
    retired.touch(mode=0o600)
    retired.write_text((run.home.root / "signing.key").read_text())
    steps.ask(run)
    if answered_before:
        answer(run)
    monkeypatch.setenv("ANON_SIGNING_KEY", "a new key, as long as keys have to be")
    monkeypatch.setenv("ANON_RETIRED_KEYS_FILE", str(retired))
    if not answered_before:
        assert "which is retired" in refused(answer, run)
    why = not_published(run)
    assert "which is retired" in why
    assert "clear the run from `stage`" in why
    assert "`approve`" not in why


def test_the_signature_of_something_else_is_no_approval(asked):
    key = asked.signing_key()
    forge(asked, mac=key.sign("receipt", b"anything"))
    assert "signature is wrong" in not_published(asked)


@pytest.mark.parametrize("changes", [{"run_id": "manual__2"}, {"dataset": "others"}, {"receipt": "0" * 64}])
def test_an_approval_of_something_else_counts_for_nothing_here(tmp_path, changes):
    """Signed as it is: an approval that was given elsewhere, copied into this run."""
    run = waiting_run(tmp_path)
    steps.ask(run)
    question = newest_question(run)
    values = {"dataset": run.dataset, "run_id": run.run_id, "receipt": question["details"]["receipt"]}
    signed = Decision.sign(
        run.signing_key(),
        **{**values, **changes},
        question=question["id"],
        decision="approved",
        person="anna",
        user_id="anna",
        reason="",
    )
    with run.audit() as audit:
        copied = {"run_id": run.run_id, "dataset": run.dataset}
        audit.append("approvals", **{**signed.row(), **copied})
    assert "for another receipt" in (why := not_published(run)) or "signature is wrong" in why


def test_while_somebody_thinks_only_files_that_passed_are_there(asked):
    assert staged_files(asked.home.root) == []
    names = {path.name for path in files_below(asked.gated)}
    assert {"people.csv", "people.parquet", "report.json"} <= names
    source = {row[0] for row in people()}
    assert not any(name in path.read_text(errors="replace") for path in files_below(asked.gated) for name in source)


def test_a_file_that_asks_for_no_approval_needs_none(tmp_path):
    from tests.faults.publications import write_publication

    run = run_of(write_publication(tmp_path), tmp_path / "home")
    take(run, *UNTIL_GATE)
    assert take(run, "publish")["status"] == "published"
    report = json.loads(Path(take(run, "record")["report"]).read_bytes())
    assert (report["approval_required"], report["approvals"]) == (False, [])


def test_taking_the_approval_out_of_the_file_after_the_gate_publishes_nothing(asked):
    spec = asked.publication.file
    spec.write_text(spec.read_text().replace("required: true", "required: false"))
    with pytest.raises(RefusedError, match="another publication file"):
        steps.publish(run_of(spec, asked.home.root))
    assert versions_of(spec) == []
