"""The folder portal: a release is there whole or not at all, whatever happens in between."""

from __future__ import annotations

import errno
import hashlib
import json
import multiprocessing
import os
import random
import resource
import signal
import stat
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.portals.folder import FolderPortal
from anon_airflow.portals.release import Distribution, Release
from anon_core.errors import InvalidInputError, RefusedError, StorageError

Maker = Callable[..., Release]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "portal"


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    """Make a release whose two files hold the given text."""

    def release(
        text: str = "sex,rows\nF,5\n", *, version: str = "v1", period: str | None = None, **changes: Any
    ) -> Release:
        folder = tmp_path / "made" / hashlib.sha256(text.encode()).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        distributions = []
        for name, media_type in (("people.csv", "text/csv"), ("people.parquet", "application/vnd.apache.parquet")):
            content = f"{text}{'' if name.endswith('csv') else 'PAR1'}".encode()
            (folder / name).write_bytes(content)
            digest = hashlib.sha256(content).hexdigest()
            distributions.append(
                Distribution(
                    name=name, path=folder / name, media_type=media_type, sha256=digest, bytes=len(content), rows=5
                )
            )
        fields: dict[str, Any] = {
            "dataset": "people",
            "title": "People",
            "version": version,
            "period": period,
            "distributions": tuple(distributions),
            "report": {"kind": "public", "privacy": {"k": {"exact": 5}}},
            "metadata": {"publisher": "Town"},
            "manifest": {"audit_head": "abc"},
            "content_digest": hashlib.sha256(f"{text}".encode()).hexdigest(),
        }
        return Release(**(fields | changes))

    return release


def names(root: Path) -> list[str]:
    """Every name under a folder."""
    return sorted(str(each.relative_to(root)) for each in root.rglob("*"))


def newest(root: Path) -> str:
    """The version that ``latest`` leads to."""
    target = (root / "people" / "latest").readlink()
    assert target.parent == Path("versions")
    return target.name


def assert_sound(root: Path) -> list[str]:
    """Every visible version is complete and ``latest`` leads to one; their names."""
    versions = root / "people" / "versions"
    found = sorted(versions.iterdir()) if versions.exists() else []
    for version in found:
        manifest = json.loads((version / "manifest.json").read_bytes())
        assert json.loads((version / "report.json").read_bytes())["kind"] == "public"
        for each in manifest["distributions"]:
            assert hashlib.sha256((version / each["name"]).read_bytes()).hexdigest() == each["sha256"]
    latest = root / "people" / "latest"
    if latest.is_symlink():
        assert (latest / "manifest.json").is_file()
    return [version.name for version in found]


def in_child(work: Callable[[], object]) -> int:
    """Run in a forked child and say how it ended: 0 well, 1 by an exception, minus the signal by a signal."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_release_is_published_with_its_files_manifest_and_pages(root: Path, make: Maker) -> None:
    done = FolderPortal(root).publish(make(period="2026-11"))
    assert (done.status, done.version) == ("published", "v1")
    assert names(root) == [
        ".lock",
        "index.html",
        "people",
        "people/index.html",
        "people/latest",
        "people/versions",
        "people/versions/v1",
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
    with pytest.raises(RefusedError, match="holds other files already"):
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


@pytest.mark.parametrize("act", ["check_writable", "publish"])
def test_a_file_in_the_place_of_the_folder_is_a_clear_error(tmp_path: Path, make: Maker, act: str) -> None:
    (tmp_path / "file").write_text("I am a file")
    for place in (tmp_path / "file", tmp_path / "file" / "portal"):
        portal = FolderPortal(place)
        with pytest.raises(StorageError, match="a file stands where a folder should be"):
            portal.publish(make()) if act == "publish" else portal.check_writable()


def test_a_folder_that_takes_no_writing_is_a_clear_error(
    root: Path, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    FolderPortal(root).check_writable()
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StorageError, match="Read-only file system"):
        FolderPortal(root).check_writable()
    assert names(root) == [".lock"]


def test_a_file_to_publish_that_is_gone_is_a_clear_error(root: Path, make: Maker) -> None:
    release = make()
    release.distributions[0].path.unlink()
    with pytest.raises(StorageError, match="reading the file to publish failed"):
        FolderPortal(root).publish(release)
    assert names(root / "people") == ["versions"]


def test_a_disk_that_fills_up_leaves_the_portal_as_it_was(root: Path, make: Maker) -> None:
    portal = FolderPortal(root)
    portal.publish(make("small", version="v1"))
    before = names(root)
    large = make("large " * 1_000_000, version="v2")

    def publish() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
        with pytest.raises(StorageError, match="File too large"):
            portal.publish(large)

    assert in_child(publish) == 0
    assert names(root) == before
    assert newest(root) == "v1"
    assert portal.publish(large).status == "published"


@pytest.mark.parametrize("first", [True, False], ids=["first version", "second version"])
def test_a_kill_at_any_step_leaves_no_half_version_and_a_rerun_heals(tmp_path: Path, make: Maker, first: bool) -> None:
    release = make("new", version="v2", period="2026-11")
    for step in range(1, 100):
        root = tmp_path / f"portal-{step}"
        portal = FolderPortal(root)
        if not first:
            portal.publish(make("old", version="v1", period="2026-10"))
        ended = in_child(partial(_publish_and_die, portal, release, step))
        seen = assert_sound(root)
        assert first or (newest(root) in seen and (root / "people" / "index.html").is_file())
        assert portal.publish(release).status == ("unchanged" if "v2" in seen else "published")
        assert assert_sound(root) == (["v2"] if first else ["v1", "v2"])
        assert newest(root) == "v2"
        assert "versions/v2/people.csv" in (root / "people" / "index.html").read_text()
        assert not [name for name in names(root) if ".incoming" in name]
        if ended == 0:
            assert step > 15
            return
        assert ended == -signal.SIGKILL
    pytest.fail("the publication never ended")


def _publish_and_die(portal: FolderPortal, release: Release, step: int) -> None:
    """Publish, and die by SIGKILL just before or just after one of the calls that change the disk."""
    count = 0

    def deadly(act: Callable[..., Any]) -> Callable[..., Any]:
        def acting(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            answer = act(*arguments, **options)
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        return acting

    for name in ("fsync", "rename", "replace", "symlink", "mkdir", "chmod", "fchmod", "unlink"):
        setattr(os, name, deadly(getattr(os, name)))
    portal.publish(release)


def test_kills_at_random_moments_leave_no_half_version(root: Path, make: Maker) -> None:
    portal, chance = FolderPortal(root), random.Random(2019)
    releases = [
        make(f"{number} " * 1_000_000, version=f"v{number}", period=f"2026-{number:02}") for number in range(1, 9)
    ]
    for _ in range(10):
        child = os.fork()
        if child == 0:
            for release in releases:
                portal.publish(release)
            os._exit(0)
        time.sleep(chance.uniform(0.002, 0.12))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert_sound(root)
    for release in releases:
        portal.publish(release)
    assert assert_sound(root) == sorted(release.version for release in releases)
    assert newest(root) == "v8"
    assert not [name for name in names(root) if ".incoming" in name]


def _publish(root: Path, release: Release, answers: Any) -> None:
    answers.put(FolderPortal(root).publish(release).status)


def test_concurrent_publishers_do_not_disturb_each_other(root: Path, make: Maker) -> None:
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    releases = [make(f"{n % 4} " * 200_000, version=f"v{n}", period=f"2026-{n % 4 + 1:02}") for n in range(12)]
    releases.append(make("other", dataset="places", title="Places"))
    workers = [context.Process(target=_publish, args=(root, release, answers)) for release in releases]
    for worker in workers:
        worker.start()
    statuses = [answers.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert statuses.count("published") == 5
    assert len(assert_sound(root)) == 4
    index = (root / "index.html").read_text()
    assert "People" in index
    assert "Places" in index


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
    for page in (Path(done.page), root / "index.html"):
        text = page.read_text()
        assert "<script" not in text
        assert "&lt;script&gt;" in text


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
