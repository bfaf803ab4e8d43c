"""The C library that lets the nth change of a file fail, compiled when a test needs it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("interposer.c")
FAULTS = {"count": 1, "kill": 2, "torn": 3, "full": 4, "read-only": 5, "I/O error": 6, "stop": 7}
"""
What can happen at the nth change, by its number in the C file.

``torn`` is a kill in the middle of a write, ``stop`` a SIGTERM, which a command hears and ends by.
"""
DISK = ("full", "read-only", "I/O error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """
    What happens at the ``at``-th change of a file below ``root``.

    ``clock`` seconds are added to the time: from that change on, or from the start if the fault is more than counting.
    """

    kind: str
    root: Path
    at: int = 0
    clock: int = 0

    def question(self, log: Path) -> dict[str, object]:
        """What the child needs to arm it."""
        return {
            "kind": FAULTS[self.kind],
            "at": self.at,
            "root": str(self.root),
            "log": str(log),
            "clock": self.clock,
            "clock_at": self.at if self.kind == "count" else 0,
        }


@functools.cache
def library() -> Path:
    """
    Return the compiled library.

    Skips the test where there is no C compiler.
    """
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no C compiler: faults at single writes cannot be planted")
    folder = Path(tempfile.mkdtemp(prefix="anon-interposer-"))
    target = folder / "interposer.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-Wall", "-o", target, SOURCE, "-ldl"], check=True)
    return target
