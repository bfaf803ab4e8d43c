"""Keys change, the chain goes on: the old one hands over to the new one and never signs again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import text

from anon_airflow.audit import AuditStore, KeyUse
from anon_airflow.audit.chain import entry_message, row_digest
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey
from anon_core.errors import InvalidInputError
from tests.anon_airflow.audit.audit_databases import audit_url, drop_triggers, postgresql, run_sql  # noqa: F401 (fixtures)

FIRST, SECOND, THIRD = (SigningKey.of(letter * 32) for letter in (b"1", b"2", b"3"))
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "licences"}


def begin(url: str, home: Path, ring: SigningKey | KeyRing, times: int = 1) -> None:
    with AuditStore.open(url, home, ring) as store:
        for _ in range(times):
            store.intend(**RUN, verb="run", actor="ada")


@pytest.fixture
def rotated(url: str, tmp_path: Path) -> KeyRing:
    """A chain of three keys: links 1 and 2, the change at 3 and 4, link 5, the change at 6 and 7, link 8."""
    begin(url, tmp_path, FIRST, 2)
    begin(url, tmp_path, KeyRing(SECOND, (FIRST,)))
    begin(url, tmp_path, KeyRing(THIRD, (SECOND,)))
    return KeyRing(THIRD, (FIRST, SECOND))


def test_a_chain_of_several_keys_verifies_and_tells_which_signed_from_where(
    rotated: KeyRing, url: str, tmp_path: Path
) -> None:
    with AuditStore.open(url, tmp_path, rotated) as store:
        found = store.verify()
        assert found.ok and found.entries == 8, found.reason
        assert found.keys == (KeyUse(FIRST.key_id, 1), KeyUse(SECOND.key_id, 3), KeyUse(THIRD.key_id, 6))
        changes = [entry["row"] for entry in store.export() if entry["row"].get("verb") == "rotate key"]
        assert [json.loads(row["details"])["to"] for row in changes] == [SECOND.key_id, THIRD.key_id]
        assert [run.run_id for run in store.runs()] == ["run 1"]
        assert {intent.verb for intent in store.open_intents()} == {"run"}


def test_an_appending_worker_needs_the_retired_key_once_only(rotated: KeyRing, url: str, tmp_path: Path) -> None:
    begin(url, tmp_path, THIRD)
    with AuditStore.open(url, tmp_path, rotated) as store:
        assert store.verify().entries == 9


@pytest.mark.parametrize("old", [FIRST, SECOND])
def test_a_worker_that_still_has_the_old_key_can_append_nothing(
    rotated: KeyRing, url: str, tmp_path: Path, old: SigningKey
) -> None:
    ring = KeyRing(old, tuple(key for key in (FIRST, SECOND, THIRD) if key != old))
    with pytest.raises(InvalidInputError, match=f"key {old.key_id} was retired.*set ANON_SIGNING_KEY"):
        begin(url, tmp_path, ring)
    with AuditStore.open(url, tmp_path, rotated) as store:
        assert store.verify().entries == 8


def test_a_key_that_the_last_one_has_not_handed_over_to_can_append_nothing(url: str, tmp_path: Path) -> None:
    begin(url, tmp_path, FIRST)
    with pytest.raises(InvalidInputError) as caught:
        begin(url, tmp_path, SECOND)
    for word in (FIRST.key_id, SECOND.key_id, "ANON_RETIRED_KEYS_FILE", "ANON_SIGNING_KEY"):
        assert word in str(caught.value)
    with AuditStore.open(url, tmp_path, FIRST) as store:
        assert store.verify().entries == 1


def test_a_retired_key_that_is_not_here_is_named_with_what_to_set(rotated: KeyRing, url: str, tmp_path: Path) -> None:
    with AuditStore.open(url, tmp_path, KeyRing(THIRD, (FIRST,))) as store:
        found = store.verify()
    assert found.broken_seq == 3
    assert f"names key {SECOND.key_id}, which is not here" in found.reason
    assert "ANON_RETIRED_KEYS_FILE" in found.reason


def forge(url: str, key: SigningKey, table: str = "refusals", **values: Any) -> None:
    """Append a link without asking the store: what somebody does who has the database and a key."""
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        seq, mac = connection.execute(text("SELECT seq, mac FROM chain ORDER BY seq DESC LIMIT 1")).one()
        row = {"id": seq + 1, **RUN, "at": "2026", **(values or {"by": "gate", "reasons": "[]"})}
        entry = {"seq": seq + 1, "table_name": table, "row_id": seq + 1, "at": "2026", "key_id": key.key_id}
        entry |= {"row_digest": row_digest(table, row), "previous_mac": mac}
        for name, content in ((table, row), ("chain", entry | {"mac": key.sign("chain", entry_message(entry))})):
            columns, marks = ", ".join(f'"{each}"' for each in content), ", ".join(f":{each}" for each in content)
            connection.execute(text(f"INSERT INTO {name} ({columns}) VALUES ({marks})"), content)
    engine.dispose()


@pytest.mark.parametrize(("leaked", "left"), [(FIRST, 3), (SECOND, 6)])
def test_a_leaked_retired_key_that_signs_again_is_named(
    rotated: KeyRing, url: str, tmp_path: Path, leaked: SigningKey, left: int
) -> None:
    forge(url, leaked)
    with AuditStore.open(url, tmp_path, rotated) as store:
        found = store.verify()
    assert not found.ok and found.broken_seq == 9
    assert f"signed with key {leaked.key_id} again, which was retired at link {left}" in found.reason


def test_a_link_that_the_current_key_signed_is_no_forgery(rotated: KeyRing, url: str, tmp_path: Path) -> None:
    """The forger above works: with the right key its link holds."""
    forge(url, THIRD)
    with AuditStore.open(url, tmp_path, rotated) as store:
        assert store.verify().entries == 9


@pytest.mark.parametrize("details", ["{}", "[]", "null", "not JSON", '{"handover": "0"}'])
def test_a_change_of_keys_without_the_word_of_the_old_key_is_named(url: str, tmp_path: Path, details: str) -> None:
    begin(url, tmp_path, FIRST, 2)
    forge(url, SECOND, "intents", verb="rotate key", actor="anonflow", details=details)
    with AuditStore.open(url, tmp_path, KeyRing(SECOND, (FIRST,))) as store:
        found = store.verify()
    assert found.broken_seq == 3
    assert f"key {FIRST.key_id} has not handed over to key {SECOND.key_id}" in found.reason


def test_the_word_of_the_old_key_holds_at_its_own_link_only(rotated: KeyRing, url: str, tmp_path: Path) -> None:
    with AuditStore.open(url, tmp_path, rotated) as store:
        word = next(entry["row"]["details"] for entry in store.export() if entry["seq"] == 3)
    other = tmp_path / "other"
    begin(f"sqlite:///{other}.db", other, FIRST, 3)
    forge(f"sqlite:///{other}.db", SECOND, "intents", verb="rotate key", actor="anonflow", details=word)
    with AuditStore.open(f"sqlite:///{other}.db", other, rotated) as store:
        assert store.verify().broken_seq == 4


def test_a_change_of_keys_cannot_be_taken_out(rotated: KeyRing, url: str, tmp_path: Path) -> None:
    drop_triggers(url)
    run_sql(url, "DELETE FROM intents WHERE id = 3", "DELETE FROM chain WHERE seq = 3")
    with AuditStore.open(url, tmp_path, rotated) as store:
        assert store.verify().broken_seq == 3
