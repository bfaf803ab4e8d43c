"""The folder portal: what is published, which version is the newest, what is refused, and its pages."""

from __future__ import annotations

import json
import os
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anon_airflow.portals import words
from anon_airflow.portals.folder.portal import FolderPortal
from anon_core.errors import InvalidInputError, RefusedError
from anon_core.publishing.release import Distribution
from anon_core.registry import MODELS
from tests.anon_airflow.portals.folder_releases import Maker, names, newest


def test_a_release_is_published_with_its_files_manifest_and_pages(root: Path, make: Maker) -> None:
    done = FolderPortal(root).publish(make(period="2026-11"))
    assert (done.status, done.version) == ("published", "v1")
    assert names(root) == [
        ".lock",
        "catalog.jsonld",
        "catalog.ttl",
        "index.html",
        "people",
        "people/changelog.json",
        "people/index.html",
        "people/latest",
        "people/versions",
        "people/versions/v1",
        "people/versions/v1/datapackage.json",
        "people/versions/v1/manifest.json",
        "people/versions/v1/people.csv",
        "people/versions/v1/people.parquet",
        "people/versions/v1/report.json",
    ]
    manifest = json.loads((Path(done.location) / "manifest.json").read_bytes())
    assert manifest["schema"] == "anonflow/manifest/1"
    assert (manifest["period"], manifest["audit_head"]) == ("2026-11", "abc")
    assert set(manifest["distributions"][0]) == {"name", "media_type", "bytes", "rows", "sha256"}
    assert "People" in Path(done.page).read_text()


def test_the_published_report_has_the_bytes_that_its_digest_was_taken_of(root: Path, make: Maker) -> None:
    report = {"kind": "public", "title": "Età", "b": [1.5, None], "a": True}
    done = FolderPortal(root).publish(make(report=report))
    expected = json.dumps(report, indent=1, sort_keys=True).encode()
    assert (Path(done.location) / "report.json").read_bytes() == expected


def test_everything_published_is_readable_by_all_whatever_the_umask(root: Path, make: Maker) -> None:
    before = os.umask(0o077)
    try:
        FolderPortal(root).publish(make())
    finally:
        os.umask(before)
    for each in [root, *root.rglob("*")]:
        if each.name != ".lock" and not each.is_symlink():
            assert stat.S_IMODE(each.stat().st_mode) == (0o755 if each.is_dir() else 0o644), each


def test_publishing_the_same_again_changes_nothing(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    portal.publish(make(period="2026-11"))
    before = {name: (root / name).read_bytes() for name in names(root) if (root / name).is_file()}
    assert portal.publish(make(period="2026-11")).status == "unchanged"
    assert portal.publish(make(version="v2", period="2026-11")).version == "v1"
    assert {name: (root / name).read_bytes() for name in names(root) if (root / name).is_file()} == before


def test_the_same_bytes_in_another_period_are_a_version_of_that_period(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    portal.publish(make(version="v1", period="2026-10"))
    assert portal.publish(make(version="v2", period="2026-11")).status == "published"
    assert portal.publish(make(version="v3", period=None)).version == "v2"


def test_a_version_is_found_by_its_bytes_and_period(root: Path, make: Maker) -> None:
    portal, release = FolderPortal(root), make(period="2026-10")
    assert portal.find("people", release.content_digest, None) is None
    portal.publish(release)
    for period in ("2026-10", None):
        found = portal.find("people", release.content_digest, period)
        assert found is not None
        assert found.version == "v1"
    assert portal.find("people", release.content_digest, "2026-11") is None
    assert portal.find("people", "0" * 64, None) is None


def test_going_back_to_earlier_bytes_is_a_new_version(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    for version, text in (("v1", "A"), ("v2", "B"), ("v3", "A")):
        assert portal.publish(make(text, version=version, period="2026-11")).status == "published"
    assert newest(root) == "v3"


def test_going_back_under_a_version_name_made_of_the_bytes_gets_a_number_and_is_newest(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    for text in ("A", "B", "A"):
        portal.publish(make(text, version=f"2026-11.{text}", period="2026-11"))
    assert newest(root) == "2026-11.A-2"
    assert portal.publish(make("A", version="2026-11.A", period="2026-11")).status == "unchanged"
    assert len(portal.versions("people")) == 3


def test_latest_moves_to_a_newer_period_and_not_back_for_a_backfill(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    for version, period in (("b", "2026-10"), ("c", "2026-11"), ("a", "2026-01")):
        portal.publish(make(version, version=version, period=period))
    assert newest(root) == "c"
    assert [each["version"] for each in portal.versions("people")] == ["c", "b", "a"]
    page = (root / "people" / "index.html").read_text()
    assert page.index("versions/c/") < page.index("versions/a/")


def test_a_correction_of_the_newest_period_becomes_latest(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    portal.publish(make("wrong", version="z", period="2026-11"))
    portal.publish(make("right", version="a", period="2026-11"))
    assert (root / "people" / "latest" / "people.csv").read_text() == "right"


def test_what_is_published_after_the_clock_was_set_back_is_latest(
    root: Path, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anon_airflow.portals import manifest

    portal = FolderPortal(root, keep=2)
    for day, version in ((20, "a"), (2, "b"), (11, "c"), (1, "d")):
        clock = SimpleNamespace(now=lambda _, day=day: datetime(2026, 11, day, tzinfo=UTC))
        monkeypatch.setattr(manifest, "datetime", clock)
        portal.publish(make(f"sex\n{version}\n", version=version))
        assert newest(root) == version
    assert [each["version"] for each in portal.versions("people")] == ["d", "c"]
    assert portal.find("people", make("sex\nd\n").content_digest, None) is not None


def test_a_number_is_not_given_twice_when_the_newest_version_was_withdrawn(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    for version in ("a", "b"):
        portal.publish(make(f"sex\n{version}\n", version=version))
    portal.withdraw("people", "b", "wrong", "2026-11-17T00:00:00Z")
    assert portal.publish(make("sex\nc\n", version="c")).manifest["sequence"] == 3


def test_latest_never_disappears_while_it_is_switched(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    portal.publish(make("0", version="v0"))
    gone, stop = [], threading.Event()

    def watch() -> None:
        while not stop.is_set():
            if not (root / "people" / "latest" / "people.csv").exists():
                gone.append(1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(1, 20):
        portal.publish(make(str(number), version=f"v{number}"))
    stop.set()
    watcher.join()
    assert not gone


def test_a_file_that_changed_after_the_check_is_refused(root: Path, make: Maker) -> None:
    portal, release = FolderPortal(root), make("A", version="v2")
    portal.publish(make("B", version="v1"))
    before = names(root)
    release.distributions[1].path.write_text("A and something else")
    with pytest.raises(RefusedError, match=r"people\.parquet is not the file that was checked"):
        portal.publish(release)
    assert names(root) == before
    assert newest(root) == "v1"


def test_a_version_never_changes_its_bytes(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    portal.publish(make("A"))
    with pytest.raises(RefusedError, match="already holds other files"):
        portal.publish(make("B"))
    assert (root / "people" / "latest" / "people.csv").read_text() == "A"


@pytest.mark.parametrize("file", ["people.csv", "manifest.json", "report.json"])
def test_a_published_version_that_somebody_damaged_is_named_and_not_passed_off(
    root: Path, make: Maker, file: str
) -> None:
    portal, release = FolderPortal(root), make()
    (Path(portal.publish(release).location) / file).unlink()
    assert portal.find("people", release.content_digest, None) is None
    with pytest.raises(RefusedError, match=rf"{file} of version v1 was changed or removed"):
        portal.publish(release)


def test_a_damaged_version_does_not_stop_the_next(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    damaged = Path(portal.publish(make("A", version="v1")).location)
    (damaged / "manifest.json").write_text('{"schema": "anonflow/manifest/1", "version": "v1", "distributions": 3}')
    assert portal.publish(make("B", version="v2")).status == "published"
    assert [each["version"] for each in portal.versions("people")] == ["v2"]


def test_the_internal_report_is_never_published(root: Path, make: Maker) -> None:
    with pytest.raises(RefusedError, match="not the public one"):
        FolderPortal(root).publish(make(report={"kind": "internal"}))
    assert not root.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset": "../people"},
        {"dataset": "People"},
        {"version": ".."},
        {"version": "a/b"},
        {"version": ""},
        {"version": "v1\n"},
        {"distributions": ()},
        {"manifest": {"version": "v9"}},
    ],
)
def test_a_name_that_could_lead_elsewhere_is_refused(root: Path, make: Maker, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        FolderPortal(root).publish(make(**changes))
    assert not list(root.rglob("v*/*"))


@pytest.mark.parametrize("name", ["../x.csv", ".hidden", "manifest.json", "REPORT.json", "people.parquet", "a b", ""])
def test_a_distribution_may_not_have_a_name_that_leads_elsewhere_or_is_taken(
    root: Path, make: Maker, name: str
) -> None:
    first, second = make().distributions
    one = Distribution(name=name, path=first.path, media_type="", sha256=first.sha256, bytes=first.bytes, rows=1)
    with pytest.raises(InvalidInputError):
        FolderPortal(root).publish(make(distributions=(one, second)))


def test_hostile_words_stay_words_on_the_pages(root: Path, make: Maker) -> None:
    evil = "<script>alert(1)</script>"
    report = {
        "kind": "public",
        "generated_by": evil,
        "privacy": {"k": {"exact": 5}, "checks": [{"name": evil, "passed": True, "observed": evil, "required": evil}]},
        "recoding": {"why": evil, "columns": [{"name": evil, "role": "quasi", "description": evil, "levels": []}]},
    }
    metadata: dict[str, Any] = dict.fromkeys(
        ("description", "publisher", "licence", "contact", "language", "theme"), f'"{evil}'
    )
    metadata["keywords"] = [evil]
    done = FolderPortal(root).publish(make(title=evil, period=evil, report=report, metadata=metadata))
    for page, own in ((Path(done.page), 0), (root / "index.html", 1)):
        text = page.read_text()
        assert text.count("<script") == own  # The search, which the page's policy names by its digest.
        assert "&lt;script&gt;" in text


@pytest.mark.parametrize("key", MODELS.keys())
def test_every_check_of_the_gate_has_words_for_people(key: str) -> None:
    model = MODELS.get(key)
    assert model.page or key == "made_from_original", "this is no check of the gate"
    for name, said in model.page.items():
        assert words.check(name) == said


def test_a_page_says_that_cells_have_an_apostrophe_where_formulas_were_looked_for(root: Path, make: Maker) -> None:
    for made, told in (("formulas", True), ("k_anonymity", False)):
        checks = [{"name": made, "passed": True, "message": "none"}]
        report = {"kind": "public", "privacy": {"checks": checks}, "recoding": {"columns": [{"name": "sex"}]}}
        page = FolderPortal(root / made).publish(make(report=report)).page
        assert ("begins with an apostrophe" in Path(page).read_text()) is told


@pytest.mark.parametrize(("column", "told"), [("sex", True), ("rows", False)])
def test_a_page_explains_the_star_of_a_suppressed_cell_and_of_no_other(
    root: Path, make: Maker, column: str, told: bool
) -> None:
    levels = [{"level": 0, "name": "as collected", "rows": 1}, {"level": 1, "name": "suppressed", "rows": 4}]
    report = {"kind": "public", "recoding": {"columns": [{"name": column, "levels": levels}]}}
    page = FolderPortal(root).publish(make("sex,rows\n*,5\nF,5\n", report=report)).page
    assert ("A * stands for any value" in Path(page).read_text()) is told


def test_words_of_a_publication_file_are_marked_with_their_language(root: Path, make: Maker) -> None:
    metadata = {"language": "it", "description": "Chi ha la patente"}
    done = FolderPortal(root).publish(make(title="Patenti", metadata=metadata))
    for page in (Path(done.page), root / "index.html"):
        marked = [line for line in page.read_text().splitlines() if 'lang="it" dir="auto"' in line]
        assert len(marked) == 2
        assert "Patenti" in marked[0]
        assert "Chi ha la patente" in marked[1]


def test_a_link_that_would_run_code_is_no_link(root: Path, make: Maker) -> None:
    metadata = {"contact": "javascript:alert(1)", "licence": "javascript:alert(1)"}
    page = Path(FolderPortal(root).publish(make(metadata=metadata)).page).read_text()
    assert 'href="javascript' not in page


def test_a_page_is_made_of_what_is_on_disk_and_comes_back(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    page = Path(portal.publish(make(metadata={"publisher": "Town"})).page)
    before = page.read_bytes(), (root / "index.html").read_bytes()
    page.unlink()
    (root / "index.html").write_text("vandalised")
    (root / "people" / "latest").unlink()
    assert portal.publish(make()).status == "unchanged"
    assert (page.read_bytes(), (root / "index.html").read_bytes()) == before
    assert newest(root) == "v1"


def test_a_report_with_nothing_optional_still_makes_a_page(root: Path, make: Maker) -> None:
    page = Path(FolderPortal(root).publish(make(report={"kind": "public"}, metadata={})).page).read_text()
    assert "Downloads" in page


def test_pages_load_nothing_from_elsewhere(root: Path, make: Maker) -> None:
    text = Path(FolderPortal(root).publish(make()).page).read_text()
    assert "src=" not in text
    assert "@import" not in text
    assert "url(" not in text
