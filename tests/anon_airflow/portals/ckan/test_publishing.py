"""What stands on a real CKAN after a release: first, next, unchanged, kept, and beside what others did there."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import httpx
import pytest

from anon_airflow.portals import manifest
from anon_airflow.portals.ckan.server import origin
from anon_core.errors import InvalidInputError, PortalError, RefusedError
from tests.anon_airflow.portals.ckan.bad_network import BadNetwork, Rule, http
from tests.anon_airflow.portals.ckan.portals import Place, Site, fresh

pytestmark = pytest.mark.portal
CHANGES = {"package_create", "package_revise", "datastore_create", "datastore_upsert", "datastore_delete"}


class AheadOfTime(datetime):
    """A clock that runs twenty years ahead."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime.now(tz) + timedelta(days=20 * 365)


def test_the_first_release_is_public_with_all_its_files_and_digests(site: Site, place: Place) -> None:
    release = place.release(period="2026-11-01")
    done = place.portal(licence="CC-BY-4.0").publish(release)
    assert (done.status, done.version) == ("published", "v1")
    files = site.downloads(place.dataset)
    assert set(files) == {f"{place.dataset}.csv", f"{place.dataset}.parquet", "report.json", "manifest.json"}
    for one in release.distributions:
        assert files[one.name] == one.path.read_bytes()
    assert json.loads(files["report.json"]) == release.report
    manifest = json.loads(files["manifest.json"])
    assert (manifest["version"], manifest["receipt"]) == ("v1", "receipt of v1")
    anonymous = site.call("package_show", token=None, id=place.dataset)
    assert anonymous["private"] is False
    hashes = {one["anonflow_file"]: one["hash"] for one in anonymous["resources"]}
    assert hashes[f"{place.dataset}.csv"] == release.distributions[0].sha256
    assert httpx.get(done.page).status_code == 200


def test_a_reader_of_dcat_finds_licence_publisher_frequency_and_checksum(site: Site, place: Place) -> None:
    metadata = {
        "description": "Who lives here.",
        "publisher": "Town of Älvdalen",
        "licence": "CC-BY-4.0",
        "keywords": ["people", "città"],
        "frequency": "monthly",
        "contact": "data@example.org",
        "language": "en",
        "theme": "population",
    }
    release = place.release(period="2026-11-01", metadata=metadata)
    place.portal(licence="CC-BY-4.0", keywords=("people", "città")).publish(release)
    shown = site.show(place.dataset)
    assert (shown["license_id"], shown["notes"]) == ("cc-by", "Who lives here.")
    assert {tag["name"] for tag in shown["tags"]} == {"people", "città"}
    turtle = httpx.get(f"{site.url}/dataset/{place.dataset}.ttl").text
    for part in (
        "authority/frequency/MONTHLY",
        "authority/language/ENG",
        "authority/data-theme/SOCI",
        "Town of Älvdalen",
        "mailto:data@example.org",
        release.distributions[0].sha256,
        "2026-11-01",
    ):
        assert part in turtle, part


def test_an_update_keeps_ids_and_addresses(site: Site, place: Place) -> None:
    portal = place.portal()
    portal.publish(place.release(period="2026-10-01"))
    before = place.ids()
    newer = place.release("sex,rows\nF,6\n", version="v2", period="2026-11-01")
    assert portal.publish(newer).status == "published"
    assert place.ids() == before
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == newer.distributions[0].path.read_bytes()
    assert [one["version"] for one in portal.versions(place.dataset)] == ["v2"]


def test_the_same_release_twice_changes_nothing(site: Site, place: Place, network: BadNetwork) -> None:
    place.portal().publish(place.release(period="2026-11-01"))
    before = site.show(place.dataset)
    again = place.release(period="2026-11-01", manifest={"receipt": "of another run"})
    assert place.portal(url=network.url).publish(again).status == "unchanged"
    assert site.show(place.dataset) == before
    assert not CHANGES & network.calls.keys()


def test_a_run_that_finds_its_own_release_there_has_published_it(place: Place) -> None:
    place.portal().publish(place.release())
    assert place.portal().publish(place.release()).status == "published"


def test_only_files_that_changed_are_sent_again(site: Site, place: Place, network: BadNetwork) -> None:
    place.portal().publish(place.release())
    before = {one["anonflow_file"]: one["last_modified"] for one in site.show(place.dataset)["resources"]}
    place.portal().publish(place.release(title="Another title", version="v2", content_digest="2" * 64))
    after = {one["anonflow_file"]: one["last_modified"] for one in site.show(place.dataset)["resources"]}
    assert {name for name in before if before[name] != after[name]} == {"manifest.json"}
    assert site.show(place.dataset)["title"] == "Another title"


def test_a_file_that_somebody_changed_on_the_portal_is_mended(site: Site, place: Place) -> None:
    release = place.release()
    place.portal().publish(release)
    table = next(one for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv"))
    forged = {"upload": (table["name"], b"forged\n", "text/csv")}
    answer = httpx.post(
        f"{site.url}/api/3/action/resource_patch",
        data={"id": table["id"]},
        files=forged,
        headers={"Authorization": site.token},
    )
    assert answer.status_code == 200
    assert httpx.get(table["url"]).content == b"forged\n"
    assert place.portal().publish(release).status == "published"
    assert httpx.get(table["url"]).content == release.distributions[0].path.read_bytes()


def test_versions_are_kept_as_further_resources_and_only_as_many_as_asked(site: Site, place: Place) -> None:
    portal = place.portal(kept=True, keep=2)
    releases = [
        place.release(f"sex,rows\nF,{number}\n", version=f"v{number}", period=f"2026-0{number}-01")
        for number in (5, 6, 7)
    ]
    for release in releases:
        portal.publish(release)
    assert [one["version"] for one in portal.versions(place.dataset)] == ["v7", "v6"]
    table = f"{place.dataset}.csv"
    assert site.downloads(place.dataset)[table] == releases[2].distributions[0].path.read_bytes()
    assert site.downloads(place.dataset, version="v6")[table] == releases[1].distributions[0].path.read_bytes()
    assert len(site.show(place.dataset)["resources"]) == 12


def test_an_older_period_is_kept_and_the_newest_stays_at_the_stable_address(site: Site, place: Place) -> None:
    portal = place.portal(kept=True)
    newest = place.release("sex,rows\nF,7\n", version="v7", period="2026-07-01")
    portal.publish(newest)
    portal.publish(place.release("sex,rows\nF,5\n", version="v5", period="2026-05-01"))
    assert [one["version"] for one in portal.versions(place.dataset)] == ["v7", "v5"]
    shown = site.downloads(place.dataset)[f"{place.dataset}.csv"]
    assert shown == newest.distributions[0].path.read_bytes()
    dataset = site.show(place.dataset)
    assert dataset["version"] == "v7"
    assert {"key": "temporal_start", "value": "2026-07-01"} in dataset["extras"]


def test_what_arrives_stays_until_the_next_even_if_it_is_older_than_all_that_stay(place: Place) -> None:
    portal = place.portal(kept=True, keep=1)
    for number in (7, 5):
        text = f"sex,rows\nF,{number}\n"
        portal.publish(place.release(text, version=f"v{number}", period=f"2026-0{number}-01"))
    assert [one["version"] for one in portal.versions(place.dataset)] == ["v7", "v5"]
    portal.publish(place.release("sex,rows\nF,8\n", version="v8", period="2026-08-01"))
    assert [one["version"] for one in portal.versions(place.dataset)] == ["v8"]


def test_what_is_published_last_is_shown_though_the_clock_was_set_back(
    site: Site, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    portal = place.portal(kept=True)
    with monkeypatch.context() as ahead:
        ahead.setattr(manifest, "datetime", AheadOfTime)
        portal.publish(place.release("sex,rows\nF,5\n", version="v5", period="2026-11-01"))
    last = place.release("sex,rows\nF,6\n", version="v6", period="2026-11-01")
    portal.publish(last)
    versions = portal.versions(place.dataset)
    assert [one["version"] for one in versions] == ["v6", "v5"]
    assert versions[0]["published_at"] < versions[1]["published_at"]
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == last.distributions[0].path.read_bytes()
    assert site.show(place.dataset)["version"] == "v6"
    again = place.release("sex,rows\nF,6\n", version="v6", period="2026-11-01", manifest={"receipt": "of another run"})
    assert portal.publish(again).status == "unchanged"
    portal.withdraw(place.dataset, "v6", "wrong", "2026-11-17T00:00:00Z")
    assert site.show(place.dataset)["version"] == "v5"


def test_an_older_period_does_not_replace_a_newer_one(site: Site, place: Place) -> None:
    portal = place.portal()
    portal.publish(place.release("sex,rows\nF,7\n", version="v7", period="2026-07-01"))
    before = site.show(place.dataset)
    with pytest.raises(RefusedError, match="newer than 2026-05-01"):
        portal.publish(place.release("sex,rows\nF,5\n", version="v5", period="2026-05-01"))
    assert site.show(place.dataset) == before


def test_content_that_comes_back_is_a_version_of_its_own(place: Place) -> None:
    portal = place.portal(kept=True)
    for text in ("sex,rows\nF,5\n", "sex,rows\nF,6\n", "sex,rows\nF,5\n"):
        portal.publish(place.release(text, version=f"v{text[-2]}", period="2026-11-01"))
    assert [one["version"] for one in portal.versions(place.dataset)] == ["v5-2", "v6", "v5"]


def test_a_run_without_a_period_is_published_once_beside_those_that_have_one(site: Site, place: Place) -> None:
    portal = place.portal(kept=True)
    portal.publish(place.release("sex,rows\nF,7\n", version="v7", period="2026-07-01"))
    by_hand = place.release(version="by-hand")
    assert portal.publish(by_hand).version == "by-hand"
    before = site.show(place.dataset)
    assert portal.publish(by_hand).version == "by-hand"
    assert site.show(place.dataset) == before
    assert [one["version"] for one in portal.versions(place.dataset)] == ["v7", "by-hand"]
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == b"sex,rows\nF,7\n"


def test_whoever_begins_to_keep_versions_keeps_the_one_that_is_there(site: Site, place: Place) -> None:
    older = place.release(period="2026-10-01")
    place.portal().publish(older)
    place.portal(kept=True).publish(place.release("sex,rows\nF,6\n", version="v2", period="2026-11-01"))
    kept = site.downloads(place.dataset, version="v1")
    assert kept[f"{place.dataset}.csv"] == older.distributions[0].path.read_bytes()


def test_the_version_that_is_there_is_kept_though_the_first_attempt_fails(
    site: Site, place: Place, network: BadNetwork
) -> None:
    older = place.release(period="2026-10-01")
    place.portal().publish(older)
    table = f"{place.dataset}.csv"
    network.rules[table] = Rule(times=2, answer=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut off")
    network.rules["package_revise"] = Rule(times=1, answer=http("503 Service Unavailable"))
    newer = place.release("sex,rows\nF,6\n", version="v2", period="2026-11-01")
    assert place.portal(url=network.url, kept=True).publish(newer).status == "published"
    assert site.downloads(place.dataset, version="v1")[table] == older.distributions[0].path.read_bytes()


def test_a_label_that_somebody_wrote_on_the_portal_is_not_a_path_here(site: Site, place: Place, tmp_path: Path) -> None:
    place.portal().publish(place.release(period="2026-10-01"))
    shown = site.show(place.dataset)
    planted = tmp_path / "planted"
    resources = [{**shown["resources"][0], "anonflow_file": str(planted)}, *shown["resources"][1:]]
    site.call("package_patch", id=shown["id"], resources=resources)
    place.portal(kept=True).publish(place.release("sex,rows\nF,6\n", version="v2", period="2026-11-01"))
    assert not planted.exists()


def test_what_others_added_to_the_dataset_stays(site: Site, place: Place) -> None:
    portal = place.portal()
    portal.publish(place.release())
    shown = site.show(place.dataset)
    site.call("resource_create", package_id=shown["id"], name="How to read it", url="https://example.org/guide")
    site.call("package_patch", id=shown["id"], extras=[*shown["extras"], {"key": "region", "value": "north"}])
    portal.publish(place.release("sex,rows\nF,6\n", version="v2"))
    shown = site.show(place.dataset)
    assert shown["resources"][-1]["url"] == "https://example.org/guide"
    assert {"key": "region", "value": "north"} in shown["extras"]


def test_a_dataset_with_hundreds_of_resources_is_updated_all_the_same(site: Site, place: Place) -> None:
    """CKAN takes no form of more than half a megabyte beside its files, so only what changes is sent in one."""
    portal = place.portal(kept=True)
    portal.publish(place.release(version="v5", period="2026-05-01"))
    shown = site.show(place.dataset)
    links = [
        {"name": f"link {number}", "url": "https://example.org", "description": "x" * 1500} for number in range(400)
    ]
    site.call("package_patch", id=shown["id"], resources=[*shown["resources"], *links])
    portal.publish(place.release("sex,rows\nF,6\n", version="v6", period="2026-06-01"))
    names = [one["name"] for one in site.show(place.dataset)["resources"]]
    assert names[:2] == [f"{place.dataset}.csv", f"{place.dataset}.parquet"]
    assert names[4] == f"{place.dataset}.csv (v6)"
    assert names[8] == f"{place.dataset}.csv (v5)"
    assert names[12:] == [one["name"] for one in links]


def test_a_file_store_that_the_connection_names_is_read_where_downloads_are_redirected_to_it(
    site: Site, place: Place, network: BadNetwork
) -> None:
    place.portal().publish(place.release())
    table = f"{place.dataset}.csv"
    network.rules[table] = Rule(answer=http("302 Found", f"Location: {place.ids()[table]}"))
    again = place.release(manifest={"receipt": "of another run"})
    store = (str(origin(site.url)),)
    assert place.portal(url=network.url, download_hosts=store).publish(again).status == "unchanged"
    assert network.calls[table] == 1
    with pytest.raises(PortalError, match="downloads are redirected to"):
        place.portal(url=network.url).publish(again)


def test_names_that_are_not_ascii_come_back_as_they_were(site: Site, place: Place) -> None:
    metadata = {"description": "Età, 年齢 — “quoted”", "publisher": "Ærø Kommune", "keywords": ["città", "人口"]}
    release = place.release(
        "età,år\nF,5\n", title="Größe & Alter · 人口", metadata=metadata, report={"kind": "public", "title": "人口"}
    )
    place.portal(keywords=("città", "人口")).publish(release)
    shown = site.show(place.dataset)
    assert (shown["title"], shown["notes"]) == ("Größe & Alter · 人口", "Età, 年齢 — “quoted”")
    assert {tag["name"] for tag in shown["tags"]} == {"città", "人口"}
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == "età,år\nF,5\n".encode()


def test_the_datastore_has_the_rows_and_a_dictionary_of_the_columns(site: Site, place: Place) -> None:
    columns = [{"name": "età", "description": "age in years, grouped"}, {"name": "town", "description": None}]
    report = {"kind": "public", "recoding": {"columns": columns}}
    portal = place.portal(datastore=True, columns=("età", "town"))
    first = place.release('"età","town"\n"30-39","Alba"\n"01",""\n,\n', report=report)
    portal.check()
    portal.publish(first)
    table = next(one for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv"))
    found = site.call("datastore_search", token=None, resource_id=table["id"])
    rows = [{name: row[name] for name in ("età", "town")} for row in found["records"]]
    assert rows == [{"età": "30-39", "town": "Alba"}, {"età": "01", "town": ""}, {"età": None, "town": None}]
    told = {one["id"]: one.get("info", {}).get("notes") for one in found["fields"]}
    assert told == {"_id": None, "età": "age in years, grouped", "town": ""}
    portal.publish(place.release('"età","town"\n"40-49","Bria"\n', version="v2", report=report))
    found = site.call("datastore_search", token=None, resource_id=table["id"])
    assert [row["town"] for row in found["records"]] == ["Bria"]
    before = site.show(place.dataset)
    portal.publish(place.release('"età","town"\n"40-49","Bria"\n', version="v2", report=report))
    assert site.show(place.dataset) == before


def test_a_table_in_the_datastore_is_shown_on_its_page_once(site: Site, place: Place) -> None:
    if not site.booted and "datatables_view" not in site.call("status_show")["extensions"]:
        pytest.skip("the CKAN of CKAN_URL does not show tables")
    report = {"kind": "public", "recoding": {"columns": [{"name": "sex"}, {"name": "rows"}]}}
    portal = place.portal(token=site.user(role="editor"), datastore=True, columns=("sex", "rows"))
    portal.publish(place.release(report=report))
    portal.publish(place.release("sex,rows\nF,6\n", version="v2", report=report))
    table = next(one for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv"))
    views = site.call("resource_view_list", token=None, id=table["id"])
    assert [one["view_type"] for one in views] == ["datatables_view"]


def test_a_table_that_is_not_shown_is_published_and_that_is_told(site: Site, place: Place, network: BadNetwork) -> None:
    said: list[str] = []
    network.rules["resource_create_default_resource_views"] = Rule(answer=http("500 Internal Server Error"))
    report = {"kind": "public", "recoding": {"columns": [{"name": "sex"}, {"name": "rows"}]}}
    portal = place.portal(url=network.url, progress=said.append, datastore=True, columns=("sex", "rows"))
    assert portal.publish(place.release(report=report)).status == "published"
    assert said == ["the table can be queried, but CKAN does not show it on its page (HTTP 500)"]
    table = next(one for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv"))
    assert site.call("datastore_search", token=None, resource_id=table["id"])["total"] == 1


def test_the_datastore_does_not_go_on_showing_a_version_that_was_replaced(site: Site, place: Place) -> None:
    report = {"kind": "public", "recoding": {"columns": [{"name": "sex"}, {"name": "rows"}]}}
    place.portal(datastore=True, columns=("sex", "rows")).publish(place.release(report=report))
    table = next(one for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv"))
    assert site.call("datastore_search", token=None, resource_id=table["id"])["total"] == 1
    place.portal().publish(place.release("sex,rows\nF,6\n", version="v2", report=report))
    assert site.try_call("datastore_search", None, resource_id=table["id"]).status_code == 404


def test_a_dataset_in_the_bin_does_not_keep_its_name(site: Site, place: Place) -> None:
    place.portal().publish(place.release())
    site.call("package_delete", id=place.dataset)
    place.portal().check()
    assert place.portal().publish(place.release()).status == "published"
    assert site.downloads(place.dataset)


def test_a_name_that_another_organisation_uses_is_not_taken_over(site: Site, place: Place) -> None:
    other = fresh("village")
    site.call("organization_create", name=other)
    site.call("package_create", name=place.dataset, owner_org=other, title="Theirs")
    with pytest.raises(InvalidInputError, match="is already used there by a dataset of the organisation"):
        place.portal().publish(place.release())
    assert site.show(place.dataset)["title"] == "Theirs"
