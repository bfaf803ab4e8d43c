"""Taking releases off a real CKAN: files, rows and versions go, the page says so, and nothing brings them back."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from anon_airflow.portals.ckan.client import RetryPolicy
from anon_core.errors import InvalidInputError, PortalError, RefusedError
from tests.anon_airflow.portals.ckan.bad_network import BadNetwork, Rule, http
from tests.anon_airflow.portals.ckan.boot import CkanServer
from tests.anon_airflow.portals.ckan.portals import Place, Site

pytestmark = pytest.mark.portal
AT = "2026-11-17T10:00:00Z"


def _three(place: Place) -> None:
    for number in (5, 6, 7):
        text = f"sex,rows\nF,{number}\n"
        place.portal(kept=True).publish(place.release(text, version=f"v{number}", period=f"2026-0{number}-01"))


def test_all_versions_can_be_taken_off_and_the_page_stays_and_says_so(site: Site, place: Place) -> None:
    _three(place)
    addresses = [one["url"] for one in site.show(place.dataset)["resources"]]
    assert len(addresses) == 16
    portal = place.portal(kept=True)
    assert portal.withdraw(place.dataset, None, "a column was wrong", AT) == ("v5", "v6", "v7")
    assert {httpx.get(address).status_code for address in addresses} == {404}
    assert portal.versions(place.dataset) == []
    page = httpx.get(f"{site.url}/dataset/{place.dataset}")
    assert page.status_code == 200
    for part in ("Withdrawn", "2026-11-17", "a column was wrong", "v5", "v6", "v7"):
        assert part in page.text, part


def test_no_file_of_a_withdrawn_release_stays_on_the_servers_disk(place: Place, booted_ckan: CkanServer) -> None:
    before = {path.read_bytes() for path in booted_ckan.stored}
    portal = place.portal(kept=True)
    portal.publish(place.release("sex,rows\nF,4711\n"))
    assert b"sex,rows\nF,4711\n" in {path.read_bytes() for path in booted_ckan.stored}
    portal.withdraw(place.dataset, None, "wrong", AT)
    assert {path.read_bytes() for path in booted_ckan.stored} <= before


def test_an_older_version_goes_alone(site: Site, place: Place) -> None:
    _three(place)
    before = place.ids()
    portal = place.portal(kept=True)
    assert portal.withdraw(place.dataset, "v6", "wrong", AT) == ("v6",)
    assert [one["version"] for one in portal.versions(place.dataset)] == ["v7", "v5"]
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == b"sex,rows\nF,7\n"
    assert place.ids() == before


def test_the_version_before_takes_the_place_of_the_newest(site: Site, place: Place) -> None:
    _three(place)
    before = place.ids()
    portal = place.portal(kept=True)
    assert portal.withdraw(place.dataset, "v7", "wrong", AT) == ("v7",)
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == b"sex,rows\nF,6\n"
    assert place.ids() == before
    shown = site.show(place.dataset)
    assert shown["version"] == "v6"
    assert {"key": "temporal_start", "value": "2026-06-01"} in shown["extras"]


def test_withdrawing_again_does_nothing(site: Site, place: Place) -> None:
    _three(place)
    portal = place.portal(kept=True)
    portal.withdraw(place.dataset, "v6", "wrong", AT)
    before = site.show(place.dataset)
    assert portal.withdraw(place.dataset, "v6", "wrong", AT) == ()
    assert portal.withdraw(place.dataset, "never-was", "wrong", AT) == ()
    assert site.show(place.dataset) == before


@pytest.mark.parametrize("role", [None, "member"])
def test_whoever_may_not_withdraw_is_told_at_once_and_nothing_changes(
    site: Site, place: Place, network: BadNetwork, role: str | None
) -> None:
    place.portal().publish(place.release())
    before = site.show(place.dataset)
    with pytest.raises(InvalidInputError, match=r"this token may not change it .* the token of an editor of"):
        place.portal(url=network.url, token=site.user(role=role)).withdraw(place.dataset, None, "wrong", AT)
    assert network.calls["package_show"] == 1
    assert site.show(place.dataset) == before


def test_what_was_never_published_cannot_be_withdrawn(place: Place) -> None:
    assert place.portal().withdraw(place.dataset, None, "wrong", AT) == ()


@pytest.mark.parametrize("version", ["v1", None])
def test_a_withdrawn_release_is_never_published_again(site: Site, place: Place, version: str | None) -> None:
    portal = place.portal()
    portal.publish(place.release())
    portal.withdraw(place.dataset, version, "wrong", AT)
    with pytest.raises(RefusedError, match="was withdrawn, as version v1: wrong"):
        portal.publish(place.release())
    assert site.show(place.dataset)["resources"] == []


@pytest.mark.parametrize("words_only", [False, True])
def test_withdrawn_data_comes_back_only_if_nothing_but_words_was_wrong(
    site: Site, place: Place, words_only: bool
) -> None:
    portal = place.portal()
    portal.publish(place.release())
    portal.withdraw(place.dataset, "v1", "wrong licence", AT, words_only=words_only)
    corrected = place.release(version="v2", content_digest="2" * 64, metadata={"description": "Corrected."})
    if words_only:
        assert portal.publish(corrected).status == "published"
        return
    with pytest.raises(RefusedError, match="was withdrawn, as version v1: wrong licence"):
        portal.publish(corrected)
    assert site.show(place.dataset)["resources"] == []


def test_a_corrected_release_comes_to_the_same_addresses_and_the_page_remembers(site: Site, place: Place) -> None:
    portal = place.portal()
    portal.publish(place.release())
    before = place.ids()
    portal.withdraw(place.dataset, None, "wrong sum", AT)
    portal.publish(place.release("sex,rows\nF,6\n", version="v2", metadata={"description": "Who lives here."}))
    assert place.ids() == before
    notes = site.show(place.dataset)["notes"]
    assert notes == "> **Withdrawn** on 2026-11-17: version v1. wrong sum\n\nWho lives here."


def test_rows_in_the_datastore_go_too(site: Site, place: Place) -> None:
    """CKAN keeps the rows of a resource that was removed, and shows them to anybody."""
    report = {"kind": "public", "recoding": {"columns": [{"name": "sex"}, {"name": "rows"}]}}
    portal = place.portal(datastore=True, columns=("sex", "rows"))
    portal.publish(place.release(report=report))
    table = next(one["id"] for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv"))
    assert site.call("datastore_search", token=None, resource_id=table)["total"] == 1
    portal.withdraw(place.dataset, None, "wrong", AT)
    assert site.try_call("datastore_search", None, resource_id=table).status_code == 404
    assert httpx.get(f"{site.url}/datastore/dump/{table}").status_code == 404


def test_rows_that_the_portal_loaded_by_itself_go_too(site: Site, place: Place) -> None:
    """A CKAN may load every table that it is given into its DataStore."""
    place.portal(kept=True).publish(place.release())
    tables = [one["id"] for one in site.show(place.dataset)["resources"] if ".csv" in one["name"]]
    for one in tables:
        site.call("datastore_create", resource_id=one, force=True, records=[{"sex": "F", "rows": 5}])
    place.portal(kept=True).withdraw(place.dataset, None, "wrong", AT)
    assert [site.try_call("datastore_search", None, resource_id=one).status_code for one in tables] == [404, 404]


def test_a_withdrawal_that_was_interrupted_is_ended_by_the_next(site: Site, place: Place, network: BadNetwork) -> None:
    _three(place)
    addresses = [one["url"] for one in site.show(place.dataset)["resources"] if one["anonflow_version"] == "v7"]
    network.rules["package_revise"] = Rule(answer=http("503 Service Unavailable"))

    def break_down() -> None:
        network.rules["package_revise"] = Rule(answer=http("503 Service Unavailable"))

    network.rules["package_revise"] = Rule(times=1, before=break_down)
    with pytest.raises(PortalError, match="what is still there is not known"):
        place.portal(url=network.url, kept=True, patience=RetryPolicy(attempts=1)).withdraw(
            place.dataset, "v7", "wrong", AT
        )
    assert all(httpx.get(address).status_code != 200 for address in addresses)
    assert place.portal(kept=True).withdraw(place.dataset, "v7", "wrong", AT) == ("v7",)
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == b"sex,rows\nF,6\n"
    assert "version v7" in site.show(place.dataset)["notes"]


def test_what_somebody_else_publishes_meanwhile_is_not_taken_off(site: Site, place: Place, network: BadNetwork) -> None:
    report = {"kind": "public", "recoding": {"columns": [{"name": "sex"}, {"name": "rows"}]}}
    portal = place.portal(datastore=True, columns=("sex", "rows"))
    portal.publish(place.release(report=report))
    newer = place.release("sex,rows\nF,6\n", version="v2", report=report)
    network.rules["datastore_delete"] = Rule(times=1, before=lambda: portal.publish(newer) and None)
    assert place.portal(url=network.url).withdraw(place.dataset, "v1", "wrong", AT) == ("v1",)
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == b"sex,rows\nF,6\n"


def test_a_release_that_is_only_half_there_can_be_withdrawn(site: Site, place: Place, booted_ckan: CkanServer) -> None:
    """Its files are public though its call failed, and the metadata know nothing of it."""
    place.portal(kept=True).publish(place.release(version="v5", period="2026-05-01"))
    booted_ckan.stop_search()
    try:
        with pytest.raises(PortalError, match="can be downloaded by all readers"):
            place.portal(kept=True).publish(place.release("sex,rows\nF,6\n", version="v6", period="2026-06-01"))
    finally:
        booted_ckan.start_search()
    table = f"{place.dataset}.csv"
    assert site.downloads(place.dataset)[table] == b"sex,rows\nF,6\n"
    assert place.portal(kept=True).withdraw(place.dataset, "v6", "wrong", AT) == ("v6",)
    assert site.downloads(place.dataset)[table] == b"sex,rows\nF,5\n"
    with pytest.raises(RefusedError, match="withdrawn"):
        place.portal(kept=True).publish(place.release("sex,rows\nF,6\n", version="v6", period="2026-06-01"))


def test_what_others_added_stays(site: Site, place: Place) -> None:
    place.portal().publish(place.release())
    shown = site.show(place.dataset)
    site.call("resource_create", package_id=shown["id"], name="How to read it", url="https://example.org/guide")
    place.portal().withdraw(place.dataset, None, "wrong", AT)
    assert [one["url"] for one in site.show(place.dataset)["resources"]] == ["https://example.org/guide"]


def _edited(site: Site, resource: dict[str, Any]) -> None:
    """Correct a resource as CKAN's own form does: it sends its fields, and the labels are lost."""
    form = {key: resource[key] for key in ("id", "package_id", "url", "name", "format")}
    changed = site.call("resource_update", **form, description="Corrected by hand.")
    assert "anonflow_role" not in changed


@pytest.mark.parametrize("version", [None, "v7"])
def test_a_file_whose_labels_were_lost_by_an_editor_goes_with_its_version(
    site: Site, place: Place, version: str | None
) -> None:
    _three(place)
    shown = site.show(place.dataset)["resources"]
    leaving = [one for one in shown if version in (None, one["anonflow_version"])]
    for one in leaving:
        if one["name"].startswith(f"{place.dataset}.csv"):
            _edited(site, one)
    place.portal(kept=True).withdraw(place.dataset, version, "wrong", AT)
    readable = [httpx.get(one["url"]) for one in leaving]
    assert b"sex,rows\nF,7\n" not in [one.content for one in readable if one.status_code == 200]
    assert len(site.show(place.dataset)["resources"]) == (12 if version else 0)


def test_of_a_release_without_any_labels_left_nothing_stays(site: Site, place: Place) -> None:
    place.portal().publish(place.release())
    shown = site.show(place.dataset)["resources"]
    for one in shown:
        _edited(site, one)
    assert place.portal().withdraw(place.dataset, None, "wrong", AT) == ("v1",)
    assert {httpx.get(one["url"]).status_code for one in shown} == {404}


def test_a_version_that_an_editor_corrected_still_takes_the_place_of_the_newest(site: Site, place: Place) -> None:
    _three(place)
    _edited(site, next(one for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv (v6)")))
    place.portal(kept=True).withdraw(place.dataset, "v7", "wrong", AT)
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == b"sex,rows\nF,6\n"


def test_the_newest_of_several_versions_in_the_bin_is_withdrawn_alone(site: Site, place: Place) -> None:
    _three(place)
    site.call("package_delete", id=place.dataset)
    assert place.portal(kept=True).withdraw(place.dataset, "v7", "wrong", AT) == ("v7",)
    site.call("package_patch", id=place.dataset, state="active")
    assert [one["version"] for one in place.portal(kept=True).versions(place.dataset)] == ["v6", "v5"]
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == b"sex,rows\nF,6\n"


def test_a_release_in_the_bin_is_withdrawn_too_and_does_not_come_back_from_there(site: Site, place: Place) -> None:
    place.portal().publish(place.release())
    addresses = [one["url"] for one in site.show(place.dataset)["resources"]]
    site.call("package_delete", id=place.dataset)
    assert place.portal().withdraw(place.dataset, None, "wrong", AT) == ("v1",)
    assert site.show(place.dataset)["state"] == "deleted"
    site.call("package_patch", id=place.dataset, state="active")
    assert {httpx.get(address).status_code for address in addresses} == {404}
    assert "wrong" in site.show(place.dataset)["notes"]
