"""The database of the audit store, its transactions and errors: SQLite by default, PostgreSQL in production."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    FromClause,
    create_engine,
    event,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from anon_airflow.audit.failures import Failure, is_database_error, storage_error
from anon_airflow.audit.models import SCHEMA_VERSION, VERSIONS, metadata, trigger_statements
from anon_airflow.audit.schema import Schema, schema_of
from anon_airflow.run import cancellation
from anon_airflow.run.locks import locked, wait_for
from anon_core.errors import AnonError, InvalidInputError, StorageError
from anon_core.extras import missing_extra

_LOCK = 0x616E6F6E  # "anon": the advisory lock that appends take on PostgreSQL
_LOCK_TIMEOUT_S = 30
_QUEUE_TIMEOUT_S = 120
"""How long to wait for a turn at an SQLite file: many processes may wait, and each turn is short."""
_ANSWER_TIMEOUT_S = 120
"""How long to wait for an answer of PostgreSQL; longer than any lock that a statement waits for."""
_PUBLISH_TIMEOUT_S = 600
"""How long to wait for a process that publishes the same dataset."""
_PUBLISH_RETRY_S = 0.5
_WRITES = "anonflow_writes"
_URL_ADVICE = (
    "give `sqlite:///path/to/audit.db`, or `postgresql+pg8000://user:password@host/database` with the driver of "
    "`pip install 'anonflow[postgres]'`"
)


class Database:
    """An engine whose transactions either read a consistent state or are the only writer."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.url.render_as_string(hide_password=True)
        self._postgresql = engine.dialect.name == "postgresql"
        self._as_found = False
        self._schema: Schema | None = None

    @classmethod
    def open(cls, url: str | None, home: Path, *, create: bool = True) -> Database:
        """
        Connect, and create the tables if there are none; two processes may do so at once.

        Without ``create`` nothing is written, and the tables are read as they are, even if they were changed by hand:
        so an auditor can read evidence, also from a read-only medium.

        :raises InvalidInputError: the URL cannot be used, another version made the tables, or there are none to read.
        :raises StorageError: the database cannot be reached or written, or some of its tables are missing.
        """
        where = _parsed(url, home)
        if where.get_backend_name() == "sqlite":
            _make_private_file(where, create)
        database = cls(_engine(where))
        try:
            database._prepare(create)
            database._as_found = not create
        except BaseException:  # An interrupt must not leave a connection open.
            database.engine.dispose()
            raise
        return database

    @property
    def schema(self) -> Schema:
        """The tables as they are, compared with what they should be."""
        if self._schema is None:
            with self.reading() as connection:
                self._schema = schema_of(connection)
        return self._schema

    @property
    def tables(self) -> Mapping[str, FromClause]:
        """The tables to read rows from: for a worker as anonflow creates them, for an auditor as they are found."""
        return self.schema.tables if self._as_found else metadata.tables

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction in which every statement sees the same state."""
        options = {"isolation_level": "REPEATABLE READ"} if self._postgresql else {}
        with self._errors("reading the audit store"), contextlib.ExitStack() as queue:
            self._queue(queue, writes=False)
            with cancellation.deferred(), self.engine.connect() as connection:
                connection = connection.execution_options(**options)
                with connection.begin():
                    queue.close()  # This reader has its state now: the next process may begin.
                    yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is the only writer; when the block ends, all of it is on disk, or nothing."""
        options: dict[str, Any] = {"isolation_level": "READ COMMITTED"} if self._postgresql else {_WRITES: True}
        with self._errors("writing the audit store"), contextlib.ExitStack() as queue:
            self._queue(queue, writes=True)
            with cancellation.deferred(), self.engine.connect() as connection:
                connection = connection.execution_options(**options)
                with connection.begin():
                    if self._postgresql:
                        # Unlike LOCK TABLE, an advisory lock works for a role that may only INSERT and SELECT.
                        connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT_S}s'"))
                        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
                    yield connection

    def _queue(self, stack: contextlib.ExitStack, *, writes: bool) -> None:
        """
        Wait for a turn at an SQLite file.

        SQLite lets waiting processes retry at random: of twenty writers some waited for thirty seconds. WAL mode would
        not help, and would write the newest links to a second file. A copy for an auditor would lack that file, and a
        read-only medium does not allow it. A reader gives up its turn as soon as it reads.
        """
        if not self._postgresql:
            lock = Path(f"{self.engine.url.database}.lock")
            stack.enter_context(locked(lock, _QUEUE_TIMEOUT_S, create=writes))

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """
        Hold a named lock against all processes, on all hosts, that use this database; it is released when the process
        dies.

        On PostgreSQL it is an advisory lock of an open transaction; with SQLite, which serves one host, it is a lock
        file beside the database. The lock is requested repeatedly: one long waiting statement would look like a server
        that hangs.

        :raises StorageError: another process has held it for too long.
        """
        if not self._postgresql:
            with locked(Path(f"{self.engine.url.database}.{quote(name, safe='')}.lock"), _PUBLISH_TIMEOUT_S):
                yield
            return
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big", signed=True)
        doing = f"waiting for another process ({name})"
        tried = select(func.pg_try_advisory_xact_lock(_LOCK, number))
        with self._errors(doing):
            connection = self.engine.connect()
        try:
            with self._errors(doing):
                if not wait_for(lambda: connection.scalar(tried) or None, _PUBLISH_TIMEOUT_S, _PUBLISH_RETRY_S):
                    reason = f"it has held the lock for {_PUBLISH_TIMEOUT_S} s"
                    raise StorageError(self.name, doing, reason, Failure.BUSY.value)
            yield
        finally:
            # If the database was restarted in the meantime, the lock is gone already; that does no harm.
            with contextlib.suppress(StorageError), self._errors("releasing a lock"):
                connection.close()

    def _prepare(self, create: bool) -> None:
        with self.reading() as connection:
            version, there = _version(connection), _our_tables(connection)
        if not create:
            if not there:
                raise InvalidInputError(f"there is no audit store at {self.name}; set ANON_AUDIT_URL to its address")
            return
        if version is None:
            with self.writing() as connection:
                version = _version(connection)  # Another process may have been faster.
                if version is None:
                    self._make_tables(connection)
                    version = SCHEMA_VERSION
        if version != SCHEMA_VERSION:
            raise InvalidInputError(
                f"the audit store at {self.name} has schema {version}, this version of anonflow needs schema "
                f"{SCHEMA_VERSION}; upgrade anonflow, or set ANON_AUDIT_URL to another store"
            )

    def _make_tables(self, connection: Connection) -> None:
        if there := _our_tables(connection):
            reason = f"there are tables of an audit store ({len(there)} of {len(metadata.tables)}), but not its version"
            raise StorageError(self.name, "opening the audit store", reason, Failure.SCHEMA.value)
        metadata.create_all(connection)
        for statement in trigger_statements(connection.dialect.name):
            connection.exec_driver_sql(statement)
        connection.execute(insert(VERSIONS).values(version=SCHEMA_VERSION))

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        # `from None`: the driver's own error quotes statements and may quote the address with its password.
        try:
            yield
        except AnonError:
            raise
        except Exception as error:  # A driver whose connection breaks raises errors of any kind.
            if not is_database_error(error, self.engine.dialect.driver):
                raise
            raise storage_error(error, self.name, doing, self.engine.url.password) from None


def _parsed(url: str | None, home: Path) -> URL:
    if url is None:
        return URL.create("sqlite", database=str(home / "audit.db"))
    try:
        where = make_url(url)
    except (ArgumentError, ValueError):
        raise InvalidInputError(f"the address of the audit store is not a database URL; {_URL_ADVICE}") from None
    if where.get_backend_name() not in ("sqlite", "postgresql"):
        raise InvalidInputError(f"the audit store cannot use {where.get_backend_name()}; {_URL_ADVICE}")
    if where.get_backend_name() == "sqlite" and (where.database or ":memory:").startswith((":memory:", "file:")):
        raise InvalidInputError(f"the audit store must be a file on disk; {_URL_ADVICE}")
    return where


@functools.lru_cache(maxsize=16)
def _engine(where: URL) -> Engine:
    """Return the engine for an address, one for each process: it caches compiled statements."""
    sqlite = where.get_backend_name() == "sqlite"
    arguments: dict[str, Any] = {"timeout": _LOCK_TIMEOUT_S} if sqlite else {}
    if where.get_driver_name() == "pg8000" and "timeout" not in where.query:
        arguments["timeout"] = _ANSWER_TIMEOUT_S
    try:
        # No pool: Airflow forks, and processes must not share a connection.
        engine = create_engine(where, poolclass=NullPool, hide_parameters=True, connect_args=arguments)
    except (ImportError, SQLAlchemyError) as error:
        if missing := missing_extra(error, f"an audit store at {where.drivername}"):
            raise missing from None
        raise InvalidInputError(f"there is no driver for {where.drivername}; {_URL_ADVICE}") from None
    if sqlite:
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # `_begin_sqlite` executes BEGIN.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")  # `verify` judges bad bytes.
    try:
        connection.execute("PRAGMA synchronous = EXTRA")
    except UnicodeError:  # For a damaged schema SQLite returns bytes that Python cannot decode.
        raise sqlite3.DatabaseError("could not decode the schema of the database") from None


def _begin_sqlite(connection: Connection) -> None:
    if connection.get_execution_options().get(_WRITES, False):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.exec_driver_sql("BEGIN")
        connection.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1").close()  # BEGIN alone takes no snapshot.


def _make_private_file(where: URL, create: bool) -> None:
    path = Path(str(where.database))
    try:
        if not create:
            os.close(os.open(path, os.O_RDONLY))
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        advice = Failure.PERMISSION if isinstance(error, PermissionError) else Failure.MISPLACED
        reason = error.strerror or type(error).__name__
        raise StorageError(str(path), "opening the audit store", reason, advice.value) from None


def _our_tables(connection: Connection) -> set[str]:
    return metadata.tables.keys() & set(inspect(connection).get_table_names())


def _version(connection: Connection) -> int | None:
    """The newest schema of the store; None for a database without our tables."""
    if not inspect(connection).has_table(VERSIONS.name):
        return None
    version: int | None = connection.execute(select(func.max(VERSIONS.c.version))).scalar()
    return version
