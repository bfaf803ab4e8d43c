"""Run ``anon`` on a terminal, as a person does."""

from __future__ import annotations

from pathlib import Path

from tests.faults.anon_process import Ended, anon


def on_a_terminal(*arguments: str | Path, home: Path) -> Ended:
    """Run ``anon`` with its stderr on a terminal and its stdout in a file, in the folder that its home is in."""
    return anon(*arguments, home=home, terminal=True)
