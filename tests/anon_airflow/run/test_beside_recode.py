"""`detect` and `score` run beside `recode`, decide nothing and search once; the three share the lock of their run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anon_airflow import steps
from anon_airflow.run import local, run_lock
from anon_airflow.run.context import Run
from anon_airflow.run.locks import is_held, locked
from anon_airflow.run.run_lock import available_memory
from anon_airflow.run.summary import summary_lines
from anon_core.detection.unique_columns import combinations
from anon_core.errors import InternalError, StorageError
from anon_core.spec import load_spec
from tests.anon_airflow.run.step_runs import run_of, take
from tests.faults.publications import versions_of, write_publication

CELL = "QanaryCell"
HOLD = """
import sys
from pathlib import Path
from anon_airflow.run import run_lock
from anon_airflow.run.locks import locked
from anon_airflow.run.run_lock import held_with_others

lock, step, available = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
run_lock.available_memory = lambda: available
held = locked(lock, 60) if step == "gate" else held_with_others(lock, step, Path(sys.argv[4]), 0.5)
with held:
    print("held", flush=True)
    sys.stdin.read()
"""
PLENTY, LITTLE = 1 << 50, 1 << 20


def fail(*_: Any, **__: Any) -> None:
    raise ValueError(CELL)


class Holder:
    """Another process that holds the lock of a run as one of its steps does."""

    def __init__(self, run: Run, step: str, available: int = PLENTY) -> None:
        staged = run.publication.file  # Any file will do: there is memory for it, or there is not.
        arguments = [str(run.lock), step, str(available), str(staged)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def holds(self) -> bool:
        """Wait until it has the lock; False where it failed to get it."""
        assert self.process.stdout
        return self.process.stdout.readline() == "held\n"

    def end(self) -> str:
        return self.process.communicate(timeout=60)[1]


def test_the_three_share_the_lock_of_their_run_and_the_gate_has_it_alone(run: Run) -> None:
    three = [Holder(run, step) for step in run_lock.CONCURRENT_STEPS]
    assert all(holder.holds() for holder in three)
    assert is_held(run.lock)
    with pytest.raises(StorageError, match="has held it"), locked(run.lock, 0.3):
        pytest.fail("a sweep, or the gate, would remove what they read")
    for holder in three:
        holder.end()
    gate = Holder(run, "gate")
    assert gate.holds()
    with pytest.raises(StorageError, match="has held it"), locked(run.lock, 0.3, shared=True):
        pytest.fail("a step would read what the gate removes")
    gate.end()


def test_a_step_does_not_run_beside_an_earlier_try_of_itself(run: Run) -> None:
    first = Holder(run, "recode")
    assert first.holds()
    again = Holder(run, "recode")
    assert not again.holds()
    assert "has held it for 0.5 seconds" in again.end()
    first.end()
    run_lock.remove_locks(run.lock)
    assert list(run.lock.parent.iterdir()) == []


def test_where_memory_is_short_the_three_run_one_after_the_other(run: Run) -> None:
    first = Holder(run, "recode", LITTLE)
    assert first.holds()
    second = Holder(run, "detect", LITTLE)
    with pytest.raises(subprocess.TimeoutExpired):
        second.process.wait(1.5)
    assert second.process.stdout
    first.end()
    assert second.holds(), "it waited, and did not fail"
    second.end()


def memory_files(root: Path, *, group: str, files: dict[str, str], available_kb: int = 8_000_000) -> Path:
    for name, text in {
        "proc/meminfo": f"MemTotal: 16000000 kB\nMemAvailable: {available_kb} kB\n",
        "proc/self/cgroup": group,
        **files,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("group", "files", "expected"),
    [
        ("0::/\n", {}, 8_000_000 << 10),
        (
            "0::/a/b\n",
            {"sys/fs/cgroup/a/b/memory.max": "max", "sys/fs/cgroup/a/b/memory.current": "5"},
            8_000_000 << 10,
        ),
        (
            "0::/a/b\n",
            {
                "sys/fs/cgroup/a/memory.max": "1000",
                "sys/fs/cgroup/a/memory.current": "700",
                "sys/fs/cgroup/a/memory.stat": "anon 600\ninactive_file 50\n",
                "sys/fs/cgroup/a/b/memory.max": "900",
                "sys/fs/cgroup/a/b/memory.current": "100",
            },
            350,
        ),
        (
            "4:cpu:/x\n7:memory:/x\n",
            {
                "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "500",
                "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "600",
            },
            0,
        ),
    ],
    ids=["no limit", "max", "the group above, without cached files", "first version, used up"],
)
def test_what_may_still_be_taken_is_the_least_of_machine_and_control_groups(
    tmp_path: Path, group: str, files: dict[str, str], expected: int
) -> None:
    assert available_memory(memory_files(tmp_path, group=group, files=files)) == expected


def test_memory_that_no_system_tells_is_not_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert available_memory(tmp_path) is None
    staged = tmp_path / "original.parquet"
    staged.write_bytes(b"x" * 1000)
    for available, short in ((None, False), (LITTLE, True), (3 * (run_lock.PER_STEP + 40_000), False)):
        monkeypatch.setattr(run_lock, "available_memory", lambda available=available: available)
        assert run_lock.is_short(staged, 3) == short
    assert not run_lock.is_short(tmp_path / "gone.parquet", 3)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many searches for unique sets there were."""
    made: list[int] = []
    work = combinations._search
    monkeypatch.setattr(combinations, "_search", lambda *given: made.append(1) or work(*given))
    return made


@pytest.mark.parametrize("before", [("detect",), ()], ids=["after detect", "alone"])
def test_the_unique_sets_of_a_run_are_searched_for_once(
    tmp_path: Path, searches: list[int], before: tuple[str, ...]
) -> None:
    distinct = [(n, 1950 + n % 40, "Alba", "F", n % 7, "x") for n in range(120)]
    run = run_of(write_publication(tmp_path, distinct), tmp_path / "home")
    take(run, "stage", *before, "score")
    assert len(searches) == 1, "without the note of `detect`, `score` searches itself"
    assert run.noted("score")["unique_columns"]["sets"] == [["born", "points"]]


@pytest.mark.parametrize("asked", [{"approximate": 0.1}, {"ignore_duplicates": True}])
def test_sets_that_are_not_exact_are_searched_for_by_score(tmp_path: Path, asked: dict[str, Any]) -> None:
    run = run_of(write_publication(tmp_path, detect={"max_size": 3, **asked}), tmp_path / "home")
    take(run, "stage", "score")
    alone = run.noted("score")
    take(run, "detect", "score")
    assert run.noted("score") == alone


def test_a_note_of_detect_changes_no_score(tmp_path: Path) -> None:
    run = run_of(write_publication(tmp_path), tmp_path / "home")
    take(run, "stage", "score")
    alone = run.noted("score")
    take(run, "detect", "score")
    assert run.noted("score") == alone


@pytest.mark.parametrize(
    ("where", "step", "lacking"),
    [
        ("anon_core.detection.singletons.detect", "detect", ["before", "detection", "selection"]),
        ("anon_core.measures.sensitivity.scores.score_columns", "score", ["scores"]),
    ],
)
def test_what_only_informs_and_fails_is_named_and_the_run_publishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, step: str, lacking: list[str]
) -> None:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(where, fail)
    spec = write_publication(tmp_path)
    ended = local.run_all(load_spec(spec), start=None, end=None)
    assert ended["verdict"] == "published"
    report = json.loads(Path(ended["report"]).read_bytes())
    (failed,) = report["steps_failed"]
    assert failed["step"] == step
    assert "ValueError" in failed["reason"]
    assert [name for name in ("before", "detection", "selection", "scores") if report[name] is None] == lacking
    summary = "\n".join(summary_lines(report))
    assert f"`{step}` failed" in summary
    assert CELL not in summary + json.dumps(report)
    assert versions_of(spec)


def test_a_step_that_was_skipped_or_killed_is_named_too_and_one_that_succeeds_later_is_not(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(run, "stage", "recode")
    with monkeypatch.context() as broken:
        broken.setattr("anon_core.measures.sensitivity.scores.score_columns", fail)
        with pytest.raises(InternalError):
            take(run, "score")
    take(run, "score", "gate", "publish")
    report = json.loads(Path(take(run, "record")["report"]).read_bytes())
    assert [one["step"] for one in report["steps_failed"]] == ["detect"]
    assert "killed or skipped" in report["steps_failed"][0]["reason"]


def test_the_reason_of_a_run_that_stopped_is_not_what_only_informs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    take(run, "stage")
    monkeypatch.setattr("anon_core.publishing.distribution.write_csv", fail)
    monkeypatch.setattr("anon_core.detection.singletons.detect", fail)
    for name in ("recode", "detect"):
        with pytest.raises(InternalError):
            take(run, name)
    (reason,) = steps.record(run)["reasons"]
    assert reason.startswith("recode: ")


def test_a_table_that_recoding_refuses_is_looked_at_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    unreachable = {"k": 5, "l_diversity": [{"column": "points", "l": 1000}]}
    ended = local.run_all(load_spec(write_publication(tmp_path, privacy=unreachable)), start=None, end=None)
    report = json.loads(Path(ended["report"]).read_bytes())
    assert (report["outcome"], report["refused_by"], report["steps_failed"]) == ("refused", "recode", [])
    assert report["detection"]
    assert report["scores"]
