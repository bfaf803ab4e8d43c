"""A lock that is a file: for processes of one host that share an SQLite store."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from anon_core.errors import StorageError

__all__ = ["locked"]

_BETWEEN = 0.05


@contextlib.contextmanager
def locked(path: Path, patience: float) -> Iterator[None]:
    """
    Hold a lock file, which stays; the system lets go of the lock when the process dies, however it dies.

    :raises StorageError: the file cannot be made, or somebody else has held it for ``patience`` seconds.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageError(str(path), "locking", error.strerror or type(error).__name__) from None
    try:
        until = time.monotonic() + patience
        while not _taken(handle):
            if time.monotonic() > until:
                raise StorageError(str(path), "locking", f"another process has held it for {patience:g} seconds")
            time.sleep(_BETWEEN)
        yield
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
