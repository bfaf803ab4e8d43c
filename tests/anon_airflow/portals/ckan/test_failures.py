"""What happens when a real CKAN is killed, loses its search, is slow, or when two publish at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import httpx
import pytest

from anon_airflow.portals.ckan.client import RetryPolicy
from anon_airflow.run import progress
from anon_core.errors import AnonError, PortalError, RefusedError
from tests.anon_airflow.portals.ckan.bad_network import BadNetwork, Rule, bad_network, http
from tests.anon_airflow.portals.ckan.boot import REPOSITORY, CkanServer
from tests.anon_airflow.portals.ckan.portals import Place, Site

pytestmark = pytest.mark.portal
ONCE = RetryPolicy(attempts=1)
LARGE = 200 << 20


def test_nobody_sees_a_first_release_that_failed(site: Site, place: Place, network: BadNetwork) -> None:
    network.rules["package_revise"] = Rule(answer=http("503 Service Unavailable"))
    with pytest.raises(PortalError, match="HTTP 503"):
        place.portal(url=network.url).publish(place.release())
    assert network.calls["package_revise"] == 3
    assert site.try_call("package_show", None, id=place.dataset).status_code in (403, 404)
    assert site.show(place.dataset)["resources"] == []
    assert place.portal().publish(place.release()).status == "published"
    assert site.call("package_show", token=None, id=place.dataset)["private"] is False


def test_nobody_sees_a_first_release_whose_datastore_is_not_whole(
    site: Site, place: Place, network: BadNetwork
) -> None:
    report = {"kind": "public", "recoding": {"columns": [{"name": "sex"}, {"name": "rows"}]}}
    network.rules["datastore_upsert"] = Rule(answer=http("500 Internal Server Error", body=b'{"error": "F,5"}'))
    wanted = {"datastore": True, "columns": ("sex", "rows")}
    with pytest.raises(PortalError, match="HTTP 500") as caught:
        place.portal(url=network.url, **wanted).publish(place.release(report=report))
    assert "F,5" not in str(caught.value)
    assert site.try_call("package_show", None, id=place.dataset).status_code in (403, 404)
    place.portal(**wanted).publish(place.release(report=report))
    table = next(one for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv"))
    assert site.call("datastore_search", token=None, resource_id=table["id"])["total"] == 1


def test_a_server_that_is_well_again_soon_is_waited_for(site: Site, place: Place, network: BadNetwork) -> None:
    for action in ("license_list", "package_show", "package_create", "package_revise"):
        network.rules[action] = Rule(times=1, answer=http("502 Bad Gateway", body=b"<html>"))
    assert place.portal(url=network.url, licence="CC-BY-4.0").publish(place.release()).status == "published"
    assert site.downloads(place.dataset)


def test_whoever_waits_is_told_how_far_it_is_and_why_it_takes_long(
    place: Place, network: BadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(progress, "MIN_INTERVAL_S", -1)
    network.rules["package_revise"] = Rule(times=1, answer=http("503 Service Unavailable"))
    report = {"kind": "public", "recoding": {"columns": [{"name": "sex"}, {"name": "rows"}]}}
    portal = place.portal(url=network.url, progress=said.append, datastore=True, columns=("sex", "rows"))
    portal.publish(place.release("sex,rows\n" + "F,5\n" * 300_000, report=report))
    assert "trying again in 0.05 s: HTTP 503" in said
    for news in ("sending: 1 of 1 MB of ", "comparing what can be downloaded: 1 MB", "filling the DataStore: 300,000"):
        assert any(one.startswith(news) for one in said), (news, said[-20:])


def test_what_is_our_fault_is_not_tried_again(place: Place, network: BadNetwork) -> None:
    network.rules["package_create"] = Rule(answer=http("400 Bad Request", body=b'"Bad request"'))
    with pytest.raises(AnonError, match="HTTP 400"):
        place.portal(url=network.url).publish(place.release())
    assert network.calls["package_create"] == 1


def test_an_answer_that_got_lost_is_not_asked_for_twice(site: Site, place: Place, network: BadNetwork) -> None:
    """CKAN has done everything, and nobody was told: that is found, and nothing is sent again."""
    network.rules["package_create"] = Rule(times=1, lose_answer=True)
    network.rules["package_revise"] = Rule(times=1, lose_answer=True)
    assert place.portal(url=network.url).publish(place.release()).status == "published"
    assert (network.calls["package_create"], network.calls["package_revise"]) == (1, 1)
    assert len(site.show(place.dataset)["resources"]) == 4


def test_slow_answers_are_waited_for(place: Place, network: BadNetwork) -> None:
    network.rules["package_revise"] = Rule(delay=1.5)
    assert place.portal(url=network.url, timeout=10, patience=ONCE).publish(place.release()).status == "published"


def test_answers_that_are_too_slow_end_as_an_error_that_says_so(place: Place, network: BadNetwork) -> None:
    network.rules["package_show"] = Rule(delay=3)
    with pytest.raises(PortalError, match="no answer for 1 seconds"):
        place.portal(url=network.url, timeout=1, patience=ONCE).publish(place.release())


def test_an_upload_that_is_answered_too_late_is_found_to_be_done(site: Site, place: Place, network: BadNetwork) -> None:
    network.rules["package_revise"] = Rule(times=1, delay=4)
    assert place.portal(url=network.url, timeout=2).publish(place.release()).status == "published"
    assert network.calls["package_revise"] == 1


def test_killed_in_mid_upload_leaves_the_old_release_and_a_second_run_mends_it(
    site: Site, place: Place, network: BadNetwork, booted_ckan: CkanServer
) -> None:
    older = place.release(period="2026-10-01")
    place.portal().publish(older)
    newer = place.release("sex,rows\n" + "F,6\n" * 500_000, version="v2", period="2026-11-01")
    network.rules["package_revise"] = Rule(times=1, at_bytes=1_000_000, then=booted_ckan.kill_ckan)
    with pytest.raises(PortalError, match="it is not known whether readers can see new files"):
        place.portal(url=network.url).publish(newer)
    booted_ckan.start_ckan()
    table = f"{place.dataset}.csv"
    assert site.downloads(place.dataset)[table] == older.distributions[0].path.read_bytes()
    assert place.portal().publish(newer).status == "published"
    assert site.downloads(place.dataset)[table] == newer.distributions[0].path.read_bytes()


def test_with_search_down_the_new_file_is_public_and_that_is_said(
    site: Site, place: Place, booted_ckan: CkanServer
) -> None:
    """CKAN stores the file, fails to index it, and takes back everything but the file."""
    place.portal().publish(place.release(period="2026-10-01"))
    newer = place.release("sex,rows\nF,6\n", version="v2", period="2026-11-01")
    booted_ckan.stop_search()
    try:
        with pytest.raises(PortalError, match="4 of 4 new files can be downloaded by all readers already"):
            place.portal().publish(newer)
        shown = site.show(place.dataset)["resources"][0]
        assert (shown["anonflow_version"], httpx.get(shown["url"]).content) == ("v1", b"sex,rows\nF,6\n")
    finally:
        booted_ckan.start_search()
    assert place.portal().publish(newer).status == "published"
    assert site.show(place.dataset)["resources"][0]["anonflow_version"] == "v2"


def test_search_that_comes_back_in_time_is_no_failure(site: Site, place: Place, booted_ckan: CkanServer) -> None:
    place.portal().publish(place.release(period="2026-10-01"))
    booted_ckan.stop_search()
    back = threading.Timer(1.0, booted_ckan.start_search)
    back.start()
    try:
        newer = place.release("sex,rows\nF,6\n", version="v2", period="2026-11-01")
        done = place.portal(patience=RetryPolicy(attempts=5, first=0.5)).publish(newer)
    finally:
        back.join()
    assert done.status == "published"


def test_a_half_published_release_is_not_taken_for_the_old_one(
    site: Site, place: Place, booted_ckan: CkanServer
) -> None:
    """The old metadata stand beside the new file: whoever publishes the old release again must send it."""
    older = place.release(period="2026-11-01")
    place.portal().publish(older)
    booted_ckan.stop_search()
    try:
        with pytest.raises(PortalError):
            place.portal(patience=ONCE).publish(place.release("sex,rows\nF,6\n", version="v2", period="2026-11-01"))
    finally:
        booted_ckan.start_search()
    place.portal().publish(older)
    assert site.downloads(place.dataset)[f"{place.dataset}.csv"] == older.distributions[0].path.read_bytes()


def test_of_two_publishers_at_once_one_wins_and_the_other_is_told(site: Site, place: Place) -> None:
    place.portal().publish(place.release())
    releases = [place.release(f"sex,rows\nF,{number}\n", version=f"v{number}") for number in (6, 7, 8, 9)]
    outcomes: list[object] = [None] * len(releases)

    def publish(number: int) -> None:
        try:
            with bad_network(site.url) as network:
                network.rules["package_revise"] = Rule(before=together.wait)
                outcomes[number] = place.portal(url=network.url).publish(releases[number])
        except (AnonError, threading.BrokenBarrierError) as error:
            outcomes[number] = error

    together = threading.Barrier(len(releases))
    threads = [threading.Thread(target=publish, args=(number,)) for number in range(len(releases))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    winners = [number for number, one in enumerate(outcomes) if not isinstance(one, Exception)]
    assert len(winners) == 1, outcomes
    losers = [one for one in outcomes if isinstance(one, Exception)]
    assert all(isinstance(one, RefusedError) and "at the same moment" in str(one) for one in losers), outcomes
    shown = site.show(place.dataset)["resources"]
    assert {one["anonflow_version"] for one in shown} == {releases[winners[0]].version}
    table = site.downloads(place.dataset)[f"{place.dataset}.csv"]
    assert table == releases[winners[0]].distributions[0].path.read_bytes()


def test_two_publishers_of_the_same_release_make_one_dataset(site: Site, place: Place) -> None:
    outcomes: list[str] = []
    together = threading.Barrier(2)

    def publish() -> None:
        with bad_network(site.url) as network:
            network.rules["package_create"] = Rule(times=1, before=together.wait)
            outcomes.append(place.portal(url=network.url).publish(place.release()).status)

    threads = [threading.Thread(target=publish) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(outcomes) == 2
    assert len(site.show(place.dataset)["resources"]) == 4


def test_somebody_who_corrects_the_words_meanwhile_is_no_second_publisher(
    site: Site, place: Place, network: BadNetwork
) -> None:
    place.portal().publish(place.release())
    correct = lambda: site.call("package_patch", id=place.dataset, author="Somebody")  # noqa: E731
    network.rules["package_revise"] = Rule(times=1, before=correct)
    done = place.portal(url=network.url).publish(place.release("sex,rows\nF,6\n", version="v2"))
    assert (done.status, network.calls["package_revise"]) == ("published", 2)
    assert site.show(place.dataset)["author"] == "Somebody"


PUBLISH_LARGE = textwrap.dedent(
    """
    import json, resource, sys
    from pathlib import Path
    from tests.anon_airflow.portals.ckan.portals import Place, Site, distribution

    url, token, organization, dataset, large = sys.argv[1:]
    site = Site(url=url, token=token, organization=organization)
    place = Place(site=site, folder=Path(large).parent, dataset=dataset)
    file = distribution(Path(large), "text/csv", rows=1)
    portal, release = place.portal(timeout=120), place.release(distributions=(file,))
    portal.check()
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = peak()
    status = portal.publish(release).status
    print(json.dumps({"grown": (peak() - before) * 1024, "status": status}))
    """
)


def test_200_megabytes_are_streamed_in_constant_memory(site: Site, place: Place, tmp_path: Path) -> None:
    """How fast that is, `benchmarks/ckan.py` measures."""
    large = tmp_path / f"{place.dataset}.csv"
    block = b"".join(b"%d,%d\n" % (number, number * number) for number in range(60_000))
    with large.open("wb") as file:
        file.write(b"a,b\n")
        while file.tell() < LARGE - len(block):
            file.write(block)
    arguments = [site.url, site.token, site.organization, place.dataset, str(large)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "plugins")])}
    done = subprocess.run(
        [sys.executable, "-c", PUBLISH_LARGE, *arguments],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["status"] == "published"
    assert result["grown"] < 30 << 20, result
    table = next(one for one in site.show(place.dataset)["resources"] if one["name"].endswith(".csv"))
    assert table["size"] == large.stat().st_size
