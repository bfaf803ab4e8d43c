"""Whatever is done by hand to the SQLite file, verify names the first link it broke; and where the file may live."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_airflow.audit import AuditStore, Head, chain
from anon_airflow.audit.models import CHAIN, ROWS, metadata
from anon_airflow.audit.store import Verification
from anon_airflow.keys.signing import SigningKey
from anon_core.errors import InvalidInputError, StorageError
from tests.anon_airflow.audit.audit_databases import unguard

KEY = SigningKey.of(b"k" * 32)
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "licences"}
LINKS = 10
ENTRY = [column.name for column in CHAIN.columns if column.name != "seq"]
TABLES = {**dict.fromkeys((2, 5, 6, 10), "refusals"), **dict.fromkeys((1, 3, 4, 7, 8, 9), "intents")}

numbers = st.integers(1, LINKS)
values = st.one_of(st.none(), st.integers(-5, 2**40), st.floats(), st.text(max_size=5), st.binary(max_size=5))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of ten links, its triggers dropped and its checks on empty columns gone, as an intruder would."""
    home = tmp_path_factory.mktemp("original")
    ticks = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second) for second in itertools.count())
    with AuditStore.open(None, home, KEY, clock=lambda: next(ticks)) as store:
        for number in range(1, LINKS + 1):
            if TABLES[number] == "refusals":
                store.append("refusals", **RUN, by="gate", reasons=["k is 2"])
            else:
                store.intend(**RUN, verb="stage", actor="ada")
    unguard(home / "audit.db")
    return home / "audit.db"


def verified(original: Path, *statements: tuple[str, tuple[Any, ...]], anchor: Head | None = None) -> Verification:
    """Tamper with a copy of the store and verify it, in pages of three links."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "_PAGE", 3)
        shutil.copy(original, folder)
        with closing(sqlite3.connect(Path(folder) / "audit.db")) as database:
            database.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
            before = list(database.iterdump())
            try:
                for statement, parameters in statements:
                    database.execute(statement, parameters)
            except sqlite3.IntegrityError:
                assume(False)
            database.commit()
            if statements and list(database.iterdump()) == before:
                assume(False)
        with AuditStore.open(None, Path(folder), KEY) as store:
            return store.verify(*([anchor] if anchor else []))


def assert_broken(found: Verification, number: int) -> None:
    assert not found.ok
    assert found.broken_seq == number, found.reason
    assert f"link {number}: " in found.reason


def test_the_untouched_store_verifies(original: Path) -> None:
    found = verified(original)
    assert found.broken_seq is None and found.entries == LINKS


@given(number=numbers, value=values, choice=st.data())
@settings(max_examples=150, deadline=None)
def test_an_edited_row_is_named(original: Path, number: int, value: Any, choice: st.DataObject) -> None:
    table = TABLES[number]
    column = choice.draw(st.sampled_from([column.name for column in ROWS[table].columns if column.name != "id"]))
    assert_broken(verified(original, (f'UPDATE {table} SET "{column}" = ? WHERE id = ?', (value, number))), number)


@given(number=numbers, value=values, column=st.sampled_from(ENTRY))
@settings(max_examples=150, deadline=None)
def test_an_edited_chain_entry_is_named(original: Path, number: int, value: Any, column: str) -> None:
    assert_broken(verified(original, (f"UPDATE chain SET {column} = ? WHERE seq = ?", (value, number))), number)


@given(number=numbers, target=st.integers(-3, LINKS + 3), which=st.sampled_from(["row", "entry"]))
@settings(max_examples=100, deadline=None)
def test_a_renumbered_row_or_entry_is_named(original: Path, number: int, target: int, which: str) -> None:
    table, column = (TABLES[number], "id") if which == "row" else ("chain", "seq")
    statement = f"UPDATE {table} SET {column} = ? WHERE {column} = ?"
    assert_broken(verified(original, (statement, (target, number))), min(number, target))


@given(number=numbers, which=st.sampled_from(["row", "entry", "both"]))
@settings(max_examples=40, deadline=None)
def test_a_removed_link_is_named(original: Path, number: int, which: str) -> None:
    assume(not (which == "both" and number == LINKS))  # a cut-off tail: the next test
    row = (f"DELETE FROM {TABLES[number]} WHERE id = ?", (number,))
    entry = ("DELETE FROM chain WHERE seq = ?", (number,))
    removed = {"row": [row], "entry": [entry], "both": [row, entry]}[which]
    assert_broken(verified(original, *removed), number)


@given(first=numbers)
@settings(max_examples=20, deadline=None)
def test_a_cut_off_tail_is_named_against_an_anchor_only(original: Path, first: int) -> None:
    with AuditStore.open(None, original.parent, KEY) as store:
        anchor = store.head()
    cut = [(f"DELETE FROM {table} WHERE id >= ?", (first,)) for table in ROWS]
    cut.append(("DELETE FROM chain WHERE seq >= ?", (first,)))
    assert verified(original, *cut).broken_seq is None
    assert_broken(verified(original, *cut, anchor=anchor), first)


@given(number=st.integers(-3, LINKS + 3), table=st.sampled_from(["withdrawals", "refusals", "intents"]))
@settings(max_examples=60, deadline=None)
def test_an_inserted_row_is_named(original: Path, number: int, table: str) -> None:
    marks = ", ".join("?" * (len(ROWS[table].columns) - 1))
    filler = tuple("x" for _ in range(len(ROWS[table].columns) - 1))
    assert_broken(verified(original, (f"INSERT INTO {table} VALUES (?, {marks})", (number, *filler))), number)


@given(number=st.one_of(st.integers(-3, 0), st.just(LINKS + 1)), source=numbers)
@settings(max_examples=30, deadline=None)
def test_an_inserted_chain_entry_is_named(original: Path, number: int, source: int) -> None:
    rest = ", ".join(ENTRY)
    statement = f"INSERT INTO chain SELECT ?, {rest} FROM chain WHERE seq = ?"
    assert_broken(verified(original, (statement, (number, source))), number)


@given(pair=st.sets(numbers, min_size=2, max_size=2), which=st.sampled_from(["rows", "entries"]))
@settings(max_examples=60, deadline=None)
def test_swapped_links_are_named(original: Path, pair: set[int], which: str) -> None:
    first, second = sorted(pair)
    table, column = (TABLES[first], "id") if which == "rows" else ("chain", "seq")
    assume(which == "entries" or TABLES[first] == TABLES[second])
    moves = ((-100, first), (first, second), (second, -100))
    statements = [(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", move) for move in moves]
    assert_broken(verified(original, *statements), first)


def test_a_history_signed_anew_with_the_right_key_shows_against_an_anchor(original: Path, tmp_path: Path) -> None:
    with AuditStore.open(None, original.parent, KEY) as store:
        anchor = store.head()
    with AuditStore.open(None, tmp_path, KEY) as forged:
        for _ in range(LINKS):
            forged.intend(**RUN, verb="stage", actor="nobody")
        assert forged.verify().ok
        assert_broken(forged.verify(anchor), LINKS)


def test_text_that_is_not_text_is_an_edit_and_not_an_error(original: Path) -> None:
    assert_broken(verified(original, ("UPDATE refusals SET by = CAST(x'ff' AS TEXT) WHERE id = 5", ())), 5)


def test_the_default_store_is_a_private_file_in_home(tmp_path: Path) -> None:
    with AuditStore.open(None, tmp_path / "new" / "home", KEY):
        assert (tmp_path / "new" / "home" / "audit.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("not a url", "not a database URL"),
        ("sqlite://", "must be a file on disk"),
        ("sqlite:///:memory:", "must be a file on disk"),
        ("mysql://u:secret@h/d", "cannot use mysql"),
        ("postgresql+nonsense://u:secret@h/d", "no driver for postgresql"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_its_password(url: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=what) as caught:
        AuditStore.open(url, tmp_path, KEY)
    assert "secret" not in str(caught.value)


def test_a_server_that_cannot_be_reached_is_a_storage_error_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        AuditStore.open("postgresql+pg8000://ada:secret@127.0.0.1:1/audit", tmp_path, KEY)
    assert "secret" not in str(caught.value) and "ada:***@127.0.0.1" in str(caught.value)


def test_a_file_that_is_no_database_is_a_storage_error_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "audit.db").write_text("a diary, not a database " * 50)
    with pytest.raises(StorageError, match="not a database"):
        AuditStore.open(None, tmp_path, KEY)
    assert (tmp_path / "audit.db").read_text().startswith("a diary")


def test_a_home_that_is_a_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(StorageError, match="opening the audit store"):
        AuditStore.open(None, tmp_path / "home", KEY)


def test_tables_are_what_the_design_names() -> None:
    named = "approvals chain checks intents outcomes publications receipts recodings refusals releases schema_version"
    assert sorted(metadata.tables) == [*named.split(), "waivers", "withdrawals"]
