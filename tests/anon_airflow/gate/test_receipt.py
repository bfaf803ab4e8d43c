"""The receipt: it covers exactly what the gate measured, and nothing else."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_airflow.gate.commitments import commit
from anon_airflow.gate.receipt import MeasuredFile, ModelUsed, Receipt, issue, problems
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey, canonical_json
from anon_core.errors import InvalidInputError, RefusedError

KEY = SigningKey.of(b"k" * 32)
CSV = MeasuredFile("table.csv", "1" * 64, 100, 10)
PARQUET = MeasuredFile("table.parquet", "2" * 64, 80, 10)
FILES = {"publication_file": "3" * 64, "suite": "4" * 64, "witness": "5" * 64}
PUBLISHED: dict[str, Any] = {
    "dataset": "driver-licences",
    "run_id": "scheduled__1",
    "commitments": commit("a nonce", FILES),
    "site_policy": "5" * 64,
    "distributions": (CSV, PARQUET),
    "models": (ModelUsed("k_anonymity", "anonflow", "0.1.0"), ModelUsed("delta_presence", "a-package", "1.5")),
    "checks": 12,
}


def given_receipt(**changes: Any) -> Receipt:
    return issue(KEY, **{**PUBLISHED, "anonflow_version": "0.1.0", **changes})


def test_a_receipt_covers_what_the_gate_measured() -> None:
    assert problems(given_receipt(), KEY, **PUBLISHED) == []


def test_a_receipt_survives_being_written_and_read() -> None:
    receipt = given_receipt()
    text = receipt.to_json()
    assert Receipt.from_json(text) == receipt
    assert text == canonical_json(json.loads(text))
    assert Receipt.from_json(text).digest == receipt.digest


def test_the_order_in_which_distributions_are_given_does_not_matter() -> None:
    assert given_receipt(distributions=(PARQUET, CSV)) == given_receipt()
    assert problems(given_receipt(), KEY, **{**PUBLISHED, "distributions": (PARQUET, CSV)}) == []


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"dataset": "other"}, "another dataset: it covers driver-licences, this publishes other"),
        ({"run_id": "manual__2"}, "another run"),
        ({"commitments": commit("a nonce", FILES | {"publication_file": "6" * 64})}, "another publication file"),
        ({"commitments": commit("a nonce", FILES | {"suite": "6" * 64})}, "another suite of checks"),
        ({"commitments": commit("another nonce", FILES)}, "another publication file"),
        (
            {"commitments": commit("a nonce", {key: FILES[key] for key in ("publication_file", "suite")})},
            "another witness (which person each row belongs to)",
        ),
        ({"site_policy": "6" * 64}, "another site policy"),
        ({"distributions": (CSV,)}, "table.parquet is in the receipt, but would not be published"),
        ({"distributions": (CSV, PARQUET, CSV._replace(name="x.csv"))}, "x.csv would be published, but the gate"),
        ({"distributions": (CSV._replace(sha256="9" * 64), PARQUET)}, "table.csv changed after the gate measured it"),
        ({"distributions": (CSV._replace(bytes=99), PARQUET)}, "bytes 100, now 99"),
        ({"distributions": (CSV._replace(rows=11), PARQUET)}, "rows 10, now 11"),
        ({"distributions": (CSV, CSV, PARQUET)}, "same name"),
        (
            {"distributions": (CSV._replace(name="table.parquet"), PARQUET._replace(name="table.csv"))},
            "table.csv changed after the gate measured it",
        ),
        (
            {"models": (*PUBLISHED["models"][:1], ModelUsed("delta_presence", "a-package", "1.6"))},
            "delta_presence was a-package 1.5 at the gate and is a-package 1.6 now",
        ),
        ({"models": PUBLISHED["models"][:1]}, "delta_presence was a-package 1.5 at the gate and is missing now"),
        ({"checks": 13}, "for 12 checks, the suite of this publication has 13"),
    ],
)
def test_a_receipt_does_not_cover_anything_else(changed: dict[str, Any], what: str) -> None:
    found = problems(given_receipt(), KEY, **{**PUBLISHED, **changed})
    assert what in found[0]
    assert len(found) == 1 or all("changed after the gate" in each or "is for another" in each for each in found)


def test_every_problem_is_named_at_once() -> None:
    other = {
        "dataset": "a",
        "run_id": "b",
        "commitments": (),
        "distributions": (),
        "models": (),
        "site_policy": "e",
    }
    assert len(problems(given_receipt(), KEY, **other, checks=1)) == 11


def test_a_receipt_of_another_key_names_both_keys() -> None:
    other = SigningKey.of(b"o" * 32)
    (found,) = problems(given_receipt(), other, **PUBLISHED)
    assert KEY.key_id in found and other.key_id in found


def test_a_receipt_of_a_retired_key_is_refused_and_the_run_has_to_be_done_again() -> None:
    ring = KeyRing(SigningKey.of(b"n" * 32), (KEY,))
    (found,) = problems(given_receipt(), ring, **PUBLISHED)
    assert f"key {KEY.key_id}, which is retired" in found and "run it again" in found
    assert problems(issue(ring.current, **PUBLISHED, anonflow_version="0"), ring, **PUBLISHED) == []


def test_a_receipt_of_an_unknown_key_names_it_and_what_to_set() -> None:
    (found,) = problems(given_receipt(), SigningKey.of(b"n" * 32), **PUBLISHED)
    assert KEY.key_id in found and "set ANON_SIGNING_KEY" in found


def test_claiming_the_right_key_id_does_not_help() -> None:
    forged = replace(issue(SigningKey.of(b"o" * 32), **PUBLISHED, anonflow_version="0"), key_id=KEY.key_id)
    (found,) = problems(forged, KEY, **PUBLISHED)
    assert "signature is wrong" in found


def test_a_signature_made_for_the_chain_is_no_receipt() -> None:
    receipt = given_receipt()
    forged = replace(receipt, mac=KEY.sign("chain", receipt.signed))
    assert problems(forged, KEY, **PUBLISHED)


@given(
    st.sampled_from(["dataset", "run_id", "anonflow_version", "mac"]),
    st.text(max_size=8),
)
def test_a_receipt_with_any_text_changed_is_refused_even_for_what_it_now_says(field: str, text: str) -> None:
    receipt = given_receipt()
    changes: dict[str, Any] = {field: text}
    changed = replace(receipt, **changes)
    if changed != receipt:
        claimed = {name: getattr(changed, name) for name in PUBLISHED}
        assert problems(changed, KEY, **claimed)
        assert changed.digest != receipt.digest


@pytest.mark.parametrize("changes", [{"checks": 13}, {"distributions": (CSV,)}])
def test_a_receipt_with_counts_or_files_changed_is_refused(changes: dict[str, Any]) -> None:
    changed = replace(given_receipt(), **changes)
    (found,) = problems(changed, KEY, **{**PUBLISHED, **changes})
    assert "signature is wrong" in found


@pytest.mark.parametrize("year", [1970, 2026, 2400])
def test_a_receipt_knows_no_clock(year: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signed today, it is the same text, and as good, whatever the clock says when it is read."""
    before = given_receipt()
    moved = datetime(year, 1, 1, tzinfo=UTC).timestamp()
    for clock in ("time", "monotonic"):
        monkeypatch.setattr(time, clock, lambda: moved)
    assert given_receipt() == before
    assert problems(Receipt.from_json(before.to_json()), KEY, **PUBLISHED) == []


@pytest.mark.parametrize("changes", [{"checks": 0}, {"distributions": ()}, {"distributions": (CSV, CSV)}])
def test_no_receipt_is_given_for_nothing(changes: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        given_receipt(**changes)


def mangled(**changes: Any) -> str:
    return json.dumps({**json.loads(given_receipt().to_json()), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        "[" * 100_000,
        mangled(verdict="failed"),
        mangled(extra=1),
        mangled(checks=True),
        mangled(checks="12"),
        mangled(checks=-1),
        mangled(mac=None),
        mangled(distributions={}),
        mangled(distributions=[1]),
        mangled(distributions=[{**CSV._asdict(), "rows": 1.5}]),
        mangled(distributions=[{**CSV._asdict(), "name": None}]),
    ],
)
def test_what_is_not_a_receipt_is_not_read_as_one(text: str) -> None:
    with pytest.raises(InvalidInputError, match="not a receipt"):
        Receipt.from_json(text)
