"""``source.file`` filled in by Airflow, as it does before a task runs, and by ``anon run``: the same text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from anon_airflow.sources.template import render
from anon_core.spec.templates import template_problem
from tests.dags.parsing import in_airflow

START, END = datetime(2026, 9, 30, 22, 15, tzinfo=UTC), datetime(2026, 10, 31, 23, tzinfo=UTC)

TEMPLATES = [
    "in/{{ ds }}.csv",
    "in/{{ds}}/{{ ds_nodash }}/*.csv",
    "{{ ts }} {{ ts_nodash }} {{ ts_nodash_with_tz }}",
    "{{ data_interval_start }} {{ data_interval_end }} {{ logical_date }}",
    "{{ data_interval_start | ds }}",
    "{{ data_interval_end | ds_nodash | lower }}",
    "{{ logical_date | ts }} {{ logical_date | ts_nodash }} {{ logical_date | ts_nodash_with_tz }}",
    "{{ data_interval_start.strftime('%Y/%m/%d_%H%M%S %j %G-%V %u %A %b %-d %z %Z %%') }}",
    "{{ data_interval_start.format('YYYY-MM-DD dddd LLLL Q zz [x]') | upper }}",
    "{{ data_interval_start.isoformat() }} {{ data_interval_start.to_date_string() }}",
    "{{ data_interval_start.to_datetime_string() }} {{ data_interval_start.to_iso8601_string() }}",
    "{{ data_interval_start.date() }} {{ data_interval_start.date() | ds }} {{ data_interval_start.date().year }}",
    "{{ data_interval_start.add(months=1, days=-3).subtract(years=1) | ds }}",
    "{{ data_interval_start.start_of('month') | ds }} {{ data_interval_end.end_of('week') | ts }}",
    "{{ data_interval_start.replace(day=1, hour=0) }}",
    "{{ logical_date.in_timezone('Europe/Rome') | ts }} {{ data_interval_end.in_timezone('Asia/Tokyo') | ds }}",
    "{{ data_interval_start - macros.timedelta(days=1, hours=-2) }} {{ data_interval_end + macros.timedelta(7) }}",
    "{{ macros.ds_add(ds, -30) }} {{ macros.ds_add(ds, 0) }}",
    "{{ macros.ds_format(ds, '%Y-%m-%d', '%d.%m.%Y') }}",
    "{{ macros.ds_format(macros.ds_add(data_interval_end | ds, 1), '%Y-%m-%d', '%y') }}",
    "{{ data_interval_start.year }}-{{ data_interval_start.month + 1 }}-{{ data_interval_start.quarter }}",
    "{{ data_interval_start.day_of_year ~ '-' ~ data_interval_start.week_of_year ~ '-' ~ ds }}",
    "{{ 'a' + ds }} {{ ds ~ data_interval_start }}",
    "{# by month #}in/{{ ds }}.csv",
    "in/people.csv",
]

IN_A_TASK = """
import uuid
from datetime import datetime, timezone
from airflow.sdk import DAG
from airflow.sdk.api.datamodels._generated import TIRunContext, DagRun
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
from anon_airflow.operators.stage import StageOperator

start, end = (datetime.fromisoformat(one) for one in {period!r})
answer = []
for template in {templates!r}:
    with DAG("one", schedule=None) as dag:
        task = StageOperator(task_id="stage", spec="none.yaml", source_file=template)
    run = DagRun.model_construct(
        dag_id="one", run_id="r", logical_date=start, data_interval_start=start, data_interval_end=end,
        run_after=start, start_date=start, run_type="manual", state="running", conf=dict(), consumed_asset_events=[],
        partition_key=None, partition_date=None,
    )
    instance = RuntimeTaskInstance.model_construct(
        id=uuid.uuid4(), task_id="stage", dag_id="one", run_id="r", try_number=1, map_index=-1, task=task,
        _ti_context_from_server=TIRunContext.model_construct(dag_run=run, task_reschedule_count=0, max_tries=1),
    )
    task.render_template_fields(instance.get_template_context())
    answer.append(task.source_file)
"""


@pytest.fixture(scope="module")
def filled_by_airflow(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    code = IN_A_TASK.format(period=[START.isoformat(), END.isoformat()], templates=TEMPLATES)
    return in_airflow(code, tmp_path_factory.mktemp("templates"))


@pytest.mark.parametrize("number", range(len(TEMPLATES)), ids=TEMPLATES)
def test_anon_run_fills_in_what_airflow_fills_in(filled_by_airflow: list[str], number: int) -> None:
    assert template_problem(TEMPLATES[number]) is None
    assert render(TEMPLATES[number], START, END) == filled_by_airflow[number]
