"""A stop that a library loses is not lost, and nothing that it interrupts gets out with it."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
import traceback

import pytest

from anon_airflow.run import cancellation
from anon_airflow.run.guard import step
from anon_airflow.run.local import run_all
from anon_airflow.run.progress import say, throttled
from anon_core.errors import RefusedError
from anon_core.spec import load_spec
from tests.anon_airflow.run.step_runs import rows, run_of
from tests.faults.publications import people, write_publication

pytestmark = pytest.mark.usefixtures("_listening")


@pytest.fixture
def _listening():
    cancellation.reset()
    before = signal.signal(signal.SIGTERM, lambda *_: cancellation.stop())
    yield
    signal.signal(signal.SIGTERM, before)
    cancellation.reset()


@pytest.fixture
def run(tmp_path):
    return run_of(write_publication(tmp_path, people(60)), tmp_path / "home")


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.01)


def swallowed() -> None:
    try:
        terminate()
    except BaseException:
        return
    raise AssertionError("nothing was raised")


def test_the_first_signal_interrupts_and_later_ones_leave_the_cleaning_up_alone():
    with pytest.raises(KeyboardInterrupt):
        terminate()
    terminate()


def test_a_signal_that_comes_too_late_is_not_heard():
    cancellation.ignore_stops()
    terminate()
    cancellation.check()
    assert not cancellation.was_requested()


def test_a_swallowed_interrupt_stops_the_next_step(run):
    done = []
    swallowed()
    with pytest.raises(KeyboardInterrupt):
        step(lambda run: done.append(run))(run)
    assert done == []


@pytest.mark.parametrize("tell", [lambda: say(None, "so far"), lambda: throttled(None)("so far")])
def test_whoever_tells_how_far_it_is_hears_a_swallowed_interrupt(tell):
    tell()
    swallowed()
    with pytest.raises(KeyboardInterrupt):
        tell()


def test_what_a_library_makes_of_an_interrupt_is_no_refusal(run):
    @step
    def gate(run):
        swallowed()
        raise RefusedError("gate", ["it could not be measured"])

    with pytest.raises(KeyboardInterrupt):
        gate(run)
    cancellation.ignore_stops()
    assert rows(run)["refusals"] == []
    assert run.noted_or_none("failure")["reason"].endswith("stopped it")


class AirflowsOwnStop(BaseException):
    """As Airflow raises when a time limit is over."""


@pytest.mark.parametrize("stop", [terminate, lambda: (_ for _ in ()).throw(AirflowsOwnStop)])
def test_the_error_that_a_stop_interrupts_is_not_told_with_it(run, stop):
    """A worker logs what ends a task with all that stands behind it."""

    @step
    def recode(run):
        try:
            raise ValueError("could not convert 'QanaryCell' to float")
        except ValueError:
            stop()

    with pytest.raises((KeyboardInterrupt, AirflowsOwnStop)) as stopped:
        recode(run)
    assert "QanaryCell" not in "".join(traceback.format_exception(stopped.value))


def test_a_stop_waits_for_the_end_of_a_transaction_and_leaves_no_lock(run):
    with run.audit() as audit, pytest.raises(KeyboardInterrupt), audit._database.writing():
        terminate()
        ended = True
    assert ended
    with sqlite3.connect(run.home.root / "audit.db", timeout=0) as other:
        other.execute("BEGIN IMMEDIATE")


def test_a_run_is_not_sent_after_a_swallowed_interrupt(tmp_path, monkeypatch):
    """The last moment: everything is measured, and the interrupt fell into a library on the way."""
    from anon_airflow import steps
    from anon_airflow.release import publish

    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    build = publish.build_release

    def build_release(*given):
        swallowed()
        return build(*given)

    monkeypatch.setattr(publish, "build_release", build_release)
    assert steps.send is publish.send
    with pytest.raises(KeyboardInterrupt):
        run_all(load_spec(write_publication(tmp_path)), start=None, end=None)
    assert not (tmp_path / "include/portal/people").exists()
    assert not list((tmp_path / "home/staging").glob("*/*"))
