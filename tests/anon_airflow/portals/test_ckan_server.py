"""Where a CKAN is and with which token: read from the environment as Airflow reads it, and from Airflow itself."""

from __future__ import annotations

import json
import pickle

import pytest

from anon_airflow.portals.ckan.server import Server, server_of
from anon_airflow.run.connections import from_environment
from anon_core.errors import InvalidInputError, PortalError

TOKEN = "eyJhbGciOi.J9-_x"
JSON = {"conn_type": "ckan", "host": "https://data.example.org", "password": TOKEN}
WAYS = {
    json.dumps(JSON): ("https://data.example.org", 120.0),
    json.dumps({**JSON, "port": 8443, "extra": {"timeout": 30}}): ("https://data.example.org:8443", 30.0),
    json.dumps({**JSON, "extra": '{"timeout": "45"}'}): ("https://data.example.org", 45.0),
    json.dumps({**JSON, "host": "data.example.org/portal/"}): ("https://data.example.org/portal", 120.0),
    f"ckan://https://:{TOKEN}@data.example.org": ("https://data.example.org", 120.0),
    f"ckan://https://:{TOKEN}@data.example.org:8443/portal?timeout=60": ("https://data.example.org:8443/portal", 60.0),
    f"ckan://http://:{TOKEN}@127.0.0.1:5000": ("http://127.0.0.1:5000", 120.0),
    f"ckan://:{TOKEN}@data.example.org/?__extra__=%7B%22timeout%22%3A+9%7D": ("https://data.example.org", 9.0),
}


def in_environment(connection: str, environ: dict[str, str]) -> Server:
    return server_of(connection, lambda *asked: from_environment(*asked, environ))


@pytest.mark.parametrize("written", WAYS)
def test_json_and_uri_lead_to_the_same_place(written: str) -> None:
    server = in_environment("town_portal", {"AIRFLOW_CONN_TOWN_PORTAL": written})
    assert (server.url, server.timeout) == WAYS[written]
    assert server.token == TOKEN


@pytest.mark.parametrize("written", WAYS)
def test_airflow_reads_the_same_from_the_same_text(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from anon_airflow.hooks.connection import from_airflow

    monkeypatch.setenv("AIRFLOW_CONN_TOWN_PORTAL", written)
    assert server_of("town_portal", from_airflow) == server_of("town_portal", from_environment)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"conn_type": "http"}, "its type is 'http'"),
        ({"host": ""}, "not an address"),
        ({"host": "ftp://data.example.org"}, "not an address"),
        ({"host": "https://user@data.example.org"}, "not an address"),
        ({"host": "https://data.example.org:port"}, "not an address"),
        ({"password": ""}, "not an API token"),
        ({"password": f"Bearer {TOKEN}"}, "without `Bearer`"),
        ({"extra": {"timeout": 0}}, "`timeout` in seconds"),
        ({"extra": "[]"}, "`timeout` in seconds"),
        ({"extra": {"timeout": "soon"}}, "`timeout` in seconds"),
    ],
)
def test_a_connection_that_leads_nowhere_says_why(change: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInputError, match=words) as caught:
        in_environment("town", {"AIRFLOW_CONN_TOWN": json.dumps({**JSON, **change})})
    assert TOKEN not in str(caught.value)


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(InvalidInputError) as caught:
        Server.of("town", {"conn_type": "http"})
    assert str(caught.value).count(";") == 2


def test_a_connection_that_is_not_set_says_what_to_set() -> None:
    with pytest.raises(InvalidInputError, match=r"set AIRFLOW_CONN_TOWN to \{\"conn_type\": \"ckan\""):
        in_environment("town", {})


@pytest.mark.parametrize("written", ['{"password": "' + TOKEN, f"ckan://https://:{TOKEN}@data.example.org:99999"])
def test_a_text_that_cannot_be_read_is_not_quoted(written: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        in_environment("town", {"AIRFLOW_CONN_TOWN": written})
    assert TOKEN not in str(caught.value)


def test_a_token_is_not_shown_with_its_server() -> None:
    assert TOKEN not in repr(Server(url="https://data.example.org", token=TOKEN))


def test_a_connection_that_airflow_does_not_have_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from anon_airflow.hooks.ckan import CkanHook

    monkeypatch.delenv("AIRFLOW_CONN_NOBODY", raising=False)
    with pytest.raises(InvalidInputError, match="'nobody' cannot be read from Airflow"):
        CkanHook("nobody").server()
    assert CkanHook("nobody").test_connection()[0] is False


def test_airflow_shows_a_form_for_the_connection_type() -> None:
    from airflow.providers_manager import ProvidersManager

    manager = ProvidersManager()
    assert manager.hooks["ckan"].hook_name == "CKAN"
    assert manager.field_behaviours["ckan"]["relabeling"] == {"host": "Address", "password": "API token"}
    assert "extra__ckan__timeout" in manager.connection_form_widgets


def test_an_error_of_a_portal_survives_the_way_to_another_process() -> None:
    error = PortalError("https://data.example.org", "publishing", "HTTP 503", "2 of 4 new files can be downloaded")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
