"""Publishing needs the receipt of the gate, of these files and of this run."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from anon_airflow import receipt as receipts
from anon_airflow import steps
from anon_airflow.run import Run
from anon_core.errors import AnonError, RefusedError
from anon_core.spec import load_spec
from tests.airflow_side.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import (
    files_below,
    people,
    versions_of,
    write_publication,
)


@pytest.fixture
def run(tmp_path) -> Run:
    return run_of(write_publication(tmp_path), tmp_path / "home")


@pytest.fixture
def gated(run) -> Run:
    take(run, *UNTIL_GATE)
    return run


def assert_untouched(run: Run) -> None:
    """Nothing of this dataset is on the portal, and the refusal is on record."""
    assert versions_of(run.publication.file) == []
    assert rows(run)["refusals"][-1]["by"] == "receipt"
    assert rows(run)["publications"] == []
    with run.audit() as audit:
        assert audit.verify().ok


def assert_refused(run: Run, *words: str) -> None:
    with pytest.raises(RefusedError) as caught:
        steps.publish(run)
    assert caught.value.by == "receipt"
    for word in words:
        assert word in str(caught.value)
    assert_untouched(run)


def test_a_receipt_of_an_earlier_attempt_does_not_publish_a_later_one(run):
    take(run, *UNTIL_GATE)
    take(run, "stage", "detect", "score", "recode")
    assert_refused(run, "are gone")


def test_publish_without_a_gate_is_refused(run):
    take(run, "stage", "detect", "score", "recode")
    assert_refused(run, "no receipt")


def test_publish_of_recoded_files_put_where_gated_ones_lie_is_refused(run):
    """What somebody can do who marks the gate successful and has the worker's disk, but not its key."""
    take(run, "stage", "detect", "score", "recode")
    shutil.copytree(run.staging / "release", run.gated)
    assert_refused(run, "no receipt")


def test_publish_after_a_gate_that_refused_is_refused(tmp_path):
    run = run_of(write_publication(tmp_path, recode={"method": "none"}), tmp_path / "home")
    take(run, "stage", "detect", "score", "recode")
    with pytest.raises(RefusedError) as caught:
        steps.gate(run)
    assert caught.value.by == "gate"
    assert_refused(run, "no receipt")
    assert take(run, "record")["verdict"] == "refused"


def other_rows(path: Path) -> None:
    """The same file with one more person: still 5-anonymous, but not what was measured."""
    text = path.read_text()
    path.write_text(text + text.splitlines()[1] + "\n")


def test_a_gated_file_that_was_changed_is_refused(gated):
    other_rows(gated.gated / "people.csv")
    assert_refused(gated, "people.csv changed after the gate measured it")


def test_both_gated_files_swapped_for_others_that_pass_are_refused(gated, tmp_path):
    other = run_of(write_publication(tmp_path / "other", people(420, seed=3)), tmp_path / "home2")
    take(other, *UNTIL_GATE)
    for path in files_below(other.gated):
        (gated.gated / path.name).write_bytes(path.read_bytes())
    assert_refused(gated, "people.csv changed", "people.parquet changed", "report.json changed")


def test_one_file_removed_is_refused(gated):
    (gated.gated / "people.parquet").unlink()
    assert_refused(gated, "people.parquet is in the receipt but is not about to be published")


def test_one_file_more_is_refused(gated):
    (gated.gated / "more.csv").write_bytes((gated.gated / "people.csv").read_bytes())
    assert_refused(gated, "more.csv is about to be published but the gate did not measure it")


@pytest.mark.parametrize("content", [b"{}", b'{"kind": "public", "k": 99}', b"[1, 2]", b"not JSON", None])
def test_a_report_that_was_changed_is_refused(gated, content):
    path = gated.gated / "report.json"
    path.unlink() if content is None else path.write_bytes(content)
    assert_refused(gated, "report.json")


def test_one_number_changed_in_the_report_is_refused(gated):
    path = gated.gated / "report.json"
    report = json.loads(path.read_bytes())
    report["privacy"]["k"]["exact"] = 1000
    path.write_text(json.dumps(report, indent=1, sort_keys=True))
    assert_refused(gated, "report.json changed after the gate measured it")


@pytest.mark.parametrize(
    ("old", "new"),
    [("k: 5", "k: 2"), ("title: The register", "title: Another register"), ("max_size: 3", "max_size: 2")],
)
def test_a_publication_file_that_changed_since_the_gate_is_refused(gated, old, new):
    path = gated.publication.file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert_refused(replace(gated, publication=load_spec(path)), "another spec")


def test_a_hierarchy_that_changed_since_the_gate_is_refused(gated):
    hierarchy = gated.publication.resolve("hierarchies/towns.csv")
    hierarchy.write_text(hierarchy.read_text() + "Zeta;SOUTH\n")
    assert_refused(gated, "another spec")


def test_a_note_about_the_rows_that_was_changed_is_refused(gated):
    path = gated.notes / "stage.json"
    note = json.loads(path.read_bytes())
    path.write_text(json.dumps({**note, "rows": 100_000}))
    assert_refused(gated, "another suite of checks")


def copy_receipt(source: Run, target: Run) -> None:
    with source.audit() as audit:
        body = audit.receipt(source.run_id, source.dataset)
    with target.audit() as audit:
        audit.append("receipts", run_id=target.run_id, dataset=target.dataset, digest="0", body=body)


def test_a_receipt_of_another_run_is_refused(gated, tmp_path):
    other = run_of(gated.publication.file, tmp_path / "home", "manual__2")
    take(other, "stage", "detect", "score", "recode")
    shutil.copytree(other.staging / "release", other.gated)
    (other.gated / "report.json").write_bytes((gated.gated / "report.json").read_bytes())
    copy_receipt(gated, other)
    assert_refused(other, "another run")


def test_a_receipt_of_another_dataset_is_refused(gated, tmp_path):
    spec = write_publication(tmp_path, dataset="others")
    other = run_of(spec, tmp_path / "home", gated.run_id)
    take(other, "stage", "detect", "score", "recode")
    shutil.copytree(other.staging / "release", other.gated)
    (other.gated / "report.json").write_bytes((gated.gated / "report.json").read_bytes())
    copy_receipt(gated, other)
    assert_refused(other, "another dataset")
    assert versions_of(spec) == []


def test_a_receipt_written_by_hand_is_refused(run):
    """Whoever can write the database but has no key: the row is there, the signature is not."""
    take(run, "stage", "detect", "score", "recode")
    shutil.copytree(run.staging / "release", run.gated)
    (run.gated / "report.json").write_text('{"kind": "public"}')
    forged = {
        "anonflow_version": "0", "dataset": "people", "run_id": run.run_id, "key_id": run.signing_key().key_id,
        "spec_digest": run.publication.digest(), "suite_digest": "0", "checks": 5, "verdict": "passed", "mac": "0" * 64,
        "distributions": [],
    }  # fmt: skip
    with sqlite3.connect(run.home.root / "audit.db") as database:
        database.execute(
            "INSERT INTO receipts (id, run_id, dataset, digest, body, at) VALUES (9999, ?, 'people', '0', ?, '2026')",
            (run.run_id, json.dumps(forged)),
        )
    database.close()
    with pytest.raises(RefusedError, match="signature is wrong"):
        steps.publish(run)
    assert versions_of(run.publication.file) == []


def test_a_receipt_signed_with_another_key_is_refused(gated, monkeypatch):
    monkeypatch.setenv("ANON_SIGNING_KEY", "another key, quite as long as a key has to be")
    with pytest.raises(RefusedError, match="was signed with key"):
        steps.publish(gated)
    assert versions_of(gated.publication.file) == []


def test_a_text_that_is_no_receipt_publishes_nothing(gated):
    with gated.audit() as audit:
        audit.append("receipts", run_id=gated.run_id, dataset=gated.dataset, digest="0", body="{}")
    with pytest.raises(AnonError, match="not a receipt"):
        steps.publish(gated)
    assert versions_of(gated.publication.file) == []


def test_the_receipt_covers_the_files_and_the_report(gated):
    with gated.audit() as audit:
        receipt = receipts.Receipt.from_json(audit.receipt(gated.run_id, gated.dataset) or "")
    assert [each.name for each in receipt.distributions] == ["people.csv", "people.parquet", "report.json"]
