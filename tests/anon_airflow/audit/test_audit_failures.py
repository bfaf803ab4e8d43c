"""A database that fails is reported as what it is, with the advice that helps; never as a bug, never as a full disk."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import text

from anon_airflow.audit import AuditStore, database
from anon_airflow.audit.failures import Failure, is_database_error
from anon_airflow.keys.signing import SigningKey
from anon_airflow.run.locks import BUSY
from anon_core.errors import PortalError, StorageError
from tests.anon_airflow.audit.audit_databases import run_sql

KEY = SigningKey.of(b"k" * 32)
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "people"}
RESTARTS = int(os.environ.get("ANON_TEST_RESTARTS", "4"))


def made(home: Path, rows: int = 300) -> Path:
    with AuditStore.open(None, home, KEY) as store, store._database.writing() as connection:
        for _ in range(rows):
            store._append(connection, "refusals", {**RUN, "by": "gate", "reasons": '["k is 2"]'})
    return home / "audit.db"


def failed(home: Path) -> StorageError:
    """Open a store, write and read it, until it fails."""
    with pytest.raises(StorageError) as caught, AuditStore.open(None, home, KEY) as store:
        store.append("refusals", **RUN, by="gate", reasons=[])
        list(store.export())
        store.verify()
    assert pickle.loads(pickle.dumps(caught.value)).advice == caught.value.advice
    return caught.value


def corrupt_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 2048] = os.urandom(2048)
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def text_file(path: Path) -> None:
    path.write_text("a diary, not a database " * 500)


def random_header(path: Path) -> None:
    path.write_bytes(os.urandom(100) + path.read_bytes()[100:])


@pytest.mark.parametrize("damage", [corrupt_middle, truncate, text_file, random_header])
def test_a_damaged_file_is_to_be_restored_and_kept_as_evidence(tmp_path: Path, damage: Any) -> None:
    damage(made(tmp_path))
    error = failed(tmp_path)
    assert error.advice == Failure.CORRUPT.value and "room" not in str(error)


def test_a_folder_in_place_of_the_file_is_reported_as_one(tmp_path: Path) -> None:
    (tmp_path / "audit.db").mkdir()
    error = failed(tmp_path)
    assert error.advice == Failure.MISPLACED.value and "directory" in error.reason


def test_a_lock_that_is_held_is_waited_for_and_then_reported(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(database, "_LOCK_TIMEOUT_S", 0.2)
    holder = sqlite3.connect(made(tmp_path), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    error = failed(tmp_path)
    assert error.advice == Failure.BUSY.value and "room" not in str(error)
    holder.close()


def test_a_turn_that_does_not_come_is_reported_as_busy(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(database, "_QUEUE_TIMEOUT_S", 0.2)
    made(tmp_path)
    command = "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, 2); print(flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", command, tmp_path / "audit.db.lock"], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout and holder.stdout.readline()
        error = failed(tmp_path)
        holder.kill()
    assert error.advice == BUSY


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_a_matter_of_rights(tmp_path: Path) -> None:
    made(tmp_path).chmod(0o400)
    assert failed(tmp_path).advice == Failure.PERMISSION.value


def test_a_full_disk_is_a_full_disk(tmp_path: Path) -> None:
    made(tmp_path)
    with AuditStore.open(None, tmp_path, KEY) as store:
        sqlalchemy.event.listen(
            store._database.engine, "connect", lambda raw, _: raw.execute("PRAGMA max_page_count = 1")
        )
        with pytest.raises(StorageError) as caught:
            for _ in range(100):
                store.append("refusals", **RUN, by="gate", reasons=["x" * 1000])
        assert caught.value.advice == Failure.FULL.value


def test_a_mistake_of_ours_inside_a_transaction_stays_one(tmp_path: Path) -> None:
    with AuditStore.open(None, tmp_path, KEY) as store, pytest.raises(KeyError), store._database.reading():
        raise KeyError("ours")
    try:
        raise AttributeError("ours")
    except AttributeError as error:
        assert not is_database_error(error, "pg8000")


def test_errors_of_folders_and_portals_keep_their_own_advice() -> None:
    assert "has room" in str(StorageError("/folder", "writing", "no"))
    portal = pickle.loads(pickle.dumps(PortalError("http://x", "publishing", "no", "nothing is shown")))
    assert portal.state == "nothing is shown" and "room" not in str(portal)


class Server:
    """A PostgreSQL of its own, to be restarted and robbed of rights."""

    def __init__(self, folder: Path) -> None:
        import pgserver

        self._server = pgserver.get_server(folder / "pg")
        info = self._server.get_postmaster_info()
        self.url = f"postgresql+pg8000://postgres@/postgres?unix_sock={info.socket_dir}/.s.PGSQL.{info.port}"
        self._options = f'-k {info.socket_dir} -h "" -p {info.port}'

    def restart(self, mode: str) -> None:
        from pgserver._commands import pg_ctl

        pgdata, user = self._server.pgdata, self._server.system_user
        pg_ctl(["-w", "-m", mode, "stop"], pgdata=pgdata, user=user, timeout=60)
        pg_ctl(["-w", "-o", self._options, "-l", str(self._server.log), "start"], pgdata=pgdata, user=user, timeout=60)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the server and to all processes that it started, some of which end by themselves."""
        postmaster = int((self._server.pgdata / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, number)  # First: a stopped server starts no more processes.
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if f"\nPPid:\t{postmaster}\n" in (folder / "status").read_text():
                    os.kill(int(folder.name), number)

    def terminate_others(self) -> None:
        engine = sqlalchemy.create_engine(self.url, poolclass=sqlalchemy.pool.NullPool)
        with engine.connect() as connection:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname"
            connection.execute(text(f"{others} IS NOT NULL"))

    def stop(self) -> None:
        self._server.cleanup()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    pytest.importorskip("pgserver", reason="the wheel that brings PostgreSQL is not installed")
    folder = tempfile.mkdtemp()
    try:
        running = Server(Path(folder))
    except Exception as error:  # pgserver raises errors of any kind where PostgreSQL cannot run.
        pytest.skip(f"PostgreSQL does not start here: {type(error).__name__}")
    yield running
    running.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fresh(server: Server) -> Server:
    run_sql(server.url, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return server


def work_through(server: Server, home: Path, disturb: Any, times: int) -> list[BaseException]:
    """Write and read in four threads while the server is disturbed, and return everything that was raised."""
    found: list[BaseException] = []
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            try:
                with AuditStore.open(server.url, home, KEY) as store:
                    while not over.is_set():
                        store.append("refusals", **RUN, by="gate", reasons=["x"] * 50)
                        store.history("run 1", "others")
                        store.runs()
            except BaseException as error:  # The test looks at every error, of any kind.
                found.append(error)
                time.sleep(0.01)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(times):
        time.sleep(0.3)
        disturb(number)
    over.set()
    for thread in threads:
        thread.join(60)
    return found


@pytest.mark.parametrize("how", ["fast", "immediate", "terminate"])
def test_a_postgresql_that_is_restarted_is_unreachable_and_never_a_bug(fresh: Server, tmp_path: Path, how: str) -> None:
    with AuditStore.open(fresh.url, tmp_path, KEY):
        pass
    disturb = (lambda _: fresh.terminate_others()) if how == "terminate" else (lambda _: fresh.restart(how))
    found = work_through(fresh, tmp_path, disturb, RESTARTS * (5 if how == "terminate" else 1))
    assert found
    strange = [error for error in found if not isinstance(error, StorageError)]
    assert not strange, strange[:3]
    advices = {error.advice for error in found if isinstance(error, StorageError)}
    assert advices == {Failure.UNREACHABLE.value}, {str(error) for error in found}
    with AuditStore.open(fresh.url, tmp_path, KEY) as store:
        assert store.verify().ok


@pytest.mark.parametrize("at_work", [True, False], ids=["while it works", "before it connects"])
def test_a_postgresql_that_hangs_is_unreachable_after_some_time(
    fresh: Server, tmp_path: Path, monkeypatch: Any, at_work: bool
) -> None:
    monkeypatch.setattr(database, "_ANSWER_TIMEOUT_S", 1)
    monkeypatch.setattr(database, "_engine", database._engine.__wrapped__)  # The engine of this address waits longer.
    with AuditStore.open(fresh.url, tmp_path, KEY) as store:
        store.append("refusals", **RUN, by="gate", reasons=[])
        try:
            with pytest.raises(StorageError) as caught:
                if at_work:
                    with store._database.writing() as connection:
                        fresh.send(signal.SIGSTOP)
                        store._append(connection, "refusals", {**RUN, "by": "gate", "reasons": "[]"})
                else:
                    fresh.send(signal.SIGSTOP)
                    store.append("refusals", **RUN, by="gate", reasons=[])
        finally:
            fresh.send(signal.SIGCONT)
        assert "did not answer in time" in str(caught.value)
        assert caught.value.advice == Failure.UNREACHABLE.value
        store.append("refusals", **RUN, by="gate", reasons=[])
        assert store.verify().ok
        assert len(store.run("run 1", "people")["refusals"]) == 2


def test_a_publication_waits_for_another_one_and_then_says_that_it_is_held_up(
    fresh: Server, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(database, "_PUBLISH_TIMEOUT_S", 1)
    with AuditStore.open(fresh.url, tmp_path, KEY) as store, AuditStore.open(fresh.url, tmp_path, KEY) as other:
        with store.publishing("people"):
            with other.publishing("others"):
                pass
            with pytest.raises(StorageError) as caught, other.publishing("people"):
                pass
        assert caught.value.advice == Failure.BUSY.value
        with other.publishing("people"):
            pass


def test_rights_that_were_taken_away_are_a_matter_of_rights(fresh: Server, tmp_path: Path) -> None:
    with AuditStore.open(fresh.url, tmp_path, KEY):
        pass
    run_sql(
        fresh.url,
        "DROP ROLE IF EXISTS worker",
        "CREATE ROLE worker LOGIN",
        "GRANT USAGE ON SCHEMA public TO worker",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO worker",
    )
    with AuditStore.open(fresh.url.replace("postgres@", "worker@"), tmp_path, KEY) as store:
        with pytest.raises(StorageError) as caught:
            store.append("refusals", **RUN, by="gate", reasons=[])
        assert caught.value.advice == Failure.PERMISSION.value
        run_sql(fresh.url, "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM worker")
        with pytest.raises(StorageError) as caught:
            store.head()
    run_sql(fresh.url, "DROP OWNED BY worker", "DROP ROLE worker")
    assert caught.value.advice == Failure.PERMISSION.value


@pytest.mark.parametrize("statement", ["DROP TABLE chain", "ALTER TABLE chain RENAME COLUMN mac TO signature"])
def test_tables_that_were_changed_are_named_as_such(fresh: Server, tmp_path: Path, statement: str) -> None:
    with AuditStore.open(fresh.url, tmp_path, KEY) as store:
        run_sql(fresh.url, statement)
        with pytest.raises(StorageError) as caught:
            store.append("refusals", **RUN, by="gate", reasons=[])
    assert caught.value.advice == Failure.SCHEMA.value


def test_a_database_that_is_not_there_and_a_server_that_is_down_are_told_apart(fresh: Server, tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        AuditStore.open(fresh.url.replace("/postgres?", "/nothing?"), tmp_path, KEY)
    assert caught.value.advice == Failure.SCHEMA.value
    with pytest.raises(StorageError) as caught:
        AuditStore.open("postgresql+pg8000://ada:secret@127.0.0.1:1/audit", tmp_path, KEY)
    assert caught.value.advice == Failure.UNREACHABLE.value and "secret" not in str(caught.value)
