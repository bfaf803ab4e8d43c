"""Run a call in a process of its own and measure how much memory it took at most."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a call was refused with, empty if it was not, and the MiB it took beyond what importing takes."""

    refusal: str
    memory: int


def measured(call: str) -> Measured:
    """
    Run one Python statement, in which the modules that read files are at hand.

    A process that has imported them forks a child for each: a child begins with what its parent holds as its peak.
    """
    server = _server()
    assert server.stdin and server.stdout
    server.stdin.write(json.dumps(call) + "\n")
    refusal, memory = json.loads(server.stdout.readline())
    return Measured(refusal=refusal, memory=memory)


def reading(path: object, options: str = "encoding='auto'") -> str:
    """The statement that reads a table."""
    return f"anon_core.table.read(Path({str(path)!r}), ReadOptions({options}))"


def streaming(path: object) -> str:
    """The statement that reads a table in batches."""
    return f"[None for _ in anon_core.table.streaming.batches(Path({str(path)!r}), ReadOptions(encoding='auto'))]"


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )

    def stop() -> None:
        assert server.stdin
        server.stdin.close()
        server.wait(30)

    atexit.register(stop)
    return server


def _serve() -> None:
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401

    import anon_core.decompose.columns
    import anon_core.hierarchy.files.reading
    import anon_core.spec
    import anon_core.table.streaming
    from anon_core.errors import AnonError
    from anon_core.table import ReadOptions

    names = {"anon_core": anon_core, "Path": Path, "ReadOptions": ReadOptions}
    for line in sys.stdin:
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            if status:
                print(json.dumps([f"it ended with status {status}", 0]), flush=True)
            continue
        before, refusal, code = _peak(), "", 1
        try:
            try:
                exec(json.loads(line), names)
            except AnonError as error:
                refusal = str(error)
            print(json.dumps([refusal, (_peak() - before) >> 10]), flush=True)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)


def _peak() -> int:
    """Return the peak in KiB; not ru_maxrss, which a process inherits from the one that started it."""
    return int(next(line for line in Path("/proc/self/status").open() if line.startswith("VmHWM:")).split()[1])


if __name__ == "__main__":
    _serve()
