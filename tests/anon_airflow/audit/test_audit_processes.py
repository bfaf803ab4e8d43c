"""The audit store under several processes at once, and under kill -9."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.audit import AuditStore
from anon_airflow.keys.signing import SigningKey
from tests.anon_airflow.audit.audit_databases import audit_url, postgresql  # noqa: F401 (fixtures)

KEY = SigningKey.of(b"k" * 32)
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "licences"}


def append_many(url: str, home: str, times: int) -> None:
    with AuditStore.open(url, Path(home), KEY) as store:
        for number in range(times):
            store.append("refusals", **RUN, by="gate", reasons=[f"reason {number}"])


def test_four_processes_append_at_once_and_the_chain_stays_whole(url: str, tmp_path: Path) -> None:
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.starmap(append_many, [(url, str(tmp_path), 25)] * 4, chunksize=1)
    with AuditStore.open(url, tmp_path, KEY) as store:
        verification = store.verify()
    assert verification.ok and verification.entries == 100, verification.reason


def read_many(url: str, home: str, times: int) -> None:
    with AuditStore.open(url, Path(home), KEY) as store:
        for _ in range(times):
            store.open_intents()
            store.verify()


@pytest.mark.parametrize("writers", [20, 40])
def test_of_many_writers_at_once_none_is_left_behind(tmp_path: Path, writers: int) -> None:
    """SQLite alone lets them try at random: of twenty, some did not come to it for thirty seconds."""
    url, context = f"sqlite:///{tmp_path}/audit.db", multiprocessing.get_context("fork")
    AuditStore.open(url, tmp_path, KEY).__exit__(None, None, None)
    processes = [context.Process(target=append_many, args=(url, str(tmp_path), 10)) for _ in range(writers)]
    processes += [context.Process(target=read_many, args=(url, str(tmp_path), 3)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
    assert [process.exitcode for process in processes] == [0] * len(processes)
    with AuditStore.open(url, tmp_path, KEY) as store:
        verification = store.verify()
    assert verification.ok and verification.entries == writers * 10, verification.reason
    kept = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert kept == {"audit.db": 0o600, "audit.db.lock": 0o600}


KILLED = """
import sys
from pathlib import Path
from typing import Any
from anon_airflow.audit import AuditStore
from anon_airflow.keys.signing import SigningKey
store = AuditStore.open(sys.argv[1], Path(sys.argv[2]), SigningKey.of(b"k" * 32))
store.intend(run_id="run 1", dataset="licences", verb="publish", actor="ada")
while True:
    print(store.append("refusals", run_id="run 1", dataset="licences", by="gate", reasons=[]), flush=True)
"""


@pytest.mark.parametrize("appends", [1, 7, 20])
def test_a_killed_process_loses_nothing_it_reported_and_leaves_an_open_intent(
    url: str, tmp_path: Path, appends: int
) -> None:
    command = [sys.executable, "-c", KILLED, url, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = [int(process.stdout.readline()) for _ in range(appends)]
        process.send_signal(signal.SIGKILL)
        seen += [int(line) for line in process.stdout.read().split()]
    with AuditStore.open(url, tmp_path, KEY) as store:
        verification = store.verify()
        assert verification.ok and verification.entries >= seen[-1] == len(seen) + 1
        assert [intent.verb for intent in verification.open_intents] == ["publish"]
        store.intend(**RUN, verb="publish", actor="ada")
        assert store.verify().ok
