"""A lock that is a file: for processes of one host that share a folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from anon_airflow.audit.failures import Failure
from anon_core.errors import StorageError

__all__ = ["is_held", "locked", "locked_if_free"]

_MAX_PAUSE_S, _MIN_PAUSE_S = 0.05, 0.005
_NO_LOCKS = "Keep it on a file system with locks; the audit store can also be a PostgreSQL database"


@contextlib.contextmanager
def locked(path: Path, timeout_s: float, *, create: bool = True) -> Iterator[None]:
    """
    Hold a lock file; the system lets go of the lock when the process dies, however it dies.

    A process that has waited longer tries more often, so that each of many gets its turn. With ``create=False``, for a
    reader of a copy, it goes on without a lock where there is no such file, or where the file may not be written.

    :raises StorageError: the file cannot be made, or another process has held it for ``timeout_s`` seconds.
    """
    if not create and not os.access(path, os.W_OK):
        yield
        return
    handle = _wait_for_lock(path, timeout_s)
    try:
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def locked_if_free(path: Path) -> Iterator[bool]:
    """
    Hold a lock file if no other process does; the value is whether this process holds it.

    :raises StorageError: the file cannot be made.
    """
    handle = _try_lock(path)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            os.close(handle)


def is_held(path: Path) -> bool:
    """Whether a process holds a lock file; a file that is missing, or cannot be opened, counts as free."""
    try:
        if not path.exists():
            return False
        with locked_if_free(path) as free:
            return not free
    except (StorageError, OSError):
        return False


def _wait_for_lock(path: Path, timeout_s: float) -> int:
    began = time.monotonic()
    while (handle := _try_lock(path)) is None:
        waited = time.monotonic() - began
        if waited > timeout_s:
            reason = f"another process has held it for {timeout_s:g} seconds"
            raise StorageError(str(path), "locking", reason, Failure.BUSY.value)
        time.sleep(max(_MAX_PAUSE_S / (1 + waited), _MIN_PAUSE_S))
    return handle


def _try_lock(path: Path) -> int | None:
    """
    Return the handle of the lock, or None where another process holds it.

    The process that holds a lock file may remove it. Two processes could then hold two files of one name, so the file
    that was locked must still be the one at this path.
    """
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StorageError(str(path), "locking", reason, Failure.PERMISSION.value) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still_at(handle, path):
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError as error:  # Some network file systems have no locks.
            os.close(handle)
            raise StorageError(str(path), "locking", error.strerror or type(error).__name__, _NO_LOCKS) from None
        except BaseException:  # An interrupt, too, must not leave the handle open, and the lock held.
            os.close(handle)
            raise
        os.close(handle)


def _is_still_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
