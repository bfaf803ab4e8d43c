"""Write files so that a crash leaves the old content or the new one, never a part."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import queue
import secrets
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from anon_core.errors import RefusedError, StorageError
from anon_core.files.storage import sync
from anon_core.publishing.release import Distribution, changed_file

BLOCK = 8 << 20
"""Bytes that are copied at once: few enough for the thread that computes the digest to keep up."""
READ = 1 << 18
UNFINISHED = ".incoming-"
LOCK = ".lock"


@contextlib.contextmanager
def storage_errors(doing: str, path: Path) -> Iterator[None]:
    """Turn an OSError into a StorageError that says what failed, and where."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if error.errno in (errno.EEXIST, errno.ENOTDIR):
            reason = "a file stands where a folder should be"
        # `rmtree` gives a name relative to an open folder, which would not show where it failed.
        named = error.filename if error.filename and Path(os.fsdecode(error.filename)).is_absolute() else path
        raise StorageError(str(named), doing, reason) from error


def make_folder(folder: Path) -> None:
    """Make a folder that all users can read, with the folders above it."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(0o755)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    sync(folder.parent)


def refuse_links(home: Path) -> None:
    """
    Reject a dataset whose folder, or the folder of a version in it, is a link: releases would be written elsewhere.

    The portal folder itself may be a link: its target is compared with the private folders. ``latest`` may be one too,
    because the portal makes it.

    :raises RefusedError: one of these folders is a link.
    """
    versions = home / "versions"
    found = [each for each in (home, versions) if each.is_symlink()]
    if not found and versions.is_dir():
        found = [each for each in sorted(versions.iterdir()) if each.is_symlink()]
    if found:
        reason = f"{found[0]} is a link, and releases are written only into the portal folder itself"
        raise RefusedError("portal", [f"{reason}: replace the link by the folder that it leads to, then run again"])


def write_new(path: Path, content: bytes) -> None:
    """Write a new file, readable by all users, and sync it to disk."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fchmod(file.fileno(), 0o644)
        os.fsync(file.fileno())


def copy_checked(distribution: Distribution, target: Path) -> None:
    """
    Copy the file and check the copy: the digest is computed from the bytes in the new file.

    The system copies, as for `cp`, while another thread computes the digest of the part that is copied already.

    :raises RefusedError: the copy does not have the digest and size that were measured.
    :raises StorageError: the file cannot be read.
    """
    with contextlib.ExitStack() as stack:
        with storage_errors("reading the file to publish", distribution.path):
            source = stack.enter_context(distribution.path.open("rb", buffering=0))
        file = stack.enter_context(target.open("x+b", buffering=0))
        digester = _Digester(file.fileno())
        try:
            size = 0
            while count := _copy_some(source.fileno(), file.fileno(), size):
                size += count
                digester.go_on_to(size)
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        finally:
            digest = digester.end()
    if (digest, size) != (distribution.sha256, distribution.bytes):
        raise changed_file(distribution.name)


def _copy_some(source: int, target: int, at: int) -> int:
    """Append at most a block of one file, from a position on, to another file; return the number of bytes."""
    try:
        return os.copy_file_range(source, target, BLOCK, at, at)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
    block = os.pread(source, BLOCK, at)  # The file systems differ, or cannot copy by themselves.
    return os.pwrite(target, block, at) if block else 0


class _Digester:
    """Computes the digest of a file in a thread of its own, as far as the file is written."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._digest = hashlib.sha256()
        self._ends: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def go_on_to(self, end: int) -> None:
        """Continue up to here: the file is written so far."""
        self._ends.put(end)

    def end(self) -> str:
        """Wait for the digest of the whole file."""
        self._ends.put(None)
        self._thread.join()
        if self._error:
            raise self._error
        return self._digest.hexdigest()

    def _work(self) -> None:
        buffer, at = memoryview(bytearray(READ)), 0
        try:
            while (end := self._ends.get()) is not None:
                while at < end:
                    count = os.preadv(self._descriptor, [buffer[: min(READ, end - at)]], at)
                    if not count:  # The file was truncated: the digest will not match.
                        return
                    self._digest.update(buffer[:count])
                    at += count
        except OSError as error:
            self._error = error


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a hidden folder, readable by all users once the folder is shown."""
    make_folder(folder)
    for name, content in files.items():
        write_new(folder / name, content)
    folder.chmod(0o755)
    sync(folder)


@contextlib.contextmanager
def hidden_folder(root: Path) -> Iterator[Path]:
    """
    Make a folder for files that are not shown yet, or no longer. Only its owner can read it, and its name is random.

    :raises OSError: it cannot be removed afterwards: files that were taken off are still in it.
    """
    hidden = root / f"{UNFINISHED}{secrets.token_hex(8)}"
    try:
        hidden.mkdir(mode=0o700)  # Not `mkdtemp`: an interrupt inside it would leave a folder of unknown name.
        yield hidden
        shutil.rmtree(hidden)
    except BaseException:  # Interrupts too. The first error is reported; the next run removes the rest.
        shutil.rmtree(hidden, ignore_errors=True)
        raise


def remove_unfinished(folder: Path) -> None:
    """Remove hidden folders that an interrupted run left. Only under the lock, so that no other process uses them."""
    for left in folder.glob(f"{UNFINISHED}*"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()
