"""Somebody tampers with a release between the gate and its publication, and then everything is approved as it should.

The graph goes on: what stops it is that `publish` measures the bytes again and believes nothing but a signed receipt.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
import yaml

from anon_airflow.run.context import folder_name
from tests.dags.airflow_server import Airflow
from tests.dags.asked import Asked, triggered
from tests.dags.conftest import BYPASS, REFUSED, WEIGHTED, dag_of
from tests.faults.publications import csv_text, people

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def waiting(airflow) -> dict[str, Asked]:
    """Trigger every publication that is to be tampered with, and wait until all of them ask for approval."""
    found = triggered(airflow, BYPASS)
    for run in found.values():
        run.until_waiting()
    return found


def released(run: Asked) -> tuple[Path, Path]:
    return run.gated / f"{run.dataset}.csv", run.gated / f"{run.dataset}.parquet"


def test_a_release_swapped_for_another_one_is_not_published(waiting):
    """Both files are those of another run: of the same rows in both, k-anonymous, and covered by a receipt there."""
    run, other = waiting["swap-all"], waiting["swap-one"]
    for path, strange in zip(released(run), released(other), strict=True):
        lines = strange.read_bytes()
        path.write_bytes(lines if path.suffix == ".parquet" else lines.replace(b"1940", b"1941"))
    run.answer("Approve", "olga")
    run.assert_not_published("changed after the gate measured it", by="receipt")


def test_one_of_two_distributions_swapped_for_the_original_is_not_published(waiting):
    run = waiting["swap-one"]
    _, parquet = released(run)
    parquet.write_bytes((run.airflow.include / f"samples/{run.dataset}.csv").read_bytes())
    run.answer("Approve", "olga")
    run.assert_not_published(f"{run.dataset}.parquet", by="receipt")


def test_a_suite_that_was_emptied_publishes_nothing(waiting):
    run = waiting["suite-emptied"]
    suite = run.gated / "suite.json"
    suite.write_text(json.dumps({**json.loads(suite.read_bytes()), "expectations": []}))
    run.answer("Approve", "olga")
    run.assert_not_published("suite.json", by="receipt")


def test_a_suite_that_lost_its_k_publishes_nothing(waiting):
    run = waiting["suite-shortened"]
    suite = run.gated / "suite.json"
    content = json.loads(suite.read_bytes())
    kept = [entry for entry in content["expectations"] if entry["type"] != "expect_k_anonymity"]
    assert len(kept) < len(content["expectations"])
    suite.write_text(json.dumps({**content, "expectations": kept}))
    run.answer("Approve", "olga")
    run.assert_not_published("suite.json", by="receipt")


def test_without_our_classes_nothing_is_published(waiting):
    run = waiting["classes-gone"]
    flag = run.airflow.home.parent / "python/classes-gone"
    flag.touch()
    try:
        run.answer("Approve", "olga")
        run.assert_not_published("the gate could not finish", by="receipt")
    finally:
        flag.unlink()


def test_a_publication_file_changed_after_the_gate_publishes_nothing(waiting):
    run = waiting["spec-changed"]
    spec = run.airflow.include / f"publications/{run.dataset}.yaml"
    content = yaml.safe_load(spec.read_text())
    content["privacy"]["k"] = 2
    spec.write_text(yaml.safe_dump(content, sort_keys=False))
    run.answer("Approve", "olga")
    run.assert_not_published("for another publication file", by="approval")
    run.mark("approve", "success")
    run.clear("publish")
    run.assert_not_published("for another publication file", by="approval")


def test_of_two_runs_at_once_the_older_one_does_not_overtake(waiting):
    first = waiting["twice-at-once"]
    (first.airflow.include / f"samples/{first.dataset}.csv").write_text(csv_text(people(seed=3)))
    second = Asked(first.airflow, first.dataset, first.airflow.trigger(dag_of(first.dataset)))
    second.until_waiting()
    second.answer("Approve", "olga")
    assert second.end() == "success"
    portal = first.airflow.include / "portal" / first.dataset
    published = (portal / "latest/manifest.json").read_bytes()
    first.answer("Approve", "olga")
    assert first.end() == "failed"
    assert first.rows()["publications"] == []
    assert f"{second.run_id} has published" in "; ".join(first.rows()["refusals"][-1]["reasons"])
    assert (portal / "latest/manifest.json").read_bytes() == published


def ended_refused(airflow: Airflow, dataset: str, run_id: str) -> dict[str, list]:
    assert airflow.wait(dag_of(dataset), run_id) == "failed"
    assert not (airflow.include / "portal" / dataset).exists()
    rows = airflow.audit_rows(dataset, run_id)
    assert rows["publications"] == rows["receipts"] == []
    return rows


def test_a_receipt_copied_from_another_run_publishes_nothing(airflow, waiting):
    """
    Whoever can write the audit database and the private folder, but has no key, copies a good release with its receipt.

    The row has no link in the chain, so it is not believed, and `verify` shows it.
    """
    run_id = airflow.trigger(dag_of(REFUSED))
    ended_refused(airflow, REFUSED, run_id)
    good = waiting["twice-at-once"]
    receipt = good.rows()["receipts"][-1]
    shutil.copytree(good.gated, airflow.anon_home / "gated" / REFUSED / folder_name(run_id))
    store, place = airflow.anon_home / "audit.db", 10**6
    with sqlite3.connect(store) as connection:
        connection.execute(
            "INSERT INTO receipts (id, run_id, dataset, digest, body, at) VALUES (?, ?, ?, ?, ?, ?)",
            (place, run_id, REFUSED, receipt["digest"], receipt["body"], receipt["at"]),
        )
    try:
        path = f"/api/v2/dags/{dag_of(REFUSED)}/dagRuns/{run_id}/taskInstances/gate"
        airflow.ask("PATCH", path, {"new_state": "success"}, user="olga")
        assert airflow.wait(dag_of(REFUSED), run_id) == "failed"
        with pytest.raises(AssertionError):
            airflow.audit_rows(REFUSED, run_id)
    finally:
        with sqlite3.connect(store) as connection:
            ((trigger,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'receipts_no_delete'")
            connection.execute("DROP TRIGGER receipts_no_delete")
            connection.execute("DELETE FROM receipts WHERE id = ?", (place,))
            connection.execute(trigger)  # `verify` would miss it.
    refusal = ended_refused(airflow, REFUSED, run_id)["refusals"][-1]
    assert refusal["by"] == "audit store"
    assert f"link {place}: receipts row {place} has no chain entry" in "; ".join(refusal["reasons"])


def test_no_parameter_of_a_run_lowers_k(airflow, runs):
    conf = {"k": 1, "privacy": {"k": 1, "singletons": 10**6}, "params": {"k": 1}, "spec": "elsewhere.yaml"}
    path = f"/api/v2/dags/{dag_of(REFUSED)}/dagRuns"
    run = airflow.ask("POST", path, {"logical_date": None, "conf": conf}, user="olga")
    rows = ended_refused(airflow, REFUSED, run["dag_run_id"])
    (required,) = {row["required"] for row in rows["checks"] if row["name"] == "k_anonymity"}
    assert required == 5


def test_a_published_column_named_like_the_weights_is_no_weight(airflow, runs):
    """Its cells are numbers such as 7 or 30: taken for weights, they would make people of one row many."""
    run = triggered(airflow, [WEIGHTED])[WEIGHTED]
    rows = ended_refused(airflow, WEIGHTED, run.run_id)
    observed = {row["name"]: row["observed"] for row in rows["checks"] if row["distribution"] == "all"}
    assert observed["k_anonymity"] == 1
