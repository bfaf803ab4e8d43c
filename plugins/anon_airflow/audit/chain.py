"""The chain: every row of the audit store has a signed entry that also signs the entry before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, FromClause, select

from anon_airflow.audit.database import Database
from anon_airflow.audit.handover import KeyUse, Signers
from anon_airflow.audit.legible import legible
from anon_airflow.audit.models import CHAIN, ROWS
from anon_airflow.keys.ring import RETIRED, KeyRing
from anon_airflow.keys.signing import canonical_json
from anon_core.files.storage import digest

GENESIS = "0" * 64

_PAGE = 1000

Stored = dict[Any, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """The newest entry of the chain; a chain without entries has seq 0."""

    seq: int
    mac: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """
    The signature of a link, kept outside the store; without the key the signature does not reveal its place.

    Releases of earlier versions also hold the place.
    """

    mac: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """What the store holds under one number: exactly one chain entry and one row, if it is intact."""

    number: int
    entries: tuple[Stored, ...]
    rows: tuple[tuple[str, Stored], ...]


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """How far the chain is intact (``head``), its ``keys``, and the first broken link, if there is one."""

    head: Head
    keys: tuple[KeyUse, ...]
    broken_seq: int | None = None
    reason: str = ""


def row_digest(table: str, row: Mapping[str, Any]) -> str:
    """
    Digest a row as stored. Empty columns are left out, so a column that is added later does not change old digests.

    >>> row_digest("refusals", {"id": 1, "by": None}) == row_digest("refusals", {"id": 1})
    True
    """
    values = {name: _plain(value) for name, value in row.items() if value is not None}
    return digest(canonical_json({"table": table, "row": values}))


def entry_message(entry: Mapping[str, Any]) -> bytes:
    """The bytes that are signed in a chain entry: all its columns but the signature."""
    return canonical_json({name: _plain(value) for name, value in entry.items() if name != "mac"}).encode()


def _plain(value: Any) -> Any:
    """Mark a value that is neither text nor a whole number: only an intruder stores such values."""
    if value is None or isinstance(value, str | int):
        return value
    return {type(value).__name__: repr(value)}


def walk(
    database: Database, begin: int | None = None, tables: Mapping[str, FromClause] | None = None
) -> Iterator[Position]:
    """
    Yield everything in the store, by number, page by page; from ``begin`` on, if that is given.

    Each page is a transaction of its own: rows never change, so writers need not wait for a reader. The last page has
    no upper limit and, without ``begin``, the first no lower one, so no row can hide outside. Rows without a number, in
    a table that lost its primary key, come under 0. ``tables`` replace those of the database.
    """
    low = None if begin is None else begin - 1
    tables = database.tables if tables is None else tables
    chain = tables[CHAIN.name]
    while True:
        with database.reading() as connection:
            ends = select(chain.c.seq).order_by(chain.c.seq).offset(_PAGE - 1).limit(1)
            high = connection.execute(ends if low is None else ends.where(chain.c.seq > low)).scalar()
            high = high if isinstance(high, int) else None
            entries: dict[int, list[Stored]] = defaultdict(list)
            rows: dict[int, list[tuple[str, Stored]]] = defaultdict(list)
            for entry in connection.execute(_between(chain, chain.c.seq, low, high)).mappings():
                entries[_number(entry["seq"])].append(dict(entry))
            for name in ROWS:
                table = tables[name]
                for row in connection.execute(_between(table, table.c.id, low, high)).mappings():
                    rows[_number(row["id"])].append((name, dict(row)))
        for number in sorted(entries.keys() | rows.keys()):
            yield Position(number, tuple(entries.get(number, ())), tuple(rows.get(number, ())))
        if high is None:
            return
        low = high


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _between(table: FromClause, column: ColumnElement[Any], low: int | None, high: int | None) -> Any:
    query = select(table)
    if low is not None:
        query = query.where(column > low)
    return query if high is None else query.where(column <= high)


def check_chain(
    positions: Iterator[Position],
    ring: KeyRing,
    anchors: Iterable[Anchor | Head] = (),
    after: Head | None = None,
) -> ChainCheck:
    """
    Verify the chain up to the first broken link, from its start or from the link after ``after``.

    An anchor holds the signature of a link, which covers all links before it; anchors of earlier versions also hold the
    place.
    """
    head, signers = after or Head(0, GENESIS), Signers(ring)
    seen: dict[int, set[str]] = defaultdict(set)
    anywhere: set[str] = set()
    for anchor in anchors:
        if anchor.seq is None:
            anywhere.add(anchor.mac)
        else:
            seen[anchor.seq].add(anchor.mac)

    def broken(seq: int, what: str) -> ChainCheck:
        return ChainCheck(head, tuple(signers.used), seq, f"link {seq}: {what}")

    for position in positions:
        if position.number > head.seq + 1 and (position.entries or any(later.entries for later in positions)):
            return broken(head.seq + 1, "its chain entry and its row were removed")
        what = wrong(position, head, signers)
        if what:
            return broken(position.number, what)
        head = Head(position.number, position.entries[0]["mac"])
        anywhere.discard(head.mac)
        if seen.get(head.seq, {head.mac}) != {head.mac}:
            return broken(head.seq, "it is not the link in the anchor, so the history up to it was rewritten")
    if max(seen, default=0) > head.seq:
        return broken(head.seq + 1, f"the anchor is of link {max(seen)}, so the end of the chain was cut off")
    if anywhere:
        links = f"the links of {len(anywhere)} anchors are" if len(anywhere) > 1 else "the link of an anchor is"
        what = "not in the chain, so the end of the chain was cut off, or the history before that link was rewritten"
        return broken(head.seq + 1, f"{links} {what}")
    return ChainCheck(head, tuple(signers.used))


def head_before(database: Database, begin: int) -> Head:
    """
    Return the head that the link ``begin`` claims to follow, to verify the chain from there on.

    The claim can be trusted: it is part of what the link signs, and :func:`follow` checks that signature first.
    """
    with database.reading() as connection:
        claimed = connection.execute(select(CHAIN.c.previous_mac).where(CHAIN.c.seq == begin)).scalar()
    return Head(begin - 1, GENESIS if claimed is None or begin == 1 else claimed)


def wrong(position: Position, head: Head, signers: Signers) -> str:
    """Return what is wrong at one position, given the last intact link; empty if nothing is."""
    return str(legible(_wrong(position, head, signers)))


def _wrong(position: Position, head: Head, signers: Signers) -> str:
    if what := wrong_entry(position, head, signers.ring):
        return what
    entry = position.entries[0]
    named = f"{entry['table_name']} row {entry['row_id']}"
    strangers = [table for table, _ in position.rows if table != entry["table_name"]]
    if strangers:
        return f"{strangers[0]} row {position.number} was inserted: the chain entry is that of {named}"
    if not position.rows:
        return f"{named} was removed"
    if len(position.rows) > 1:
        return f"{named} exists more than once"
    if row_digest(*position.rows[0]) != entry["row_digest"]:
        return f"{named} was edited"
    return signers.wrong(entry, position.rows[0][1], head.mac)


def wrong_entry(position: Position, head: Head, ring: KeyRing) -> str:
    """Return what is wrong with a link, without a look at its row; empty if nothing is."""
    return str(legible(_wrong_entry(position, head, ring)))


def _wrong_entry(position: Position, head: Head, ring: KeyRing) -> str:
    if len(position.entries) != 1 or position.number != head.seq + 1:
        named = " and ".join(f"{table} row {position.number}" for table, _ in position.rows)
        if position.entries:
            return f"a chain entry was inserted (with {named or 'no row'})"
        return f"{named} has no chain entry: the entry was removed, or the row was inserted"
    entry = position.entries[0]
    named = f"{entry['table_name']} row {entry['row_id']}"
    key = ring.find(entry["key_id"])
    if key is None:
        return (
            f"the chain entry of {named} names key {entry['key_id']}, which is not here (the current one is "
            f"{ring.current.key_id}): if that key was retired, name a file with it in {RETIRED}; if it is in use "
            "today, set ANON_SIGNING_KEY to it; if it was never one of your keys, the entry was forged"
        )
    if entry["previous_mac"] != head.mac:
        return f"the chain entry of {named} does not follow the one before it: entries were reordered or replaced"
    if not key.verify("chain", entry_message(entry), entry["mac"]):
        return f"the chain entry of {named} was edited, or signed with another key"
    return ""
