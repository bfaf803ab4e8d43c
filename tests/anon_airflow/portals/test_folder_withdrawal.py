"""The folder portal: what is withdrawn stays gone, only so many versions are kept, and pages say so."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import signal
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.portals.folder.portal import FolderPortal
from anon_core.errors import InvalidInputError, RefusedError, StorageError
from tests.anon_airflow.portals.folder_releases import Maker, names, newest
from tests.anon_airflow.portals.test_folder_failures import in_child

AT, WHY = "2026-11-17T10:00:00Z", "Somebody could be recognised"


@pytest.fixture
def three(root: Path, make: Maker) -> FolderPortal:
    portal = FolderPortal(root)
    for number in (1, 2, 3):
        portal.publish(make(f"secret {number}", version=f"v{number}", period=f"2026-0{number}"))
    return portal


def everything(root: Path) -> str:
    """All that a reader could find, as one text."""
    return "\n".join(path.read_text(errors="replace") for path in sorted(root.rglob("*")) if path.is_file())


def test_a_withdrawn_version_leaves_a_page_that_says_when_and_why(root: Path, three: FolderPortal) -> None:
    assert three.withdraw("people", "v2", WHY, AT) == ("v2",)
    folder = root / "people" / "versions" / "v2"
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "tombstone.json"]
    page = (folder / "index.html").read_text()
    assert WHY in page
    assert "17 November 2026" in page
    assert json.loads((folder / "tombstone.json").read_bytes())["kind"] == "withdrawn"
    assert "secret 2" not in everything(root)
    assert [each["version"] for each in three.versions("people")] == ["v3", "v1"]
    assert newest(root) == "v3"


def test_what_points_to_versions_no_longer_points_to_a_withdrawn_one(root: Path, three: FolderPortal) -> None:
    three.withdraw("people", "v3", WHY, AT)
    assert newest(root) == "v2"
    assert "versions/v3/people.csv" not in everything(root)
    assert WHY in (root / "people" / "index.html").read_text()
    log = json.loads((root / "people" / "changelog.json").read_bytes())
    assert [(each["version"], each["status"]) for each in log["versions"]] == [
        ("v2", "available"),
        ("v1", "available"),
        ("v3", "withdrawn"),
    ]


def test_all_versions_of_a_dataset_go_at_once_and_its_page_stays(root: Path, make: Maker, three: FolderPortal) -> None:
    three.publish(make("other", dataset="places", title="Places"))
    assert three.withdraw("people", None, WHY, AT) == ("v1", "v2", "v3")
    assert "secret" not in everything(root)
    assert not os.path.lexists(root / "people" / "latest")
    assert WHY in (root / "people" / "index.html").read_text()
    index = (root / "index.html").read_text()
    assert "Withdrawn" in index
    assert "Places" in index
    assert "people/versions" not in (root / "catalog.ttl").read_text()


def test_a_version_that_somebody_damaged_is_taken_off_too(root: Path, three: FolderPortal) -> None:
    (root / "people/versions/v1/manifest.json").write_text("{")
    assert three.withdraw("people", None, WHY, AT) == ("v1", "v2", "v3")
    assert "secret" not in everything(root)


def test_withdrawing_twice_changes_nothing_more(root: Path, three: FolderPortal) -> None:
    three.withdraw("people", "v2", WHY, AT)
    before = {name: (root / name).read_bytes() for name in names(root) if (root / name).is_file()}
    assert three.withdraw("people", "v2", "another reason", "2026-12-01T00:00:00Z") == ()
    assert {name: (root / name).read_bytes() for name in names(root) if (root / name).is_file()} == before


def test_what_was_never_there_is_not_taken_off(root: Path, three: FolderPortal) -> None:
    assert three.withdraw("people", "v9", WHY, AT) == ()
    assert three.withdraw("nobody", None, WHY, AT) == ()
    assert not (root / "nobody").exists()


def test_where_no_portal_is_nothing_counts_as_taken_off(root: Path, three: FolderPortal) -> None:
    root.rename(root.with_name("moved"))
    for _ in range(2):  # Also where the folder is there and empty, as when its disk is not mounted.
        with pytest.raises(StorageError, match="there is no portal"):
            three.withdraw("people", "v3", WHY, AT)
        root.mkdir(exist_ok=True)
    root.rmdir()
    root.symlink_to("moved")
    assert three.withdraw("people", "v3", WHY, AT) == ("v3",)


def test_the_page_of_a_version_that_had_expired_says_that_it_was_withdrawn(root: Path, make: Maker) -> None:
    portal = FolderPortal(root, keep=1)
    for number in (1, 2):
        portal.publish(make(f"secret {number}", version=f"v{number}", period=f"2026-0{number}"))
    assert portal.withdraw("people", "v1", WHY, AT) == ("v1",)
    assert portal.withdraw("people", "v1", "another", AT) == ()
    assert WHY in (root / "people/versions/v1/index.html").read_text()
    assert (root / "people/index.html").read_text().count("versions/v1/index.html") == 1
    log = json.loads((root / "people/changelog.json").read_bytes())
    assert [(each["version"], each["status"]) for each in log["versions"]] == [("v2", "available"), ("v1", "withdrawn")]
    assert log["versions"][1]["published_at"]
    with pytest.raises(RefusedError, match="was withdrawn"):
        portal.publish(make("secret 1", version="v3", period="2026-03"))


@pytest.mark.parametrize("when", ["the version is gone", "its page comes"])
def test_who_is_stopped_in_the_midst_of_it_leaves_the_page_all_the_same(
    root: Path, three: FolderPortal, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    rename, place, stops = os.rename, root / "people/versions/v3", [KeyboardInterrupt]

    def stopped(source: Path, target: Path) -> None:
        if stops and when == "its page comes" and Path(target) == place:
            raise stops.pop()
        rename(source, target)
        if stops and when == "the version is gone" and Path(source) == place:
            raise stops.pop()

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "rename", stopped)
        three.withdraw("people", "v3", WHY, AT)
    assert (root / "people/versions/v3/tombstone.json").is_file()
    assert three.withdraw("people", "v3", WHY, AT) == ()
    assert newest(root) == "v2"


def test_files_that_cannot_be_removed_are_not_passed_off_as_gone(
    root: Path, three: FolderPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    with monkeypatch.context() as patch, pytest.raises(StorageError, match="busy"):
        patch.setattr(os, "rmdir", busy)
        three.withdraw("people", "v3", WHY, AT)
    assert three.withdraw("people", "v3", WHY, AT) == ()
    assert "secret 3" not in everything(root)
    assert not list(root.glob(".incoming*"))


@pytest.mark.parametrize(("dataset", "version"), [("..", None), ("people", "../v1"), ("people", "..")])
def test_a_name_that_leads_elsewhere_withdraws_nothing(three: FolderPortal, dataset: str, version: str | None) -> None:
    with pytest.raises(InvalidInputError):
        three.withdraw(dataset, version, WHY, AT)
    assert len(three.versions("people")) == 3


def test_withdrawn_content_is_not_published_again_under_any_name(root: Path, make: Maker, three: FolderPortal) -> None:
    three.withdraw("people", "v3", WHY, AT)
    for version, period in (("v3", "2026-03"), ("v4", "2026-04")):
        with pytest.raises(RefusedError, match=f"was withdrawn, as version v3: {WHY}"):
            three.publish(make("secret 3", version=version, period=period))
    assert "secret 3" not in everything(root)
    assert three.publish(make("corrected", version="v5", period="2026-03")).status == "published"


@pytest.mark.parametrize("words_only", [False, True])
@pytest.mark.parametrize("keep", [None, 1])
def test_withdrawn_data_comes_back_only_if_nothing_but_words_was_wrong(
    root: Path, make: Maker, words_only: bool, keep: int | None
) -> None:
    portal = FolderPortal(root, keep=keep)  # With 1, the withdrawn version had expired before.
    for number in (1, 2):
        portal.publish(make(f"secret {number}", version=f"v{number}", period=f"2026-0{number}"))
    portal.withdraw("people", "v1", WHY, AT, words_only=words_only)
    corrected = dataclasses.replace(make("secret 1", version="v3", period="2026-03"), content_digest="3" * 64)
    if words_only:
        assert portal.publish(corrected).status == "published"
        return
    with pytest.raises(RefusedError, match=f"was withdrawn, as version v1: {WHY}"):
        portal.publish(corrected)
    assert "secret 1" not in everything(root)


def test_a_reason_stays_words(root: Path, three: FolderPortal) -> None:
    three.withdraw("people", None, "<script>alert(1)</script>", AT)
    pages = [path.read_text() for path in root.rglob("*.html")]
    assert len(pages) == 5
    assert not [page for page in pages if "<script>alert" in page]


def test_a_kill_while_withdrawing_leaves_nothing_half_and_a_rerun_ends_it(tmp_path: Path, make: Maker) -> None:
    for step in range(1, 300):
        root = tmp_path / f"portal-{step}"
        portal = FolderPortal(root)
        for number in (1, 2):
            portal.publish(make(f"secret {number}", version=f"v{number}", period=f"2026-0{number}"))
        ended = in_child(partial(_die_at, step, partial(portal.withdraw, "people", "v2", WHY, AT)))
        for hidden in root.glob(".incoming*"):
            assert stat.S_IMODE(hidden.stat().st_mode) == 0o700
        place = root / "people/versions/v2"
        assert not place.exists() or len(list(place.iterdir())) in (2, 5)
        portal.withdraw("people", "v2", WHY, AT)
        assert (place / "tombstone.json").is_file()
        assert "secret 2" not in everything(root)
        assert newest(root) == "v1"
        assert not [name for name in names(root) if ".incoming" in name]
        if ended == 0:
            assert step > 15
            return
        assert ended == -signal.SIGKILL
    pytest.fail("the withdrawal never ended")


@pytest.mark.thorough
def test_a_kill_while_old_versions_go_for_a_new_one_is_mended_by_the_next(tmp_path: Path, make: Maker) -> None:
    new = make("row 3", version="v3", period="2026-03")
    for step in range(1, 300, 3):
        root = tmp_path / f"portal-{step}"
        for number in (1, 2):
            FolderPortal(root).publish(make(f"row {number}", version=f"v{number}", period=f"2026-0{number}"))
        portal = FolderPortal(root, keep=1)
        ended = in_child(partial(_die_at, step, partial(portal.publish, new)))
        assert (root / "people/latest/people.csv").is_file()
        portal.publish(new)
        stones = [(root / "people/versions" / name / "tombstone.json").is_file() for name in ("v1", "v2", "v3")]
        assert stones == [True, True, False]
        assert newest(root) == "v3"
        if ended == 0:
            assert step > 30
            return
        assert ended == -signal.SIGKILL
    pytest.fail("the publication never ended")


def _die_at(step: int, work: Callable[[], object]) -> None:
    """Work, and die by SIGKILL just before one of the calls that change the disk."""
    count = 0

    def deadly(act: Callable[..., Any]) -> Callable[..., Any]:
        def acting(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return act(*arguments, **options)

        return acting

    for name in ("fsync", "rename", "replace", "symlink", "mkdir", "chmod", "fchmod", "unlink"):
        setattr(os, name, deadly(getattr(os, name)))
    work()


def test_only_so_many_versions_stay(root: Path, make: Maker) -> None:
    portal = FolderPortal(root, keep=2)
    for number in range(1, 6):
        portal.publish(make(f"row {number}", version=f"v{number}", period=f"2026-0{number}"))
    assert [each["version"] for each in portal.versions("people")] == ["v5", "v4"]
    assert not [text for text in ("row 1", "row 2", "row 3") if text in everything(root)]
    page = (root / "people/versions/v1/index.html").read_text()
    assert "no longer available" in page
    assert "delete it" not in page
    assert "No longer kept" in (root / "people" / "index.html").read_text()


def test_all_versions_stay_unless_a_number_is_given(root: Path, make: Maker) -> None:
    for number in range(1, 6):
        FolderPortal(root).publish(make(f"row {number}", version=f"v{number}", period=f"2026-0{number}"))
    assert len(FolderPortal(root).versions("people")) == 5


def test_fewer_versions_stay_from_the_next_publication_on_even_if_nothing_changed(root: Path, make: Maker) -> None:
    for number in range(1, 4):
        FolderPortal(root).publish(make(f"row {number}", version=f"v{number}", period=f"2026-0{number}"))
    done = FolderPortal(root, keep=1).publish(make("row 3", version="v3", period="2026-03"))
    assert done.status == "unchanged"
    assert [each["version"] for each in FolderPortal(root).versions("people")] == ["v3"]


def test_a_backfill_stays_until_the_next_publication(root: Path, make: Maker) -> None:
    portal = FolderPortal(root, keep=2)
    for number in (4, 5, 1):
        portal.publish(make(f"row {number}", version=f"v{number}", period=f"2026-0{number}"))
    assert [each["version"] for each in portal.versions("people")] == ["v5", "v4", "v1"]
    assert newest(root) == "v5"
    portal.publish(make("row 6", version="v6", period="2026-06"))
    assert [each["version"] for each in portal.versions("people")] == ["v6", "v5"]


def test_a_version_that_expired_may_come_back_under_a_name_of_its_own(root: Path, make: Maker) -> None:
    portal = FolderPortal(root, keep=1)
    for text in ("A", "B", "A"):
        portal.publish(make(text, version=f"2026-11.{text}", period="2026-11"))
    assert newest(root) == "2026-11.A-2"
    assert (root / "people/latest/people.csv").read_text() == "A"
