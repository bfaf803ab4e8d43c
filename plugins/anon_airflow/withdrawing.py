"""Taking an approval back, before what it lets out is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_airflow.approval import Decision, Outcome, Rows, newest_receipt, question_of
from anon_airflow.audit import AuditStore
from anon_airflow.signing import SigningKey
from anon_core.errors import InvalidInputError

__all__ = ["withdraw"]


def withdraw(store: AuditStore, key: SigningKey, run_id: str, dataset: str, *, person: str, reason: str) -> Decision:
    """
    Sign that the approval of a run no longer holds; it can be asked for again.

    `publish` puts its intent on record before it looks for a withdrawal, and this looks for that intent after the
    withdrawal is on record: one of the two always sees the other.

    :raises InvalidInputError: there is no approval to withdraw, or it is too late.
    """
    rows = store.run(run_id, dataset)
    _refuse_if_late(rows, None)
    approval = _approval(rows, run_id)
    decision = Decision.sign(
        key,
        dataset=dataset,
        run_id=run_id,
        receipt=approval.receipt,
        question=approval.question,
        decision=Outcome.WITHDRAWN.value,
        person=person,
        user_id=person,
        reason=reason,
    )
    place = store.append("approvals", **decision.row())
    _refuse_if_late(store.run(run_id, dataset), place)
    return decision


def _approval(rows: Rows, run_id: str) -> Decision:
    """Return the approval that counts now."""
    newest = Decision.of_row(rows["approvals"][-1]) if rows["approvals"] else None
    question, receipt = question_of(rows), newest_receipt(rows)
    if newest is None or newest.decision != Outcome.APPROVED:
        what = f"the newest decision is: {newest.decision}" if newest else "nobody has decided; reject it in Airflow"
        raise InvalidInputError(f"run {run_id} has no approval to withdraw: {what}")
    if receipt is None or receipt[1] != newest.receipt or question is None or question["id"] != newest.question:
        raise InvalidInputError(
            f"run {run_id} has no approval to withdraw: it was begun or asked again since; reject it in Airflow"
        )
    return newest


def _refuse_if_late(rows: Rows, place: int | None) -> None:
    """:raises InvalidInputError: the run is published, or was being published before this place in the chain."""
    begun = _newest(rows, "run")
    done = [row for row in rows["publications"] if row["id"] > begun]
    if done:
        raise InvalidInputError(
            f"too late: it is published already, as version {done[-1]['version']}; to take it off the "
            "portal, use `anon withdraw`"
        )
    ended = {row["intent_id"] for row in rows["outcomes"]}
    sending = [row for row in rows["intents"] if row["verb"] == "publish" and row["id"] not in ended]
    if any(place is None or row["id"] < place for row in sending if row["id"] > begun):
        raise InvalidInputError(
            "too late, or too early to tell: it is being published at this moment; look at `anon audit show`, and if "
            "that attempt was killed, withdraw it again once the run is closed"
        )


def _newest(rows: Rows, verb: str) -> int:
    intents: list[Mapping[str, Any]] = [row for row in rows["intents"] if row["verb"] == verb]
    return int(intents[-1]["id"]) if intents else 0
