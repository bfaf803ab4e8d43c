"""Taking an approval back, before what it lets out is published."""

from __future__ import annotations

from dataclasses import dataclass

from anon_airflow.approval import Decision, Outcome, question_of
from anon_airflow.audit import AuditStore, History
from anon_airflow.signing import SigningKey
from anon_core.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """A withdrawal as it is on record; ``warning`` says why it may be too late, None where it is not."""

    decision: Decision
    warning: str | None


def withdraw(store: AuditStore, key: SigningKey, run_id: str, dataset: str, *, person: str, reason: str) -> Withdrawal:
    """
    Sign that the approval of a run no longer holds; it can be asked for again.

    `publish` puts its intent on record before it looks for a withdrawal, and this looks for that intent after the
    withdrawal is on record: one of the two always sees the other. An attempt that was killed and is tried again sees
    the withdrawal and refuses, so it is put on record whatever is under way.

    :raises InvalidInputError: there is no approval to withdraw, or what it let out is published.
    :raises RefusedError: the audit chain does not hold since the run began.
    """
    history = store.history(run_id, dataset)
    if version := _published(history):
        raise InvalidInputError(
            f"too late: it is published already, as version {version}; to take it off the portal, use `anon withdraw`"
        )
    approval = _approval(history, run_id)
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
    return Withdrawal(decision=decision, warning=_late(store.history(run_id, dataset), place))


def _approval(history: History, run_id: str) -> Decision:
    """Return the approval that counts now."""
    approvals = history.rows["approvals"]
    newest = Decision.of_row(approvals[-1]) if approvals else None
    question, receipt = question_of(history), history.receipt
    if newest is None or newest.decision != Outcome.APPROVED:
        what = f"the newest decision is: {newest.decision}" if newest else "nobody has decided; reject it in Airflow"
        raise InvalidInputError(f"run {run_id} has no approval to withdraw: {what}")
    if receipt is None or receipt.digest != newest.receipt or question is None or question["id"] != newest.question:
        raise InvalidInputError(
            f"run {run_id} has no approval to withdraw: it was begun or asked again since; reject it in Airflow"
        )
    return newest


def _published(history: History) -> str | None:
    """Return the version that the last attempt of the run has published, if it has."""
    done = history.attempt["publications"]
    return str(done[-1]["version"]) if done else None


def _late(history: History, place: int) -> str | None:
    """Say why a withdrawal at this place in the chain may come too late; None if it does not."""
    if version := _published(history):
        return f"it is on record, but too late: it was published meanwhile, as version {version}: use `anon withdraw`"
    rows = history.attempt
    harmless = {row["intent_id"] for row in rows["outcomes"] if row["status"] == "refused"}
    begun = {row["id"] for row in rows["intents"] if row["verb"] == "publish" and row["id"] < place}
    if begun <= harmless:
        return None
    return (
        "it is on record, but perhaps too late: an attempt to publish began before it and was killed, has failed or "
        f"goes on; its next try refuses. `anon audit show {history.run_id}` lists a publication if it came through; "
        "look at the portal too, and if it is there, use `anon withdraw`"
    )
