"""File locks, for processes of one host that share a folder, with a limit on how long a process waits for another."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from anon_airflow.run.safe_errors import reason_of
from anon_core.errors import StorageError

T = TypeVar("T")

BUSY = (
    "Another process has held it for too long: wait until it ends and try again (Airflow retries by itself). If this "
    "continues, look for a process that hangs, or a backup that holds a lock"
)
_NOT_PERMITTED = "Give this user of the system the right to read and write the file and its folder; then try again"
_MAX_PAUSE_S, _MIN_PAUSE_S = 0.05, 0.005
_NO_LOCKS = "Use a file system that has locks; the audit store can also be a PostgreSQL database"


@contextlib.contextmanager
def locked(path: Path, timeout_s: float, *, create: bool = True, shared: bool = False) -> Iterator[None]:
    """
    Lock a file, or an existing folder. The system releases the lock when the process ends, even if it is killed.

    With ``create=False``, for readers of a copy, the block runs without a lock if the file does not exist or may not be
    written. Several processes can hold a ``shared`` lock at the same time.

    :raises StorageError: the file cannot be made, or another process has held it for ``timeout_s`` seconds.
    """
    if not create and not os.access(path, os.W_OK):
        yield
        return
    handle = _wait_for_lock(path, timeout_s, shared=shared)
    try:
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def locked_if_free(path: Path) -> Iterator[bool]:
    """
    Lock a file if no other process holds it; the value is whether this process holds it now.

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


def wait_for(attempt: Callable[[], T | None], timeout_s: float, pause_s: float | None = None) -> T | None:
    """
    Try again and again until there is a result, and return it; None after the time limit.

    Without ``pause_s``, a process that has waited longer tries more often, so that each of many gets its turn.
    """
    if (found := attempt()) is not None:
        return found
    from tenacity import Retrying, retry_if_result, stop_after_delay  # Imported here: most calls need not wait.

    again = Retrying(
        retry=retry_if_result(lambda result: result is None),
        stop=stop_after_delay(timeout_s),
        wait=lambda state: pause_s or max(_MAX_PAUSE_S / (1 + (state.seconds_since_start or 0)), _MIN_PAUSE_S),
        retry_error_callback=lambda _: None,
    )
    return again(attempt)


def _wait_for_lock(path: Path, timeout_s: float, *, shared: bool) -> int:
    handle = wait_for(lambda: _try_lock(path, shared=shared), timeout_s)
    if handle is None:
        raise StorageError(str(path), "locking", f"another process has held it for {timeout_s:g} seconds", BUSY)
    return handle


def _try_lock(path: Path, *, shared: bool = False) -> int | None:
    """
    Return the handle of the lock, or None where another process holds it.

    The process that holds a lock file may remove it. Two processes could then lock two different files of the same
    name. So after locking, the file must still be the one at this path.
    """
    while True:
        try:
            how = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            handle = os.open(path, how | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(str(path), "locking", reason_of(error), _NOT_PERMITTED) from None
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            if _is_still_at(handle, path):
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError as error:  # Some network file systems have no locks.
            os.close(handle)
            raise StorageError(str(path), "locking", reason_of(error), _NO_LOCKS) from None
        except BaseException:  # An interrupt must not leave the handle open, and the lock held.
            os.close(handle)
            raise
        os.close(handle)


def _is_still_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
