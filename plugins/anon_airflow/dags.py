"""One DAG for every publication file in a folder, for a DAG file to hand to Airflow.

Parsing reads YAML and builds operators; nothing heavy is imported. A file with errors still gets a DAG that shows them
and fails at every run, so that one broken file does not stop the others and is noticed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import (
    DAG,
    Asset,
    CronDataIntervalTimetable,
    TriggerRule,
    get_parsing_context,
)
from airflow.sdk.definitions.callback import SyncCallback
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference

from anon_airflow.operators.approve import ApproveOperator
from anon_airflow.operators.dag_docs import broken_docs, dag_docs
from anon_airflow.operators.detect import DetectOperator
from anon_airflow.operators.gate import GateOperator
from anon_airflow.operators.publish import PublishOperator, dataset_asset
from anon_airflow.operators.recode import RecodeOperator
from anon_airflow.operators.record import RecordOperator
from anon_airflow.operators.score import ScoreOperator
from anon_airflow.operators.stage import StageOperator
from anon_airflow.run.home import Home
from anon_airflow.run.last_known import LastKnown, recall
from anon_airflow.run.notify import late
from anon_core.errors import Problem, SpecError
from anon_core.spec import AirflowSettings, Publication, length, load_spec
from anon_core.spec import Asset as SpecAsset

__all__ = ["publication_dag", "publication_dags"]

START = datetime(2024, 1, 1, tzinfo=UTC)


def publication_dags(folder: Path) -> dict[str, DAG]:
    """
    Return the DAGs of all publication files in a folder by their ids, those of good files first.

    While Airflow runs one task of one DAG, only files that may be that DAG are read. A DAG file puts the answer into
    its globals, where Airflow looks for DAGs: ``globals().update(publication_dags(folder))``.
    """
    only = get_parsing_context().dag_id
    found: dict[str, DAG] = {}
    broken: list[tuple[Path, SpecError]] = []
    for path in sorted(folder.glob("*.y*ml")):
        if only and not only.startswith("broken_") and _dag_id_in(path) not in (only, None):
            continue
        try:
            dag = _dag_of(path, found)
            found[dag.dag_id] = dag
        except SpecError as error:
            broken.append((path, error))
    for path, problems in broken:
        dag = _broken_dag(path, problems, found)
        found[dag.dag_id] = dag
    return found


def publication_dag(publication: Publication) -> DAG:
    """Return the DAG that publishes one dataset."""
    settings = publication.airflow
    with DAG(
        dag_id=publication.dag_id,
        dag_display_name=f"Publish: {publication.title}",
        description=publication.title,
        doc_md=dag_docs(publication),
        schedule=_schedule(publication.schedule, settings.timezone),
        start_date=_start(publication),
        catchup=settings.catchup,
        max_active_runs=settings.max_active_runs,
        default_args=_task_arguments(settings),
        tags=["anonflow", *settings.tags],
        deadline=_deadline(publication),
    ) as dag:
        _add_tasks(
            str(publication.file),
            publication.source_template,
            approval=publication.approval.required,
            outlets=[dataset_asset(publication.dataset)],
        )
    return dag


def _task_arguments(settings: AirflowSettings) -> dict[str, Any]:
    """Return what all tasks of a publication have in common."""
    limit = settings.execution_timeout
    given = {"pool": settings.pool, "queue": settings.queue, "execution_timeout": length(limit) if limit else None}
    common = {"owner": settings.owner, "retries": settings.retries, "retry_delay": length(settings.retry_delay)}
    return common | {name: value for name, value in given.items() if value is not None}


def _start(publication: Publication) -> datetime:
    settings = publication.airflow
    first = settings.start_date or START.date()
    return datetime(first.year, first.month, first.day, tzinfo=ZoneInfo(settings.timezone))


def _deadline(publication: Publication) -> DeadlineAlert | None:
    """Return the alert that notifies people when a run has not ended so long after it was queued."""
    settings = publication.airflow
    if settings.deadline is None:
        return None
    return DeadlineAlert(
        reference=DeadlineReference.DAGRUN_QUEUED_AT,
        interval=length(settings.deadline),
        callback=SyncCallback(late, kwargs={"spec": str(publication.file)}),
    )


def _schedule(schedule: str | SpecAsset | None, timezone: str) -> str | Asset | CronDataIntervalTimetable | None:
    """
    Return when the DAG runs.

    A run covers the period before it: that of 1 December has the data interval of November. Airflow 3 by itself would
    give a cron schedule an interval without length, and templates such as ``{{ data_interval_start }}`` no period.
    """
    if schedule is None or schedule in ("@once", "@continuous"):
        return schedule
    return CronDataIntervalTimetable(schedule, timezone) if isinstance(schedule, str) else Asset(schedule.asset)


def _broken_dag(path: Path, error: SpecError, others: Collection[str]) -> DAG:
    """
    Return a DAG that says what is wrong with its publication file, and of which every run fails with that.

    It keeps its id, its tasks and the schedule with which it last ran, so a slip in a file does not end a monthly
    release unnoticed. If a file becomes broken during a run, `record` must still be there to remove the originals.
    """
    known = recall(Home.find(), path)
    own = known.dag_id if known else _dag_id_in(path)
    with DAG(
        dag_id=own if own and own not in others else _broken_id(path),
        description=f"{path.name} cannot be used: {len(error.problems)} problems",
        doc_md=broken_docs(error),
        schedule=_known_schedule(known),
        start_date=START,
        catchup=False,
        default_args={"retries": 0},
        tags=["anonflow", "broken publication file"],
    ) as dag:
        _add_tasks(str(path.absolute()), "", approval=known.approval if known else _asks_for_approval(path))
    return dag


def _known_schedule(known: LastKnown | None) -> str | Asset | CronDataIntervalTimetable | None:
    """Return the schedule with which a publication file last ran; None where it never did, or Airflow refuses it."""
    if known is None:
        return None
    try:
        asset = SpecAsset.model_validate(known.schedule) if isinstance(known.schedule, dict) else None
        return _schedule(asset or known.schedule, known.timezone)
    except Exception:  # noqa: BLE001 - Whatever was damaged, a DAG without a schedule still shows the problems.
        return None


def _add_tasks(spec: str, source_file: str, *, approval: bool, outlets: Sequence[Asset] = ()) -> None:
    stage = StageOperator(task_id="stage", spec=spec, source_file=source_file)
    detect = DetectOperator(task_id="detect", spec=spec)
    # `score` uses the sets that `detect` found, and searches for them itself if `detect` failed. It needs `stage`.
    score = ScoreOperator(task_id="score", spec=spec, trigger_rule=TriggerRule.ALL_DONE_MIN_ONE_SUCCESS)
    recode = RecodeOperator(task_id="recode", spec=spec)
    # The gate always removes the originals, so a retry would have nothing to measure.
    gate = GateOperator(task_id="gate", spec=spec, retries=0)
    publish = PublishOperator(task_id="publish", spec=spec, outlets=list(outlets))
    # A teardown runs after failures too. It fails the run unless the record says that the release is published.
    record = RecordOperator(task_id="record", spec=spec).as_teardown()
    # `detect` and `score` decide nothing, so they run at the same time as `recode`, and their failure does not stop the
    # run. But the gate removes the originals, and the reports need their results: `informed` waits until both ended.
    informed = EmptyOperator(task_id="informed", trigger_rule=TriggerRule.ALL_DONE)
    stage >> [detect, score, recode]
    detect >> score
    [detect, score] >> informed
    [recode, informed] >> gate >> publish >> record
    informed >> record  # If `recode` fails, `record` must not remove the originals while `detect` still reads them.
    if approval:
        gate >> ApproveOperator(task_id="approve", spec=spec) >> publish


def _broken_id(path: Path) -> str:
    return "broken_" + re.sub(r"[^A-Za-z0-9_.-]+", "_", path.name)[:200]


def _dag_id_in(path: Path) -> str | None:
    """Return the DAG id that a file seems to have, by a search in its text: parsing may fail."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"(?m)^dataset: *[\"']?([a-z0-9-]{1,80})[\"']?\s*(#|$)", text)
    return "publish_" + found[1].replace("-", "_") if found else None


def _asks_for_approval(path: Path) -> bool:
    """
    Whether a file seems to ask for approval, by a search in its text.

    If a file becomes broken while a run waits for approval, the run must still find that task.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    section = re.search(r"(?ms)^approval:(.*?)(?=^[^\s#]|\Z)", text)
    return bool(section and re.search(r"required: *true", section[1]))


def _dag_of(path: Path, others: Collection[str]) -> DAG:
    """
    Return the DAG of one file.

    :raises SpecError: the file cannot be used, or Airflow does not accept its settings.
    """
    try:
        publication = load_spec(path)
        if publication.dag_id in others:
            what = f"another file publishes {publication.dataset!r} already"
            raise SpecError(str(path), [Problem(1, "dataset", what)])
        dag = publication_dag(publication)
        dag.validate()  # type: ignore[no-untyped-call] # It is Airflow's.
    except SpecError:
        raise
    except Exception as error:  # noqa: BLE001 - An error of any kind must not stop the DAGs of the other files.
        raise SpecError(str(path), [Problem(1, "", f"Airflow does not accept it: {error}")]) from None
    return dag
