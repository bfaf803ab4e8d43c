"""Failures of the database of the audit store, by kind: each kind has its own advice."""

from __future__ import annotations

import sqlite3
import traceback
from enum import Enum
from typing import Any

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from anon_core.errors import StorageError


class Failure(Enum):
    """The kinds of failure; the value of each is advice for the operator."""

    UNREACHABLE = (
        "The database is down, restarting, or the connection broke: try again when it answers (Airflow retries by "
        "itself); what was written before is kept"
    )
    BUSY = (
        "Another process has held the database for too long: wait until it ends and try again (Airflow retries by "
        "itself). If this continues, look for a process that hangs, a backup that holds a lock, or too many connections"
    )
    FULL = "Check that the disk of the database has room, then try again; nothing of this attempt was written"
    PERMISSION = (
        "Give this user (of the system or of the database) the right to read and write it: the workers need SELECT and "
        "INSERT, or a file and a folder that they may write; then try again"
    )
    MISPLACED = "Check that the folder exists, that the name leads to a file and not to a folder, and who may write it"
    DEVICE = (
        "The disk or the network file system of the database failed, or is full; SQLite does not always report which: "
        "check that it has room and read the system's log, then run `anon audit verify` before you continue"
    )
    CORRUPT = (
        "The database is damaged. Keep the damaged file as evidence, restore the newest backup beside it, and run "
        "`anon audit verify --anchor` with the newest release: it shows whether links are missing in the backup"
    )
    SCHEMA = (
        "These are not the tables that anonflow made: the address is that of another database, or the tables were "
        "changed by hand. `anon audit verify` lists the differences; restore a backup, and keep the present database "
        "as evidence"
    )
    RULE = "The database holds rows that should not be there: run `anon audit verify`"
    OTHER = "Try again; if this continues, read the log of the database, and run `anon audit verify`"


_SQLITE = {
    sqlite3.SQLITE_BUSY: Failure.BUSY,
    sqlite3.SQLITE_LOCKED: Failure.BUSY,
    sqlite3.SQLITE_PROTOCOL: Failure.BUSY,
    sqlite3.SQLITE_FULL: Failure.FULL,
    sqlite3.SQLITE_READONLY: Failure.PERMISSION,
    sqlite3.SQLITE_PERM: Failure.PERMISSION,
    sqlite3.SQLITE_AUTH: Failure.PERMISSION,
    sqlite3.SQLITE_CANTOPEN: Failure.MISPLACED,
    sqlite3.SQLITE_IOERR: Failure.DEVICE,
    sqlite3.SQLITE_CORRUPT: Failure.CORRUPT,
    sqlite3.SQLITE_NOTADB: Failure.CORRUPT,
    sqlite3.SQLITE_FORMAT: Failure.CORRUPT,
    sqlite3.SQLITE_SCHEMA: Failure.SCHEMA,
    sqlite3.SQLITE_MISMATCH: Failure.SCHEMA,
    sqlite3.SQLITE_ERROR: Failure.SCHEMA,  # Our statements are fixed, so a table or column must be missing.
    sqlite3.SQLITE_CONSTRAINT: Failure.RULE,
}

_POSTGRESQL = {
    # By code, then by class: https://www.postgresql.org/docs/current/errcodes-appendix.html
    "53100": Failure.FULL,
    "57014": Failure.BUSY,
    "57": Failure.UNREACHABLE,
    "08": Failure.UNREACHABLE,
    "53": Failure.BUSY,
    "55": Failure.BUSY,
    "40": Failure.BUSY,
    "28": Failure.PERMISSION,
    "42501": Failure.PERMISSION,
    "25006": Failure.PERMISSION,
    "0A": Failure.SCHEMA,
    "22": Failure.SCHEMA,
    "3D": Failure.SCHEMA,
    "3F": Failure.PERMISSION,  # This role may use no schema.
    "42": Failure.SCHEMA,
    "58": Failure.DEVICE,
    "XX001": Failure.CORRUPT,
    "XX002": Failure.CORRUPT,
    "23": Failure.RULE,
    "P0": Failure.RULE,
}


def is_database_error(error: Exception, driver: str) -> bool:
    """
    Whether an error comes from the database, and not from a mistake in our own code.

    A driver whose connection breaks raises errors of any kind, such as ``struct.error``, and SQLAlchemy wraps only the
    driver's own classes. So it counts which code raised the error: ``driver`` or SQLAlchemy, or a library that one of
    them called, but not ours.
    """
    if isinstance(error, SQLAlchemyError | OSError | sqlite3.Error):
        return True
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in ("anon_airflow", "anon_core"):
            return False
        if package in (driver, "sqlalchemy"):
            return True
    return False


def failure_of(error: Exception) -> Failure:
    """Return the kind of a failure of the database."""
    cause = _cause(error)
    if isinstance(cause, sqlite3.Error):
        # Python's own module also raises errors without a code of SQLite.
        by_message = Failure.CORRUPT if "decode" in str(cause) else Failure.OTHER
        return _SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF, by_message)
    if code := _sqlstate(cause):
        return _POSTGRESQL.get(code, _POSTGRESQL.get(code[:2], Failure.OTHER))
    if isinstance(cause, UnicodeError):
        return Failure.CORRUPT
    if isinstance(error, IntegrityError):
        return Failure.RULE
    if isinstance(cause, SQLAlchemyError):
        return Failure.OTHER
    return Failure.PERMISSION if "password" in str(cause) else Failure.UNREACHABLE


def reason_in(error: Exception) -> str:
    """Return the message of the database in one line; for an unexpected error of a driver, its class."""
    cause = _cause(error)
    if cause.args and isinstance(cause.args[0], dict):  # pg8000 passes the fields of the server's message.
        return str(cause.args[0].get("M", type(cause).__name__))
    if isinstance(error, SQLAlchemyError | sqlite3.Error) or (isinstance(cause, OSError) and cause.errno):
        return (str(cause).splitlines() or [type(cause).__name__])[0]
    if isinstance(cause, TimeoutError):
        return "it did not answer in time"
    return f"the connection broke ({type(cause).__name__})"


def storage_error(error: Exception, path: str, doing: str, secret: object = None) -> StorageError:
    """Return our own error for one of the database, with the advice for its kind and without the password."""
    reason = reason_in(error)
    kind = failure_of(error)
    if secret:
        reason = reason.replace(str(secret), "***")
    return StorageError(path, doing, reason, kind.value)


def _cause(error: Exception) -> Any:
    """
    Return the error of the server, if it is still in the chain of errors, else that of the driver.

    A server that refuses a connection sends the reason and closes the connection. pg8000 then fails to end it, and that
    second error hides the reason.
    """
    raised = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    behind: BaseException | None = raised
    while behind is not None:
        if _sqlstate(behind):
            return behind
        behind = behind.__cause__ or behind.__context__
    return raised


def _sqlstate(cause: Any) -> str:
    """The code of the server's message: pg8000 has it among the fields, psycopg in an attribute."""
    fields = cause.args[0] if cause.args and isinstance(cause.args[0], dict) else {}
    return str(fields.get("C") or getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None) or "")
