"""The handover of one signing key to the next in the chain: the old key signs it, and never signs again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anon_airflow.keys.ring import RETIRED, KeyRing
from anon_airflow.keys.signing import SigningKey, canonical_json
from anon_core.errors import InvalidInputError

ROTATE = "rotate key"
NO_RUN = ""
"""The run id of rows that belong to no run."""


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A key and the first link that it signed."""

    key_id: str
    from_seq: int


def handover_row(old: SigningKey, new: SigningKey, seq: int, previous_mac: str) -> dict[str, Any]:
    """Return the intent at which a new key begins to sign; its details hold the handover, signed by the old key."""
    handed = {"from": old.key_id, "to": new.key_id}
    details = {**handed, "handover": old.sign("handover", _message(handed, seq, previous_mac))}
    return {
        "run_id": NO_RUN,
        "dataset": NO_RUN,
        "verb": ROTATE,
        "actor": "anonflow",
        "spec_digest": None,
        "details": canonical_json(details),
    }


def handover_problem(ring: KeyRing, last: str, signed_before: bool) -> InvalidInputError | None:
    """Return why the current key may not sign after key ``last``: it was retired, or key ``last`` is not here."""
    current = ring.current.key_id
    if signed_before:
        return InvalidInputError(
            f"key {current} was retired from the audit store, and key {last} signs now: this worker still has the old "
            "key; set ANON_SIGNING_KEY (or ANON_SIGNING_KEY_FILE, or ANON_SIGNING_KEY_CMD) as on the other workers"
        )
    if ring.find(last) is None:
        return InvalidInputError(
            f"the audit store was last signed with key {last}, this worker has key {current}: set ANON_SIGNING_KEY to "
            f"the key of the other workers, or, if {current} is to replace it, name a file with key {last} in "
            f"{RETIRED}"
        )
    return None


@dataclass(slots=True)
class Signers:
    """The keys found so far along a chain, each with its first link; the last of them is in use."""

    ring: KeyRing
    used: list[KeyUse] = field(default_factory=list)

    def wrong(self, entry: Mapping[str, Any], row: Mapping[str, Any], previous_mac: str) -> str:
        """Return what is wrong with the key of a link that is correct otherwise; empty if nothing is."""
        key_id = str(entry["key_id"])
        if self.used and self.used[-1].key_id == key_id:
            return ""
        if any(use.key_id == key_id for use in self.used):
            return (
                f"it was signed with key {key_id} again, which was retired at link {self._left(key_id)}: the key was "
                "stolen, or a worker still has it"
            )
        if self.used and not self._handed_over(key_id, entry, row, previous_mac):
            return f"key {self.used[-1].key_id} has not handed over to key {key_id}, which signed it"
        self.used.append(KeyUse(key_id, int(entry["seq"])))
        return ""

    def _left(self, key_id: str) -> int:
        at = [use.key_id for use in self.used].index(key_id)
        return self.used[at + 1].from_seq

    def _handed_over(self, key_id: str, entry: Mapping[str, Any], row: Mapping[str, Any], previous_mac: str) -> bool:
        old = self.ring.find(self.used[-1].key_id)
        if old is None or entry["table_name"] != "intents" or row["verb"] != ROTATE:
            return False
        handed = {"from": old.key_id, "to": key_id}
        try:
            mac = json.loads(row["details"])["handover"]
        except (ValueError, TypeError, KeyError):
            return False
        return old.verify("handover", _message(handed, int(entry["seq"]), previous_mac), mac)


def _message(handed: Mapping[str, str], seq: int, previous_mac: str) -> bytes:
    return canonical_json({**handed, "seq": seq, "previous_mac": previous_mac}).encode()
