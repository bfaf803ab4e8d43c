"""The audit store: what was intended, how it ended, and proof that the record was not changed since."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Column, Connection, Integer, insert, select

from anon_airflow.audit.chain import GENESIS, Anchor, Head, check_chain, entry_message, row_digest, walk
from anon_airflow.audit.clock import latest_day
from anon_airflow.audit.database import Database
from anon_airflow.audit.evidence import export_lines
from anon_airflow.audit.handover import KeyUse, handover_problem, handover_row
from anon_airflow.audit.history import History, history_of, proven_rows
from anon_airflow.audit.models import CHAIN, ROWS
from anon_airflow.audit.runs import ANY, OpenIntent, RecordedRun, Records
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey, canonical_json
from anon_core.errors import InternalError, InvalidInputError

STATUSES = ("done", "refused", "failed")

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """
    Whether the record is intact.

    ``entries`` and ``head`` say how far the chain is intact, ``keys`` which keys signed it and from which link on;
    ``reason`` names the first broken link, ``schema`` the differences of the tables. Open intents are no break: a
    process that was killed leaves one.
    """

    ok: bool
    entries: int
    broken_seq: int | None
    reason: str
    head: Head
    keys: tuple[KeyUse, ...]
    open_intents: tuple[OpenIntent, ...]
    schema: tuple[str, ...] = ()


class AuditStore:
    """An append-only store; every method is one transaction. It takes counts, names and digests, never cell values."""

    def __init__(self, database: Database, key: SigningKey | KeyRing, clock: Clock) -> None:
        self._database = database
        self._ring = KeyRing.of(key)
        self._clock = clock

    @classmethod
    def open(
        cls,
        url: str | None,
        home: Path,
        key: SigningKey | KeyRing,
        *,
        create: bool = True,
        clock: Clock = lambda: datetime.now(UTC),
    ) -> AuditStore:
        """
        Open the store at ``url``, or ``home/audit.db``, and create its tables if there are none.

        Without ``create`` nothing is written, and a store is read even if its tables are not what they should be.

        :raises InvalidInputError: the URL cannot be used, another version made the tables, or there are none to read.
        :raises StorageError: the database cannot be reached or written.
        """
        return cls(Database.open(url, home, create=create), key, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.engine.dispose()

    def append(self, table: str, **values: Any) -> int:
        """
        Add one row and its chain entry, and return the id of the row; the store sets ``id`` and ``at``.

        :raises InvalidInputError: an unknown table or column, a required one left out, a value of the wrong kind.
        :raises StorageError: the database failed; then nothing was added.
        """
        row = _checked(table, values)
        with self._database.writing() as connection:
            return self._append(connection, table, row)

    def intend(
        self,
        *,
        run_id: str,
        dataset: str,
        verb: str,
        actor: str,
        spec_digest: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> int:
        """Record what is about to be done, so that even a killed process leaves a trace."""
        return self.append(
            "intents",
            run_id=run_id,
            dataset=dataset,
            verb=verb,
            actor=actor,
            spec_digest=spec_digest,
            details=dict(details or {}),
        )

    def settle(self, *, run_id: str, dataset: str, verb: str, actor: str, details: Mapping[str, Any]) -> int:
        """Record an intent together with its outcome, both or neither: for acts that consist in being on record."""
        values = {"run_id": run_id, "dataset": dataset, "verb": verb, "actor": actor, "details": dict(details)}
        row = _checked("intents", values)
        with self._database.writing() as connection:
            intent = self._append(connection, "intents", row)
            outcome = {"intent_id": intent, "status": "done"}
            self._append(connection, "outcomes", _checked("outcomes", outcome))
        return intent

    def close(self, intent_id: int, status: str, **details: Any) -> int:
        """
        Record the outcome of an intent: done, refused or failed.

        :raises InvalidInputError: another status, no such intent, or one that is closed already.
        """
        if status not in STATUSES:
            raise InvalidInputError(f"an intent ends as {', '.join(STATUSES)}, not {status!r}")
        row = _checked("outcomes", {"intent_id": intent_id, "status": status, "details": details})
        intents, outcomes = ROWS["intents"], ROWS["outcomes"]
        with self._database.writing() as connection:
            if connection.execute(select(intents.c.id).where(intents.c.id == row["intent_id"])).first() is None:
                raise InvalidInputError(f"there is no intent {intent_id}; pass the id that `intend` returned")
            closed = select(outcomes.c.status).where(outcomes.c.intent_id == row["intent_id"])
            if (before := connection.execute(closed).scalar()) is not None:
                raise InvalidInputError(f"intent {intent_id} is closed already ({before}); begin a new one")
            return self._append(connection, "outcomes", row)

    def head(self) -> Head:
        """Return the newest link. Every manifest holds it, as an anchor that shows if the end of the chain is lost."""
        with self._database.reading() as connection:
            return _head(connection)

    def open_intents(self, dataset: str | None = None) -> list[OpenIntent]:
        """Return the intents without an outcome, oldest first."""
        return [
            OpenIntent(**{name: row[name] for name in OpenIntent.__slots__}) for row in self.open_intent_rows(dataset)
        ]

    def open_intent_rows(self, dataset: str | None = None) -> list[dict[str, Any]]:
        """The same as whole rows, to be shown."""
        with self._records() as records:
            return records.open_intents(dataset)

    def newest_day(self) -> date | None:
        """
        Return the latest day of any link; None for an empty store.

        It is also None if the key of the newest link is not here: nothing can be written after such a link, and that
        error says what to do.

        :raises RefusedError: the signature of that link, or of the newest, is wrong, or cannot be checked.
        """
        found = latest_day(self._database, self._ring)
        return found.day if found else None

    def history(self, run_id: str, dataset: str) -> History:
        """
        Return the rows of a run that the chain proves: decisions about a release rely on these alone.

        :raises RefusedError: a link since the run began is broken.
        """
        return history_of(self._database, self._ring, run_id, dataset)

    def proven(self, *tables: str) -> dict[str, list[Mapping[str, Any]]]:
        """
        Return all rows of some tables, of every run and dataset, proven by the chain.

        :raises RefusedError: one of them is not what was signed, or links are missing.
        """
        return proven_rows(self._database, self._ring, tables)

    @contextmanager
    def publishing(self, dataset: str) -> Iterator[None]:
        """
        Let one process at a time publish a dataset, on any host; the others wait.

        :raises StorageError: another process has been publishing for too long.
        """
        with self._database.alone(f"publish-{dataset}"):
            yield

    @property
    def schema_problems(self) -> tuple[str, ...]:
        """The differences between the tables and those that this version of anonflow makes."""
        return self._database.schema.problems

    def runs(self, dataset: str | None = None, limit: int | None = 50) -> list[RecordedRun]:
        """One summary per run, the newest first; ``limit=None`` for all."""
        with self._records() as records:
            return records.runs(dataset, limit)

    def find_run(self, name: str) -> tuple[RecordedRun, dict[str, list[dict[str, Any]]]] | None:
        """The newest run that has this id, version or dataset, with its rows as :meth:`run` returns them."""
        with self._records() as records:
            return records.find(name)

    def run(self, run_id: str, dataset: str | None = None) -> dict[str, list[dict[str, Any]]]:
        """
        Return all rows of a run by table, JSON read, for people to read; ``wrong`` in a row says what is not proven.

        Name the dataset too if several share the run id. Steps decide by :meth:`history`, which proves its rows.
        """
        with self._records() as records:
            return records.rows(run_id, ANY if dataset is None else dataset)

    def verify(self, *anchors: Anchor | Head) -> Verification:
        """
        Verify the chain from its start and name the first broken link; compare the tables too.

        The chain alone does not show that its newest entries were removed together with their rows. ``anchors``, heads
        kept elsewhere, show this, and also show if a person with the key signed the whole chain again.
        """
        schema = self._database.schema
        followed = check_chain(walk(self._database, tables=schema.tables), self._ring, anchors)
        return Verification(
            ok=followed.broken_seq is None and not schema.problems,
            entries=followed.head.seq,
            broken_seq=followed.broken_seq,
            reason=followed.reason,
            head=followed.head,
            keys=followed.keys,
            open_intents=tuple(self.open_intents()),
            schema=schema.problems,
        )

    def export(self) -> Iterator[dict[str, Any]]:
        """Every chain entry in order with its row as stored, so that the chain can be checked without the store."""
        return export_lines(walk(self._database, tables=self._database.schema.tables), self._ring)

    @contextmanager
    def _records(self) -> Iterator[Records]:
        tables = self._database.tables
        with self._database.reading() as connection:
            yield Records(connection, tables, self._ring)

    def _append(self, connection: Connection, table: str, row: Mapping[str, Any]) -> int:
        self._hand_over(connection)
        return self._link(connection, table, row)

    def _hand_over(self, connection: Connection) -> None:
        """If the last link was signed with another key, put on record that the new key signs from here on."""
        last = connection.execute(select(CHAIN.c.key_id).order_by(CHAIN.c.seq.desc()).limit(1)).scalar()
        current = self._ring.current
        if last is None or last == current.key_id:
            return
        before = connection.execute(select(CHAIN.c.seq).where(CHAIN.c.key_id == current.key_id).limit(1)).scalar()
        old = self._ring.find(last)
        refusal = handover_problem(self._ring, last, signed_before=before is not None)
        if refusal or old is None:
            raise refusal or InternalError("unknown key", "audit.store")
        head = _head(connection)
        intent = self._link(connection, "intents", handover_row(old, current, head.seq + 1, head.mac))
        self._link(connection, "outcomes", _checked("outcomes", {"intent_id": intent, "status": "done"}))

    def _link(self, connection: Connection, table: str, row: Mapping[str, Any]) -> int:
        head = _head(connection)
        at = self._clock().astimezone(UTC).isoformat(timespec="microseconds")
        stored = {**row, "id": head.seq + 1, "at": at}
        entry = {
            "seq": head.seq + 1,
            "table_name": table,
            "row_id": head.seq + 1,
            "at": at,
            "row_digest": row_digest(table, stored),
            "previous_mac": head.mac,
            "key_id": self._ring.current.key_id,
        }
        connection.execute(insert(ROWS[table]).values(**stored))
        mac = self._ring.current.sign("chain", entry_message(entry))
        connection.execute(insert(CHAIN).values(**entry, mac=mac))
        return head.seq + 1


def _head(connection: Connection) -> Head:
    newest = connection.execute(select(CHAIN.c.seq, CHAIN.c.mac).order_by(CHAIN.c.seq.desc()).limit(1)).first()
    return Head(0, GENESIS) if newest is None else Head(newest.seq, newest.mac)


def _checked(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row as they are stored, or raise an error that lists everything wrong with them."""
    table = ROWS.get(name)
    if table is None:
        raise InvalidInputError(f"the audit store has no table {name!r}; it has {', '.join(ROWS)}")
    columns = {column.name: column for column in table.columns if column.name not in ("id", "at")}
    given = {"details": {}, **values} if "details" in columns else values
    wrong = [f"no column {unknown!r}" for unknown in sorted(given.keys() - columns.keys())]
    row = {}
    for column in columns.values():
        try:
            row[column.name] = _stored(column, given)
        except (TypeError, ValueError, KeyError, RecursionError) as error:
            wrong.append(f"{column.name}: {'left out' if isinstance(error, KeyError) else 'not a value it can hold'}")
    if wrong:
        raise InvalidInputError(f"a row of {name} cannot be stored: {'; '.join(wrong)}; it takes {', '.join(columns)}")
    return row


def _stored(column: Column[Any], given: Mapping[str, Any]) -> Any:
    if column.info.get("json"):
        return canonical_json(given[column.name])
    value: Any = given.get(column.name) if column.nullable else given[column.name]
    if value is None and column.nullable:
        return None
    if column.info.get("flag"):
        return (False, True).index(value)
    if isinstance(column.type, Integer):
        return operator.index(value)
    if not isinstance(value, str):
        raise TypeError(column.name)
    # PostgreSQL cannot store a NUL, and no database half a surrogate pair: write them escaped.
    return value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
