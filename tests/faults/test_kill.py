"""kill -9 at every moment: the portal is whole, the record holds, and the next run mends everything."""

from __future__ import annotations

import hashlib
import json
import random
import time
from pathlib import Path

import pytest

from tests.faults.anon_process import KILLED, anon, start
from tests.faults.publications import (
    files_below,
    portal_of,
    source_of,
    staged_files,
    versions_of,
    write_publication,
)
from tests.parameters import parameters

STEPS = ("stage", "detect", "score", "recode", "gate", "publish")
WRITES_OF_A_RUN = 90


def assert_portal_is_whole(spec: Path) -> None:
    """What a visitor sees is a whole version or none: every listed file is there with its digest, and nothing else."""
    home = portal_of(spec) / spec.stem
    for version in versions_of(spec):
        folder = home / "versions" / version
        manifest = json.loads((folder / "manifest.json").read_bytes())
        names = {each["name"] for each in manifest["distributions"]}
        assert {path.name for path in folder.iterdir()} == names | {"datapackage.json", "manifest.json", "report.json"}
        for each in manifest["distributions"]:
            assert hashlib.sha256((folder / each["name"]).read_bytes()).hexdigest() == each["sha256"]
    if (home / "latest").is_symlink():
        assert (home / "latest" / "manifest.json").exists()


def assert_the_next_run_mends(spec: Path, home: Path, *, began: bool = True) -> None:
    assert_portal_is_whole(spec)
    if began:
        verified = anon("audit", "verify", "--json", home=home)
        assert verified.code == 0, verified.err
        assert "run" in {intent["verb"] for intent in verified.json["open_intents"]}
    source = source_of(spec).read_bytes()
    again = anon("run", spec, "--json", home=home)
    assert again.code == 0, again.err
    assert again.json["published"]
    assert len(versions_of(spec)) == 1
    assert_portal_is_whole(spec)
    assert (portal_of(spec) / spec.stem / "latest").resolve().name == versions_of(spec)[0]
    assert [path for path in files_below(portal_of(spec)) if path.name.startswith(".incoming")] == []
    assert staged_files(home) == []
    assert files_below(home / "gated") == []
    assert source_of(spec).read_bytes() == source
    assert anon("audit", "verify", home=home).code == 0


@pytest.mark.parametrize("step", parameters(STEPS, always=("stage", "gate", "publish")))
def test_a_run_killed_after_a_step_leaves_an_open_intent_and_the_next_run_publishes_once(tmp_path, step):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    assert anon("run", spec, home=home, kill_after_step=step).code == KILLED
    assert len(versions_of(spec)) == (step == "publish")
    assert_the_next_run_mends(spec, home)
    assert anon("run", spec, "--json", home=home).json["verdict"] == "unchanged"


@pytest.mark.parametrize("write", parameters(range(2, WRITES_OF_A_RUN, 7), always=(9, 37, 65, 86)))
def test_a_run_killed_at_a_write_never_shows_half_a_version(tmp_path, write):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    ended = anon("run", spec, home=home, kill_at_write=write)
    assert ended.code == KILLED, f"the run does fewer than {write} writes: {ended.err}"
    assert_the_next_run_mends(spec, home, began=(home / "audit.db").exists() and audited(home))


def audited(home: Path) -> bool:
    listed = anon("audit", "list", "--json", home=home)
    return listed.code == 0 and bool(listed.json["runs"])  # An empty file is no audit store yet.


def test_the_writes_that_are_tried_are_those_of_a_whole_run(tmp_path):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    assert anon("run", spec, home=home, kill_at_write=WRITES_OF_A_RUN * 2).code == 0


@pytest.mark.thorough
def test_a_run_killed_at_random_moments_again_and_again_is_mended_in_the_end(tmp_path):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    draw = random.Random(20261116)
    for _ in range(8):
        running = start("run", spec, home=home)
        time.sleep(draw.uniform(0.02, 0.5))
        running.kill()
        running.wait()
        assert_portal_is_whole(spec)
        assert len(versions_of(spec)) <= 1
    assert_the_next_run_mends(spec, home, began=audited(home) and any_open(home))


def any_open(home: Path) -> bool:
    return bool(anon("audit", "verify", "--json", home=home).json["open_intents"])


def test_a_refused_run_that_is_killed_before_the_gate_ends_publishes_nothing(tmp_path):
    spec, home = write_publication(tmp_path, recode={"method": "none"}), tmp_path / "home"
    assert anon("run", spec, home=home, kill_after_step="recode").code == KILLED
    assert staged_files(home), "killed before the gate: the leftovers are there to be swept"
    assert anon("run", spec, home=home).code == 1
    assert staged_files(home) == []
    assert versions_of(spec) == []


def test_what_is_being_removed_when_the_power_fails_is_removed_by_the_next_run(tmp_path):
    """The folder has its hidden name already, so whoever looks for it by its own name finds nothing."""
    spec, home = write_publication(tmp_path), tmp_path / "home"
    assert anon("run", spec, home=home, kill_after_step="stage").code == KILLED
    (folder,) = (home / "staging").glob("*/*")
    folder.rename(folder.with_name(f".gone-{folder.name}"))
    assert anon("run", spec, home=home).code == 0
    assert staged_files(home) == []


def test_two_runs_of_a_dataset_do_not_work_at_once(tmp_path):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    both = [start("run", spec, "--json", home=home) for _ in range(2)]
    ended = [each.wait() for each in both]
    assert sorted(each.code for each in ended) in ([0, 0], [0, 2])
    for each in ended:
        assert each.code == 0 or "another `anon run` of people is at work" in each.err
    assert len(versions_of(spec)) == 1
