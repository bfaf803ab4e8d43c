"""Rows of a store that may have been tampered with, as people read them; rows that are not proven are marked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, FromClause, Integer, Table, select

from anon_airflow.audit.chain import GENESIS, Head, Position, entry_message, row_digest, wrong
from anon_airflow.audit.handover import Signers
from anon_airflow.audit.legible import legible
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import canonical_json

WRONG = "wrong"
"""The key of a row for what is wrong with it; an intact row has no such key."""
UNPROVEN = "unproven"
"""The key of a row whose signing key is not here; its value is the id of that signing key."""

_ROWS_PER_QUERY = 500

Row = dict[str, Any]


def decoded(table: Table, row: Mapping[Any, Any]) -> dict[str, Any]:
    """A stored row that the chain vouches for, with its JSON columns read and its flags as booleans."""
    values = dict(row)
    for column in table.columns:
        if column.info.get("json"):
            values[column.name] = json.loads(values[column.name])
        elif column.info.get("flag"):
            values[column.name] = bool(values[column.name])
    return values


def shown_row(table: Table, row: Mapping[Any, Any]) -> Row:
    """Return a stored row with its JSON read and its flags as booleans; ``wrong`` lists the values that are neither."""
    values: Row = {}
    problems = []
    for column in table.columns:
        value = row[column.name]
        try:
            values[column.name] = _as_declared(column, value)
        except (ValueError, TypeError, RecursionError):
            problems.append(f"{column.name} cannot hold {legible(value)}")
            values[column.name] = _substitute(column, value)
    return values | ({WRONG: problems} if problems else {})


def _as_declared(column: Column[Any], value: Any) -> Any:
    """:raises ValueError, TypeError: the store never writes such a value to this column."""
    if value is None and column.nullable:
        return None
    if column.info.get("flag"):
        return (False, True)[(0, 1).index(value)]
    if isinstance(column.type, Integer):
        if not isinstance(value, int):
            raise TypeError(column.name)
        return value
    if not isinstance(value, str):
        raise TypeError(column.name)
    value.encode()
    if not column.info.get("json"):
        return value
    content = json.loads(value)
    canonical_json(content)
    json.dumps(content, ensure_ascii=False).encode()
    if column.name == "details" and not isinstance(content, dict):
        raise TypeError(column.name)
    return content


def _substitute(column: Column[Any], value: Any) -> Any:
    if column.name == "id":
        return 0
    if column.info.get("flag"):
        return False
    if isinstance(column.type, Integer):
        return None
    return {"unreadable": legible(value)} if column.name == "details" else str(legible(value))


def mark_rows(
    connection: Connection,
    chain: FromClause,
    ring: KeyRing,
    found: Mapping[str, Sequence[tuple[Mapping[Any, Any], Row]]],
) -> None:
    """
    Mark every row that its own link does not prove; the rows are given by table, as stored and as shown.

    `anon audit verify` checks whether links follow each other and whether one is missing.
    """
    numbers = sorted({stored["id"] for rows in found.values() for stored, _ in rows if isinstance(stored["id"], int)})
    entries: dict[int, Row] = {}
    for begin in range(0, len(numbers), _ROWS_PER_QUERY):
        query = select(chain).where(chain.c.seq.in_(numbers[begin : begin + _ROWS_PER_QUERY]))
        entries |= {entry["seq"]: dict(entry) for entry in connection.execute(query).mappings()}
    for name, rows in found.items():
        for stored, row in rows:
            entry = entries.get(stored["id"])
            key = ring.find(entry["key_id"]) if entry else None
            if what := _row_problem(name, stored, entry, ring):
                row[WRONG] = [what, *row.get(WRONG, ())]
            elif key is None and entry:
                row[UNPROVEN] = legible(entry["key_id"])


def _row_problem(name: str, stored: Mapping[Any, Any], entry: Row | None, ring: KeyRing) -> str:
    if entry is None:
        return "no link proves it: it was inserted, or its link was removed"
    if entry["table_name"] != name or entry["row_digest"] != row_digest(name, stored):
        return "it is not the row that its link signs: it was edited or inserted"
    key = ring.find(entry["key_id"])
    if key is not None and not key.verify("chain", entry_message(entry), entry["mac"]):
        return "the signature of its link is wrong: the link was edited"
    return ""


def export_lines(positions: Iterator[Position], ring: KeyRing) -> Iterator[Row]:
    """
    Yield every link with its row as stored, in order, and the rows that have no link.

    ``wrong`` says what is not proven. A gap of several missing links is one line.
    """
    head, signers = Head(0, GENESIS), Signers(ring)
    for position in positions:
        if position.number > head.seq + 1:
            first, last = head.seq + 1, position.number - 1
            yield {"seq": first, "to": last, WRONG: f"links {first} to {last}, or their chain entries, were removed"}
            head = Head(last, _claimed_previous_mac(position))
        marked = _marks(position, head, signers)
        rows = list(position.rows)
        for entry in position.entries:
            own = next((one for one in rows if one[0] == entry["table_name"]), None)
            if own:
                rows.remove(own)
            yield {**_legible_row(entry), "row": _legible_row(own[1]) if own else None, **marked}
        for name, row in rows:
            yield {"seq": position.number, "table_name": name, "row": _legible_row(row), **marked}
        if position.number > head.seq:
            head = Head(position.number, position.entries[0]["mac"] if position.entries else "")


def _marks(position: Position, head: Head, signers: Signers) -> Row:
    what = wrong(position, head, signers)
    if not what:
        return {}
    if len(position.entries) == len(position.rows) == 1:
        entry, (name, row) = position.entries[0], position.rows[0]
        stranger = signers.ring.find(entry["key_id"]) is None
        if stranger and entry["previous_mac"] == head.mac and not _row_problem(name, row, entry, signers.ring):
            return {UNPROVEN: legible(entry["key_id"])}
    return {WRONG: legible(what)}


def _claimed_previous_mac(position: Position) -> str:
    """Return the signature of the previous link that the link after a gap names: the missing links cannot."""
    return str(position.entries[0]["previous_mac"]) if position.entries else ""


def _legible_row(row: Mapping[Any, Any]) -> Row:
    return {name: None if value is None else legible(value) for name, value in row.items()}
