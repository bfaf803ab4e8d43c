"""What Airflow shows of a run, compared with what is on record of it."""

from __future__ import annotations

import contextlib

import pytest

from anon_airflow.audit.mismatch import MISMATCH, mismatches
from anon_airflow.steps import stage
from anon_core.errors import RefusedError
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import write_publication

ALL = (*UNTIL_GATE, "publish", "record")


def ended(folder, states, **changes):
    """Run 1 of a publication in Airflow, to its end; then stage run 2, to which Airflow shows these states."""
    first = run_of(write_publication(folder, **changes), folder / "home", "1")
    with contextlib.suppress(RefusedError):
        take(first, *UNTIL_GATE, "publish")
    take(first, "record")
    return first, run_of(first.publication.file, folder / "home", "2", state_of=states.get)


def noted(run):
    return [row["details"] for row in rows(run)["intents"] if row["verb"] == MISMATCH]


@pytest.mark.parametrize(
    ("shown", "recode", "on_record"),
    [
        ("success", "none", "refused"),
        ("failed", "best", "published"),
    ],
)
def test_a_state_that_contradicts_the_record_is_noted_once_and_told(tmp_path, shown, recode, on_record):
    first, second = ended(tmp_path, {"1": shown}, recode={"method": recode})
    told = []
    for _ in range(2):
        stage(second, second.publication.source_template, told.append)
    assert noted(first) == [{"airflow": shown, "on_record": on_record}]
    assert [line for line in told if f"run 1 is {shown} in Airflow and {on_record} on record" in line]
    with first.audit() as audit:
        (one,) = [run for run in audit.runs() if run.run_id == "1"]
        assert (one.airflow, one.verdict) == (shown, on_record)
        assert audit.verify().ok


@pytest.mark.parametrize("shown", ["success", "running", "queued", None])
def test_a_state_that_does_not_contradict_the_record_is_not_noted(tmp_path, shown):
    first, second = ended(tmp_path, {"1": shown})
    take(second, "stage")
    assert noted(first) == []


def test_a_state_that_was_set_back_is_noted_and_shown_no_more(tmp_path):
    states = {"1": "failed"}
    first, second = ended(tmp_path, states)
    take(second, "stage")
    states["1"] = "success"
    take(second, "stage")
    assert [one["airflow"] for one in noted(first)] == ["failed", "success"]
    with first.audit() as audit:
        assert [run.airflow for run in audit.runs()] == [None, None]


def test_a_run_that_was_killed_before_its_end_and_is_green_is_a_mismatch(tmp_path):
    first = run_of(write_publication(tmp_path), tmp_path / "home", "1")
    take(first, "stage")
    second = run_of(first.publication.file, tmp_path / "home", "2", state_of={"1": "success"}.get)
    take(second, "stage")
    assert noted(first) == [{"airflow": "success", "on_record": "open"}]


def test_a_run_that_published_and_was_killed_before_its_end_counts_as_published(tmp_path):
    first = run_of(write_publication(tmp_path), tmp_path / "home", "1")
    take(first, *UNTIL_GATE, "publish")
    second = run_of(first.publication.file, tmp_path / "home", "2", state_of={"1": "success"}.get)
    take(second, "stage")
    assert noted(first) == []


def test_runs_of_other_datasets_and_the_run_itself_are_not_asked_for():
    asked = []
    intents = [
        {"id": 1, "dataset": "other", "run_id": "a", "verb": "run", "details": {}},
        {"id": 2, "dataset": "mine", "run_id": "b", "verb": "run", "details": {}},
        {"id": 3, "dataset": "mine", "run_id": "c", "verb": "run", "details": {}},
    ]
    none = {"intents": intents, "outcomes": [], "publications": []}
    assert list(mismatches(none, "mine", "c", asked.append)) == []
    assert asked == ["b"]
