"""Publishing needs the receipt of the gate, of these files and of this run."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from anon_airflow import steps
from anon_airflow.gate import receipt as receipts
from anon_airflow.run.context import Run
from anon_core.errors import AnonError, RefusedError
from anon_core.spec import load_spec
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import (
    files_below,
    people,
    portal_of,
    versions_of,
    write_publication,
)


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
    assert_refused(gated, "people.parquet is in the receipt, but would not be published")


def test_one_file_more_is_refused(gated):
    (gated.gated / "more.csv").write_bytes((gated.gated / "people.csv").read_bytes())
    assert_refused(gated, "more.csv would be published, but the gate did not measure it")


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
    assert_refused(replace(gated, publication=load_spec(path)), "another publication file")


def test_a_hierarchy_that_changed_since_the_gate_is_refused(gated):
    hierarchy = gated.publication.resolve("hierarchies/towns.csv")
    hierarchy.write_text(hierarchy.read_text() + "Zeta;SOUTH\n")
    assert_refused(gated, "another publication file")


def copy_receipt(source: Run, target: Run) -> None:
    body = rows(source)["receipts"][-1]["body"]
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
        "commitments": [], "checks": 5, "verdict": "passed", "mac": "0" * 64,
        "distributions": [],
    }  # fmt: skip
    with sqlite3.connect(run.home.root / "audit.db") as database:
        database.execute(
            "INSERT INTO receipts (id, run_id, dataset, digest, body, at) VALUES (9999, ?, 'people', '0', ?, '2026')",
            (run.run_id, json.dumps(forged)),
        )
    database.close()
    with pytest.raises(RefusedError, match="link 9999: receipts row 9999 has no chain entry"):
        steps.publish(run)
    assert versions_of(run.publication.file) == []


def test_a_receipt_with_a_signature_of_nobodys_is_refused_though_it_is_in_the_chain(gated):
    forged = {**json.loads(rows(gated)["receipts"][-1]["body"]), "mac": "0" * 64}
    with gated.audit() as audit:
        audit.append("receipts", run_id=gated.run_id, dataset=gated.dataset, digest="0", body=json.dumps(forged))
    assert_refused(gated, "signature is wrong")


def test_a_worker_with_another_key_publishes_nothing(gated, monkeypatch):
    monkeypatch.setenv("ANON_SIGNING_KEY", "another key, quite as long as a key has to be")
    with pytest.raises(AnonError, match="this worker has key"):
        steps.publish(gated)
    assert versions_of(gated.publication.file) == []


def test_a_receipt_signed_with_a_key_that_was_retired_since_is_refused(gated, monkeypatch):
    """What becomes of a run that waits while the key is changed: it is refused, and done again it is published."""
    monkeypatch.setenv("ANON_RETIRED_KEYS_FILE", str(gated.home.root / "signing.key"))
    monkeypatch.setenv("ANON_SIGNING_KEY", "another key, quite as long as a key has to be")
    assert_refused(gated, "which is retired", "run it again")
    take(gated, *UNTIL_GATE)
    assert take(gated, "publish")["status"] == "published"
    with gated.audit() as audit:
        verified = audit.verify()
    assert verified.ok and len(verified.keys) == 2


def changed_suite(entries):
    def change(path: Path) -> None:
        suite = json.loads(path.read_bytes())
        path.write_text(json.dumps({**suite, "expectations": entries(suite["expectations"])}))

    return change


SUITES = {
    "removed": (Path.unlink, "suite.json was removed"),
    "no JSON": (lambda path: path.write_text("{"), "suite.json was removed after the gate, or cannot be read"),
    "a list": (lambda path: path.write_text("[]"), "expect_k_anonymity"),
    "emptied": (changed_suite(lambda entries: []), "expect_k_anonymity"),
    "one lost": (changed_suite(lambda entries: entries[1:]), "lacks or differs in expect_no_undeclared_column"),
    "one more": (changed_suite(lambda entries: [*entries, entries[0]]), "not the one of this publication file"),
    "eased": (
        changed_suite(lambda entries: [{**e, "kwargs": {**e["kwargs"], "k": 2}} if "k" in e["kwargs"] else e
                                       for e in entries]),
        "differs in expect_k_anonymity",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SUITES)
def test_a_stored_suite_that_was_changed_is_refused(gated, name):
    change, said = SUITES[name]
    change(gated.gated / "suite.json")
    assert_refused(gated, said)


def test_the_stored_suite_is_private_and_not_published(gated):
    path = gated.gated / "suite.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert "expect_k_anonymity" in path.read_text()
    assert take(gated, "publish")["status"] == "published"
    assert [path.name for path in files_below(portal_of(gated.publication.file)) if "suite" in path.name] == []


def test_a_receipt_for_fewer_checks_than_the_suite_asks_for_is_refused(gated):
    """Signed with the right key, by a gate that was told to look at less."""
    with gated.audit() as audit:
        receipt = receipts.Receipt.from_json(rows(gated)["receipts"][-1]["body"])
        fields = {name: getattr(receipt, name) for name in receipts.Receipt.__slots__ if name not in ("mac", "key_id")}
        fewer = receipts.issue(gated.signing_key(), **{**fields, "checks": receipt.checks - 1})
        audit.append("receipts", run_id=gated.run_id, dataset=gated.dataset, digest="0", body=fewer.to_json())
    assert_refused(gated, f"for {receipt.checks - 1} checks, the suite of this publication has {receipt.checks}")


def test_the_receipt_is_in_the_audit_store_only_and_its_digest_is_all_that_a_step_returns(run):
    """What a step returns is what goes to XCom, which others may write."""
    results = {name: take(run, name) for name in (*UNTIL_GATE, "publish", "record")}
    (stored,) = rows(run)["receipts"]
    assert results["gate"]["receipt"] == stored["digest"]
    mac = json.loads(stored["body"])["mac"]
    assert mac not in json.dumps(results)
    below = [*files_below(run.home.root), *files_below(portal_of(run.publication.file))]
    assert [path.name for path in below if mac.encode() in path.read_bytes()] == ["audit.db"]


@pytest.mark.parametrize("years", [-30, 30])
def test_publishing_does_not_depend_on_the_clock(gated, monkeypatch, years):
    """A receipt is for bytes, not for a time: a clock that is wrong, or a long wait, changes nothing."""
    moved = datetime.now(UTC) + timedelta(days=365 * years)

    class Moved(datetime):
        @classmethod
        def now(cls, tz=None):
            return moved.astimezone(tz)

    for module in ("steps", "audit.store"):
        monkeypatch.setattr(f"anon_airflow.{module}.datetime", Moved)
    assert take(gated, "publish")["status"] == "published"
    assert rows(gated)["publications"][-1]["at"].startswith(str(moved.year))


def test_a_text_that_is_no_receipt_publishes_nothing(gated):
    with gated.audit() as audit:
        audit.append("receipts", run_id=gated.run_id, dataset=gated.dataset, digest="0", body="{}")
    with pytest.raises(AnonError, match="not a receipt"):
        steps.publish(gated)
    assert versions_of(gated.publication.file) == []


def test_the_receipt_covers_the_files_and_the_report(gated):
    receipt = receipts.Receipt.from_json(rows(gated)["receipts"][-1]["body"])
    assert [each.name for each in receipt.distributions] == ["people.csv", "people.parquet", "report.json"]
