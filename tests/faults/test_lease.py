"""The lease of a run: who writes it, how long it holds, what it may say, and whose ids it trusts."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from anon_airflow.run.home import Home
from anon_airflow.run.lease import Lease, leased, make_staging
from anon_core.errors import InvalidInputError, StorageError
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take
from tests.faults.publications import people, staged_files, write_publication
from tests.faults.staging_area import change_lease, swept

DAY = timedelta(days=1)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_publication(tmp_path, people(120))


def test_the_folder_of_a_run_has_its_lease_from_the_first_moment_on(home, spec, monkeypatch):
    run = run_of(spec, home)
    seen = []

    def look(*_: object) -> None:
        seen.append(Lease.read(run.staging))
        raise OSError(28, "full")

    monkeypatch.setattr("anon_core.publishing.distribution.write_parquet", look)
    with pytest.raises(StorageError):
        take(run, "stage")
    assert seen[0].run_id == run.run_id
    assert seen[0].host == os.uname().nodename


def test_every_step_renews_the_lease_when_it_begins_and_when_it_ends(home, spec):
    run = run_of(spec, home, lease=3 * DAY)
    take(run, "stage")
    for name in ("detect", "score", "recode"):
        change_lease(run.staging, end="2026-01-01T00:00:00+00:00")
        take(run, name)
        assert datetime.fromisoformat(Lease.read(run.staging).end) > datetime.now(UTC) + 2.9 * DAY
    change_lease(run.staging, end="2026-01-01T00:00:00+00:00")
    (run.staging / "original.parquet").unlink()
    with pytest.raises(InvalidInputError):
        take(run, "detect")
    assert not Lease.read(run.staging).has_run_out(datetime.now(UTC)), "a step that fails may be tried again"


def test_a_long_step_renews_the_lease_while_it_works(home, spec):
    run = run_of(spec, home, lease=timedelta(seconds=4))
    take(run, "stage")
    with leased(run):
        change_lease(run.staging, end="2026-01-01T00:00:00+00:00")
        for _ in range(100):
            threading.Event().wait(0.1)
            if not Lease.read(run.staging).has_run_out(datetime.now(UTC)):
                return
    pytest.fail("the lease was not renewed within ten seconds")


def test_a_step_that_removes_the_originals_leaves_no_lease_behind(home, spec):
    run = run_of(spec, home)
    take(run, *UNTIL_GATE)
    assert staged_files(home) == []
    assert not run.staging.exists()


@pytest.mark.parametrize("hours", ["0", "-1", "nan", "inf", "a day", "1e9", "9" * 400])
def test_a_lease_is_a_number_of_hours(hours):
    with pytest.raises(InvalidInputError, match="ANON_LEASE_HOURS must be a number of hours"):
        Home.find({"ANON_LEASE_HOURS": hours, "ANON_HOME": "somewhere"})
    assert Home.find({"ANON_LEASE_HOURS": "1.5", "ANON_HOME": "somewhere"}).lease == timedelta(minutes=90)


def test_the_retry_delay_of_a_task_is_covered(home, spec, monkeypatch):
    pytest.importorskip("airflow.sdk")
    from anon_airflow.operators.publication import longest_delay
    from anon_airflow.operators.stage import StageOperator

    def delay(**settings: object) -> timedelta:
        return longest_delay(StageOperator(task_id="stage", spec=str(spec), source_file="", **settings))

    assert delay(retry_delay=3 * DAY) == 3 * DAY
    assert delay(retry_delay=timedelta(minutes=1), retry_exponential_backoff=2) == DAY
    assert delay(retry_delay=timedelta(minutes=1), retry_exponential_backoff=2, max_retry_delay=5 * DAY) == 5 * DAY
    assert delay(retry_delay=60.0) == timedelta(minutes=1)


def test_what_a_lease_says_cannot_steer_a_terminal(home, spec):
    run = run_of(spec, home)
    take(run, "stage")
    change_lease(run.staging, run_id="a\nremoved: all", dataset="\x1b[31m", kept=True)
    (left,) = swept(home).left
    assert left.sentence.isprintable()
    change_lease(run.staging, kept="yes")
    assert "it has no lease" in swept(home).left[0].state


def test_a_run_of_airflow_cannot_take_the_form_of_a_run_by_hand():
    from anon_airflow.operators.publication import run_of as run_of_task

    run_id = "anon__2026-01-01T00:00:00.000000"
    context = {"dag_run": SimpleNamespace(run_id=run_id, data_interval_start=None)}
    with pytest.raises(InvalidInputError, match="trigger it again with another id"):
        run_of_task("people.yaml", context)


def test_a_disk_that_takes_no_lease_is_left_without_a_folder(home, spec, monkeypatch):
    run = run_of(spec, home)

    def full(*_: object) -> None:
        raise StorageError(str(run.staging), "writing", "No space left on device")

    monkeypatch.setattr("anon_airflow.run.lease._write_lease", full)
    with pytest.raises(StorageError, match="No space left"):
        take(run, "stage")
    assert list((home / "staging").rglob("*.part*")) == list((home / "staging").rglob(".gone-*")) == []
    assert [path for path in (home / "staging").rglob("*") if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "moment", ["anon_airflow.run.home.private_folder", "anon_airflow.run.lease.write_private", "pathlib.Path.replace"]
)
def test_a_stop_while_the_staging_folder_is_made_leaves_nothing_of_it(home, spec, monkeypatch, moment):
    run = run_of(spec, home)

    def stop(*_: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(moment, stop)
    with pytest.raises(KeyboardInterrupt):
        make_staging(run)
    assert [path for path in (home / "staging").rglob("*") if path.name.startswith(".") or path.is_file()] == []
