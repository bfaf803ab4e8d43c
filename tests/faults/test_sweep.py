"""Originals of dead runs are removed by any later run and by `anon sweep`; those of live runs never are."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from anon_airflow import steps
from anon_airflow.commands.sweep import sweep as sweep_command
from anon_airflow.run.home import Home
from anon_airflow.run.lease import FILE, Lease
from anon_airflow.run.locks import is_held, locked
from anon_airflow.run.sweep import closed_in_home, originals
from anon_core.errors import InvalidInputError
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take
from tests.faults.anon_process import KILLED, anon
from tests.faults.publications import bytes_below, people, staged_files, versions_of, write_publication
from tests.faults.staging_area import change_lease, run_out, swept
from tests.parameters import parameters

DAY = timedelta(days=1)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_publication(tmp_path, people(120))


def test_the_originals_of_a_killed_run_are_removed_by_the_next_run_of_another_dataset(tmp_path, home, spec):
    assert anon("run", spec, home=home, kill_after_step="stage").code == KILLED
    assert staged_files(home)
    other = write_publication(tmp_path, people(120, seed=2), dataset="others")
    ended = anon("run", other, home=home)
    assert ended.code == 0, ended.err
    assert "removed the originals of run anon__" in ended.err
    assert staged_files(home) == []


def test_the_originals_of_a_killed_run_are_removed_after_its_publication_file_was_moved(tmp_path, home, spec):
    assert anon("run", spec, home=home, kill_after_step="recode").code == KILLED
    moved = spec.rename(spec.with_name("moved.yaml"))
    assert anon("run", moved, home=home).code == 0
    assert staged_files(home) == []


def test_sweep_removes_what_a_killed_run_left_and_says_so(home, spec):
    assert anon("run", spec, home=home, kill_after_step="stage").code == KILLED
    ended = anon("sweep", "--json", home=home)
    assert ended.code == 0
    (one,) = ended.json["removed"]
    assert one["dataset"] == "people"
    assert "its lock is free and its lease has run out" in one["state"]
    assert staged_files(home) == []
    again = anon("sweep", home=home)
    assert (again.code, again.out) == (0, f"no originals in {home / 'staging'}\n")


def test_what_the_disk_does_not_let_go_of_is_named_and_ends_with_two(home, spec, monkeypatch):
    assert anon("run", spec, home=home, kill_after_step="stage").code == KILLED

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "a text of a library")

    monkeypatch.setattr("anon_airflow.run.home.shutil.rmtree", refuse)
    monkeypatch.setenv("ANON_HOME", str(home))
    ended = CliRunner().invoke(sweep_command)
    assert ended.exit_code == 2
    assert "failed: originals of run anon__" in ended.stderr and "cannot be removed (Read-only file" in ended.stderr
    monkeypatch.undo()
    assert anon("sweep", home=home).code == 0
    assert staged_files(home) == []


def test_a_sweep_where_nothing_was_ever_run_finds_nothing(home):
    assert anon("sweep", home=home).code == 0
    assert not (home / "audit.db").exists()


@pytest.mark.parametrize("steps_taken", parameters(range(1, len(UNTIL_GATE)), always=(1,)))
def test_a_run_that_waits_between_two_tasks_survives_every_sweep(tmp_path, home, spec, steps_taken):
    waiting = run_of(spec, home, "scheduled__2026-11-01T00:00:00+00:00")
    take(waiting, *UNTIL_GATE[:steps_taken])
    before = bytes_below(waiting.staging)
    other = write_publication(tmp_path, people(120, seed=2), dataset="others")
    take(run_of(other, home, "manual__2"), "stage")
    assert anon("run", other, home=home).code == 0
    assert anon("run", spec, home=home).code == 0
    assert anon("sweep", "--kept", home=home).code == 0
    assert bytes_below(waiting.staging) == before
    take(waiting, *UNTIL_GATE[steps_taken:], "publish", "record")
    assert len(versions_of(spec)) == 1
    assert not waiting.staging.exists()


def test_two_runs_of_one_dataset_that_wait_survive_each_other(home, spec):
    first, second = (run_of(spec, home, f"scheduled__{number}") for number in (1, 2))
    take(first, "stage", "detect")
    take(second, "stage")
    assert {one.run_id for one in swept(home).left} == {first.run_id, second.run_id}
    take(first, "score", "recode", "gate")
    take(second, "detect", "score", "recode", "gate")
    assert first.gated.is_dir() and second.gated.is_dir()


def test_a_lease_that_has_run_out_is_the_end_of_a_run_that_is_not_at_work(home, spec):
    run = run_of(spec, home)
    take(run, "stage")
    run_out(run.staging)
    with locked(run.lock, 1):
        (left,) = swept(home).left
        assert left.state == "its run is at work"
        assert (run.staging / "original.parquet").exists()
    assert [one.run_id for one in swept(home).removed] == [run.run_id]
    assert staged_files(home) == []
    with pytest.raises(InvalidInputError, match="run `stage` first"):
        take(run, "detect")


def test_what_is_left_of_a_run_that_is_closed_in_the_audit_store_is_removed_before_its_lease_ends(home, spec):
    run = run_of(spec, home)
    take(run, "stage")
    before = bytes_below(run.staging)
    take(run, "record")
    for name, content in before.items():  # As if the disk had refused the removal.
        run.staging.mkdir(exist_ok=True)
        (run.staging / name).write_bytes(content)
    (removed,) = swept(home).removed
    assert removed.state == "its run is closed"
    assert staged_files(home) == []


def test_an_outcome_that_was_written_by_hand_closes_no_run(home, spec):
    run = run_of(spec, home)
    take(run, "stage")
    with contextlib.closing(sqlite3.connect(home / "audit.db")) as database, database:
        (columns,) = zip(*database.execute("SELECT name FROM pragma_table_info('outcomes')"), strict=True)
        ((start,),) = database.execute("SELECT id FROM intents WHERE verb = 'run'")
        known = {"id": 10**6, "run_id": run.run_id, "dataset": run.dataset, "intent_id": start, "status": "done"}
        row = {name: known.get(name, "2026-11-17T00:00:00Z") for name in columns}
        marks = ", ".join("?" for _ in row)
        database.execute(f"INSERT INTO outcomes ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    assert swept(home).removed == ()
    assert "waits for its next step" in swept(home).left[0].state


def test_a_run_that_was_closed_and_is_staged_again_is_not_closed(home, spec):
    run = run_of(spec, home)
    take(run, "stage", "record", "stage")
    assert swept(home).removed == ()
    take(run, "detect")


def test_the_originals_of_another_host_are_named_and_never_removed(home, spec):
    run = run_of(spec, home)
    take(run, "stage", "record", "stage")
    run_out(run.staging)
    change_lease(run.staging, host="another-worker")
    found = swept(home, kept=True)
    assert found.removed == ()
    assert "'another-worker'" in found.left[0].state
    assert anon("run", spec, home=home).code == 0
    assert (run.staging / "original.parquet").exists()
    ended = anon("audit", "verify", home=home)
    assert ended.code == 0
    assert "one of host 'another-worker'" in ended.out


def test_a_folder_whose_lease_was_damaged_is_removed_after_the_time_of_a_lease(home, spec):
    run = run_of(spec, home)
    take(run, "stage")
    for damage in ("", "{", "[]", '{"end": 1}', '{"run_id": "x"}'):
        (run.staging / FILE).write_text(damage)
        assert "it has no lease" in swept(home).left[0].state
    past = (datetime.now(UTC) - 2 * DAY).timestamp()
    os.utime(run.staging, (past, past))
    assert len(swept(home).removed) == 1
    assert staged_files(home) == []


@pytest.mark.parametrize("hidden", [".gone-", ".part-", ".gone-.part-", ".gone-.gone-"])
def test_a_removal_that_was_interrupted_is_finished(home, spec, hidden):
    run = run_of(spec, home)
    take(run, "stage")
    folder = run.staging.rename(run.staging.with_name(hidden + run.staging.name))
    with locked(run.lock, 1):
        assert swept(home).removed == ()
        assert folder.exists()
    assert len(swept(home).removed) == 1
    assert staged_files(home) == []


def test_gated_files_of_a_killed_run_by_hand_are_removed_and_those_of_airflow_stay(tmp_path, home, spec):
    waiting = run_of(spec, home, "scheduled__1")
    take(waiting, *UNTIL_GATE)
    assert anon("run", spec, home=home, kill_after_step="gate").code == KILLED
    assert len(list((home / "gated/people").iterdir())) == 2
    assert anon("sweep", home=home).code == 0
    assert list((home / "gated/people").iterdir()) == [waiting.gated]
    take(waiting, "publish")


def test_kept_originals_stay_until_the_next_run_of_their_dataset_or_until_they_are_asked_for(tmp_path, home):
    spec = write_publication(tmp_path, people(120), keep_staging=True)
    assert anon("run", spec, home=home).code == 0
    (kept,) = (home / "staging").glob("*/*")
    ended = anon("run", write_publication(tmp_path, people(120), dataset="others"), home=home)
    assert "still there         originals of run anon__" in ended.out
    assert "kept by `keep_staging`" in ended.out
    assert anon("sweep", home=home).code == 0
    assert kept.exists()
    assert anon("run", spec, home=home).code == 0
    assert not kept.exists()
    assert len(anon("sweep", "--kept", "--json", home=home).json["removed"]) == 1
    assert staged_files(home) == []


def test_verify_lists_originals_that_are_still_there(home, spec):
    run = run_of(spec, home)
    take(run, "stage")
    ended = anon("audit", "verify", home=home)
    assert ended.code == 0
    assert f"originals of run {run.run_id} of people in {run.staging}: its run waits for its next step" in ended.out
    (listed,) = anon("audit", "verify", "--json", home=home).json["originals"]
    assert listed["run_id"] == run.run_id
    run_out(run.staging)
    assert "its lease has run out" in anon("audit", "verify", home=home).out
    assert (run.staging / "original.parquet").exists(), "verify changes nothing"
    take(run, "record")
    assert anon("audit", "verify", "--json", home=home).json["originals"] == []


def test_a_lock_file_that_is_removed_while_it_is_waited_for_is_never_held_twice(tmp_path):
    lock, at_work, most, rounds = tmp_path / "one.lock", [], [], []

    def work() -> None:
        for _ in range(40):
            with locked(lock, 60):
                at_work.append(1)
                most.append(len(at_work))
                rounds.append(1)
                at_work.pop()
                lock.unlink()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (max(most), len(rounds)) == (1, 160)
    assert not is_held(lock)


def test_looking_for_originals_makes_no_lock_file(home, spec):
    run = run_of(spec, home)
    take(run, "stage")
    with closed_in_home(Home(home)) as closed:
        run.lock.unlink(missing_ok=True)
        (found,) = originals(Home(home), closed)
    assert found.run_id == run.run_id
    assert not run.lock.exists()


def test_a_sweep_and_a_stage_of_the_same_run_never_meet(home, spec):
    """The sweeper decides and removes under the lock of the run, not by what it saw before."""
    run = run_of(spec, home)
    take(run, "stage")
    run_out(run.staging)
    stop, failed = threading.Event(), []

    def sweep_on() -> None:
        while not stop.is_set():
            swept(home)

    sweeping = threading.Thread(target=sweep_on)
    sweeping.start()
    try:
        for _ in range(6):
            with locked(run.lock, 60):
                steps.stage(run, str(run.publication.source.file))
                if not (run.staging / "original.parquet").exists():
                    failed.append("gone")
    finally:
        stop.set()
        sweeping.join()
    assert failed == []
    assert (run.staging / "original.parquet").exists()


def test_tasks_of_airflow_go_on_after_a_sweep_between_them(home, spec, monkeypatch):
    pytest.importorskip("airflow.sdk")
    from anon_airflow.operators.detect import DetectOperator
    from anon_airflow.operators.stage import StageOperator

    monkeypatch.setenv("ANON_HOME", str(home))
    dag_run = SimpleNamespace(
        run_id="manual__9", data_interval_start=None, triggering_user_name=None, run_type="manual"
    )
    context = {"dag_run": dag_run, "run_id": "manual__9"}
    stage = StageOperator(
        task_id="stage", spec=str(spec), source_file="samples/people.csv", retry_delay=timedelta(days=9)
    )
    stage.execute(context)
    (left,) = swept(home).left
    assert datetime.fromisoformat(Lease.read(Path(left.folder)).end) > datetime.now(UTC) + 9.9 * DAY
    assert DetectOperator(task_id="detect", spec=str(spec)).execute(context)["rows"] == 120


def test_a_link_in_the_staging_area_is_named_and_what_it_leads_to_stays(tmp_path, home, spec):
    run = run_of(spec, home)
    take(run, "stage")
    outside = tmp_path / "outside"
    (outside / "run").mkdir(parents=True)
    (outside / "run/letter.txt").write_text("dear")
    past = (datetime.now(UTC) - 9 * DAY).timestamp()
    os.utime(outside / "run", (past, past))
    (home / "staging/area").symlink_to(outside)
    (run.staging.parent / "run").symlink_to(outside / "run")
    run_out(run.staging)
    found = swept(home)
    assert len(found.removed) == 1
    assert sorted(one.state.split(",")[0] for one in found.left) == ["it is a link"] * 2
    assert (outside / "run/letter.txt").read_text() == "dear"
    assert found.failed == ()


def test_the_originals_of_another_home_are_named_and_stay(tmp_path, home, spec):
    """Its locks lie there: a run that holds one would look dead from here."""
    run = run_of(spec, home)
    take(run, "stage")
    run_out(run.staging)
    other = tmp_path / "other"
    other.mkdir()
    (other / "staging").symlink_to(home / "staging")
    with locked(run.lock, 1):
        (left,) = swept(other).left
    assert f"one of the home '{home}'" in left.state
    part = run.staging.rename(run.staging.with_name(f".part-{run.staging.name}"))
    assert swept(other).removed == ()
    part.rename(run.staging)
    assert staged_files(home)
    moved = home.rename(tmp_path / "moved")
    assert len(swept(moved).removed) == 1


def test_a_removal_that_fails_again_and_again_is_finished_when_its_cause_is_gone(home, spec, monkeypatch):
    run = run_of(spec, home)
    take(run, "stage")
    run_out(run.staging)
    unlink = os.unlink

    def refuse(path, *rest, **options):
        if str(path).endswith("stuck"):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        unlink(path, *rest, **options)

    (run.staging / "stuck").touch()
    with monkeypatch.context() as broken:
        broken.setattr(os, "unlink", refuse)
        for _ in range(60):
            (failed,) = swept(home).failed
            assert "Operation not permitted" in failed.state
        assert [Path(path).name for path in staged_files(home)] == ["stuck"]
    assert len(swept(home).removed) == 1
    assert staged_files(home) == []


def test_a_lock_that_cannot_be_had_keeps_no_other_originals(home, spec):
    first, second = run_of(spec, home), run_of(spec, home, "manual__2")
    for run in (first, second):
        take(run, "stage")
    for run in (first, second):
        run_out(run.staging)
    first.lock.unlink(missing_ok=True)
    first.lock.parent.mkdir(parents=True, exist_ok=True)
    first.lock.symlink_to("elsewhere")  # Somebody could have it lead to a lock that is held.
    found = swept(home)
    assert [len(found.removed), len(found.failed)] == [1, 1]
    assert found.removed[0].run_id == "manual__2"
