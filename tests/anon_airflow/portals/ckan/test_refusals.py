"""What a real CKAN will not take, said before any work: token, organisation, right, name, licence, size, address."""

from __future__ import annotations

import dataclasses
import re
import time
from pathlib import Path

import pytest

from anon_core.errors import InvalidInputError, PortalError, RefusedError
from tests.anon_airflow.portals.ckan.bad_network import BadNetwork, Rule, http
from tests.anon_airflow.portals.ckan.boot import MOST_MEGABYTES, CkanServer
from tests.anon_airflow.portals.ckan.portals import Place, Site, distribution, fresh

pytestmark = pytest.mark.portal


def test_a_portal_that_will_take_it_is_not_touched(site: Site, place: Place, network: BadNetwork) -> None:
    place.portal(url=network.url, licence="CC0-1.0", keywords=("a b",), datastore=True, columns=("x",)).check()
    assert site.try_call("package_show", site.token, id=place.dataset).status_code == 404
    assert all(not action.endswith(("create", "revise", "update", "delete")) for action in network.calls)


def test_an_editor_may_publish(site: Site, place: Place) -> None:
    portal = place.portal(token=site.user(role="editor"))
    portal.check()
    assert portal.publish(place.release()).status == "published"


def test_a_wrong_token_is_known_before_any_work(place: Place) -> None:
    with pytest.raises(InvalidInputError, match="does not know the token"):
        place.portal(token="nonsense").check()


def test_a_wrong_token_does_not_hide_that_the_organisation_is_not_there(place: Place) -> None:
    with pytest.raises(InvalidInputError, match=r"the token: .*; it has no public organisation 'nowhere-at-all'"):
        place.portal(token="nonsense", organization="nowhere-at-all").check()
    with pytest.raises(InvalidInputError) as caught:
        place.portal(token="nonsense").check()
    assert "organisation" not in str(caught.value)


def test_a_token_with_bearer_before_it_is_not_known(site: Site, place: Place) -> None:
    with pytest.raises(InvalidInputError, match="does not know the token"):
        place.portal(token=f"Bearer {site.token}").check()


def test_an_organisation_that_is_not_there_is_named(place: Place) -> None:
    with pytest.raises(InvalidInputError, match="no organisation 'nowhere-at-all'"):
        place.portal(organization="nowhere-at-all").check()


@pytest.mark.parametrize("role", [None, "member"])
def test_a_user_without_the_right_is_told_who_can_give_it(site: Site, place: Place, role: str | None) -> None:
    with pytest.raises(InvalidInputError, match=r"may not create datasets in .* as an editor"):
        place.portal(token=site.user(role=role)).check()


def test_a_right_that_was_taken_away_after_the_check_is_told_too(site: Site, place: Place) -> None:
    with pytest.raises(InvalidInputError, match="HTTP 403"):
        place.portal(token=site.user()).publish(place.release())


def test_a_name_that_is_taken_by_a_dataset_of_others_is_told(site: Site, place: Place) -> None:
    site.call("package_create", name=place.dataset, owner_org=site.organization)
    with pytest.raises(InvalidInputError, match="already used there by a dataset that anonflow did not make"):
        place.portal().check()


def test_a_name_that_is_taken_by_a_dataset_nobody_sees_is_told(site: Site, place: Place) -> None:
    other = fresh("village")
    site.call("organization_create", name=other)
    site.call("package_create", name=place.dataset, owner_org=other, private=True)
    token = site.user(role="editor")
    with pytest.raises(InvalidInputError, match="is already used there by a dataset which this token may not see"):
        place.portal(token=token).check()
    with pytest.raises(InvalidInputError, match="is already used there by a dataset which this token may not see"):
        place.portal(token=token).publish(place.release())


def test_everything_that_is_wrong_is_said_at_once(site: Site, place: Place) -> None:
    columns = ("_id", "x" * 64)
    with pytest.raises(InvalidInputError) as caught:
        place.portal(
            organization="nowhere-at-all", licence="WTFPL", keywords=("a/b",), datastore=True, columns=columns
        ).check()
    for part in ("nowhere-at-all", "no licence 'WTFPL'", "cc-by", "'a/b'", "'_id'"):
        assert part in str(caught.value), part


def test_an_address_that_redirects_is_not_followed_with_the_token(place: Place, network: BadNetwork) -> None:
    network.rules["status_show"] = Rule(answer=http("301 Moved", "Location: https://elsewhere.example/api"))
    with pytest.raises(InvalidInputError, match=r"redirects its API to https://elsewhere\.example") as caught:
        place.portal(url=network.url).check()
    assert place.site.token not in str(caught.value)
    assert network.calls.total() == 1


def test_a_redirected_upload_is_not_taken_for_a_published_one(site: Site, place: Place, network: BadNetwork) -> None:
    network.rules["package_revise"] = Rule(answer=http("302 Found", f"Location: {site.url}/"))
    with pytest.raises(InvalidInputError, match="redirects its API"):
        place.portal(url=network.url).publish(place.release())
    assert site.show(place.dataset)["private"] is True


def test_a_server_that_is_no_ckan_is_told(place: Place, network: BadNetwork) -> None:
    network.rules["status_show"] = Rule(answer=http("404 Not Found", body=b"<html>nothing here</html>"))
    with pytest.raises(InvalidInputError, match="does not answer like a CKAN server"):
        place.portal(url=network.url).check()


def test_a_server_that_is_not_there_is_told_in_time(place: Place) -> None:
    start = time.monotonic()
    with pytest.raises(PortalError, match="the connection failed"):
        place.portal(url="http://127.0.0.1:9").check()
    assert time.monotonic() - start < 10


def test_a_file_that_is_too_large_is_told_with_its_size(
    site: Site, place: Place, booted_ckan: CkanServer, tmp_path: Path
) -> None:
    before = set(booted_ckan.stored)
    large = tmp_path / f"{place.dataset}.csv"
    with large.open("wb") as file:
        file.truncate((MOST_MEGABYTES + 5) << 20)
    release = place.release(distributions=(distribution(large, "text/csv", rows=1),))
    with pytest.raises(InvalidInputError, match=re.escape(f"{place.dataset}.csv 225.4 MB")):
        place.portal(timeout=120).publish(release)
    assert site.show(place.dataset)["private"] is True
    assert set(booted_ckan.stored) == before


def test_no_file_is_called_public_when_a_call_changed_nothing(place: Place, network: BadNetwork) -> None:
    place.portal().publish(place.release())
    network.rules["package_revise"] = Rule(answer=http("503 Service Unavailable"))
    with pytest.raises(PortalError, match="HTTP 503") as caught:
        place.portal(url=network.url).publish(place.release("sex,rows\nF,6\n", version="v2"))
    assert "new files" not in str(caught.value)


def test_files_that_became_public_before_one_that_is_too_large_are_told(
    site: Site, place: Place, booted_ckan: CkanServer
) -> None:
    """CKAN stores file after file, and takes none back when a later one is refused."""
    place.portal().publish(place.release())
    newer = place.release("sex,rows\nF,6\n", version="v2")
    large = newer.distributions[1].path
    with large.open("wb") as file:
        file.truncate((MOST_MEGABYTES + 5) << 20)
    files = (newer.distributions[0], distribution(large, newer.distributions[1].media_type, rows=1))
    with pytest.raises(InvalidInputError, match="2 of 4 new files can be downloaded by all readers already"):
        place.portal(timeout=120).publish(dataclasses.replace(newer, distributions=files))
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == b"sex,rows\nF,6\n"
    assert place.portal().publish(place.release()).status == "published"
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == b"sex,rows\nF,5\n"


@pytest.mark.parametrize("change", [b"sex,rows\nM,5\n", b"sex,rows\n", b"sex,rows\nF,5\nF,6\n"])
def test_bytes_that_changed_after_the_check_never_become_a_file(site: Site, place: Place, change: bytes) -> None:
    release = place.release()
    place.portal().publish(release)
    newer = place.release("sex,rows\nF,6\n", version="v2")
    newer.distributions[0].path.write_bytes(change)
    with pytest.raises(RefusedError, match="its bytes changed after the check"):
        place.portal().publish(newer)
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == release.distributions[0].path.read_bytes()


def test_an_internal_report_is_not_published(site: Site, place: Place) -> None:
    with pytest.raises(RefusedError, match="not the public one"):
        place.portal().publish(place.release(report={"kind": "internal"}))
    with pytest.raises(RefusedError, match="is not the report that the receipt covers"):
        place.portal().publish(place.release(manifest={"report_sha256": "0" * 64}))
    shown = site.try_call("package_show", site.token, id=place.dataset)
    assert shown.status_code == 404 or not shown.json()["result"]["resources"]


def test_a_dataset_that_somebody_made_private_is_not_shown_again(site: Site, place: Place) -> None:
    place.portal().publish(place.release())
    site.call("package_patch", id=place.dataset, private=True)
    with pytest.raises(RefusedError, match="a user of the portal made the dataset private"):
        place.portal().publish(place.release("sex,rows\nF,6\n", version="v2"))
    assert site.show(place.dataset)["private"] is True


def test_a_release_without_files_has_no_place(place: Place) -> None:
    with pytest.raises(InvalidInputError, match="no distribution"):
        place.portal().publish(dataclasses.replace(place.release(), distributions=()))


def test_a_table_that_could_not_be_read_back_is_not_published(
    site: Site, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_MAX_DOWNLOAD_BYTES", "10")
    with pytest.raises(InvalidInputError, match=r"\.csv, .*\.parquet: beyond the limit of 10 bytes"):
        place.portal().publish(place.release())
    assert site.try_call("package_show", site.token, id=place.dataset).status_code == 404
