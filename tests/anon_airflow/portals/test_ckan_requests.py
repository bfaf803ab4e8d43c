"""What is said to CKAN and how its answers are read, without a CKAN."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest

from anon_airflow.portals.ckan import datastore, requests
from anon_airflow.portals.ckan.client import CheckedFile, CkanClient, RetryPolicy
from anon_airflow.portals.ckan.datastore import batches, fill
from anon_airflow.portals.ckan.metadata import licence_id, lost, metadata_problems, tombstone_fields, withdrawn
from anon_airflow.portals.ckan.requests import Sent, read_reply
from anon_airflow.portals.ckan.resources import (
    ResourceRole,
    address,
    described,
    held,
    in_order,
    plan,
    size_of,
    without_files,
)
from anon_airflow.portals.ckan.server import Server
from anon_airflow.run import progress
from anon_airflow.run.progress import throttled
from anon_core.errors import PortalError, RefusedError

PACKAGE = {
    "id": "ed5381c2-bbb7-4b94-9142-784a60074e32",
    "name": "people",
    "metadata_modified": "2026-11-17T07:05:15.112581",
    "resources": [],
}


def sent(name: str = "people.csv", content: bytes = b"a\n1\n", path: Path = Path("nowhere")) -> Sent:
    digest = hashlib.sha256(content).hexdigest()
    return Sent(name=name, path=path, media_type="text/csv", sha256=digest, bytes=len(content))


def manifest(version: str = "v1", period: str | None = "2026-11-01", published: str = "2026-11-17T00:00:00Z") -> dict:
    return {
        "version": version,
        "period": period,
        "published_at": published,
        "content_digest": version,
        "distributions": [{"name": "people.csv", "rows": 5}],
    }


def on_portal(*resources: dict) -> dict:
    return {
        **PACKAGE,
        "resources": [{**one, "url_type": "upload", "url": f"http://x/{one['name']}"} for one in resources],
    }


def test_a_change_holds_only_for_the_dataset_as_it_was_read() -> None:
    request = requests.revise(PACKAGE, update={"title": "T", "tags": []}, resources=[{"id": "r"}])
    assert request.payload["match"] == {"id": PACKAGE["id"], "metadata_modified": PACKAGE["metadata_modified"]}
    assert set(request.payload["filter"]) == {"-tags__*", "-resources__*"}
    assert not request.asks


def test_a_change_without_resources_leaves_them_alone() -> None:
    request = requests.revise(PACKAGE, update={"private": False})
    assert (request.payload["filter"], request.payload["update"]) == ([], {"private": False})


def test_a_call_with_files_is_a_form_that_names_only_what_changes() -> None:
    there = {**PACKAGE, "resources": [{"id": "old"}, {"id": "other"}]}
    wanted = [{"id": "old", "hash": "x"}, {"id": "new", "hash": "y"}]
    request = requests.revise_with_files(there, update={"tags": []}, wanted=wanted, uploads={"new": sent()})
    form = request.form
    assert json.loads(form["update"]) == {"tags": []}
    assert json.loads(form["filter"]) == ["-tags__*"]
    assert json.loads(form["update__resources__old"]) == wanted[0]
    assert json.loads(form["update__resources__extend"]) == [wanted[1]]
    assert list(request.files) == ["update__resources__new__upload"]
    assert "other" not in "".join(form.values())


@pytest.mark.parametrize(
    ("status", "body", "holds"),
    [
        (409, {"match": ["metadata_modified"]}, "stale"),
        (409, {"resources": [{"upload": ["File upload too large"]}]}, "too_large"),
        (409, {"upload": ["File upload too large"]}, "too_large"),
        (409, {"name": ["That URL is already in use."]}, "name_taken"),
        (503, {}, "broken"),
    ],
)
def test_an_answer_is_understood(status: int, body: dict, holds: str) -> None:
    reply = read_reply(status, json.dumps({"success": False, "error": body}).encode())
    kinds = ("stale", "too_large", "name_taken", "broken", "ok")
    assert [kind for kind in kinds if getattr(reply, kind)] == [holds]


@pytest.mark.parametrize("body", [b"<html>login</html>", b'{"success": false}', b"[]", b""])
def test_a_page_that_says_200_is_no_success(body: bytes) -> None:
    assert not read_reply(200, body).ok
    assert read_reply(200, body).broken


def test_of_a_fault_of_the_server_only_its_kind_is_told() -> None:
    body = {"error": {"__type": "Search Index Error", "message": "could not add 'Anna Berg'"}, "success": False}
    assert read_reply(500, json.dumps(body).encode()).words == "HTTP 500 (Search Index Error)"


def test_waiting_gets_longer_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waited.append)
    client = CkanClient(Server(url="http://127.0.0.1:9", token="none"), RetryPolicy(attempts=4, first=1))

    def fail() -> None:
        raise client.failed("asking", "it is away")

    with pytest.raises(PortalError, match="it is away"):
        client.retry(fail)
    assert waited == [1, 2, 4]


@pytest.mark.parametrize("content", [b"a\n2\n", b"a\n", b"a\n1\n1\n", b""])
def test_the_last_byte_of_other_content_is_never_let_go(content: bytes) -> None:
    file = CheckedFile(io.BytesIO(content), sent(), throttled(None))
    let_go = b""
    with pytest.raises(RefusedError, match="changed after the check"):
        while block := file.read(2):
            let_go += block
    assert len(let_go) < 4


def test_the_content_that_was_checked_is_let_go_again_and_again() -> None:
    file = CheckedFile(io.BytesIO(b"a\n1\n"), sent(), throttled(None))
    for _ in range(2):
        assert file.seek(0) == 0
        assert b"".join(iter(lambda: file.read(3), b"")) == b"a\n1\n"


def test_a_file_that_the_portal_has_already_is_not_sent() -> None:
    there = on_portal(described(PACKAGE, ResourceRole.CURRENT, manifest(), sent()))
    new = manifest("v2")
    assert plan(there, [(ResourceRole.CURRENT, new, [sent()])], ()).uploads == {}
    changed = plan(there, [(ResourceRole.CURRENT, new, [sent(content=b"a\n2\n")])], ())
    assert list(changed.uploads) == [there["resources"][0]["id"]]
    doubtful = plan(there, [(ResourceRole.CURRENT, new, [sent()])], [there["resources"][0]["id"]])
    assert list(doubtful.uploads) == [there["resources"][0]["id"]]


def test_current_files_come_first_then_versions_newest_first_then_what_others_added() -> None:
    guide = {"id": "guide", "name": "guide", "url": "https://example.org"}
    files = [sent("report.json"), sent("people.csv"), sent("manifest.json")]
    groups = [
        (ResourceRole.VERSION, manifest("v1", "2026-10-01"), files),
        (ResourceRole.VERSION, manifest("v2"), files),
    ]
    wanted = plan(PACKAGE, [*groups, (ResourceRole.CURRENT, manifest("v2"), files)], ()).wanted
    names = [one["name"] for one in in_order([guide, *reversed(wanted)])]
    assert names[:4] == ["people.csv", "manifest.json", "report.json", "people.csv (v2)"]
    assert names[6:] == ["people.csv (v1)", "manifest.json (v1)", "report.json (v1)", "guide"]


def test_versions_are_told_newest_first_and_trials_by_hand_last() -> None:
    made = [manifest("v1", "2026-09-01"), manifest("v2", None), manifest("v3", "2026-11-01")]
    there = on_portal(*(described(PACKAGE, ResourceRole.VERSION, one, sent()) for one in made))
    assert [one.version for one in held(there, ResourceRole.VERSION)] == ["v3", "v1", "v2"]
    assert held(there, ResourceRole.CURRENT) == []


def test_no_more_of_a_file_is_read_back_than_the_limit_whatever_the_portal_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, report = ({"anonflow_file": name} for name in ("people.csv", "report.json"))
    assert [size_of({**table, "size": size}) for size in (5, None, 0, -1, True, "5", 1 << 60)] == [5, *[8 << 30] * 6]
    assert size_of({**report, "size": 1 << 60}) == 16 << 20
    monkeypatch.setenv("ANON_MAX_DOWNLOAD_BYTES", "4")
    assert size_of({**table, "size": 5}) == 4


@pytest.mark.parametrize("number", ["", "two", "-1", "9" * 5000, "\u0661"])
def test_versions_of_a_period_are_sorted_by_their_numbers_before_their_times(number: str) -> None:
    older = {**manifest("v1"), "sequence": 1, "published_at": "2046-11-01T00:00:00Z"}
    newer = {**manifest("v2"), "sequence": 2, "published_at": "2026-11-01T00:00:00Z"}
    resources = [described(PACKAGE, ResourceRole.VERSION, one, sent()) for one in (older, newer)]
    assert [one.version for one in held(on_portal(*resources), ResourceRole.VERSION)] == ["v2", "v1"]
    assert in_order(resources) == resources[::-1]
    resources[1]["anonflow_sequence"] = number
    assert [one.version for one in held(on_portal(*resources), ResourceRole.VERSION)] == ["v1", "v2"]


@pytest.mark.parametrize(
    "labels",
    [
        {"anonflow_role": "nonsense"},
        {"anonflow_role": ["current"]},
        {"anonflow_version": ["v1"]},
        {"anonflow_period": 2026},
        {"anonflow_version": "../v1"},
        {"anonflow_file": "../people.csv"},
        {"anonflow_file": "/etc/cron.d/people"},
        {"anonflow_file": ".."},
    ],
)
def test_what_others_labelled_is_no_version(labels: dict[str, object]) -> None:
    """A file of a version is downloaded under the name that its label says."""
    mine = described(PACKAGE, ResourceRole.CURRENT, manifest(), sent())
    assert len(held(on_portal(mine), *ResourceRole)) == 1
    assert held(on_portal({**mine, **labels}), *ResourceRole) == []


def test_a_resource_is_downloaded_where_we_speak_to() -> None:
    resource = {"id": "r", "url": "https://public.example.org/dataset/d/resource/r/download/people%20a.csv"}
    assert address(PACKAGE, resource) == f"/dataset/{PACKAGE['id']}/resource/r/download/people%20a.csv"


def test_a_file_is_cleared_before_its_resource_is_removed() -> None:
    there = on_portal(described(PACKAGE, ResourceRole.CURRENT, manifest(), sent()), {"id": "guide", "name": "guide"})
    cleared, guide = without_files(there, [there["resources"][0]["id"]])
    assert (cleared["clear_upload"], cleared["url"], cleared["hash"]) == (True, "", "")
    assert guide == there["resources"][1]


def test_a_page_says_what_was_withdrawn_once() -> None:
    stone = {"version": "v1", "content_digest": "c", "at": "2026-11-17T00:00:00Z", "reason": "wrong\nsum"}
    first = {**PACKAGE, "notes": "About.", **tombstone_fields({**PACKAGE, "notes": "About."}, [stone], {})}
    again = tombstone_fields(first, [stone], {})
    assert again["notes"] == first["notes"] == "> **Withdrawn** on 2026-11-17: version v1. wrong sum\n\nAbout."
    assert [one["version"] for one in withdrawn(first)] == ["v1"]
    assert withdrawn({"extras": [{"key": "anonflow_withdrawn", "value": "damaged"}]}) == []


def test_a_licence_is_found_by_id_title_address_or_its_usual_name() -> None:
    known = [
        {"id": "cc-by", "title": "Creative Commons Attribution", "url": "http://x", "status": "active"},
        {"id": "CC-BY-4.0", "title": "CC BY", "url": "https://creativecommons.org/licenses/by/4.0/"},
        {"id": "old", "title": "Old", "url": "", "status": "retired"},
    ]
    assert licence_id("cc-by-4.0", known) == "CC-BY-4.0"
    assert licence_id("CC-BY-4.0", known[:1]) == "cc-by"
    assert licence_id("Creative Commons Attribution", known) == "cc-by"
    assert licence_id("https://creativecommons.org/licenses/by/4.0", known) == "CC-BY-4.0"
    assert licence_id("old", known) is None


def test_names_that_ckan_does_not_take_are_all_told() -> None:
    assert metadata_problems("ab", ["città 2", "a.b"], ["età", "birth year"]) == []
    problems = metadata_problems("a", ["x", "a/b"], ["_id", 'a"b', " a", "ä" * 32])
    assert len(problems) == 3
    assert all(name in problems[1] for name in ("'x'", "'a/b'"))
    assert all(repr(name) in problems[2] for name in ("_id", 'a"b', " a", "ä" * 32))


def test_what_ckan_dropped_without_a_word_is_found() -> None:
    told = {"title": "T", "frequency": "M", "tags": [{"name": "a"}], "extras": [{"key": "k", "value": "v"}]}
    assert lost(told, {"title": "T", "frequency": "M", "tags": [{"name": "a"}], "extras": told["extras"]}) == []
    assert lost(told, {"title": "T", "tags": [], "extras": []}) == ["extras.k", "frequency", "tags"]


def test_rows_for_the_datastore_are_text_with_gaps_and_nothing_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('"a","b"\r\n"01","NA"\r\n,""\r\n"x\ny","1e5"\r\n')
    rows = [row for batch in batches(sent(path=path)) for row in batch]
    assert rows == [{"a": "01", "b": "NA"}, {"a": None, "b": ""}, {"a": "x\ny", "b": "1e5"}]


def test_a_line_end_inside_a_cell_may_stand_where_reading_pauses(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(datastore, "BLOCK", 64)
    path = tmp_path / "people.csv"
    cells = ["x" * length + "\ny" * 20 for length in range(20)]
    path.write_text('"a"\n' + "".join(f'"{cell}"\n' for cell in cells))
    assert [row["a"] for batch in batches(sent(path=path)) for row in batch] == cells


def test_a_file_that_changed_does_not_get_into_the_datastore(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"a\n2\n")
    nobody = CkanClient(Server(url="http://127.0.0.1:9", token="none"), RetryPolicy(attempts=1))
    with pytest.raises(RefusedError, match="changed after the check"):
        fill(nobody, "one", sent(path=path), [{"name": "a"}])


def test_how_far_sending_is_is_told_now_and_then(monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(progress, "MIN_INTERVAL_S", -1)
    file = CheckedFile(io.BytesIO(b"a" * 3_000_000), sent(content=b"a" * 3_000_000), throttled(said.append))
    while file.read(1_000_000):
        pass
    assert said[:3] == [f"sending: {number} of 3 MB of people.csv" for number in (1, 2, 3)]


def test_no_row_is_lost_between_batches(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('"a"\n' + "".join(f'"{number}"\n' for number in range(300_000)))
    rows = [row["a"] for batch in batches(sent(path=path)) for row in batch]
    assert rows == [str(number) for number in range(300_000)]


def test_a_withdrawn_version_on_ckan_is_an_anchor_of_the_audit_chain(tmp_path):
    from anon_airflow.audit import Anchor
    from anon_airflow.commands.anchors import read_anchors

    stone = {"version": "v1", "content_digest": "c", "data_digest": "", "at": "2026-11-17T10:00:00Z", "reason": "why"}
    named = {**PACKAGE, "extras": [{"key": "anonflow_dataset", "value": "people"}]}
    first = {**named, **tombstone_fields(named, [{**stone, "audit": '{"seq": 7, "mac": "ab"}'}], {})}
    again = {**first, **tombstone_fields(first, [{**stone, "version": "v2"}], {})}  # An earlier anonflow had no head.
    for number, content in enumerate((again, {"success": True, "result": again})):
        (tmp_path / f"{number}.json").write_text(json.dumps(content))
        found = read_anchors([tmp_path / f"{number}.json"])
        assert found.heads == (Anchor(mac="ab", seq=7),)
        assert found.withdrawn == (("people", "v1"), ("people", "v2"))
