"""Asked to stop at every moment, and again while it cleans up: no original outlives the run, and the record is true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults.anon_process import anon
from tests.faults.publications import files_below, people, portal_of, staged_files, versions_of, write_publication
from tests.faults.test_kill import WRITES_OF_A_RUN, assert_portal_is_whole
from tests.parameters import parameters

WRITES_OF_A_WITHDRAWAL = 22


def hidden_folders(spec: Path) -> list[Path]:
    return list(portal_of(spec).glob(".incoming-*"))


@pytest.mark.parametrize("write", parameters(range(1, WRITES_OF_A_RUN, 7), always=(22, 50, 78)))
def test_a_run_that_is_asked_to_stop_again_and_again_cleans_up_and_tells_the_truth(tmp_path, write):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    ended = anon("run", spec, home=home, stop_at_write=write)
    assert ended.code in (0, 130), ended.err
    assert "Traceback" not in ended.err
    assert staged_files(home) == []
    assert files_below(home / "gated") == []
    assert hidden_folders(spec) == []
    assert_portal_is_whole(spec)
    assert len(versions_of(spec)) == (ended.code == 0), "stopped means not published, and the other way round"
    if (home / "audit.db").exists():
        verified = anon("audit", "verify", "--json", home=home)
        assert verified.code == 0, verified.err
        assert verified.json["open_intents"] == []
        for run in anon("audit", "list", "--json", home=home).json["runs"]:
            assert run["verdict"] == ("failed" if ended.code else "published")
    assert anon("run", spec, home=home).code == 0
    assert len(versions_of(spec)) == 1


def test_the_moments_that_are_tried_are_on_both_sides_of_the_point_of_no_return(tmp_path):
    for name, write, code in (("early", 1, 130), ("late", WRITES_OF_A_RUN + 20, 0)):
        (tmp_path / name).mkdir()
        spec = write_publication(tmp_path / name)
        assert anon("run", spec, home=tmp_path / name / "home", stop_at_write=write).code == code


@pytest.mark.parametrize("method", ["global", "none"])
def test_a_stopped_run_says_so_in_its_report_and_is_no_refusal(tmp_path, method):
    spec, home = write_publication(tmp_path, recode={"method": method}), tmp_path / "home"
    assert anon("run", spec, home=home, stop_at_write=20).code == 130
    (report,) = home.glob("runs/*/*/internal-report.json")
    content = json.loads(report.read_bytes())
    assert content["outcome"] == "failed"
    assert content["reasons"][0].endswith("has stopped it")


@pytest.mark.parametrize("write", parameters(range(1, WRITES_OF_A_WITHDRAWAL, 3), always=(4, 7)))
def test_a_withdrawal_that_is_asked_to_stop_again_and_again_is_whole_or_was_not_begun(tmp_path, write):
    spec, home = write_publication(tmp_path, people(200)), tmp_path / "home"
    assert anon("run", spec, home=home).code == 0
    (version,) = versions_of(spec)
    ended = anon("withdraw", "people", "--reason", "wrong", home=home, stop_at_write=write)
    assert ended.code in (0, 130), ended.err
    assert "Traceback" not in ended.err
    assert hidden_folders(spec) == []
    folder = portal_of(spec) / "people" / "versions" / version
    assert (folder / "tombstone.json").exists() == (ended.code == 0)
    assert (folder / "people.csv").exists() == (ended.code == 130)
    assert anon("audit", "verify", home=home).code == 0
    again = anon("withdraw", "people", "--reason", "wrong", home=home)
    assert again.code == 0, again.err
    assert (folder / "tombstone.json").exists()
