"""The approval: a person's signed word that what one receipt covers may be published. It knows no clock."""

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
"""The intent that stands for the question: open while nobody has answered."""

NOBODY = "nobody"


class Outcome(StrEnum):
    """What became of a question; only one of these lets a release out."""

    APPROVED = "approved"
    REJECTED = "rejected"
    REFUSED = "refused"
    TIMED_OUT = "timed out"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    One decision as it is signed and stored.

    ``question`` is the place in the audit chain of the question that was answered: an answer counts for that question
    only. ``person`` is the name to show, ``user_id`` what Airflow's auth manager knows the person by.
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
        """The bytes that the signature stands under: everything but the signature itself."""
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
        """Read a row; whether it is signed is not asked here but in :func:`problems`."""
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
    List every reason why a run may not be published for want of an approval; an empty list means it may.

    The newest decision counts, and only for the newest question about the newest receipt. What is newer is told by
    places in the audit chain, so no clock matters. Airflow's task states are not asked at all. Where the receipt or the
    approval is signed by a key that does not count, nothing else is said: whatever it was, it has to be done again.
    """
    ring, receipt, approvals = KeyRing.of(key), history.receipt, history.rows["approvals"]
    if receipt is None:
        return ["the run has no receipt: there was nothing to approve"]
    if distrust := ring.distrust(Receipt.from_json(receipt.body).key_id):
        return [f"the receipt {distrust}"]
    if not approvals:
        return [
            "nobody has approved it: the task `approve` has to be answered in Airflow, and marking it successful signs "
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
            "the run was staged again since it was approved, and the gate has signed the same receipt anew: clear the "
            "run from `approve`"
        )
    elif question is None or question["id"] != newest.question:
        found.append("it was asked for again since, and nobody has answered that yet; answer it in Airflow")
    found += _decision_problems(newest, history)
    if newest.decision == Outcome.APPROVED:
        found += objections(newest.person, newest.user_id, rules, eyes)
    return found


def _signature_problems(newest: Decision, ring: KeyRing) -> list[str]:
    if distrust := ring.distrust(newest.key_id or "unknown"):
        return [f"the approval {distrust}"]
    if not ring.current.verify("approval", newest.signed, newest.mac):
        return ["the approval's signature is wrong: it was changed after it was signed, or never signed"]
    return []


def _decision_problems(newest: Decision, history: History) -> list[str]:
    """Say what was decided, if that was no approval. A revocation holds even if an approval is written after it."""
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
        Outcome.TIMED_OUT: "nobody answered in time",
        Outcome.REFUSED: f"the answer of {against.person} was refused: {against.reason}",
    }
    return [said.get(against.decision, "what was decided is none of our words") + again]


def objections(person: str, user_id: str, rules: Approval, eyes: FourEyes | None) -> list[str]:
    """
    Say why this person may not approve; empty when the person may.

    Only the id is held against ``approval.users``: a name to show is whatever people, or a directory, make of it.
    """
    if not user_id or person == NOBODY:
        return ["Airflow does not tell who answered"]
    found = []
    if rules.users and user_id not in rules.users:
        who = person if person == user_id else f"{person} (id {user_id})"
        found.append(f"{who} may not approve it: `approval.users` names {', '.join(rules.users)}")
    if eyes is not None:
        found += eyes.problems
        found += [f"{person} {what}: four_eyes asks for somebody else" for what in eyes.objections([person, user_id])]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """A revocation as it is on record; ``warning`` says why it may be too late, None where it is not."""

    decision: Decision
    warning: str | None


def revoke(store: AuditStore, key: SigningKey, run_id: str, dataset: str, *, person: str, reason: str) -> Revocation:
    """
    Sign that the approval of a run no longer holds; it can be asked for again.

    `publish` puts its intent on record before it looks for a revocation, and this looks for that intent after the
    revocation is on record: one of the two always sees the other. An attempt that was killed and is tried again sees
    the revocation and refuses, so it is put on record whatever is under way.

    :raises InvalidInputError: there is no approval to revoke, or what it let out is published.
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
        what = f"the newest decision is: {newest.decision}" if newest else "nobody has decided; reject it in Airflow"
        raise InvalidInputError(f"run {run_id} has no approval to revoke: {what}")
    if receipt is None or receipt.digest != newest.receipt or question is None or question["id"] != newest.question:
        raise InvalidInputError(
            f"run {run_id} has no approval to revoke: it was begun or asked again since; reject it in Airflow"
        )
    return newest


def _published(history: History) -> str | None:
    """Return the version that the last attempt of the run has published, if it has."""
    done = history.attempt["publications"]
    return str(done[-1]["version"]) if done else None


def _late(history: History, place: int) -> str | None:
    """Say why a revocation at this place in the chain may come too late; None if it does not."""
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
