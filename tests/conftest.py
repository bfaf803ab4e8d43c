"""What all tests share."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes depends on what else the machine does: no test fails for it.
settings.register_profile("anonflow", deadline=None)
settings.load_profile("anonflow")

# Small tables need a lenient site policy. Processes that tests start inherit it.
os.environ["ANON_POLICY"] = str(Path(__file__).with_name("policy.yaml"))


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder with the real tables, which are no part of the project."""
    folder = os.environ.get("ANON_REFERENCE_DATA")
    if not folder:
        pytest.skip("set ANON_REFERENCE_DATA to the folder with the reference tables")
    return Path(folder)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of ``anon``, empty."""
    return tmp_path / "home"


def pytest_collection_finish() -> None:
    """Spare the garbage collector thousands of tests and all that was imported for them."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """
    Say how many tests on real tables ran: a green run without them proves less.

    A file that is skipped as a whole, for want of a module, has no tests to count: it is counted itself.
    """
    reports = {outcome: terminalreporter.stats.get(outcome, ()) for outcome in ("passed", "failed", "skipped")}
    counts = {
        outcome: sum("reference" in getattr(report, "keywords", ()) for report in found)
        for outcome, found in reports.items()
    }
    files = sum(isinstance(report, pytest.CollectReport) for report in reports["skipped"])
    whole = f", and {files} whole file{'s' * (files > 1)} skipped" if files else ""
    ran = counts["passed"] + counts["failed"]
    terminalreporter.write_line(f"reference tests: {ran} ran, {counts['skipped']} skipped{whole}")
