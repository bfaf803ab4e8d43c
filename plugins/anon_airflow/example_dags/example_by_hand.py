"""One publication, task by task, behind a sensor: for a DAG that has tasks of its own before or after."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow.providers.standard.sensors.filesystem import FileSensor
from airflow.sdk import DAG, CronDataIntervalTimetable, chain

from anon_airflow.operators.detect import DetectOperator
from anon_airflow.operators.gate import GateOperator
from anon_airflow.operators.publish import PublishOperator, dataset_asset
from anon_airflow.operators.recode import RecodeOperator
from anon_airflow.operators.record import RecordOperator
from anon_airflow.operators.score import ScoreOperator
from anon_airflow.operators.stage import StageOperator

# [START by_hand]
HERE = Path(__file__).resolve().parent
SPEC = str(HERE / "publications/driver-licences.yaml")
SOURCE = "incoming/{{ data_interval_start | ds }}.csv"  # Relative to the folder above that of the publication file.

with DAG(
    "example_by_hand",
    schedule=CronDataIntervalTimetable("@monthly", "UTC"),  # The run of 1 December has the data interval of November.
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2},
    tags=["anonflow", "example"],
) as dag:
    arrived = FileSensor(task_id="arrived", filepath=str(HERE / SOURCE), timeout=timedelta(hours=6).total_seconds())
    stage = StageOperator(task_id="stage", spec=SPEC, source_file=SOURCE)
    recode = RecodeOperator(task_id="recode", spec=SPEC)
    detect = DetectOperator(task_id="detect", spec=SPEC)
    score = ScoreOperator(task_id="score", spec=SPEC)
    gate = GateOperator(task_id="gate", spec=SPEC, retries=0)  # The gate removes the originals, however it ends.
    publish = PublishOperator(task_id="publish", spec=SPEC, outlets=[dataset_asset("driver-licences")])
    record = RecordOperator(
        task_id="record", spec=SPEC
    ).as_teardown()  # Runs after a failure too, and then fails the run.
    # One after the other: a `detect` that fails stops this run. `publication_dags` lets such a run go on.
    chain(arrived, stage, recode, detect, score, gate, publish, record)
# [END by_hand]
