"""The history as people read it: one line per run, and what a run left behind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, func, select, tuple_, union_all

from anon_airflow.audit.handover import NO_RUN
from anon_airflow.audit.models import ROWS

__all__ = ["OpenIntent", "Run", "decoded", "open_intents", "rows_of_run", "runs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIntent:
    """Work that was begun and never reported back: still going on, or its process was killed."""

    id: int
    run_id: str
    dataset: str
    verb: str
    actor: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of one dataset; ``verdict`` is published, unchanged, withdrawn, refused, failed or open."""

    run_id: str
    dataset: str
    started: str
    verbs: tuple[str, ...]
    verdict: str
    version: str | None
    location: str | None


def decoded(table: Table, row: Mapping[Any, Any]) -> dict[str, Any]:
    """A stored row with its JSON columns read and its flags as booleans."""
    values = dict(row)
    for column in table.columns:
        if column.info.get("json"):
            values[column.name] = json.loads(values[column.name])
        elif column.info.get("flag"):
            values[column.name] = bool(values[column.name])
    return values


def open_intents(connection: Connection, dataset: str | None) -> list[OpenIntent]:
    intents, outcomes = ROWS["intents"], ROWS["outcomes"]
    columns = [intents.c[name] for name in OpenIntent.__slots__]
    answered = select(outcomes.c.intent_id).where(outcomes.c.intent_id == intents.c.id).exists()
    query = select(*columns).where(~answered).order_by(intents.c.id)
    if dataset is not None:
        query = query.where(intents.c.dataset == dataset)
    return [OpenIntent(**row) for row in connection.execute(query).mappings()]


def rows_of_run(connection: Connection, run_id: str, dataset: str | None) -> dict[str, list[dict[str, Any]]]:
    """All rows of a run, by table, oldest first; outcomes belong to the run of their intent."""
    found = {}
    for name, table in ROWS.items():
        if name == "outcomes":
            of_run = ROWS["intents"]
            query = select(table).join(of_run, of_run.c.id == table.c.intent_id)
        elif "run_id" in table.c:
            of_run, query = table, select(table)
        else:
            continue
        query = query.where(of_run.c.run_id == run_id).order_by(table.c.id)
        if dataset is not None:
            query = query.where(of_run.c.dataset == dataset)
        found[name] = [decoded(table, dict(row)) for row in connection.execute(query).mappings()]
    found["withdrawals"] = _withdrawals(connection, found["publications"])
    return found


def _withdrawals(connection: Connection, publications: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What was withdrawn of what a run published; it is told by version, for several runs may have published one."""
    table = ROWS["withdrawals"]
    keys = [(row["dataset"], row["version"]) for row in publications]
    if not keys:
        return []
    query = select(table).where(tuple_(table.c.dataset, table.c.version).in_(keys)).order_by(table.c.id)
    return [decoded(table, dict(row)) for row in connection.execute(query).mappings()]


def runs(connection: Connection, dataset: str | None, limit: int | None) -> list[Run]:
    """The newest runs first. A run is a run id and a dataset: Airflow gives runs of different DAGs the same id."""
    tables = [table for table in ROWS.values() if "run_id" in table.c]
    everything = union_all(*[select(table.c.run_id, table.c.dataset, table.c.id) for table in tables]).subquery()
    first = func.min(everything.c.id)
    query = select(everything.c.run_id, everything.c.dataset).group_by(everything.c.run_id, everything.c.dataset)
    query = query.where(everything.c.run_id != NO_RUN)  # a change of keys belongs to none
    if dataset is not None:
        query = query.where(everything.c.dataset == dataset)
    keys = connection.execute(query.order_by(first.desc()).limit(limit)).all()
    return [_summary(run_id, name, rows_of_run(connection, run_id, name)) for run_id, name in keys]


def _summary(run_id: str, dataset: str, rows: Mapping[str, Sequence[dict[str, Any]]]) -> Run:
    status = {outcome["intent_id"]: outcome["status"] for outcome in rows["outcomes"]}
    verbs = dict.fromkeys(intent["verb"] for intent in rows["intents"] if status.get(intent["id"]) == "done")
    published = rows["publications"][-1] if rows["publications"] else None
    released = published or (rows["releases"][-1] if rows["releases"] else None)
    return Run(
        run_id=run_id,
        dataset=dataset,
        started=min(table[0]["at"] for table in rows.values() if table),
        verbs=tuple(verbs),
        verdict=_verdict(rows, status),
        version=released["version"] if released else None,
        location=published["location"] if published else None,
    )


def _verdict(rows: Mapping[str, Sequence[dict[str, Any]]], status: Mapping[int, str]) -> str:
    """
    The last thing that settled the run.

    What is published stays published when a later step fails or is killed; only a later refusal of a rerun counts.
    A run whose steps are all done but that neither published nor refused yet is open.
    """
    settled = [(row["id"], str(row["status"])) for row in rows["publications"]]
    settled += [(row["id"], "withdrawn") for row in rows["withdrawals"]]
    settled += [(row["id"], "refused") for row in rows["refusals"]]
    settled += [(row["id"], "refused") for row in rows["outcomes"] if row["status"] == "refused"]
    unsettled = [(row["id"], "failed") for row in rows["outcomes"] if row["status"] == "failed"]
    unsettled += [(row["id"], "open") for row in rows["intents"] if row["id"] not in status]
    last = max(settled, default=(0, "open"))
    return last[1] if last[1] in ("published", "unchanged", "withdrawn") else max([last, *unsettled])[1]
