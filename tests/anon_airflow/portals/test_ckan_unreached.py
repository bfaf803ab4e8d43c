"""A CKAN that cannot be reached: whoever waits is told, and then what to look at."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from anon_airflow import steps
from anon_airflow.portals.choice import portal_on_record
from anon_airflow.portals.ckan import client
from anon_airflow.portals.ckan.client import CkanClient, RetryPolicy
from anon_airflow.portals.ckan.requests import status
from anon_airflow.portals.ckan.server import Server
from anon_core.errors import PortalError
from tests.anon_airflow.run.step_runs import run_of
from tests.faults.publications import write_publication

NOBODY = "http://127.0.0.1:9"
CKAN = {"connection": "town_portal", "organization": "town"}


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"conn_type": "ckan", "host": NOBODY, "password": "eyJhbGciOi.J9-_x"}
    monkeypatch.setenv("AIRFLOW_CONN_TOWN_PORTAL", json.dumps(content))
    monkeypatch.setattr(client, "RetryPolicy", lambda: RetryPolicy(attempts=2, first=0.01))


@pytest.fixture
def deaf() -> Iterator[str]:
    """A server that lets nobody in: its queue is full, so that the network drops what comes."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def ask(url: str) -> PortalError:
    server = Server(url=url, token="t", timeout=60.0)
    with pytest.raises(PortalError) as caught:
        CkanClient(server, RetryPolicy(attempts=1)).ask(status())
    return caught.value


def test_where_no_server_answers_the_host_of_the_connection_is_doubted() -> None:
    said = str(ask(NOBODY))
    assert "the connection failed (ConnectError)" in said
    assert "check the host of the connection" in said


def test_a_server_that_lets_nobody_in_is_given_up_after_the_seconds_that_are_told(
    deaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.3)
    assert "no connection within 0.3 seconds; no server with a valid certificate answers there" in str(ask(deaf))


@pytest.mark.usefixtures("connection")
def test_stage_tells_that_it_tries_again(tmp_path: Path) -> None:
    said: list[str] = []
    run = run_of(write_publication(tmp_path, portal={"ckan": CKAN}), tmp_path / "home")
    with pytest.raises(PortalError):
        steps.stage(run, str(run.publication.source.file), said.append)
    assert said == ["trying again in 0.01 s: the connection failed (ConnectError)"]


@pytest.mark.usefixtures("connection")
def test_whoever_withdraws_is_told_that_it_tries_again() -> None:
    said: list[str] = []
    with pytest.raises(PortalError):
        portal_on_record({"ckan": CKAN}, said.append).check_is_where([f"{NOBODY}/dataset/1"])
    assert said == ["trying again in 0.01 s: the connection failed (ConnectError)"]
