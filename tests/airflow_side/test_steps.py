"""The steps, one by one: what they leave, that they may be run again, and that publishing needs a receipt."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from anon_airflow import receipt as receipts
from anon_airflow import steps
from anon_airflow.home import Home
from anon_airflow.run import Run, folder_name
from anon_core.errors import AnonError, InvalidInputError, RefusedError
from anon_core.spec import load_spec
from tests.faults.publications import (
    bytes_below,
    csv_text,
    files_below,
    people,
    portal_of,
    source_of,
    versions_of,
    write_publication,
)

UNTIL_GATE = ("stage", "detect", "score", "recode", "gate")


def run_of(spec: Path, home: Path, run_id: str = "manual__1", **changes) -> Run:
    return Run(publication=load_spec(spec), run_id=run_id, home=Home(home), actor="tester", **changes)


def take(run: Run, *names: str, times: int = 1) -> dict:
    result = {}
    for name in names:
        for _ in range(times):
            result = getattr(steps, name)(run, *([str(run.publication.source.file)] if name == "stage" else []))
    return result


@pytest.fixture
def run(tmp_path) -> Run:
    return run_of(write_publication(tmp_path), tmp_path / "home")


@pytest.fixture
def gated(run) -> Run:
    take(run, *UNTIL_GATE)
    return run


def rows(run: Run) -> dict[str, list]:
    with run.audit() as audit:
        return audit.run(run.run_id, run.dataset)


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


def test_the_steps_in_a_row_publish(run):
    assert take(run, *UNTIL_GATE)["verdict"] == "passed"
    assert take(run, "publish")["status"] == "published"
    ended = take(run, "record")
    assert ended["published"]
    assert ended["verdict"] == "published"
    assert len(versions_of(run.publication.file)) == 1
    report = json.loads(Path(ended["report"]).read_bytes())
    assert report["outcome"] == "published"
    assert report["after"]["k"]["exact"] >= 5
    with run.audit() as audit:
        assert audit.open_intents() == []


def test_results_are_counts_names_and_addresses(run):
    for name in (*UNTIL_GATE, "publish", "record"):
        result = take(run, name)
        assert json.loads(json.dumps(result)) == result
        for value in result.values():
            assert isinstance(value, int | float | str | list | None)


def test_every_step_run_twice_leaves_what_once_leaves(tmp_path):
    ends = []
    for times in (1, 2):
        folder = tmp_path / str(times)
        run = run_of(write_publication(folder), folder / "home")
        take(run, *UNTIL_GATE, "publish", "record", times=times)
        spec = run.publication.file
        published = {
            name: (portal_of(spec) / "people/latest" / name).read_bytes()
            for name in ("people.csv", "people.parquet", "report.json")
        }
        notes = {path.name: path.read_text().replace(str(folder), "") for path in files_below(run.notes)}
        assert files_below(folder / "home/staging") == []
        assert files_below(folder / "home/gated") == []
        with run.audit() as audit:
            assert audit.open_intents() == []
            (summary,) = audit.runs()
        ends.append((versions_of(spec), published, notes, summary.verdict, summary.version))
    assert ends[0] == ends[1]


def test_publishing_twice_publishes_once(gated):
    first = steps.publish(gated)
    before = bytes_below(portal_of(gated.publication.file))
    assert steps.publish(gated) == first
    assert bytes_below(portal_of(gated.publication.file)) == before
    assert len(rows(gated)["publications"]) == 1


def test_a_publish_killed_before_its_record_publishes_once(gated, monkeypatch):
    from anon_airflow.audit import AuditStore

    append = AuditStore.append

    def killed(self, table, **values):
        if table == "releases":
            raise KeyboardInterrupt
        return append(self, table, **values)

    monkeypatch.setattr(AuditStore, "append", killed)
    with pytest.raises(KeyboardInterrupt):
        steps.publish(gated)
    monkeypatch.undo()
    assert len(versions_of(gated.publication.file)) == 1
    assert steps.publish(gated)["status"] == "published"
    assert len(versions_of(gated.publication.file)) == 1
    assert take(gated, "record")["published"]


def test_a_run_that_is_staged_again_after_its_end_begins_anew(run):
    take(run, *UNTIL_GATE, "publish", "record")
    source_of(run.publication.file).write_text(csv_text(people(420, seed=3)))
    take(run, *UNTIL_GATE, "publish")
    assert take(run, "record")["verdict"] == "published"
    assert len(versions_of(run.publication.file)) == 2
    with run.audit() as audit:
        assert audit.open_intents() == []


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


def test_the_gate_without_a_recoding_refuses(run):
    take(run, "stage")
    with pytest.raises(RefusedError, match="nothing to measure"):
        steps.gate(run)
    assert files_below(run.home.staging) == []


def test_a_gate_that_is_tried_again_after_it_ended_says_where_to_begin(run):
    with pytest.raises(InvalidInputError, match="clear the run from the task `stage`"):
        steps.gate(run)
    assert rows(run)["refusals"] == []


@pytest.mark.parametrize("name", ["detect", "score", "recode"])
def test_a_step_without_a_staged_table_says_where_to_begin(run, name):
    with pytest.raises(InvalidInputError, match="run `stage` first"):
        take(run, name)


def test_keep_staging_keeps_it(tmp_path):
    run = run_of(write_publication(tmp_path, keep_staging=True), tmp_path / "home")
    take(run, *UNTIL_GATE, "publish", "record")
    assert (run.staging / "original.parquet").exists()
    assert (run.staging / "original.parquet").stat().st_mode & 0o777 == 0o600


def test_rows_with_gaps_are_dropped_when_the_publication_says_so(tmp_path):
    table = [(i, b, "" if n < 20 else t, s, p, x) for n, (i, b, t, s, p, x) in enumerate(people())]
    run = run_of(write_publication(tmp_path, table, missing="drop"), tmp_path / "home")
    staged = take(run, "stage")
    assert (staged["rows"], staged["rows_dropped"]) == (380, 20)
    take(run, "detect", "score", "recode", "gate", "publish")
    content = (portal_of(run.publication.file) / "people/latest/people.csv").read_text()
    assert ",," not in content


def test_a_gap_is_a_category_by_default(tmp_path):
    table = [(i, b, "" if n < 40 else t, s, p, x) for n, (i, b, t, s, p, x) in enumerate(people())]
    run = run_of(write_publication(tmp_path, table), tmp_path / "home")
    assert take(run, "stage")["rows"] == 400


def test_the_period_names_the_version_and_latest_is_the_newest_period(tmp_path):
    spec = write_publication(tmp_path)
    for period in ("2026-02-01", "2026-01-01"):
        run = run_of(spec, tmp_path / "home", f"scheduled__{period}", period=period)
        take(run, *UNTIL_GATE, "publish", "record")
    assert [version.split(".")[0] for version in versions_of(spec)] == ["2026-01-01", "2026-02-01"]
    assert (portal_of(spec) / "people/latest").resolve().name.startswith("2026-02-01")


def test_an_intent_is_on_record_before_anything_is_read(tmp_path):
    spec = write_publication(tmp_path)
    source_of(spec).unlink()
    run = run_of(spec, tmp_path / "home")
    with pytest.raises(InvalidInputError):
        take(run, "stage")
    with run.audit() as audit:
        assert [intent.verb for intent in audit.open_intents()] == ["run"]
    assert take(run, "record")["verdict"] == "failed"
    with run.audit() as audit:
        assert audit.open_intents() == []


def test_the_manifest_holds_the_head_of_the_audit_chain(gated):
    from anon_airflow.audit import Head

    steps.publish(gated)
    manifest = json.loads((portal_of(gated.publication.file) / "people/latest/manifest.json").read_bytes())
    with gated.audit() as audit:
        assert audit.verify(Head(**manifest["audit"])).ok


@pytest.mark.parametrize(
    "run_id", ["manual__2026-11-16T10:00:00+00:00", "../../etc/passwd", "è" * 300, "a/b", "a b", ""]
)
def test_any_run_id_gives_a_folder_of_its_own_inside(run_id):
    name = folder_name(run_id)
    assert Path(name).name == name
    assert not name.startswith(".")
    assert len(name) < 100
    assert name != folder_name(run_id + "x")
