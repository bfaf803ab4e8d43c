"""The audit store after an intruder wrote into its file: verified, listed, shown, exported, believed or refused.

A row that was changed must never stop the commands that show what happened to it.
"""

from __future__ import annotations

import functools
import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anon_airflow.audit import AuditStore
from anon_airflow.audit.models import CHAIN, ROWS
from anon_airflow.cli import main
from anon_airflow.keys.signing import SigningKey
from tests.fuzz.drawing import Draw
from tests.fuzz.oracle import FindingError, command, judged
from tests.fuzz.target import Target
from tests.fuzz.targets.receipts import KEY, RECEIPT

TABLES = {"chain": CHAIN, **ROWS}
VALUES = (None, 0, 1, -1, 2**62, 3, 0.5, 1e308, "", "1", "{}", "[]", "null", "{", '{"a": 1}', '"x"', "NaN", "[" * 3000,
          "x" * 50, b"", b"\xff\xfe", b"{}", "\u0000", "é", "people", "publish", "run", "done", "refused", "2026-11-01",
          "not a day", "0000", "stage", "approve", '{"folder": 1}', '{"handover": 1}')  # fmt: skip
COMMANDS = (["list"], ["list", "--json"], ["show", "people"], ["show", "people", "--json"], ["verify"], ["export"],
            ["verify", "--json"], ["pending"], ["pending", "--json"], ["export", "--json"], ["show", "r", "--summary"],
            ["list", "--dataset", "people", "--limit", "1"])  # fmt: skip


@functools.cache
def stored(folder: Path) -> bytes:
    """Return the file of a store in which one run has a row in every table."""
    path = folder / "whole.db"
    path.unlink(missing_ok=True)
    write(path)
    return path.read_bytes()


def write(path: Path, key: SigningKey = KEY) -> None:
    """Write a store in which one run has a row in every table."""
    of_run = {"run_id": "r", "dataset": "people"}
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    with AuditStore.open(f"sqlite:///{path}", path.parent, key, clock=lambda: moment) as store:
        for verb in ("run", "stage", "approve", "publish"):
            intent = store.intend(
                **of_run, verb=verb, actor="p", spec_digest="c" * 64, details={"portal": {"folder": "portal"}}
            )
            if verb != "approve":
                store.close(intent, "done", rows=4, sha256="a" * 64)
        rows: dict[str, dict[str, Any]] = {
            "releases": {"version": "v1", "rows_in": 4, "rows_out": 4, "content_digest": "a" * 64, "spec_digest": "c" * 64},
            "checks": {"name": "k-anonymity", "passed": True, "observed": 5, "required": {"k": 5}},
            "recodings": {"method": "global", "rows_changed": 1},
            "receipts": {"digest": "d" * 64, "body": RECEIPT},
            "approvals": {"receipt_digest": "d" * 64, "person": "p", "decision": "approved", "mac": "m", "details": {"question": 5}},
            "publications": {
                "version": "v1", "portal": "folder", "status": "published", "location": "portal/people/v1",
                "content_digest": "a" * 64, "details": {"portal": {"folder": "portal"}},
            },
            "refusals": {"by": "gate", "reasons": ["k"]},
            "waivers": {"check_name": "risk", "columns": ["a"], "reason": "r", "person": "p", "until": "2026-12-31"},
        }  # fmt: skip
        for table, values in rows.items():
            store.append(table, **of_run, **values)
        store.append("withdrawals", dataset="people", version="v0", reason="r", person="p")


def tamper(draw: Draw, path: Path) -> bool:
    """Change a store behind its back; return whether anything is different."""
    if draw.chance(6):
        content = bytearray(path.read_bytes())
        for _ in range(draw.number(1, 4)):
            content[draw.number(0, len(content) - 1)] = draw.number(0, 255)
        path.write_bytes(content)
        return True
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f"drop trigger {name}")
        connection.execute("pragma ignore_check_constraints = on")
        before = list(connection.iterdump())
        for _ in range(draw.number(1, 3)):
            try:
                _change(draw, connection)
            except (sqlite3.Error, OverflowError):
                return False  # SQLite does not take it.
        return list(connection.iterdump()) != before
    finally:
        connection.close()


def _change(draw: Draw, connection: sqlite3.Connection) -> None:
    table = draw.pick(list(TABLES))
    columns = [column.name for column in TABLES[table].columns]
    column, rows = draw.pick(columns), f"rowid in (select rowid from {table} limit {draw.number(1, 20)})"
    match draw.number(0, 9):
        case 0:
            connection.execute(f"delete from {table} where {rows}")
        case 1:
            connection.execute(f"alter table {table} add column extra")
            connection.execute(f"update {table} set extra = ?", [draw.pick(VALUES)])
        case 2:
            connection.execute(f"alter table {table} rename column {column} to {draw.pick(columns)}_")
        case 3:
            connection.execute(f"drop table {table}")
        case 4:
            connection.execute("update schema_version set version = ?", [draw.pick(VALUES)])
        case 5:  # Without NOT NULL, so that a gap can stand where none may.
            kept = ", ".join(columns)
            connection.execute(f"create table t_ as select {kept} from {table}")
            connection.execute(f"drop table {table}")
            connection.execute(f"alter table t_ rename to {table}")
            connection.execute(f"update {table} set {column} = ?", [draw.pick(VALUES)])
        case _:
            connection.execute(f"update {table} set {column} = ? where {rows}", [draw.pick(VALUES)])


def run(draw: Draw, folder: Path) -> None:
    home = folder / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    path = home / "audit.db"
    for old in home.glob("audit.db*"):
        old.unlink()
    path.write_bytes(stored(folder))
    path.chmod(0o600)
    store = _opened(home)
    changed = tamper(draw, path)
    if draw.chance(8):
        _commands(draw, home)
        return
    if draw.chance(8):
        anew = judged(AuditStore.open, None, home, KEY)
        if anew is None:
            return
        with anew:
            _read(draw, anew, path, changed)
    else:
        _read(draw, store, path, changed)


@functools.cache
def _opened(home: Path) -> AuditStore:
    """Return a store that stays open while its file is replaced: compiling its statements takes most of the time."""
    return AuditStore.open(None, home, KEY)


def _read(draw: Draw, store: AuditStore, path: Path, changed: bool) -> None:
    verified = judged(store.verify)
    if changed and verified is not None and verified.ok:
        _unseen(path)
    readers: list[tuple[Any, ...]] = [
        (store.runs,),
        (store.run, "r", "people"),
        (lambda: list(store.export()),),
        (store.history, "r", "people"),
        (store.proven, "publications", "intents", "outcomes", "withdrawals"),
        (store.newest_day,),
        (store.open_intents,),
        (store.head,),
    ]
    for _ in range(draw.number(2, 4)):
        judged(*draw.pick(readers))


def _unseen(path: Path) -> None:
    """:raises FindingError: rows are not what they were, and verifying has not seen it."""
    whole, there = sqlite3.connect(":memory:"), sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    whole.deserialize(stored(path.parent.parent))
    try:
        same = all(_rows(whole, table) == _rows(there, table) for table in TABLES)
    except sqlite3.Error:
        same = False
    finally:
        whole.close()
        there.close()
    if not same:
        raise FindingError("a change is not seen", "store.py:verify")


def _rows(connection: sqlite3.Connection, table: str) -> list[Any]:
    return connection.execute(f"select * from {table} order by 1").fetchall()


def _commands(draw: Draw, home: Path) -> None:
    key = home / "signing.key"
    key.write_bytes(KEY.secret)
    key.chmod(0o600)
    os.environ["ANON_HOME"] = str(home)
    for _ in range(draw.number(1, 3)):
        command(main, ["audit", *draw.pick(COMMANDS)])


TARGET = Target(run=run, share=0.01, drawn=0.2)
