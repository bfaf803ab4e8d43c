"""The decision of a person about one receipt, signed, and the checks whether an approval counts. No clock is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from anon_airflow.approval.four_eyes import FourEyes
from anon_airflow.audit import AuditStore, History
from anon_airflow.gate.receipt import Receipt
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey, canonical_json
from anon_core.errors import InvalidInputError
from anon_core.spec import Approval

VERB = "approve"
"""The verb of the intent for the question; it is open until the question is answered."""

NOBODY = "nobody"


class Outcome(StrEnum):
    """How a question ended; only APPROVED allows a release."""

    APPROVED = "approved"
    REJECTED = "rejected"
    REFUSED = "refused"
    TIMED_OUT = "timed out"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    One decision as it is signed and stored.

    ``question`` is the place of the answered question in the audit chain: an answer counts for that question only.
    ``person`` is the name to show, ``user_id`` the person's id in Airflow's auth manager.
    """

    dataset: str
    run_id: str
    receipt: str
    question: int
    decision: str
    person: str
    user_id: str
    reason: str
    key_id: str
    mac: str = ""

    @property
    def signed(self) -> bytes:
        """The bytes that are signed: everything but the signature itself."""
        values = {name: getattr(self, name) for name in Decision.__slots__ if name != "mac"}
        return canonical_json({**values, "decision": str(self.decision)}).encode()

    @classmethod
    def sign(cls, key: SigningKey, **values: Any) -> Decision:
        """Sign a decision with this worker's key."""
        unsigned = cls(**values, key_id=key.key_id)
        return cls(**values, key_id=key.key_id, mac=key.sign("approval", unsigned.signed))

    def row(self) -> dict[str, Any]:
        """Return the decision as a row of the audit store's table of approvals."""
        return {
            "run_id": self.run_id,
            "dataset": self.dataset,
            "receipt_digest": self.receipt,
            "person": self.person,
            "decision": str(self.decision),
            "mac": self.mac,
            "details": {name: getattr(self, name) for name in _DETAILS},
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Decision:
        """Read a row; :func:`problems` checks its signature."""
        details = row["details"] if isinstance(row["details"], dict) else {}
        question = details.get("question")
        return cls(
            dataset=row["dataset"],
            run_id=row["run_id"],
            receipt=row["receipt_digest"],
            person=row["person"],
            decision=row["decision"],
            mac=row["mac"],
            question=question if isinstance(question, int) else -1,
            **{name: str(details.get(name, "")) for name in _DETAILS if name != "question"},
        )


_DETAILS = ("question", "user_id", "reason", "key_id")


def question_of(history: History) -> Mapping[str, Any] | None:
    """Return the newest question of a run: an intent, with its details."""
    return next((intent for intent in reversed(history.rows["intents"]) if intent["verb"] == VERB), None)


def problems(
    history: History, key: SigningKey | KeyRing, *, dataset: str, run_id: str, rules: Approval, eyes: FourEyes | None
) -> list[str]:
    """
    List every reason why the approval of a run is missing or does not count; an empty list means the run is approved.

    The newest decision counts, and only for the newest question about the newest receipt. The order is that of the
    audit chain, so clocks do not matter. Airflow's task states do not count at all. If the key of the receipt or of the
    approval does not count, that is the only reason returned: both have to be made again anyway.
    """
    ring, receipt, approvals = KeyRing.of(key), history.receipt, history.rows["approvals"]
    if receipt is None:
        return ["the run has no receipt: there is nothing to approve"]
    if distrust := ring.distrust(Receipt.from_json(receipt.body).key_id):
        return [f"the receipt {distrust}"]
    if not approvals:
        return [
            "it is not approved: a person has to answer the task `approve` in Airflow, and marking it successful signs "
            "nothing; clear the run from `approve`"
        ]
    newest = Decision.of_row(approvals[-1])
    if found := _signature_problems(newest, ring):
        return found
    if (newest.dataset, newest.run_id) != (dataset, run_id):
        found.append(f"the approval is for {newest.dataset}, run {newest.run_id}")
    question = question_of(history)
    if newest.receipt != receipt.digest:
        found.append(
            f"the approval is for another receipt, {newest.receipt[:12]}: the gate has signed {receipt.digest[:12]} "
            "since; clear the run from `approve`"
        )
    elif min(approvals[-1]["id"], newest.question) < receipt.place:
        found.append(
            "the run was staged again after it was approved, and the gate has signed the same receipt again: clear the "
            "run from `approve`"
        )
    elif question is None or question["id"] != newest.question:
        found.append("approval was requested again since, and that question is not answered yet; answer it in Airflow")
    found += _decision_problems(newest, history)
    if newest.decision == Outcome.APPROVED:
        found += objections(newest.person, newest.user_id, rules, eyes)
    return found


def _signature_problems(newest: Decision, ring: KeyRing) -> list[str]:
    if distrust := ring.distrust(newest.key_id or "unknown"):
        return [f"the approval {distrust}"]
    if not ring.current.verify("approval", newest.signed, newest.mac):
        return ["the approval's signature is wrong: the approval was changed after it was signed, or never signed"]
    return []


def _decision_problems(newest: Decision, history: History) -> list[str]:
    """Return the decision, if it is not an approval. A revocation counts even if an approval is written after it."""
    again = "; clear the run from `approve` to ask again"
    same = [one for one in map(Decision.of_row, history.rows["approvals"]) if one.question == newest.question]
    revoked = next((one for one in same if one.decision == Outcome.REVOKED), None)
    if revoked is not None:
        return [f"the approval was revoked by {revoked.person}{again}"]
    against = next((one for one in same if one.decision != Outcome.APPROVED), None)
    if against is None:
        return []
    said: dict[str, str] = {
        Outcome.REJECTED: f"{against.person} has rejected it",
        Outcome.TIMED_OUT: "the question was not answered in time",
        Outcome.REFUSED: f"the answer of {against.person} was refused: {against.reason}",
    }
    return [said.get(against.decision, "the decision on record is not one that anonflow knows") + again]


def objections(person: str, user_id: str, rules: Approval, eyes: FourEyes | None) -> list[str]:
    """
    Return why this person may not approve; empty if the person may.

    Only the id is compared with ``approval.users``: users or a directory can change the name to show.
    """
    if not user_id or person == NOBODY:
        return ["Airflow does not report who answered"]
    found = []
    if rules.users and user_id not in rules.users:
        who = person if person == user_id else f"{person} (id {user_id})"
        found.append(f"{who} may not approve it: `approval.users` names {', '.join(rules.users)}")
    if eyes is not None:
        found += eyes.problems
        found += [f"{person} {what}: four_eyes requires another person" for what in eyes.objections([person, user_id])]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """A revocation as it is on record; ``warning`` says why it may be too late, None if it is not."""

    decision: Decision
    warning: str | None


def revoke(store: AuditStore, key: SigningKey, run_id: str, dataset: str, *, person: str, reason: str) -> Revocation:
    """
    Sign that the approval of a run no longer counts; approval can be requested again.

    `publish` puts its intent on record before it looks for a revocation; `revoke` looks for that intent after the
    revocation is on record. So one of the two always sees the other. The revocation goes on record even while `publish`
    is at work: if that attempt is killed, its next try finds the revocation and refuses.

    :raises InvalidInputError: there is no approval to revoke, or the release is published already.
    :raises RefusedError: the audit chain is broken since the run began.
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
        decision=Outcome.REVOKED.value,
        person=person,
        user_id=person,
        reason=reason,
    )
    place = store.append("approvals", **decision.row())
    return Revocation(decision=decision, warning=_late(store.history(run_id, dataset), place))


def _approval(history: History, run_id: str) -> Decision:
    """Return the approval that counts now."""
    approvals = history.rows["approvals"]
    newest = Decision.of_row(approvals[-1]) if approvals else None
    question, receipt = question_of(history), history.receipt
    if newest is None or newest.decision != Outcome.APPROVED:
        what = f"the newest decision is: {newest.decision}" if newest else "it is not decided yet; reject it in Airflow"
        raise InvalidInputError(f"run {run_id} has no approval to revoke: {what}")
    if receipt is None or receipt.digest != newest.receipt or question is None or question["id"] != newest.question:
        raise InvalidInputError(
            f"run {run_id} has no approval to revoke: the run began again, or approval was requested again, since; "
            "reject it in Airflow"
        )
    return newest


def _published(history: History) -> str | None:
    """Return the version that the last attempt of the run has published, if it has."""
    done = history.attempt["publications"]
    return str(done[-1]["version"]) if done else None


def _late(history: History, place: int) -> str | None:
    """Return why a revocation at this place in the chain may be too late; None if it is not."""
    if version := _published(history):
        late = f"the release was published in the meantime, as version {version}"
        return f"the revocation is on record, but too late: {late}: use `anon withdraw`"
    rows = history.attempt
    harmless = {row["intent_id"] for row in rows["outcomes"] if row["status"] == "refused"}
    begun = {row["id"] for row in rows["intents"] if row["verb"] == "publish" and row["id"] < place}
    if begun <= harmless:
        return None
    return (
        "the revocation is on record, but perhaps too late: an attempt to publish began before it and was killed, has "
        f"failed or still runs; its next try refuses. If it published, `anon audit show {history.run_id}` lists the "
        "publication; check the portal too, and if the release is there, use `anon withdraw`"
    )
