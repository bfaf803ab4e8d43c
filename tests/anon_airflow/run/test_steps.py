"""The steps, one by one: what they leave, and that they may be run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anon_airflow import steps
from anon_airflow.audit import Anchor
from anon_airflow.run.context import folder_name
from anon_core.errors import InvalidInputError, RefusedError
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
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
        assert json.loads(notes.pop("published.json"))["manifest"]["version"]  # It says when, so it is not compared.
        nonce = json.loads(notes["gate.json"])["nonce"]
        assert len(nonce) == 64
        notes["gate.json"] = notes["gate.json"].replace(nonce, "fresh")
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
    steps.publish(gated)
    manifest = json.loads((portal_of(gated.publication.file) / "people/latest/manifest.json").read_bytes())
    with gated.audit() as audit:
        assert audit.verify(Anchor(**manifest["audit"])).ok
        assert not audit.verify(Anchor(mac="0" * 64)).ok


@pytest.mark.parametrize(
    "run_id", ["manual__2026-11-16T10:00:00+00:00", "../../etc/passwd", "è" * 300, "a/b", "a b", ""]
)
def test_any_run_id_gives_a_folder_of_its_own_inside(run_id):
    name = folder_name(run_id)
    assert Path(name).name == name
    assert not name.startswith(".")
    assert len(name) < 100
    assert name != folder_name(run_id + "x")
