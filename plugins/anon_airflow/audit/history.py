"""Rows that decisions may rely on, of one run or of the whole store: the chain proves each row when it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from sqlalchemy import func, select

from anon_airflow.audit.chain import GENESIS, Head, Position, check_chain, head_before, walk, wrong, wrong_entry
from anon_airflow.audit.clock import BY, SeenDay, latest_day
from anon_airflow.audit.database import Database
from anon_airflow.audit.evidence import decoded
from anon_airflow.audit.handover import Signers
from anon_airflow.audit.models import ROWS
from anon_airflow.gate.receipt import digest_of_text
from anon_airflow.keys.ring import KeyRing
from anon_core.errors import RefusedError

RUN, STAGE, PUBLISH = "run", "stage", "publish"
SEEN = "seen"
"""The key in the intent of a run for the latest day of all links before it."""

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]


class StoredReceipt(NamedTuple):
    """A receipt on record: its place in the chain, its text, and the digest of the text."""

    place: int
    body: str
    digest: str


def begun(rows: Rows) -> Row | None:
    """
    Return the intent with which a run was last staged.

    An id is a row's place in the chain: unlike a time, it does not depend on a clock.
    """
    return max((row for row in rows["intents"] if row["verb"] == RUN), key=lambda row: row["id"], default=None)


def since_begun(rows: Rows) -> dict[str, list[Row]]:
    """Return the rows since a run was last staged: earlier attempts do not count."""
    start = begun(rows)
    return {name: [row for row in found if start is None or row["id"] >= start["id"]] for name, found in rows.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """
    The rows of one run that the chain proves, from its first row on.

    ``published`` are the intents to publish its dataset since then, by any run, except those that were refused;
    ``seen`` is the latest day of any link of the whole chain, now or when the run began; None for an empty store.
    """

    run_id: str
    rows: Rows
    published: Sequence[Row]
    seen: SeenDay | None

    def day(self, today: date) -> date:
        """Return the day that decides whether a waiver has ended: today, or a later day on record."""
        return max(today, self.seen.day) if self.seen else today

    def clock_problem(self, today: date) -> str:
        """Return a sentence if the record has a later day than this worker's clock, with what to do; else nothing."""
        if self.seen is None or self.seen.day <= today:
            return ""
        return (
            f"link {self.seen.link} of the audit store was written on {self.seen.day.isoformat()}, this worker's clock "
            f"says {today.isoformat()}, and the later day counts: if this clock is slow, set it; if the other clock "
            "ran ahead, renew the waiver or acceptance until after that day, or remove it (docs/gate.md, A clock that "
            "ran ahead)"
        )

    @property
    def begun_at(self) -> int:
        """The place in the chain where the run was last staged; 0 if it never was."""
        start = begun(self.rows)
        return start["id"] if start else 0

    @property
    def attempt(self) -> Rows:
        """The rows since the run was last staged."""
        return since_begun(self.rows)

    @property
    def receipt(self) -> StoredReceipt | None:
        """The newest receipt of the run."""
        if not self.rows["receipts"]:
            return None
        newest = self.rows["receipts"][-1]
        return StoredReceipt(newest["id"], newest["body"], digest_of_text(newest["body"]))

    @property
    def answered(self) -> frozenset[int]:
        """The intents of the run that have an outcome, of any kind."""
        return frozenset(row["intent_id"] for row in self.rows["outcomes"])

    @property
    def staged(self) -> Row:
        """
        The staged table as it is on record: ``rows``, ``rows_dropped``, ``sha256`` and ``spec_digest``.

        :raises RefusedError: no staged table is on record.
        """
        rows = self.attempt
        intents = {row["id"] for row in rows["intents"] if row["verb"] == STAGE}
        done = [row for row in rows["outcomes"] if row["intent_id"] in intents and row["status"] == "done"]
        if not done:
            reason = f"it has no record of the table that run {self.run_id} staged; clear the run from `stage`"
            raise RefusedError(BY, [reason])
        details: Row = done[-1]["details"]
        return details


def history_of(database: Database, ring: KeyRing, run_id: str, dataset: str) -> History:
    """
    Read the rows of a run along the chain, from the first of them to the end of the store, and prove each.

    Earlier links are not read, and not relied on. A chain whose end was cut off, links and rows, is not detected here.

    :raises RefusedError: a link is broken, or the beginning of the run is not on record.
    """
    passed: list[tuple[tuple[str, Row], ...]] = []

    def passing(positions: Iterator[Position]) -> Iterator[Position]:
        for position in positions:
            passed.append(position.rows)
            yield position

    start = _first_row(database, run_id, dataset)
    if start is not None:
        followed = check_chain(passing(walk(database, start)), ring, after=head_before(database, start))
        if followed.broken_seq is not None:
            raise RefusedError(BY, [f"{followed.reason}; the record cannot be trusted: run `anon audit verify`"])
    proven = _Proven(run_id, dataset, latest_day(database, ring))
    for ((name, row),) in passed:
        proven.keep(name, decoded(ROWS[name], row))
    if begun(proven.rows) is None and any(found for name, found in proven.rows.items() if name != "refusals"):
        raise RefusedError(BY, [f"the beginning of run {run_id} is not on record: run `anon audit verify`"])
    return proven.history()


def _first_row(database: Database, run_id: str, dataset: str) -> int | None:
    firsts = []
    with database.reading() as connection:
        for table in (table for table in ROWS.values() if "run_id" in table.c):
            first = select(func.min(table.c.id)).where(table.c.run_id == run_id, table.c.dataset == dataset)
            firsts.append(connection.execute(first).scalar())
    if any(first is not None and not isinstance(first, int) for first in firsts):
        reason = "a row has no number for its place in the chain; the record cannot be trusted"
        raise RefusedError(BY, [f"{reason}: run `anon audit verify`"])
    return min((first for first in firsts if first is not None), default=None)


def _tables_of_runs() -> dict[str, list[Row]]:
    return {name: [] for name, table in ROWS.items() if "run_id" in table.c or name == "outcomes"}


@dataclass(slots=True)
class _Proven:
    """Collects the rows of one run, and what a history needs besides, along a proven part of the chain."""

    run_id: str
    dataset: str
    latest: SeenDay | None
    rows: dict[str, list[Row]] = field(default_factory=_tables_of_runs)
    publishing: list[Row] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)

    def keep(self, name: str, row: Row) -> None:
        """Keep a row if it belongs to the run; an outcome belongs to the run of its intent."""
        self._see(row["at"], row["id"])
        if name == "intents" and row["verb"] == RUN and row["details"].get(SEEN):
            self._see(str(row["details"][SEEN]), row["id"])
        own = (row.get("run_id"), row.get("dataset")) == (self.run_id, self.dataset)
        if name == "outcomes":
            own = any(intent["id"] == row["intent_id"] for intent in self.rows["intents"])
            if row["status"] == "refused":
                self.refused.add(row["intent_id"])
        if name == "intents" and (row["dataset"], row["verb"]) == (self.dataset, PUBLISH):
            self.publishing.append(row)
        if own:
            self.rows[name].append(row)

    def _see(self, at: str, link: int) -> None:
        seen = SeenDay(date.fromisoformat(at[:10]), link)
        if self.latest is None or seen.day > self.latest.day:
            self.latest = seen

    def history(self) -> History:
        return History(
            run_id=self.run_id,
            rows=self.rows,
            published=tuple(row for row in self.publishing if row["id"] not in self.refused),
            seen=self.latest,
        )


def proven_rows(database: Database, ring: KeyRing, tables: Sequence[str]) -> dict[str, list[Row]]:
    """
    Return all rows of some tables, oldest first, each proven by its own link.

    :func:`history_of` proves every row since a run began. This function goes back to the first link but ignores rows of
    other tables, so an old fault in one of them does not stop every dataset for ever. Still, no link may be missing,
    each must follow the one before it, and each must be signed: a missing row of these tables is always detected.
    Retired keys are needed for that.

    :raises RefusedError: a link is broken, or one of these rows is not what was signed.
    """
    found: dict[str, list[Row]] = {name: [] for name in tables}
    head = Head(0, GENESIS)
    for position in walk(database):
        here = {name for name, _ in position.rows} | {entry["table_name"] for entry in position.entries}
        if here.isdisjoint(found):
            what = wrong_entry(position, head, ring) if position.entries else ""
        else:
            what = wrong(position, head, Signers(ring))
        if what:
            reason = f"link {position.number}: {what}; the record cannot be trusted: run `anon audit verify`"
            raise RefusedError(BY, [reason])
        for name, row in position.rows:
            if name in found:
                found[name].append(decoded(ROWS[name], row))
        if position.entries:
            head = Head(position.number, position.entries[0]["mac"])
    return found
