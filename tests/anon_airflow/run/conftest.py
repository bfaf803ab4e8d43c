"""The run that most tests of steps take: a register that passes, in a home of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_airflow.run.context import Run
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take
from tests.faults.publications import write_publication


@pytest.fixture
def run(tmp_path: Path, home: Path) -> Run:
    return run_of(write_publication(tmp_path), home)


@pytest.fixture
def gated(run: Run) -> Run:
    take(run, *UNTIL_GATE)
    return run
