"""The lock of a run: a step holds it while it works, alone or together with the steps that may run beside it."""

from __future__ import annotations

import contextlib
import glob
from collections.abc import Iterator
from pathlib import Path

from anon_airflow.locks import locked
from anon_airflow.memory import is_short

BESIDE = ("detect", "score", "recode")
"""The steps that only read what is staged, each leaving files of its own: they may run at the same time."""
MAX_WAIT_S = 24 * 3600.0
"""How long one of them waits for the others where memory is short; that is how long originals may rest, too."""


@contextlib.contextmanager
def beside_others(lock: Path, step: str, staged: Path, timeout_s: float) -> Iterator[None]:
    """
    Hold the lock of a run together with other steps that may run beside this one, but no second time for one step.

    Airflow may start a task again while its first try is still being stopped: ``timeout_s`` is how long to wait for
    that. Where memory is short for all steps at once, this one waits until it is alone.

    :raises StorageError: another process has held the lock for too long.
    """
    own = lock.with_name(f"{lock.stem}.{step}.lock")
    with locked(own, timeout_s), locked(lock, MAX_WAIT_S, shared=not is_short(staged, len(BESIDE))):
        yield


def remove_locks(lock: Path) -> None:
    """Remove the lock file of a run, which is empty, and those of its steps."""
    for one in (lock, *lock.parent.glob(f"{glob.escape(lock.stem)}.*.lock")):
        one.unlink(missing_ok=True)
