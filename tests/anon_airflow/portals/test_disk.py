"""Copying into the folder portal: the very bytes, by whatever way the system copies, and in constant memory."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.portals.folder import disk
from anon_airflow.portals.folder.disk import copy_checked
from anon_core.errors import RefusedError
from anon_core.publishing.release import Distribution

LARGE = 400_000_000


def distribution(path: Path, content: bytes, promised: bytes | None = None) -> Distribution:
    path.write_bytes(content)
    digest = hashlib.sha256(content if promised is None else promised).hexdigest()
    return Distribution(name=path.name, path=path, media_type="text/csv", sha256=digest, bytes=len(content), rows=1)


@pytest.mark.parametrize("size", [0, 1, disk.READ, disk.READ + 1, disk.BLOCK - 1, disk.BLOCK, disk.BLOCK + 1])
@pytest.mark.parametrize("way", ["the system", "by hand", "in small bites"])
def test_every_byte_arrives_whatever_the_size_and_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, way: str
) -> None:
    copy = os.copy_file_range

    def unable(*_: Any) -> int:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    if way == "by hand":
        monkeypatch.setattr(os, "copy_file_range", unable)
    if way == "in small bites":
        monkeypatch.setattr(os, "copy_file_range", lambda a, b, count, *at: copy(a, b, min(count, 1_000_003), *at))
    content = os.urandom(size)
    copy_checked(distribution(tmp_path / "source.csv", content), tmp_path / "target.csv")
    assert (tmp_path / "target.csv").read_bytes() == content


@pytest.mark.parametrize("at", [0, disk.BLOCK, 2 * disk.BLOCK])
def test_a_single_other_byte_is_noticed(tmp_path: Path, at: int) -> None:
    content = bytearray(os.urandom(2 * disk.BLOCK + 1))
    promised = bytes(content)
    content[at] ^= 1
    with pytest.raises(RefusedError, match="not the file that was checked"):
        copy_checked(distribution(tmp_path / "source.csv", bytes(content), promised), tmp_path / "target.csv")


def test_a_disk_that_does_not_take_it_is_told_and_leaves_no_thread_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "copy_file_range", full)
    before = threading.active_count()
    with pytest.raises(OSError, match="No space left"):
        copy_checked(distribution(tmp_path / "source.csv", b"content"), tmp_path / "target.csv")
    assert threading.active_count() == before


def test_a_large_file_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    source = tmp_path / "large.csv"
    with source.open("wb") as file:
        file.truncate(LARGE)  # All zeros, and no disk is needed for them.
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    large = Distribution(name="large.csv", path=source, media_type="text/csv", sha256=digest, bytes=LARGE, rows=1)
    Path("/proc/self/clear_refs").write_text("5")  # The peak begins again from what is in memory now.
    before = _memory("VmRSS")
    copy_checked(large, tmp_path / "copy.csv")
    assert _memory("VmHWM") - before < LARGE / 20


def _memory(what: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024
