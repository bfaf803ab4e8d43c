"""Run a call in a process of its own and measure how much memory it took at most."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

_CHILD = """
import json, sys
from pathlib import Path
import pyarrow, pyarrow.csv, pyarrow.parquet, pyarrow.compute
import anon_core.decompose.columns, anon_core.hierarchy.files.reading
import anon_core.spec, anon_core.table.streaming
from anon_core.errors import AnonError
from anon_core.table import ReadOptions
def peak():  # Not ru_maxrss: a process inherits that of the one that started it.
    return int(next(line for line in Path("/proc/self/status").open() if line.startswith("VmHWM:")).split()[1])
before = peak()
refusal = ""
try:
    {call}
except AnonError as error:
    refusal = str(error)
print(json.dumps([refusal, (peak() - before) >> 10]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a call was refused with, empty if it was not, and the MiB it took beyond what importing takes."""

    refusal: str
    memory: int


def measured(call: str) -> Measured:
    """Run one Python statement, in which the modules that read files are at hand."""
    ended = subprocess.run(
        [sys.executable, "-c", _CHILD.format(call=call)], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
    refusal, memory = json.loads(ended.stdout)
    return Measured(refusal=refusal, memory=memory)


def reading(path: object, options: str = "encoding='auto'") -> str:
    """The statement that reads a table."""
    return f"anon_core.table.read(Path({str(path)!r}), ReadOptions({options}))"


def streaming(path: object) -> str:
    """The statement that reads a table in batches."""
    return f"[None for _ in anon_core.table.streaming.batches(Path({str(path)!r}), ReadOptions(encoding='auto'))]"
