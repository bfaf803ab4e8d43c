"""The approval: a person's signed word that what one receipt covers may be published. It knows no clock."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from anon_airflow.four_eyes import FourEyes
from anon_airflow.key_ring import KeyRing
from anon_airflow.signing import SigningKey, canonical_json
from anon_core.spec import Approval

__all__ = ["NOBODY", "VERB", "Decision", "Outcome", "newest_receipt", "objections", "problems", "question_of"]

VERB = "approve"
"""The intent that stands for the question: open while nobody has answered."""

NOBODY = "nobody"

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


class Outcome(StrEnum):
    """What became of a question; only one of these lets a release out."""

    APPROVED = "approved"
    REJECTED = "rejected"
    REFUSED = "refused"
    TIMED_OUT = "timed out"
    WITHDRAWN = "withdrawn"


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


def newest_receipt(rows: Rows) -> tuple[int, str] | None:
    """Return the place in the chain of a run's newest receipt, and its digest, reckoned from what is stored."""
    if not rows["receipts"]:
        return None
    newest = rows["receipts"][-1]
    return newest["id"], hashlib.sha256(newest["body"].encode()).hexdigest()


def question_of(rows: Rows) -> Mapping[str, Any] | None:
    """Return the newest question of a run: an intent, with its details."""
    return next((intent for intent in reversed(rows["intents"]) if intent["verb"] == VERB), None)


def problems(
    rows: Rows, key: SigningKey | KeyRing, *, dataset: str, run_id: str, rules: Approval, eyes: FourEyes | None
) -> list[str]:
    """
    List every reason why a run may not be published for want of an approval; an empty list means it may.

    The newest decision counts, and only for the newest question about the newest receipt. What is newer is told by
    places in the audit chain, so no clock matters. Airflow's task states are not asked at all.
    """
    receipt = newest_receipt(rows)
    if receipt is None:
        return ["the run has no receipt: there was nothing to approve"]
    if not rows["approvals"]:
        return [
            "nobody has approved it: the task `approve` has to be answered in Airflow, and marking it successful signs "
            "nothing; clear the run from `approve`"
        ]
    newest = Decision.of_row(rows["approvals"][-1])
    found = _signature_problems(newest, KeyRing.of(key))
    if (newest.dataset, newest.run_id) != (dataset, run_id):
        found.append(f"the approval is for {newest.dataset}, run {newest.run_id}")
    question = question_of(rows)
    if newest.receipt != receipt[1] or min(rows["approvals"][-1]["id"], newest.question) < receipt[0]:
        found.append(
            f"the approval is for another receipt, {newest.receipt[:12]}: the gate has signed {receipt[1][:12]} since; "
            "clear the run from `approve`"
        )
    elif question is None or question["id"] != newest.question:
        found.append("it was asked for again since, and nobody has answered that yet; answer it in Airflow")
    found += _decision_problems(newest, rows)
    if newest.decision == Outcome.APPROVED:
        found += objections(newest.person, newest.user_id, rules, eyes)
    return found


def _signature_problems(newest: Decision, ring: KeyRing) -> list[str]:
    if distrust := ring.distrust(newest.key_id or "unknown"):
        return [f"the approval {distrust}"]
    if not ring.current.verify("approval", newest.signed, newest.mac):
        return ["the approval's signature is wrong: it was changed after it was signed, or never signed"]
    return []


def _decision_problems(newest: Decision, rows: Rows) -> list[str]:
    """Say what was decided, if that was no approval. A withdrawal holds even if an approval is written after it."""
    again = "; clear the run from `approve` to ask again"
    same = [one for one in map(Decision.of_row, rows["approvals"]) if one.question == newest.question]
    withdrawn = next((one for one in same if one.decision == Outcome.WITHDRAWN), None)
    if withdrawn is not None:
        return [f"the approval was withdrawn by {withdrawn.person}{again}"]
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
    """Say why this person may not approve; empty when the person may."""
    if not user_id or person == NOBODY:
        return ["Airflow does not tell who answered"]
    found = []
    if rules.users and not {person, user_id} & set(rules.users):
        found.append(f"{person} may not approve it: `approval.users` names {', '.join(rules.users)}")
    if eyes is not None:
        found += eyes.problems
        found += [f"{person} {what}: four_eyes asks for somebody else" for what in eyes.objections([person, user_id])]
    return found
