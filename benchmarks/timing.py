"""How long work takes and how much memory, for every benchmark alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def best_of(runs: int, work: Callable[[], object]) -> float:
    """Return the seconds of the fastest of a few runs: the machine is shared."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def grown_by(work: Callable[[], object]) -> int:
    """Return by how many bytes the memory of this process grows at the peak of some work."""
    Path("/proc/self/clear_refs").write_text("5")  # The peak begins again from what is in memory now.
    before = _memory("VmRSS")
    work()
    return _memory("VmHWM") - before


def _memory(what: str) -> int:
    """Return a figure of this process's memory in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024
