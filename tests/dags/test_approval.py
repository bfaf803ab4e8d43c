"""A person approves, rejects, is not allowed to or does not come: through a real Airflow, with real users."""

from __future__ import annotations

import json

import pytest

from tests.dags.airflow_server import RefusedByAirflowError
from tests.dags.asked import Asked, triggered
from tests.dags.conftest import APPROVAL, CANARIES, people_wrote
from tests.faults.publications import csv_text, files_below, people
from tests.faults.search import found_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def asked(airflow) -> dict[str, Asked]:
    """Trigger every publication that asks for approval, as admin, and wait until all of them ask."""
    found = triggered(airflow, APPROVAL)
    for one in found.values():
        if one.dataset != "asked-in-vain":
            one.until_waiting()
    return found


def test_while_it_waits_it_is_listed_and_no_original_is_there(asked):
    run = asked["asked-approved"]
    listed = {one["dataset"]: one for one in run.anon("audit", "pending")["pending"]}
    assert listed[run.dataset]["users"] == ["olga", "uwe"]
    assert listed[run.dataset]["receipt"] == run.rows()["receipts"][-1]["digest"]
    assert run.anon("audit", "pending", "--dataset", run.dataset)["pending"] == [listed[run.dataset]]
    assert [path for path in files_below(run.airflow.anon_home / "staging") if run.dataset in str(path)] == []
    gated = {path.name for path in files_below(run.airflow.anon_home / "gated" / run.dataset)}
    assert {f"{run.dataset}.csv", f"{run.dataset}.parquet", "report.json"} <= gated


def test_the_question_is_shown_with_what_is_needed_to_decide(asked):
    shown = asked["asked-approved"].shown()
    assert "The register of asked-approved" in shown["subject"]
    receipt = asked["asked-approved"].rows()["receipts"][-1]["digest"]
    assert receipt in shown["body"]
    assert shown["params"]["receipt"]["value"] == receipt
    assert "| k, rows in the smallest class | 5 |" in shown["body"]
    assert [user["id"] for user in shown["assigned_users"]] == ["olga", "uwe"]


def test_what_a_user_approves_is_published_and_others_cannot_approve(asked):
    run = asked["asked-approved"]
    for user in ("admin", "vic"):
        with pytest.raises(RefusedByAirflowError, match="403"):
            run.answer("Approve", user)
    run.answer("Approve", "olga")
    assert run.end() == "success"
    assert set(run.states().values()) == {"success"}
    assert run.decisions() == [("approved", "olga")]
    assert [row["status"] for row in run.rows()["publications"]] == ["published"]
    report = json.loads((run.airflow.include / "portal" / run.dataset / "latest/report.json").read_bytes())
    assert report["approved"] is True
    shown = run.anon("audit", "show", run.dataset)
    assert [one["person"] for one in shown["report"]["approvals"]] == ["olga"]
    assert not any(one["dataset"] == run.dataset for one in run.anon("audit", "pending")["pending"])


def test_what_a_user_rejects_is_not_published_and_not_asked_again(asked):
    run = asked["asked-rejected"]
    run.answer("Reject", "olga")
    run.assert_not_published("olga rejected it")
    assert run.decisions() == [("rejected", "olga")]
    assert run.states()["approve"] == "failed"
    assert len([row for row in run.rows()["intents"] if row["verb"] == "approve"]) == 1


def test_a_task_that_is_marked_successful_approves_nothing(asked):
    run = asked["asked-marked"]
    run.mark("approve", "success")
    run.assert_not_published("marking it successful signs nothing")
    assert run.states()["approve"] == "success"
    assert run.states()["publish"] == "failed"
    assert run.decisions() == []


def test_with_four_eyes_whoever_triggered_it_cannot_approve_and_somebody_else_can(asked):
    run = asked["asked-four-eyes"]
    run.answer("Approve", "admin")
    run.assert_not_published("admin triggered this run")
    assert run.decisions() == [("refused", "admin")]
    run.clear("approve")
    run.until_waiting()
    run.answer("Approve", "olga")
    assert run.end() == "success"
    assert run.decisions() == [("refused", "admin"), ("approved", "olga")]


def test_what_nobody_answers_in_time_is_not_published(asked):
    run = asked["asked-in-vain"]
    run.assert_not_published("the question was not answered in time")
    assert run.decisions() == [("timed out", "nobody")]


def test_an_approval_that_was_revoked_or_is_for_an_earlier_receipt_publishes_nothing(asked):
    run = asked["asked-again"]
    (gated,) = (run.airflow.anon_home / "gated" / run.dataset).rglob("*.csv")
    kept = gated.read_bytes()
    gated.write_bytes(kept + b"x\n")  # So that `publish` fails, and there is time to revoke.
    run.answer("Approve", "olga")
    assert run.end() == "failed"
    assert run.decisions() == [("approved", "olga")]
    assert run.rows()["refusals"][-1]["by"] == "receipt", "an approval does not excuse other bytes"
    gated.write_bytes(kept)
    revoked = run.anon("approval", "revoke", run.run_id, "--dataset", run.dataset, "--reason", "wrong period")
    assert revoked["decision"] == "revoked"
    run.clear("publish")
    run.assert_not_published("the approval was revoked")

    (run.airflow.include / f"samples/{run.dataset}.csv").write_text(csv_text(people(seed=2)))
    run.clear("stage")
    run.until_waiting()
    first, second = (row["digest"] for row in run.rows()["receipts"])
    assert first != second
    run.mark("approve", "success")
    run.assert_not_published(f"for another receipt, {first[:12]}")

    run.clear("approve")
    run.until_waiting()
    assert run.shown()["params"]["receipt"]["value"] == first, "Airflow shows the first question; this guards that"
    run.answer("Approve", "olga")
    run.assert_not_published(f"the answer is about receipt {first[:12]}, the question is about {second[:12]}")

    run.clear("approve")
    run.until_waiting()
    run.answer(
        "Approve", "olga", receipt=run.anon("audit", "pending", "--dataset", run.dataset)["pending"][0]["receipt"]
    )
    assert run.end() == "success"
    assert [decision for decision, _ in run.decisions()] == ["approved", "revoked", "refused", "approved"]


def test_no_canary_is_in_anything_that_waiting_left(asked):
    folder = next(iter(asked.values())).airflow.home.parent
    assert found_in(folder, list(CANARIES), but=people_wrote(folder)) == []
