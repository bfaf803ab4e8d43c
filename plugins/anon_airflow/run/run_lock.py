"""The lock of a run: a step holds it while it works, alone or together with steps that may run at the same time."""

from __future__ import annotations

import contextlib
import glob
from collections.abc import Iterator
from pathlib import Path

from anon_airflow.run.locks import locked

CONCURRENT_STEPS = ("detect", "score", "recode")
"""The steps that only read the staged table and write files of their own: they may run at the same time."""
MAX_WAIT_S = 24 * 3600.0
"""How long one of these steps waits for the others if memory is short; as long as a lease."""
PER_STEP = 512 << 20
"""Memory that a step needs in any case, with the compiled loops (431 MB for a staged file of 1 MB)."""
PER_STAGED_BYTE = 40
"""Memory that a step needs for each byte of the staged Parquet file, which is compressed.

Between 0.2 and 2 million rows of six columns `recode` took 34 bytes more for each byte, `detect` 32.
"""


@contextlib.contextmanager
def held_with_others(lock: Path, step: str, staged: Path, timeout_s: float) -> Iterator[None]:
    """
    Hold the lock of a run together with other steps that may run at the same time, but only once for each step.

    Airflow may start a task again while its first try is still being stopped: ``timeout_s`` is how long to wait for
    that. If memory is too short for all steps at once, this step waits until it is alone.

    :raises StorageError: another process has held the lock for too long.
    """
    own = lock.with_name(f"{lock.stem}.{step}.lock")
    with locked(own, timeout_s), locked(lock, MAX_WAIT_S, shared=not is_short(staged, len(CONCURRENT_STEPS))):
        yield


def remove_locks(lock: Path) -> None:
    """Remove the lock file of a run, which is empty, and those of its steps."""
    for one in (lock, *lock.parent.glob(f"{glob.escape(lock.stem)}.*.lock")):
        one.unlink(missing_ok=True)


def is_short(staged: Path, steps: int) -> bool:
    """Whether memory may be too short for so many steps at once; False if the available memory is not known."""
    try:
        size = staged.stat().st_size
    except OSError:  # Without a staged file the step needs no memory for it.
        return False
    available = available_memory()
    return available is not None and available < steps * (PER_STEP + PER_STAGED_BYTE * size)


def available_memory(root: Path = Path("/")) -> int | None:
    """
    Return how many bytes this process may still allocate, by the machine and by every control group that it is in.

    None if the system does not report it. The file cache, which the kernel can give up, counts as free.
    """
    return min((*_of_machine(root), *_of_groups(root)), default=None)


def _of_machine(root: Path) -> Iterator[int]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) << 10


def _of_groups(root: Path) -> Iterator[int]:
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        names = ("memory.max", "memory.current", "inactive_file") if not controllers else _FIRST_VERSION
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        own = Path(path.lstrip("/"))
        for group in {top / own, *(top / above for above in own.parents)}:
            with contextlib.suppress(OSError, ValueError):  # No such file, or "max": this group has no limit.
                limit, used = (int((group / name).read_text()) for name in names[:2])
                kept = [int(one.split()[1]) for one in _lines(group / "memory.stat") if one.split()[0] == names[2]]
                yield max(limit - used + sum(kept), 0)


_FIRST_VERSION = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
