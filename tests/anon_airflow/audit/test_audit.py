"""The audit store, on SQLite and on a real PostgreSQL: what it takes, what it tells, what it survives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from anon_airflow.audit import Anchor, AuditStore, Head
from anon_airflow.audit.chain import GENESIS
from anon_airflow.audit.models import ROWS, metadata
from anon_airflow.keys.signing import SigningKey
from anon_core.errors import InvalidInputError
from tests.anon_airflow.audit.audit_databases import audit_url, drop_triggers, postgresql, run_sql  # noqa: F401 (two are fixtures)

KEY = SigningKey.of(b"k" * 32)
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "licences"}
PUBLICATION = {**RUN, "version": "v1", "portal": "folder", "location": "/portal/v1", "content_digest": "c"}


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[AuditStore]:
    ticks = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second) for second in itertools.count())
    with AuditStore.open(url, tmp_path, KEY, clock=lambda: next(ticks)) as opened:
        yield opened


def begin(store: AuditStore, verb: str = "stage", **changes: Any) -> int:
    return store.intend(**{**RUN, "verb": verb, "actor": "ada", "spec_digest": "s", **changes})


EXAMPLES: dict[str, dict[str, Any]] = {
    "intents": {**RUN, "verb": "stage", "actor": "ada"},
    "outcomes": {"intent_id": 1, "status": "done"},
    "releases": {**RUN, "version": "v1", "rows_in": 9, "rows_out": 8, "content_digest": "c", "spec_digest": "s"},
    "checks": {**RUN, "name": "k", "passed": False, "observed": 2, "required": {"at least": 5}},
    "recodings": {**RUN, "method": "prioritised", "rows_changed": 5, "rows_removed": 0, "details": {"è": [1, None]}},
    "receipts": {**RUN, "digest": "d", "body": "{}"},
    "approvals": {**RUN, "receipt_digest": "d", "person": "ada", "decision": "approved", "mac": "m"},
    "publications": {**PUBLICATION, "status": "published"},
    "refusals": {**RUN, "by": "gate", "reasons": ["k is 2"]},
    "waivers": {**RUN, "check_name": "t", "columns": ["a"], "reason": "r", "person": "ada", "until": "2026-12-31"},
    "withdrawals": {"dataset": "licences", "version": "v1", "reason": "r", "person": "ada"},
}


def test_a_new_store_is_empty_and_intact(store: AuditStore) -> None:
    assert store.head() == Head(0, GENESIS)
    verification = store.verify()
    assert verification.ok and verification.entries == 0 and verification.open_intents == ()


def test_every_table_takes_a_row_and_gives_it_back(store: AuditStore) -> None:
    assert EXAMPLES.keys() == ROWS.keys()
    for number, (table, values) in enumerate(EXAMPLES.items(), start=1):
        assert store.append(table, **values) == number
    verification = store.verify(store.head())
    assert verification.ok and verification.entries == len(EXAMPLES), verification.reason
    rows = store.run("run 1")
    assert rows.keys() == ROWS.keys() and all(len(found) == 1 for found in rows.values())
    assert rows["checks"][0]["passed"] is False and rows["checks"][0]["required"] == {"at least": 5}
    assert rows["recodings"][0]["details"] == {"è": [1, None]} and rows["outcomes"][0]["details"] == {}
    assert rows["intents"][0]["at"] == "2026-01-01T00:00:00.000000+00:00"
    exported = list(store.export())
    assert [entry["seq"] for entry in exported] == list(range(1, len(EXAMPLES) + 1))
    assert [entry["table_name"] for entry in exported] == list(EXAMPLES)
    assert exported[2]["row"]["rows_in"] == 9


def test_odd_text_is_stored_readably_and_verifies(store: AuditStore) -> None:
    store.append("refusals", **{**RUN, "by": "nul \0 half \ud800 whole \U0001f600"}, reasons=["\0", "\ud800"])
    assert store.run("run 1")["refusals"][0]["by"] == "nul \\x00 half \\ud800 whole \U0001f600"
    assert store.verify().broken_seq is None


@pytest.mark.parametrize(
    ("table", "values", "what"),
    [
        ("nonsense", {}, "no table 'nonsense'; it has intents"),
        ("chain", {}, "no table 'chain'"),
        ("refusals", {**RUN}, "by: left out; reasons: left out"),
        ("refusals", {**EXAMPLES["refusals"], "cell": "x", "at": "now"}, "no column 'at'; no column 'cell'"),
        ("refusals", {**EXAMPLES["refusals"], "by": 5}, "by: not a value it can hold"),
        ("refusals", {**EXAMPLES["refusals"], "reasons": [object()]}, "reasons: not a value"),
        ("checks", {**EXAMPLES["checks"], "observed": float("nan")}, "observed: not a value"),
        ("checks", {**EXAMPLES["checks"], "passed": "yes"}, "passed: not a value"),
        ("releases", {**EXAMPLES["releases"], "rows_in": 1.5}, "rows_in: not a value"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_adds_nothing(
    store: AuditStore, table: str, values: dict[str, Any], what: str
) -> None:
    with pytest.raises(InvalidInputError, match=what):
        store.append(table, **values)
    assert store.head().seq == 0


def test_an_intent_is_open_until_it_is_closed_once(store: AuditStore) -> None:
    first, second = begin(store), begin(store, dataset="other")
    assert [intent.id for intent in store.open_intents()] == [first, second]
    assert [intent.dataset for intent in store.open_intents("other")] == ["other"]
    store.close(first, "done", rows=5)
    assert [intent.id for intent in store.verify().open_intents] == [second]
    with pytest.raises(InvalidInputError, match=r"closed already \(done\)"):
        store.close(first, "failed")
    with pytest.raises(InvalidInputError, match="no intent 99"):
        store.close(99, "done")
    with pytest.raises(InvalidInputError, match="done, refused, failed"):
        store.close(second, "finished")


def test_the_newest_receipt_of_a_run_is_the_one_given(store: AuditStore) -> None:
    store.intend(**RUN, verb="run", actor="ada")
    assert store.history("run 1", "licences").receipt is None
    for body in ("first", "second"):
        store.append("receipts", **RUN, digest="d", body=body)
    store.append("receipts", **{**RUN, "dataset": "other"}, digest="d", body="other")
    receipt = store.history("run 1", "licences").receipt
    assert receipt is not None
    assert (receipt.place, receipt.body) == (3, "second")


def test_a_run_is_told_in_one_line(store: AuditStore) -> None:
    def verdict() -> str:
        (latest,) = store.runs("licences", limit=1)
        return latest.verdict

    assert store.runs("licences") == []
    intent = begin(store)
    assert verdict() == "open"
    store.close(intent, "done")
    assert verdict() == "open"
    store.close(begin(store, "gate"), "failed")
    assert verdict() == "failed"
    store.append("refusals", **RUN, by="gate", reasons=["k is 2"])
    assert verdict() == "refused"
    killed = begin(store, "publish")
    assert verdict() == "open"
    store.append("publications", **PUBLICATION, status="unchanged")
    assert verdict() == "unchanged"
    store.close(killed, "failed")
    assert verdict() == "unchanged"
    store.append("refusals", **{**RUN, "run_id": "run 2"}, by="gate", reasons=["k is 2"])
    newest, oldest = store.runs()
    assert (newest.run_id, newest.verdict) == ("run 2", "refused")
    assert oldest.verbs == ("stage",) and (oldest.version, oldest.location) == ("v1", "/portal/v1")
    assert oldest.started == "2026-01-01T00:00:00.000000+00:00"
    assert store.runs("none") == [] and store.runs(limit=1) == [newest]


def test_runs_of_two_datasets_with_one_run_id_stay_apart(store: AuditStore) -> None:
    begin(store)
    begin(store, dataset="other")
    assert [run.dataset for run in store.runs()] == ["other", "licences"]
    assert [len(store.run("run 1", name)["intents"]) for name in (None, "other")] == [2, 1]


@pytest.mark.parametrize("table", [table.name for table in metadata.sorted_tables])
def test_no_table_lets_a_row_be_changed_or_removed(store: AuditStore, url: str, table: str) -> None:
    for name, values in EXAMPLES.items():
        store.append(name, **values)
    column = metadata.tables[table].columns.values()[0].name
    statements = [f"UPDATE {table} SET {column} = {column} + 100", f"DELETE FROM {table}"]
    if url.startswith("sqlite"):
        statements.append(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}")
    else:
        statements.append(f"TRUNCATE {table}")
    for statement in statements:
        with pytest.raises(sqlalchemy.exc.DBAPIError, match="append-only"):
            run_sql(url, statement)
    assert store.verify().broken_seq is None


def test_a_cut_off_tail_shows_only_against_an_anchor(store: AuditStore, url: str) -> None:
    for _ in range(3):
        begin(store)
    anchor = store.head()
    drop_triggers(url)
    run_sql(url, "DELETE FROM chain WHERE seq = 3", "DELETE FROM intents WHERE id = 3")
    assert store.verify().broken_seq is None
    verification = store.verify(anchor)
    assert not verification.ok and verification.broken_seq == 3 and "cut off" in verification.reason
    begin(store, "another")
    assert store.verify().broken_seq is None
    assert "rewritten" in store.verify(anchor).reason


def test_a_signature_alone_anchors_everything_before_it(store: AuditStore, url: str) -> None:
    """What is public of a link does not tell its place, which would tell how much was refused in between."""
    for _ in range(3):
        begin(store)
    anchor = Anchor(mac=store.head().mac)
    begin(store)
    assert store.verify(anchor).ok, "the chain goes on behind it"
    drop_triggers(url)
    run_sql(url, "DELETE FROM intents WHERE id > 2", "DELETE FROM chain WHERE seq > 2")
    cut = store.verify(anchor)
    assert not cut.ok and cut.broken_seq == 3 and "cut off" in cut.reason
    begin(store, "another")
    assert "rewritten" in store.verify(anchor).reason
    assert store.verify(Anchor(mac=store.head().mac)).ok


@pytest.mark.parametrize(
    ("statement", "broken", "what"),
    [
        ("UPDATE intents SET actor = 'eve' WHERE id = 2", 2, "link 2: intents row 2 was edited"),
        ("UPDATE chain SET at = 'now' WHERE seq = 2", 2, "chain entry of intents row 2 was edited"),
        ("UPDATE chain SET key_id = 'x' WHERE seq = 2", 2, "names key x"),
        ("DELETE FROM intents WHERE id = 2", 2, "intents row 2 was removed"),
        ("DELETE FROM chain WHERE seq = 3", 3, "intents row 3 has no chain entry"),
        ("INSERT INTO withdrawals VALUES (2, 'd', 'v', 'r', 'p', 'at')", 2, "withdrawals row 2 was inserted"),
        ("INSERT INTO withdrawals VALUES (77, 'd', 'v', 'r', 'p', 'at')", 77, "withdrawals row 77 has no chain entry"),
        ("UPDATE chain SET seq = 4 WHERE seq = 2", 2, "intents row 2 has no chain entry"),
    ],
)
def test_tampering_is_named(store: AuditStore, url: str, statement: str, broken: int, what: str) -> None:
    for _ in range(3):
        begin(store)
    drop_triggers(url)
    run_sql(url, statement)
    verification = store.verify()
    assert not verification.ok and verification.broken_seq == broken and what in verification.reason
    assert verification.entries == min(broken - 1, 3) == verification.head.seq


def test_the_chain_is_checked_with_its_own_key_only(store: AuditStore, url: str, tmp_path: Path) -> None:
    begin(store)
    other = SigningKey.of(b"o" * 32)
    with AuditStore.open(url, tmp_path, other) as reader:
        reason = reader.verify().reason
    assert KEY.key_id in reason and other.key_id in reason


def test_a_newer_schema_is_refused(store: AuditStore, url: str, tmp_path: Path) -> None:
    run_sql(url, "INSERT INTO schema_version VALUES (2)")
    with pytest.raises(InvalidInputError, match=r"schema 2, this version of anonflow needs schema 1; upgrade"):
        AuditStore.open(url, tmp_path, KEY)
