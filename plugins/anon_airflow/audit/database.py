"""Where the audit store lives: one SQLite file by default, PostgreSQL in production. Transactions and their errors."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, insert, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from anon_airflow import stopping
from anon_airflow.audit.lock_file import locked
from anon_airflow.audit.models import SCHEMA_VERSION, VERSIONS, metadata, trigger_statements
from anon_core.errors import InvalidInputError, StorageError

__all__ = ["Database"]

_WAIT_SECONDS = 30
_LOCK = 0x616E6F6E  # "anon": the advisory lock that appends take on PostgreSQL
_PATIENCE = 600
"""Seconds to wait for whoever publishes the same dataset."""
_WRITES = "anonflow_writes"
_URL_ADVICE = (
    "give `sqlite:///path/to/audit.db` or `postgresql+pg8000://user:password@host/database` and install that driver"
)


class Database:
    """An engine whose transactions are either a consistent look or the only writer at work."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.url.render_as_string(hide_password=True)
        self._postgresql = engine.dialect.name == "postgresql"

    @classmethod
    def open(cls, url: str | None, home: Path) -> Database:
        """
        Connect, and make the tables if there are none; two processes may do so at once.

        :raises InvalidInputError: the URL cannot be used, or a newer version of anonflow made the tables.
        :raises StorageError: the database cannot be reached or written.
        """
        where = _parsed(url, home)
        if where.get_backend_name() == "sqlite":
            _make_private_file(where)
        database = cls(_engine(where))
        try:
            database._prepare()
        except BaseException:
            database.engine.dispose()
            raise
        return database

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction in which every statement sees the same moment."""
        options = {"isolation_level": "REPEATABLE READ"} if self._postgresql else {}
        with stopping.held(), self._errors("reading the audit store"), self.engine.connect() as connection:
            connection = connection.execution_options(**options)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is the only writer; it is on disk when the block ends, or it never was."""
        options: dict[str, Any] = {"isolation_level": "READ COMMITTED"} if self._postgresql else {_WRITES: True}
        with stopping.held(), self._errors("writing the audit store"), self.engine.connect() as connection:
            connection = connection.execution_options(**options)
            with connection.begin():
                if self._postgresql:
                    # an advisory lock, unlike LOCK TABLE, works for a role that may only INSERT and SELECT
                    connection.execute(text(f"SET LOCAL lock_timeout = '{_WAIT_SECONDS}s'"))
                    connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
                yield connection

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """
        Hold a lock by name against all processes, on all hosts, that use this database; the system lets go of it when
        the process dies.

        On PostgreSQL it is an advisory lock of an open transaction; beside an SQLite file, which is one host's, it is a
        lock file.

        :raises StorageError: somebody else has held it for too long.
        """
        if not self._postgresql:
            with locked(Path(f"{self.engine.url.database}.{quote(name, safe='')}.lock"), _PATIENCE):
                yield
            return
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big", signed=True)
        with contextlib.ExitStack() as stack:
            with self._errors(f"waiting for others ({name})"):
                connection = stack.enter_context(self.engine.connect())
                connection.execute(text(f"SET lock_timeout = '{_PATIENCE}s'"))
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK, number)))
            yield

    def _prepare(self) -> None:
        with self.reading() as connection:
            version = _version(connection)
        if version is None:
            with self.writing() as connection:
                version = _version(connection)  # another process may have been first
                if version is None:
                    metadata.create_all(connection)
                    for statement in trigger_statements(connection.dialect.name):
                        connection.exec_driver_sql(statement)
                    connection.execute(insert(VERSIONS).values(version=SCHEMA_VERSION))
                    version = SCHEMA_VERSION
        if version != SCHEMA_VERSION:
            raise InvalidInputError(
                f"the audit store at {self.name} has schema {version}, this version of anonflow knows schema "
                f"{SCHEMA_VERSION}; upgrade anonflow, or point it at another store"
            )

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        # `from None`: the driver's own error quotes statements and may quote the address with its password
        try:
            yield
        except IntegrityError:
            reason = "a row that must be new is already there; run `anon audit verify`"
            raise StorageError(self.name, doing, reason) from None
        except (SQLAlchemyError, OSError) as error:
            raise StorageError(self.name, doing, self._reason(error)) from None

    def _reason(self, error: Exception) -> str:
        cause: Any = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        if cause.args and isinstance(cause.args[0], dict):  # pg8000 hands over the fields of the server's message
            reason = str(cause.args[0].get("M", type(cause).__name__))
        else:
            reason = (str(cause).splitlines() or [type(cause).__name__])[0]
        password = self.engine.url.password
        return reason.replace(str(password), "***") if password else reason


def _parsed(url: str | None, home: Path) -> URL:
    if url is None:
        return URL.create("sqlite", database=str(home / "audit.db"))
    try:
        where = make_url(url)
    except (ArgumentError, ValueError):
        raise InvalidInputError(f"the address of the audit store is not a database URL; {_URL_ADVICE}") from None
    if where.get_backend_name() not in ("sqlite", "postgresql"):
        raise InvalidInputError(f"the audit store cannot live in {where.get_backend_name()}; {_URL_ADVICE}")
    if where.get_backend_name() == "sqlite" and (where.database or ":memory:").startswith((":memory:", "file:")):
        raise InvalidInputError(f"the audit store must be a file that stays; {_URL_ADVICE}")
    return where


def _engine(where: URL) -> Engine:
    sqlite = where.get_backend_name() == "sqlite"
    arguments: dict[str, Any] = {"timeout": _WAIT_SECONDS} if sqlite else {}
    try:
        # no pool: Airflow forks, and a connection must not be shared between processes
        engine = create_engine(where, poolclass=NullPool, hide_parameters=True, connect_args=arguments)
    except (ImportError, SQLAlchemyError):
        raise InvalidInputError(f"there is no driver for {where.drivername}; {_URL_ADVICE}") from None
    if sqlite:
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, in _begin_sqlite
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")  # bad bytes: for verify to judge
    connection.execute("PRAGMA synchronous = EXTRA")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _make_private_file(where: URL) -> None:
    path = Path(str(where.database))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StorageError(str(path), "opening the audit store", error.strerror or type(error).__name__) from None


def _version(connection: Connection) -> int | None:
    """The newest schema the store has seen; None for a database without our tables."""
    if not inspect(connection).has_table(VERSIONS.name):
        return None
    version: int | None = connection.execute(select(func.max(VERSIONS.c.version))).scalar()
    return version
