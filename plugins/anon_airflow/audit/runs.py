"""The history as people read it: one summary per run, and all rows of a run. Decisions must not rely on these rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    LargeBinary,
    Text,
    and_,
    cast,
    func,
    literal,
    or_,
    select,
    true,
    union_all,
)

from anon_airflow.audit.evidence import UNPROVEN, WRONG, mark_rows, shown_row
from anon_airflow.audit.handover import NO_RUN
from anon_airflow.audit.legible import legible
from anon_airflow.audit.mismatch import AIRFLOW, MISMATCH, ON_RECORD, agree
from anon_airflow.audit.models import CHAIN, ROWS
from anon_airflow.keys.ring import KeyRing
from anon_core.files.name_rules import is_utf8

ANY = object()
"""Stands for every dataset; None stands for an empty column, which only an intruder can have made."""

Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIntent:
    """An intent without an outcome: the work still goes on, or its process was killed."""

    id: int
    run_id: str
    dataset: str
    verb: str
    actor: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """
    One run of one dataset; ``verdict`` is published, unchanged, withdrawn, refused, failed or open.

    ``by`` is what refused it: stage, recode, gate, receipt, approval, audit store or portal; None if nothing did.
    ``airflow`` is the state that Airflow showed of it if that contradicts the verdict, when it was last compared.
    ``wrong`` lists the rows that the chain does not prove, ``unproven`` the keys that are not here.
    """

    run_id: str
    dataset: str
    started: str
    verbs: tuple[str, ...]
    verdict: str
    by: str | None
    version: str | None
    location: str | None
    airflow: str | None = None
    wrong: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Records:
    """
    The record, to be shown to people, also after an intruder has changed it.

    ``tables`` are the tables as :mod:`anon_airflow.audit.schema` found them. ``ring`` has the keys that prove rows.
    """

    connection: Connection
    tables: Mapping[str, FromClause]
    ring: KeyRing

    def open_intents(self, dataset: str | None) -> list[dict[str, Any]]:
        """Return the intents without an outcome, oldest first."""
        intents, outcomes = self.tables["intents"], self.tables["outcomes"]
        answered = select(outcomes.c.intent_id).where(outcomes.c.intent_id == intents.c.id).exists()
        query = select(intents).where(~answered).order_by(intents.c.id)
        if dataset is not None:
            query = query.where(_is(intents.c.dataset, dataset))
        return self._read({"intents": query})["intents"]

    def runs(self, dataset: str | None, limit: int | None) -> list[RecordedRun]:
        """The newest runs first. A run is a run id and a dataset: Airflow gives runs of different DAGs the same id."""
        return [_summary(*key, self.rows(*key)) for key in self._keys(dataset, limit)]

    def find(self, name: str) -> tuple[RecordedRun, Rows] | None:
        """The newest run that has this id, version or dataset, with its rows."""
        published = set()
        for table in (self.tables["publications"], self.tables["releases"]):
            query = select(table.c.run_id, table.c.dataset).where(_is(table.c.version, name))
            published |= {tuple(key) for key in self.connection.execute(query)}
        for key in self._keys(None, None):
            if key in published or name in (legible(key[0]), legible(key[1])):
                rows = self.rows(*key)
                return _summary(*key, rows), rows
        return None

    def rows(self, run_id: Any, dataset: Any) -> Rows:
        """All rows of a run, by table, oldest first; outcomes belong to the run of their intent."""
        queries = {}
        for name in ROWS:
            table = self.tables[name]
            if name == "outcomes":
                of_run = self.tables["intents"]
                query = select(table).join(of_run, of_run.c.id == table.c.intent_id)
            elif "run_id" in table.c:
                of_run, query = table, select(table)
            else:
                continue
            queries[name] = query.where(_is(of_run.c.run_id, run_id), _is(of_run.c.dataset, dataset)).order_by(
                table.c.id
            )
        found = self._read(queries)
        return found | self._withdrawals(found["publications"])

    def _withdrawals(self, publications: Sequence[Mapping[str, Any]]) -> Rows:
        """Return the withdrawals of the versions that a run published; other runs may have published the same ones."""
        table = self.tables["withdrawals"]
        keys = sorted({(row["dataset"], row["version"]) for row in publications})
        if not keys:
            return {"withdrawals": []}
        mine = [and_(_is(table.c.dataset, dataset), _is(table.c.version, version)) for dataset, version in keys]
        return self._read({"withdrawals": select(table).where(or_(*mine)).order_by(table.c.id)})

    def _keys(self, dataset: str | None, limit: int | None) -> list[tuple[Any, Any]]:
        of_runs = [table for name, table in self.tables.items() if "run_id" in table.c and name in ROWS]
        everything = union_all(*[select(table.c.run_id, table.c.dataset, table.c.id) for table in of_runs]).subquery()
        run_id, first = everything.c.run_id, func.min(everything.c.id)
        query = select(run_id, everything.c.dataset).group_by(run_id, everything.c.dataset)
        query = query.where(or_(run_id != NO_RUN, run_id.is_(None)))  # A change of keys belongs to no run.
        if dataset is not None:
            query = query.where(_is(everything.c.dataset, dataset))
        found = self.connection.execute(query.order_by(first.desc()).limit(limit)).all()
        return [(run, name) for run, name in found]

    def _read(self, queries: Mapping[str, Any]) -> Rows:
        found = {}
        for name, query in queries.items():
            stored = [dict(row) for row in self.connection.execute(query).mappings()]
            found[name] = [(row, shown_row(ROWS[name], row)) for row in stored]
        mark_rows(self.connection, self.tables[CHAIN.name], self.ring, found)
        return {name: [row for _, row in rows] for name, rows in found.items()}


def _is(column: ColumnElement[Any], value: Any) -> ColumnElement[bool]:
    """Compare with a value as it was read: text that is not UTF-8 is passed to the database as bytes."""
    if value is ANY:
        return true()
    if isinstance(value, str) and not is_utf8(value):
        return column == cast(literal(value.encode("utf-8", "surrogateescape"), LargeBinary), Text)
    return column.is_(None) if value is None else column == value


def _summary(run_id: Any, dataset: Any, rows: Mapping[str, Sequence[dict[str, Any]]]) -> RecordedRun:
    status = {outcome["intent_id"]: outcome["status"] for outcome in rows["outcomes"]}
    verbs = dict.fromkeys(intent["verb"] for intent in rows["intents"] if status.get(intent["id"]) == "done")
    published = rows["publications"][-1] if rows["publications"] else None
    released = published or (rows["releases"][-1] if rows["releases"] else None)
    verdict = _verdict(rows, status)
    return RecordedRun(
        run_id=str(legible(run_id)),
        dataset=str(legible(dataset)),
        started=min((table[0]["at"] for table in rows.values() if table), default="(unknown)"),
        verbs=tuple(verbs),
        verdict=verdict,
        by=rows["refusals"][-1]["by"] if verdict == "refused" and rows["refusals"] else None,
        version=released["version"] if released else None,
        location=published["location"] if published else None,
        airflow=_contradicting_state(rows["intents"]),
        wrong=tuple(
            f"{name} row {row['id']}: {what}"
            for name, table in rows.items()
            for row in table
            for what in row.get(WRONG, ())
        ),
        unproven=tuple(sorted({str(row[UNPROVEN]) for table in rows.values() for row in table if UNPROVEN in row})),
    )


def _contradicting_state(intents: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the state that Airflow last showed of a run if it is not what was on record; after tampering, no state."""
    compared = [row["details"] for row in intents if row["verb"] == MISMATCH]
    last = compared[-1] if compared and isinstance(compared[-1], dict) else None
    if last is None or agree(last.get(AIRFLOW), last.get(ON_RECORD)):
        return None
    return str(legible(last.get(AIRFLOW)))


def _verdict(rows: Mapping[str, Sequence[dict[str, Any]]], status: Mapping[int, str]) -> str:
    """
    Return the verdict of a run: the last row that settled it.

    A published release stays published if a later step fails or is killed; only a refusal of a later attempt counts. A
    run whose steps are all done, but that has neither published nor refused yet, is open.
    """
    settled = [(row["id"], str(row["status"])) for row in rows["publications"]]
    settled += [(row["id"], "withdrawn") for row in rows["withdrawals"]]
    settled += [(row["id"], "refused") for row in rows["refusals"]]
    settled += [(row["id"], "refused") for row in rows["outcomes"] if row["status"] == "refused"]
    unsettled = [(row["id"], "failed") for row in rows["outcomes"] if row["status"] == "failed"]
    unsettled += [(row["id"], "open") for row in rows["intents"] if row["id"] not in status]
    last = max(settled, default=(0, "open"))
    return last[1] if last[1] in ("published", "unchanged", "withdrawn") else max([last, *unsettled])[1]
