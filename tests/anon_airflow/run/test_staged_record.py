"""What was staged, and which day it is, comes from the chain: neither a note nor a clock decides."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_airflow import steps
from anon_airflow.audit import AuditStore
from anon_core.errors import InvalidInputError, RefusedError
from anon_core.publishing.distribution import write_csv, write_parquet
from anon_core.table import RELEASED, read
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import versions_of, write_publication


def today() -> date:
    """Now, not when the tests began: they may run past midnight."""
    return datetime.now(UTC).date()


UNTIL_RECODE = UNTIL_GATE[:4]


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}))


def test_what_was_staged_is_on_record_before_anything_is_measured(run):
    staged = take(run, "stage")
    (intent,) = [row for row in rows(run)["intents"] if row["verb"] == "stage"]
    (outcome,) = [row for row in rows(run)["outcomes"] if row["intent_id"] == intent["id"]]
    assert outcome["status"] == "done"
    assert {name: outcome["details"][name] for name in ("rows", "sha256")} == {
        "rows": 400,
        "sha256": hashlib.sha256((run.staging / "original.parquet").read_bytes()).hexdigest(),
    }
    assert staged["sha256"] == outcome["details"]["sha256"]


def test_a_note_that_lies_about_the_rows_hides_no_row_that_was_removed(run):
    take(run, *UNTIL_RECODE)
    release = run.staging / "release"
    table = read(release / "people.parquet", RELEASED)
    kept = table.keep(np.arange(table.rows) < 200)
    write_csv(kept, release / "people.csv")
    write_parquet(kept, release / "people.parquet")
    edit(run.notes / "stage.json", rows=kept.rows)
    with pytest.raises(RefusedError, match="200 of 400 rows"):
        take(run, "gate")


def test_after_the_gate_a_note_decides_nothing(run):
    take(run, *UNTIL_GATE)
    edit(run.notes / "stage.json", rows=100_000, sha256="0", rows_dropped=3)
    assert take(run, "publish")["status"] == "published"
    assert rows(run)["releases"][-1]["rows_in"] == 400


def test_an_original_that_was_replaced_together_with_its_note_is_noticed(tmp_path):
    privacy = {"k_means": "link"}
    recode = {"method": "prioritised", "mode": "link"}
    run = run_of(write_publication(tmp_path, privacy=privacy, recode=recode), tmp_path / "home")
    take(run, *UNTIL_RECODE)
    original = run.staging / "original.parquet"
    original.write_bytes((run.staging / "release" / "people.parquet").read_bytes())
    edit(run.notes / "stage.json", sha256=hashlib.sha256(original.read_bytes()).hexdigest())
    with pytest.raises(InvalidInputError, match="missing or was changed"):
        take(run, "gate")


def test_what_recoding_noted_goes_into_the_report_only_as_it_was_noted(run):
    take(run, *UNTIL_RECODE)
    edit(run.notes / "recode.json", public_utility={})
    with pytest.raises(RefusedError, match="the note of `recode` has changed since it went on record"):
        take(run, "gate")
    assert not run.gated.exists()


def test_a_run_that_was_staged_by_an_earlier_version_has_to_be_staged_again(run):
    with run.audit() as audit:
        audit.intend(run_id=run.run_id, dataset=run.dataset, verb="run", actor="x")
        with pytest.raises(
            RefusedError, match=r"no record of the table that run .* staged; clear the run from `stage`"
        ):
            _ = run.history(audit).staged


def set_clock(patch: pytest.MonkeyPatch, moment: datetime) -> None:
    """Set the clock of this worker, for the steps and for what it writes."""
    opened = AuditStore.open
    patch.setattr(steps, "_today", moment.date)
    patch.setattr(AuditStore, "open", lambda *args: opened(*args, clock=lambda: moment))


def waived(folder: Path, until: date, **changes: Any) -> Path:
    waiver = {"check": "suppression_limit", "reason": "a small register", "by": "R. Rossi", "until": until}
    return write_publication(folder, privacy={"waivers": [waiver]}, **changes)


NOW = datetime.now(UTC)


def test_a_clock_that_is_set_back_does_not_bring_back_a_waiver(tmp_path, monkeypatch):
    spec = waived(tmp_path, today() - timedelta(1))
    with pytest.raises(RefusedError, match="expired on"):
        take(run_of(spec, tmp_path / "home", "first"), "stage")
    set_clock(monkeypatch, NOW - timedelta(5))
    with pytest.raises(RefusedError, match="expired on"):
        take(run_of(spec, tmp_path / "home", "second"), "stage")
    assert versions_of(spec) == []


@pytest.mark.parametrize("step", ["gate", "publish"])
def test_a_worker_with_a_slow_clock_does_not_go_on_with_what_has_ended(tmp_path, monkeypatch, step):
    """It was still valid when the run was staged; another worker's row is of the day after, this one's are not."""
    spec = waived(tmp_path, today())
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE[: UNTIL_GATE.index("gate") + (step == "publish")])
    with monkeypatch.context() as patch:
        set_clock(patch, NOW + timedelta(1))
        with run.audit() as audit:
            audit.append("refusals", run_id="another", dataset="others", by="gate", reasons=[])
    with run.audit() as audit:
        audit.append("refusals", run_id="another", dataset="others", by="gate", reasons=[])
    with pytest.raises(RefusedError, match="expired on"):
        take(run, step)
    assert versions_of(spec) == []


def test_after_a_clock_that_was_ahead_a_waiver_that_is_renewed_past_its_day_counts_and_no_other(tmp_path, monkeypatch):
    spec = waived(tmp_path, today() + timedelta(9))
    run = run_of(spec, tmp_path / "home")
    with monkeypatch.context() as patch:
        set_clock(patch, NOW + timedelta(3650))
        with run.audit() as audit:
            audit.append("refusals", run_id="another", dataset="others", by="gate", reasons=[])
    for number in (1, 2, 3):  # What a refused run writes by its own clock brings nothing back.
        with pytest.raises(RefusedError, match="expired on"):
            take(run_of(spec, tmp_path / "home", f"manual__{number}"), "stage")
    review = {"by": "Ada", "on": today() + timedelta(3650)}
    renewed = run_of(waived(tmp_path, today() + timedelta(3660), reviewed=review), tmp_path / "home", "manual__4")
    assert take(renewed, *UNTIL_GATE, "publish")["status"] == "published"
