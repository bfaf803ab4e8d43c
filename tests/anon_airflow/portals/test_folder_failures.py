"""The folder portal: a release is there whole or not at all, whatever happens in between."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.portals.folder.portal import FolderPortal
from anon_core.errors import StorageError
from anon_core.publishing.release import Release
from tests.anon_airflow.portals.folder_releases import Maker, assert_sound, names, newest
from tests.parameters import parameters


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


@pytest.mark.parametrize("act", ["check", "publish"])
def test_a_file_in_the_place_of_the_folder_is_a_clear_error(tmp_path: Path, make: Maker, act: str) -> None:
    (tmp_path / "file").write_text("I am a file")
    for place in (tmp_path / "file", tmp_path / "file" / "portal"):
        portal = FolderPortal(place)
        with pytest.raises(StorageError, match="a file stands where a folder should be"):
            portal.publish(make()) if act == "publish" else portal.check()


def test_a_folder_that_takes_no_writing_is_a_clear_error(
    root: Path, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    FolderPortal(root).check()
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StorageError, match="Read-only file system"):
        FolderPortal(root).check()
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


@pytest.mark.parametrize("first", parameters([True, False], always=[False]), ids=["first version", "second version"])
def test_a_kill_at_any_step_leaves_no_half_version_and_a_rerun_heals(tmp_path: Path, make: Maker, first: bool) -> None:
    release = make("new", version="v2", period="2026-11")
    for step in range(1, 300):
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
