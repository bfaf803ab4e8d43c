"""The two databases that the audit store is tested on, and ways to tamper with them."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import text

from anon_airflow.audit.models import metadata


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL that runs for these tests; as root, pgserver makes itself a user to run as."""
    pgserver = pytest.importorskip("pgserver", reason="the wheel that brings PostgreSQL is not installed")
    folder = tempfile.mkdtemp()
    try:
        server = pgserver.get_server(Path(folder) / "pg")
    except Exception as error:
        pytest.skip(f"PostgreSQL does not start here: {type(error).__name__}")
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # It need not outlive a power cut.
        server.psql(f"ALTER SYSTEM SET {setting} = off;")
    server.psql("SELECT pg_reload_conf();")
    info = server.get_postmaster_info()
    yield f"postgresql+pg8000://postgres@/{{}}?unix_sock={info.socket_dir}/.s.PGSQL.{info.port}"
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


_numbers = itertools.count()


@pytest.fixture(name="url", params=["sqlite", "postgresql"])
def audit_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/audit.db"
    pattern: str = request.getfixturevalue("postgresql")
    name = f"audit_{next(_numbers)}"
    engine = sqlalchemy.create_engine(pattern.format("postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return pattern.format(name)


def run_sql(url: str, *statements: str) -> None:
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def unguard(path: Path) -> None:
    """Drop the triggers of an SQLite store and let every column be empty, as an intruder would."""
    drop_triggers(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table'")
        database.commit()


def drop_triggers(url: str) -> None:
    if url.startswith("sqlite"):
        verbs = ("no_update", "no_delete", "no_replace")
        run_sql(url, *[f"DROP TRIGGER {t}_{verb}" for t in metadata.tables for verb in verbs])
    else:
        run_sql(url, *[f"DROP TRIGGER {t}_append_only ON {t}" for t in metadata.tables])
