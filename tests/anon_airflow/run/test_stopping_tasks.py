"""A task that Airflow has given up may still be at work: it is stopped, and `record` waits for it."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from anon_airflow.run import cancellation
from anon_airflow.run.locks import locked
from anon_core.errors import StorageError
from tests.anon_airflow.run.step_runs import run_of
from tests.faults.publications import files_below, people, write_publication

pytest.importorskip("airflow.sdk")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    yield run_of(write_publication(tmp_path, people(60)), tmp_path / "home")
    cancellation.reset()


def context_of(run):
    dag_run = SimpleNamespace(run_id=run.run_id, data_interval_start=None, triggering_user_name=None, run_type="manual")
    return {"dag_run": dag_run, "run_id": run.run_id}


def task_of(run, kind):
    from anon_airflow.operators.record import RecordOperator
    from anon_airflow.operators.stage import StageOperator

    if kind == "record":
        return RecordOperator(task_id="record", spec=str(run.publication.file))
    return StageOperator(task_id="stage", spec=str(run.publication.file), source_file="samples/people.csv")


def test_record_waits_for_a_stage_that_was_marked_failed_and_removes_what_it_still_wrote(run):
    stage, record = task_of(run, "stage"), task_of(run, "record")
    begun, said = threading.Event(), []

    def go_on_for_a_while():
        with locked(stage.lock_file(context_of(run)), 1):
            begun.set()
            threading.Event().wait(0.7)
            run.staging.mkdir(parents=True)
            (run.staging / "original.parquet").write_text("everybody")
            said.append("written")

    working = threading.Thread(target=go_on_for_a_while)
    working.start()
    begun.wait()
    with pytest.raises(SystemExit, match="on record as failed"):
        record.execute(context_of(run))
    working.join()
    assert said == ["written"]
    assert files_below(run.home.staging) == []
    assert not record.lock_file(context_of(run)).exists()


def test_record_fails_rather_than_leave_a_task_at_work_behind(run, monkeypatch):
    from anon_airflow.operators import publication

    monkeypatch.setattr(publication, "LOCK_TIMEOUT_S", 0.2)
    record = task_of(run, "record")
    with locked(record.lock_file(context_of(run)), 1), pytest.raises(StorageError, match="has held it"):
        record.execute(context_of(run))


def test_a_step_holds_its_lock_while_it_works_only(run):
    stage = task_of(run, "stage")
    stage.execute(context_of(run))
    with locked(stage.lock_file(context_of(run)), 0.1):
        assert files_below(run.staging)


def test_what_airflow_gives_up_stops_at_once_but_record_goes_on(run):
    cancellation.reset()
    with pytest.raises(KeyboardInterrupt):
        task_of(run, "stage").on_kill()
    cancellation.reset()
    task_of(run, "record").on_kill()
    assert not cancellation.was_requested()


def test_after_a_time_limit_there_is_nothing_to_stop(run):
    """Airflow calls this while it handles its own error, and that must stay the error: it may be tried again."""
    from airflow.sdk.exceptions import AirflowTaskTimeout

    cancellation.reset()
    try:
        raise AirflowTaskTimeout
    except AirflowTaskTimeout:
        task_of(run, "stage").on_kill()
