"""Writing so that a crash leaves the old or the new, never something in between."""

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
"""What is copied at once: enough for the thread that digests to keep up, block by block."""
READ = 1 << 18
UNFINISHED = ".incoming-"
LOCK = ".lock"


@contextlib.contextmanager
def storage_errors(doing: str, path: Path) -> Iterator[None]:
    """Say what failed where, in place of an OSError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if error.errno in (errno.EEXIST, errno.ENOTDIR):
            reason = "a file stands where a folder should be"
        # rmtree gives a name relative to a folder that it has open, which would not show where it failed.
        named = error.filename if error.filename and Path(os.fsdecode(error.filename)).is_absolute() else path
        raise StorageError(str(named), doing, reason) from error


def make_folder(folder: Path) -> None:
    """A folder everybody can read, with those above it."""
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
    Refuse a dataset whose folder, or a folder of a version in it, is a link: releases would be written elsewhere.

    The portal folder itself may be a link: its target is compared with the private folders. So may ``latest``, which
    the portal makes.

    :raises RefusedError: one of these folders is a link.
    """
    versions = home / "versions"
    found = [each for each in (home, versions) if each.is_symlink()]
    if not found and versions.is_dir():
        found = [each for each in sorted(versions.iterdir()) if each.is_symlink()]
    if found:
        reason = f"{found[0]} is a link, and releases are written only into the portal folder itself"
        raise RefusedError("portal", [f"{reason}: put the folder that it leads to in its place, then run again"])


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, readable by all and durable."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fchmod(file.fileno(), 0o644)
        os.fsync(file.fileno())


def copy_checked(distribution: Distribution, target: Path) -> None:
    """
    Copy the file and measure what was copied: the digest is of the very bytes that stand in the new file.

    The system copies, as `cp` has it do, while another thread digests what is there already.

    :raises RefusedError: they are not the bytes that were promised.
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
    """Append what a file has from some place on to another one, at most a block; return how many bytes that were."""
    try:
        return os.copy_file_range(source, target, BLOCK, at, at)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
    block = os.pread(source, BLOCK, at)  # Two kinds of file system, or one that cannot copy by itself.
    return os.pwrite(target, block, at) if block else 0


class _Digester:
    """Digests a file in a thread of its own, as far as it is written."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._digest = hashlib.sha256()
        self._ends: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def go_on_to(self, end: int) -> None:
        """Digest up to here: so far the file is written."""
        self._ends.put(end)

    def end(self) -> str:
        """Wait for the digest of everything."""
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
                    if not count:  # Somebody cut it off: the digest will be another one.
                        return
                    self._digest.update(buffer[:count])
                    at += count
        except OSError as error:
            self._error = error


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a folder that nobody looks at yet, for everybody to read once it is shown."""
    make_folder(folder)
    for name, content in files.items():
        write_new(folder / name, content)
    folder.chmod(0o755)
    sync(folder)


@contextlib.contextmanager
def hidden_folder(root: Path) -> Iterator[Path]:
    """
    A folder for what is not shown yet, or no longer. Only its owner can look into it, and nobody can guess its name.

    :raises OSError: it cannot be removed afterwards: what was taken off still lies in it.
    """
    hidden = root / f"{UNFINISHED}{secrets.token_hex(8)}"
    try:
        hidden.mkdir(mode=0o700)  # Not `mkdtemp`: a stop before its answer would leave a nameless folder.
        yield hidden
        shutil.rmtree(hidden)
    except BaseException:  # A stop, too, must not leave it. The first error is reported; the next run removes the rest.
        shutil.rmtree(hidden, ignore_errors=True)
        raise


def remove_unfinished(folder: Path) -> None:
    """Remove what an interrupted run left; only under the lock, where nobody else can be writing it."""
    for left in folder.glob(f"{UNFINISHED}*"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()
