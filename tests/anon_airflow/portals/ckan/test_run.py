"""From a publication file to a real CKAN, through the steps, the command line and Airflow's hook."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from anon_airflow.hooks.ckan import CkanHook
from anon_airflow.operators.publication import run_of
from anon_airflow.portals.choice import portal_of
from anon_airflow.portals.ckan.portal import CkanPortal
from anon_core.errors import InvalidInputError, RefusedError
from tests.anon_airflow.portals.ckan.bad_network import BadNetwork, Rule, http
from tests.anon_airflow.portals.ckan.boot import REPOSITORY
from tests.anon_airflow.portals.ckan.portals import Place, Site
from tests.anon_airflow.run.step_runs import rows, take
from tests.anon_airflow.run.step_runs import run_of as run_by_hand
from tests.faults.anon_process import anon
from tests.faults.publications import COLUMNS, files_below, staged_files, write_publication

pytestmark = pytest.mark.portal
AIRFLOW = str(Path(sys.executable).with_name("airflow"))
ALL = ("stage", "detect", "score", "recode", "gate", "publish", "record")


def environment(url: str, token: str) -> dict[str, str]:
    return {"AIRFLOW_CONN_TOWN_PORTAL": json.dumps({"conn_type": "ckan", "host": url, "password": token})}


@pytest.fixture
def connection(site: Site, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The connection in the environment of this process, and what to put into that of others."""
    content = environment(site.url, site.token)
    monkeypatch.setenv(*next(iter(content.items())))
    return content


def spec_of(place: Place, folder: Path, **ckan: Any) -> Path:
    columns = {**COLUMNS, "town": {**COLUMNS["town"], "description": "where they live"}}
    portal = {"connection": "town_portal", "organization": place.site.organization, **ckan}
    metadata = {"licence": "CC-BY-4.0", "publisher": "Town", "keywords": ["people"], "frequency": "monthly"}
    return write_publication(folder, dataset=place.dataset, columns=columns, portal={"ckan": portal}, metadata=metadata)


@pytest.mark.usefixtures("connection")
def test_all_steps_lead_to_ckan_and_the_record_says_so(site: Site, place: Place, tmp_path: Path) -> None:
    spec = spec_of(place, tmp_path, datastore=True)
    run = run_by_hand(spec, tmp_path / "home", period="2026-11-01")
    take(run, *ALL)
    files = site.downloads(place.dataset)
    report = json.loads(files["report.json"])
    assert set(json.loads(files["manifest.json"])["audit"]) == {"mac"}
    (publication,) = rows(run)["publications"]
    assert (publication["portal"], publication["status"]) == ("ckan", "published")
    assert publication["location"] == f"{site.url}/dataset/{place.dataset}"
    assert publication["details"]["dataset"] == f"{site.url}/dataset/{site.show(place.dataset)['id']}"
    table = next(one for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv"))
    found = site.call("datastore_search", token=None, resource_id=table["id"], limit=0)
    assert found["total"] == report["rows"]["published"]
    assert {one["id"]: one["info"]["notes"] for one in found["fields"][1:]}["town"] == "where they live"


def test_anon_run_reads_the_connection_from_the_environment(
    site: Site, place: Place, tmp_path: Path, connection: dict[str, str]
) -> None:
    command = ("run", spec_of(place, tmp_path), "--period", "2026-11-01", "--json")
    first, second = (anon(*command, home=tmp_path / "home", environ=connection) for _ in range(2))
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert first.json["release"] == second.json["release"]
    assert len(site.show(place.dataset)["resources"]) == 4
    assert site.token not in first.out + first.err
    assert all(site.token.encode() not in path.read_bytes() for path in files_below(tmp_path))


@pytest.mark.parametrize("wrong", ["token", "organization", "connection"])
def test_what_is_wrong_with_the_portal_is_found_before_the_source_is_read(
    site: Site, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    token = "nonsense" if wrong == "token" else site.token
    if wrong != "connection":
        content = {"conn_type": "ckan", "host": site.url, "password": token}
        monkeypatch.setenv("AIRFLOW_CONN_TOWN_PORTAL", json.dumps(content))
    spec = spec_of(place, tmp_path, **({"organization": "nowhere-at-all"} if wrong == "organization" else {}))
    run = run_by_hand(spec, tmp_path / "home")
    (tmp_path / "include/samples" / f"{place.dataset}.csv").unlink()
    words = {"token": "does not know the token", "organization": "no organisation", "connection": "is not known here"}
    with pytest.raises(InvalidInputError, match=words[wrong]):
        take(run, "stage")
    assert staged_files(tmp_path / "home") == []


@pytest.mark.usefixtures("connection")
def test_a_task_of_airflow_finds_the_portal_by_its_connection(site: Site, place: Place, tmp_path: Path) -> None:
    spec = spec_of(place, tmp_path, versions="keep")
    dag_run = SimpleNamespace(
        run_id="manual__1", data_interval_start=None, triggering_user_name="olga", run_type="manual"
    )
    portal = portal_of(run_of(str(spec), {"dag_run": dag_run}))  # type: ignore[typeddict-item]
    assert isinstance(portal, CkanPortal)
    assert (portal.client.server.url, portal.place.kept) == (site.url, True)
    portal.check()


def test_a_dag_publishes_by_a_connection_that_only_airflow_keeps(site: Site, place: Place, tmp_path: Path) -> None:
    spec_of(place, tmp_path, versions="keep", datastore=True)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")} | {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(REPOSITORY / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "ANON_INCLUDE": str(tmp_path / "include"),
        "ANON_HOME": str(tmp_path / "home"),
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "plugins")]),
    }
    content = environment(site.url, site.token)["AIRFLOW_CONN_TOWN_PORTAL"]
    said = ""
    for words in (
        ["db", "migrate"],
        ["connections", "add", "town_portal", "--conn-json", content],
        ["dags", "test", f"publish_{place.dataset.replace('-', '_')}"],
    ):
        done = subprocess.run([AIRFLOW, *words], env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words[:2], done.stdout[-2000:], done.stderr[-2000:])
        said = done.stdout + done.stderr
    assert site.downloads(place.dataset).keys() == {
        f"{place.dataset}.csv",
        f"{place.dataset}.parquet",
        "report.json",
        "manifest.json",
    }
    assert site.token not in said
    assert all(site.token.encode() not in path.read_bytes() for path in files_below(tmp_path))


@pytest.mark.usefixtures("connection")
def test_the_test_button_says_whose_token_it_is(site: Site) -> None:
    works, words = CkanHook("town_portal").test_connection()
    assert works, words
    assert f"the token is that of '{site.call('user_show')['name']}'" in words


def test_the_test_button_says_what_is_wrong(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for host, words in ((site.url, "does not accept this token"), ("http://127.0.0.1:9", "the connection failed")):
        content = {"conn_type": "ckan", "host": host, "password": "nonsense"}
        monkeypatch.setenv("AIRFLOW_CONN_TOWN_PORTAL", json.dumps(content))
        works, said = CkanHook("town_portal").test_connection()
        assert not works
        assert words in said


def test_no_log_has_the_token(site: Site, place: Place, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        place.portal().publish(place.release())
    assert "send_request_headers" in caplog.text
    assert site.token not in caplog.text


def test_anon_withdraw_takes_a_release_off_ckan_and_it_stays_off(
    site: Site, place: Place, tmp_path: Path, connection: dict[str, str]
) -> None:
    spec, home = spec_of(place, tmp_path, versions="keep", datastore=True), tmp_path / "home"
    run = run_by_hand(spec, home, period="2026-11-01")
    version = take(run, *ALL[:-1])["version"]
    addresses = [one["url"] for one in site.show(place.dataset)["resources"]]
    done = anon("withdraw", version, "--reason", "a column was wrong", "--json", home=home, environ=connection)
    assert (done.code, done.json["withdrawn"]) == (0, [version]), done.err
    assert {httpx.get(address).status_code for address in addresses} == {404}
    assert "a column was wrong" in httpx.get(f"{site.url}/dataset/{place.dataset}").text
    (withdrawal,) = run.audit().proven("withdrawals")["withdrawals"]
    assert (withdrawal["version"], withdrawal["reason"]) == (version, "a column was wrong")
    again = run_by_hand(spec, home, "manual__2", period="2026-11-01")
    with pytest.raises(RefusedError, match="withdrawn"):
        take(again, *ALL[:-1])
    assert site.show(place.dataset)["resources"] == []
    twice = anon("withdraw", place.dataset, "--reason", "all of it", "--json", home=home, environ=connection)
    assert (twice.code, twice.json["withdrawn"]) == (0, []), twice.err


def test_a_release_is_not_called_withdrawn_because_another_ckan_does_not_have_it(
    site: Site, place: Place, tmp_path: Path, network: BadNetwork, connection: dict[str, str]
) -> None:
    run = run_by_hand(spec_of(place, tmp_path), tmp_path / "home")
    version = take(run, *ALL[:-1])["version"]
    elsewhere = {"success": True, "result": {"site_url": "https://elsewhere.example"}}
    network.rules["status_show"] = Rule(answer=http("200 OK", body=json.dumps(elsewhere).encode()))
    network.rules["package_show"] = Rule(answer=http("404 Not Found", body=b'{"success": false}'))
    command, changed = ("withdraw", version, "--reason", "wrong"), environment(network.url, site.token)
    done = anon(*command, home=tmp_path / "home", environ=changed)
    assert done.code != 0
    assert "the connection names https://elsewhere.example" in done.err
    assert run.audit().proven("withdrawals")["withdrawals"] == []
    del network.rules["package_show"]  # The same server under another name still has the dataset.
    done = anon(*command, home=tmp_path / "home", environ=changed)
    assert done.code == 0, done.err
    assert site.show(place.dataset)["resources"] == []
