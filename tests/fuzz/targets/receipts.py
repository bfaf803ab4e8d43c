"""Receipts and approvals with a changed text: read, and compared with what is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from anon_airflow.approval.decision import Decision
from anon_airflow.gate.commitments import Commitment
from anon_airflow.gate.files import MeasuredFile
from anon_airflow.gate.receipt import ModelUsed, Receipt, issue, problems
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey
from tests.fuzz.drawing import Draw
from tests.fuzz.oddities import changed, value
from tests.fuzz.oracle import FindingError, judged
from tests.fuzz.target import Target

KEY = SigningKey.of(b"0" * 32)
RING = KeyRing(KEY, (SigningKey.of(b"1" * 32),))
FILES = (MeasuredFile("people.csv", "a" * 64, 120, 4), MeasuredFile("people.parquet", "b" * 64, 900, 4))
ABOUT: dict[str, Any] = {
    "dataset": "people",
    "run_id": "r",
    "commitments": (Commitment("suite", "d" * 64),),
    "site_policy": "f" * 64,
    "models": (ModelUsed("k_anonymity", "anonflow", "1"), ModelUsed("max_risk", "other", "2.0")),
}
RECEIPT = issue(KEY, **ABOUT, distributions=FILES, checks=7, anonflow_version="1").to_json()
DECISION = Decision.sign(
    KEY,
    dataset="people",
    run_id="r",
    receipt="e" * 64,
    question=3,
    decision="approved",
    person="P",
    user_id="p",
    reason="",
).row()


def run(draw: Draw, folder: Path) -> None:
    match draw.number(0, 3):
        case 0:
            text = draw.rest().decode("utf-8", "surrogateescape")
        case 1:
            text = RECEIPT[: draw.number(0, len(RECEIPT))] + draw.text() + RECEIPT[draw.number(0, len(RECEIPT)) :]
        case _:
            text = json.dumps(changed(draw, json.loads(RECEIPT)))
    receipt = judged(Receipt.from_json, text)
    if receipt is not None:
        found = judged(problems, receipt, RING, **ABOUT, distributions=FILES, checks=7)
        if not found and json.loads(text) != json.loads(RECEIPT):
            raise FindingError("a forged receipt passes", "receipt.py:problems", text)
        judged(getattr, receipt, "digest")
    if draw.chance(4):
        # The other columns of the row are text by their type.
        details = changed(draw, DECISION["details"]) if draw.chance(2) else value(draw)
        decision = judged(Decision.of_row, {**DECISION, "details": details})
        if decision is not None:
            judged(lambda: RING.current.verify("approval", decision.signed, decision.mac))


TARGET = Target(run=run, share=0.1, drawn=0.02, words=(b'"', b"{", b"[", b"\\u", b"NaN", b"1e999", b"passed", b"null"))
