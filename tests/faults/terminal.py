"""Run ``anon`` on a terminal, as a person does."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.faults.anon_process import Ended

ANON = (sys.executable, "-c", "from anon_airflow.cli import main; main()")


def on_a_terminal(*arguments: str | Path, home: Path) -> Ended:
    """Run ``anon`` with its stderr on a terminal and its stdout in a pipe, in the folder that its home is in."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        [*ANON, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=its,
        cwd=home.parent,
        env={**os.environ, "ANON_HOME": str(home)},
    ) as process:
        os.close(its)
        shown = b""
        try:
            while block := os.read(ours, 4096):
                shown += block
        except OSError:  # How a terminal says that the other side has gone.
            pass
        out = process.stdout.read() if process.stdout else b""
    os.close(ours)
    return Ended(code=process.returncode, out=out.decode(), err=shown.decode())
