"""The state that Airflow shows of another run, asked for by a task."""

from __future__ import annotations

from types import SimpleNamespace

import httpx
import pytest
from airflow.sdk.api.client import ServerResponseError
from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
from airflow.sdk.execution_time.comms import DagRunStateResult, ErrorResponse

from anon_airflow.operators.publication import state_of


def task(answer):
    def get_dagrun_state(dag_id, run_id):
        assert (dag_id, run_id) == ("publish_people", "run 1")
        if isinstance(answer, Exception):
            raise answer
        return answer

    return {"ti": SimpleNamespace(dag_id="publish_people", get_dagrun_state=get_dagrun_state)}


def unknown_to_the_server():
    request = httpx.Request("GET", "http://server")
    return ServerResponseError("not found", request=request, response=httpx.Response(404, request=request))


def test_the_state_is_that_of_the_run_of_this_dag():
    answer = DagRunStateResult.model_validate({"state": "failed"}).state
    assert state_of(task(answer), "run 1") == "failed"


@pytest.mark.parametrize(
    "error",
    [AirflowRuntimeError(ErrorResponse(error=ErrorType.GENERIC_ERROR)), unknown_to_the_server()],
    ids=["through a supervisor", "in `airflow dags test`"],
)
def test_a_run_that_airflow_has_forgotten_has_no_state(error):
    assert state_of(task(error), "run 1") is None
