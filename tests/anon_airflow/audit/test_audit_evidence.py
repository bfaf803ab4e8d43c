"""Every audit command shows what an intruder put into the audit store, and marks what does not hold."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from anon_airflow.audit import AuditStore
from anon_airflow.audit.models import metadata
from anon_airflow.commands.approval import approval
from anon_airflow.commands.audit import audit
from anon_airflow.commands.withdraw import withdraw
from anon_airflow.keys.signing import SigningKey
from anon_core.errors import AnonError, InternalError
from tests.anon_airflow.audit.audit_databases import unguard

SECRET = "a key that is as long as keys have to be"
KEY = SigningKey.of(SECRET.encode())
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "people"}
NASTY: tuple[Any, ...] = (
    None,
    b"\xff\x00",
    b"\xff is not text".decode("latin-1"),
    "CAST",  # Stands for bytes that are no UTF-8, stored as text: see the test below.
    "{not json",
    '{"a": [1e999, "\\ud800"]}',
    "[" * 5000,
    "9999-99-99T99:99:99",
    -5,
    2**62,
    1.5,
    "",
    "\x1b[31m\r\n\0../../../etc",
)
EVERY = bool(os.environ.get("ANON_TEST_EVERY"))
"""Every command after every value: else the commands take turns, so that each meets every column and every value."""
COLUMNS = [(table.name, column.name) for table in metadata.sorted_tables for column in table.columns]
COMMANDS: list[tuple[Any, list[str]]] = [
    (audit, ["list"]),
    (audit, ["list", "--json"]),
    (audit, ["show", "run 1"]),
    (audit, ["show", "people", "--json"]),
    (audit, ["pending"]),
    (audit, ["pending", "--json"]),
    (audit, ["verify"]),
    (audit, ["verify", "--json"]),
    (audit, ["export"]),
    (audit, ["export", "--json"]),
    (withdraw, ["2026-01", "--reason", "why"]),
    (approval, ["revoke", "run 1", "--reason", "why"]),
]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a row in every table and an open question, its triggers and its rules against gaps gone."""
    home = tmp_path_factory.mktemp("evidence")
    with AuditStore.open(None, home, KEY) as store:
        store.intend(**RUN, verb="run", actor="ada", spec_digest="0")
        store.close(store.intend(**RUN, verb="stage", actor="ada"), "done", rows=7)
        store.append("releases", **RUN, version="2026-01", period="2026-01-01", rows_in=7, rows_out=6,
                     content_digest="0", spec_digest="0")  # fmt: skip
        store.append("checks", **RUN, distribution="a.csv", name="k", passed=True, observed=5, required=5)
        store.append("recodings", **RUN, method="local", rows_changed=1, rows_removed=0)
        store.append("receipts", **RUN, digest="0", body="{}")
        store.append("approvals", **RUN, receipt_digest="0", person="bea", decision="approved", mac="0")
        store.append("publications", **RUN, version="2026-01", portal="folder", status="published",
                     location="x", content_digest="0", details={"portal": {"folder": str(home / "none")}})  # fmt: skip
        store.append("refusals", **RUN, by="gate", reasons=["k is 2"])
        store.append("waivers", **RUN, check_name="alpha", columns=["sex"], reason="why", person="bea", until=None)
        store.append("withdrawals", dataset="people", version="2026-01", reason="why", person="bea")
        store.intend(**RUN, verb="approve", actor="ada", details={"users": ["bea"], "receipt": "0", "wait": 9})
    unguard(home / "audit.db")
    return home / "audit.db"


@pytest.fixture
def home(tmp_path: Path, original: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANON_HOME", str(tmp_path))
    monkeypatch.setenv("ANON_SIGNING_KEY", SECRET)
    tmp_path.chmod(0o700)
    shutil.copy(original, tmp_path)
    return tmp_path


def tamper(home: Path, *statements: tuple[str, tuple[Any, ...]]) -> bool:
    with closing(sqlite3.connect(home / "audit.db")) as database:
        try:
            for statement, values in statements:
                database.execute(statement, values)
        except sqlite3.IntegrityError:
            return False
        database.commit()
    return True


def stored(home: Path, table: str, column: str) -> list[Any]:
    with closing(sqlite3.connect(home / "audit.db")) as database:
        return database.execute(f'SELECT typeof("{column}"), hex("{column}") FROM "{table}" ORDER BY rowid').fetchall()


def invoked(command: Any, arguments: list[str]) -> Result:
    """Run a command, and fail if it ends with anything but 0, 1 or an error of ours with a message."""
    ended = CliRunner().invoke(command, arguments)
    error = ended.exception
    ours = isinstance(error, AnonError) and not isinstance(error, InternalError)
    fine = ours or error is None or (isinstance(error, SystemExit) and ended.exit_code in (0, 1))
    assert fine, (arguments, ended.exc_info, ended.output[:500])
    if ours:
        str(error).encode()
    elif "--json" in arguments:
        json.loads(ended.stdout)
    assert "\x1b" not in ended.output
    return ended


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=[".".join(one) for one in COLUMNS])
def test_no_value_in_any_column_stops_an_audit_command(home: Path, original: Path, table: str, column: str) -> None:
    for number, value in enumerate(NASTY):
        shutil.copy(original, home)
        new, values = ("CAST(x'ff41' AS TEXT)", ()) if value == "CAST" else ("?", (value,))
        before = stored(home, table, column)
        if not tamper(home, (f'UPDATE "{table}" SET "{column}" = {new}', values)):
            continue
        changed = stored(home, table, column) != before
        turn = (number + COLUMNS.index((table, column))) % len(COMMANDS)
        for command, arguments in COMMANDS if EVERY else COMMANDS[turn : turn + 1]:
            ended = invoked(command, arguments)
            if arguments == ["verify"] and changed:  # The triggers are gone too, which ends with 1 by itself.
                assert ("schema_version says" if table == "schema_version" else "BROKEN at entry") in ended.stderr
            if arguments == ["verify", "--json"] and changed:
                assert json.loads(ended.stdout)["broken_seq"] is not None or table == "schema_version"
            if arguments == ["export"] and changed and table != "schema_version":
                marked = [
                    line for line in map(json.loads, ended.stdout.splitlines()) if {"wrong", "unproven"} & set(line)
                ]
                assert marked
            if arguments == ["export"] and table not in ("chain", "schema_version"):
                assert any(json.loads(line).get("table_name") == table for line in ended.stdout.splitlines())


@pytest.mark.parametrize("table", list(metadata.tables))
def test_without_a_table_the_others_are_shown(home: Path, table: str) -> None:
    assert tamper(home, (f"DROP TABLE {table}", ()))
    ended = {tuple(arguments): invoked(command, arguments) for command, arguments in COMMANDS}
    assert ended["verify",].exit_code == ended["list",].exit_code == ended["export",].exit_code == 1
    assert f"table {table} is missing" in ended["verify",].output
    assert "run 1" in ended["list",].output
    assert len(ended["export",].stdout.splitlines()) >= 10


def test_rows_without_numbers_in_a_table_that_lost_its_key_are_shown(home: Path) -> None:
    assert tamper(
        home,
        ("CREATE TABLE other AS SELECT * FROM intents", ()),
        ("DROP TABLE intents", ()),
        ("ALTER TABLE other RENAME TO intents", ()),
        (
            "INSERT INTO intents (id, run_id, dataset, verb) VALUES (NULL, 'run 1', 'people', 'x'), ('a', 'b', '', '')",
            (),
        ),
        ("INSERT INTO intents SELECT * FROM intents", ()),
    )
    ended = {tuple(arguments): invoked(command, arguments) for command, arguments in COMMANDS}
    assert "has lost its primary key" in ended["verify",].output
    assert ended["verify",].exit_code == 1


def test_a_row_that_was_put_in_is_shown_and_marked(home: Path) -> None:
    sneaked = "INSERT INTO publications VALUES (900, 'run 1', 'people', 'v9', 'x', 'published', 'x', 'x', '{}', '2026')"
    assert tamper(home, (sneaked, ()))
    shown = json.loads(invoked(audit, ["show", "run 1", "--json"]).stdout)
    assert shown["rows"]["publications"][-1]["wrong"] == ["no link proves it: it was inserted, or its link was removed"]
    lines = [json.loads(line) for line in invoked(audit, ["export"]).stdout.splitlines()]
    assert [line for line in lines if line.get("table_name") == "publications"][-1]["row"]["version"] == "v9"
    listed = invoked(audit, ["list"])
    assert listed.exit_code == 1 and "not intact" in listed.output


def test_links_that_were_removed_are_named_in_the_export(home: Path) -> None:
    assert tamper(
        home, ("DELETE FROM chain WHERE seq IN (4, 5)", ()), ("DELETE FROM releases", ()), ("DELETE FROM checks", ())
    )
    lines = [json.loads(line) for line in invoked(audit, ["export"]).stdout.splitlines()]
    gap = next(line for line in lines if "to" in line)
    assert (gap["seq"], gap["to"]) == (4, 5)
    assert [line["seq"] for line in lines if "wrong" in line] == [4]


@pytest.fixture
def untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ANON_HOME", str(tmp_path))
    monkeypatch.setenv("ANON_SIGNING_KEY", SECRET)
    with AuditStore.open(None, tmp_path, KEY) as store:
        store.close(store.intend(**RUN, verb="run", actor="ada"), "done")
    yield tmp_path


def test_nothing_is_marked_in_a_store_that_holds(untouched: Path) -> None:
    for arguments in (["list"], ["show", "run 1"], ["pending"], ["verify"], ["export"]):
        ended = invoked(audit, arguments)
        assert ended.exit_code == 0 and ended.stderr == "", arguments
    assert "wrong" not in invoked(audit, ["export"]).stdout


def test_what_a_key_signed_that_is_not_here_is_not_proven_and_not_wrong(untouched: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ANON_SIGNING_KEY", "another key, as long as keys have to be")
    for arguments in (["list"], ["show", "run 1"], ["export"]):
        ended = invoked(audit, arguments)
        assert ended.exit_code == 0 and f"not proven, because key {KEY.key_id}" in ended.stderr, arguments
    assert invoked(audit, ["verify"]).exit_code == 1


def test_a_dataset_that_is_not_utf8_on_the_command_line_finds_nothing(untouched: Path) -> None:
    assert invoked(audit, ["list", "--dataset", "caf\udce9"]).exit_code == 0
    assert isinstance(invoked(audit, ["show", "caf\udce9"]).exception, AnonError)


def test_a_copy_on_a_medium_that_cannot_be_written_is_verified(untouched: Path, tmp_path_factory: Any) -> None:
    copy = tmp_path_factory.mktemp("medium") / "audit.db"
    shutil.copy(untouched / "audit.db", copy)
    copy.chmod(0o400)
    copy.parent.chmod(0o500)
    ended = CliRunner().invoke(audit, ["verify"], env={"ANON_AUDIT_URL": f"sqlite:///{copy}"})
    assert ended.exit_code == 0, ended.output
    assert [path.name for path in copy.parent.iterdir()] == ["audit.db"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"period": 1}'])
def test_a_damaged_internal_report_does_not_hide_the_rows(untouched: Path, content: str) -> None:
    from anon_airflow.run.context import folder_name

    report = untouched / "runs" / "people" / folder_name("run 1") / "internal-report.json"
    report.parent.mkdir(parents=True)
    report.write_text(content)
    assert "intents" in invoked(audit, ["show", "run 1"]).output
