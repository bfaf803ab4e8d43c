"""Two runs of one dataset at once: neither overtakes the other, and they publish one after the other."""

from __future__ import annotations

import json
import multiprocessing
import time
from dataclasses import replace
from pathlib import Path

import pytest

from anon_airflow import steps
from anon_airflow.audit import AuditStore
from anon_airflow.keys.signing import SigningKey
from anon_airflow.run.context import Run
from anon_airflow.run.home import Home
from anon_core.errors import AnonError, RefusedError, StorageError
from anon_core.spec import load_spec
from tests.anon_airflow.audit.audit_databases import audit_url, postgresql  # noqa: F401 (fixtures)
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import csv_text, people, portal_of, source_of, versions_of, write_publication
from tests.parameters import parameters

KEY = SigningKey.of(b"k" * 32)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_publication(tmp_path)


def other_people(spec: Path, seed: int) -> None:
    source_of(spec).write_text(csv_text(people(seed=seed)))


def gated_run(spec: Path, home: Path, run_id: str, seed: int, **changes) -> Run:
    other_people(spec, seed)
    run = run_of(spec, home, run_id, **changes)
    take(run, *UNTIL_GATE)
    return run


def test_a_run_does_not_overtake_one_that_was_published_since_it_was_staged(spec, tmp_path):
    slow = gated_run(spec, tmp_path / "home", "slow", 1)
    quick = gated_run(spec, tmp_path / "home", "quick", 2)
    assert take(quick, "publish", "record")["verdict"] == "published"
    newest = (portal_of(spec) / "people/latest/people.csv").read_bytes()
    with pytest.raises(RefusedError, match=r"run quick has published this dataset since.*run it again") as caught:
        steps.publish(slow)
    assert caught.value.by == "audit store"
    assert take(slow, "record")["verdict"] == "refused"
    assert len(versions_of(spec)) == 1
    assert (portal_of(spec) / "people/latest/people.csv").read_bytes() == newest
    other_people(spec, 1)
    assert take(slow, *UNTIL_GATE, "publish")["status"] == "published"


def test_a_run_that_would_publish_the_same_content_is_unchanged(spec, tmp_path):
    slow = gated_run(spec, tmp_path / "home", "slow", 1)
    quick = gated_run(spec, tmp_path / "home", "quick", 1)
    assert take(quick, "publish")["status"] == "published"
    assert take(slow, "publish")["status"] == "unchanged"
    assert len(versions_of(spec)) == 1


def test_runs_of_different_periods_do_not_meet(spec, tmp_path):
    old = gated_run(spec, tmp_path / "home", "old", 1, period="2026-10-01")
    new = gated_run(spec, tmp_path / "home", "new", 2, period="2026-11-01")
    assert take(new, "publish")["status"] == "published"
    assert take(old, "publish")["status"] == "published"


def test_a_run_that_was_killed_while_it_published_counts_as_published(spec, tmp_path):
    """Perhaps it is on the portal already: only a run staged after it knows newer data."""
    slow = gated_run(spec, tmp_path / "home", "slow", 1, period="2026-11-01")
    with slow.audit() as audit:
        audit.intend(
            run_id="killed", dataset="people", verb="publish", actor="ada",
            details={"period": "2026-11-01", "content_digest": "0"},
        )  # fmt: skip
    with pytest.raises(RefusedError, match="run killed has published this period"):
        steps.publish(slow)
    other_people(spec, 1)
    assert take(slow, *UNTIL_GATE, "publish")["status"] == "published"


def test_a_run_that_was_refused_while_it_published_does_not_count(spec, tmp_path):
    slow = gated_run(spec, tmp_path / "home", "slow", 1)
    with slow.audit() as audit:
        intent = audit.intend(
            run_id="refused", dataset="people", verb="publish", actor="ada",
            details={"period": None, "content_digest": "0"},
        )  # fmt: skip
        audit.close(intent, "refused")
    assert take(slow, "publish")["status"] == "published"


def publish_at_once(spec: str, home: str, url: str, run_id: str, ready, go) -> str:
    """Everything but the last moment is done before the signal, so that both come to that moment together."""
    from anon_airflow.release import publish

    run = Run(publication=load_spec(Path(spec)), run_id=run_id, home=Home(Path(home), url), actor="tester")
    original = publish.build_release

    def wait_for_the_other(*arguments):
        release = original(*arguments)
        ready.release()
        go.wait(60)
        return release

    publish.build_release = wait_for_the_other
    try:
        return steps.publish(run)["status"]
    except AnonError as error:
        return str(error)


@pytest.mark.parametrize("url", parameters(["sqlite", "postgresql"], always=["sqlite"]), indirect=True)
def test_two_processes_that_publish_at_the_same_moment_come_one_after_the_other(spec, tmp_path, url):
    runs = []
    for seed in (1, 2):
        other_people(spec, seed)
        run = replace(run_of(spec, tmp_path / "home", f"run{seed}"), home=Home(tmp_path / "home", url))
        take(run, *UNTIL_GATE)
        runs.append(run)
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(2) as pool:
        ready, go = manager.Semaphore(0), manager.Event()
        arguments = [(str(spec), str(tmp_path / "home"), url, run.run_id, ready, go) for run in runs]
        results = pool.starmap_async(publish_at_once, arguments, chunksize=1)
        assert all(ready.acquire(timeout=120) for _ in runs)
        go.set()
        answers = sorted(results.get(120), key=len)
    assert answers[0] == "published"
    assert "has published this dataset since this run was staged" in answers[1]
    assert len(versions_of(spec)) == 1
    published = [run for run in runs if rows(run)["publications"]]
    assert len(published) == 1
    manifest = json.loads((portal_of(spec) / "people/latest/manifest.json").read_bytes())
    assert manifest["content_digest"] == rows(published[0])["publications"][0]["content_digest"]
    with runs[0].audit() as audit:
        assert audit.verify().ok


def hold(url: str, home: str, dataset: str, seconds: float, held) -> None:
    with AuditStore.open(url, Path(home), KEY) as store, store.publishing(dataset):
        held.release()
        time.sleep(seconds)


def test_publishing_waits_for_whoever_publishes_the_same_dataset_and_for_no_other(url, tmp_path, monkeypatch):
    context = multiprocessing.get_context("spawn")
    held = context.Semaphore(0)
    process = context.Process(target=hold, args=(url, str(tmp_path), "people", 60, held))
    process.start()
    try:
        assert held.acquire(timeout=60)
        monkeypatch.setattr("anon_airflow.audit.database._PUBLISH_TIMEOUT_S", 1)
        with AuditStore.open(url, tmp_path, KEY) as store:
            with store.publishing("others"):
                store.intend(run_id="1", dataset="others", verb="publish", actor="ada")
            with pytest.raises(StorageError), store.publishing("people"):
                pytest.fail("two publish at once")
            process.kill()
            process.join()
            with store.publishing("people"):
                store.intend(run_id="1", dataset="people", verb="publish", actor="ada")
    finally:
        process.kill()
        process.join()
