"""What all tests share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

# How long an example takes depends on what else the machine does: no test fails for it.
settings.register_profile("anonflow", deadline=None)
settings.load_profile("anonflow")

ALL_EXAMPLES = os.environ.get("ANON_EXAMPLES") == "all"
"""Whether tests draw as many examples as they say; else every run draws a share of them, others each time."""
SHARE = 5
FEWEST = 12
_shortened: set[int] = set()

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


@pytest.fixture(scope="session", autouse=True)
def loops_are_called_as_anon_compile_compiles_them() -> Iterator[None]:
    """Fail at the end where a compiled loop was called with types that ``anon compile`` knows nothing of."""
    yield
    if "anon_core.kernels.compiled" not in sys.modules:
        return
    from numba import types

    from anon_core.kernels.compiled.ahead import signatures

    unknown = {}
    for loop, ahead in signatures().items():
        # A loop that another one calls with a number in its source is compiled for that number, inside the other one.
        called = {tuple(types.unliteral(one) for one in signature) for signature in loop.overloads}
        if called - set(ahead):
            unknown[loop.__qualname__] = called - set(ahead)
    assert not unknown, "list these types in anon_core/kernels/compiled/ahead.py"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests that draw examples, and let each draw fewer of them unless all are asked for."""
    test = getattr(item, "obj", None)
    if not is_hypothesis_test(test):
        return
    item.add_marker("drawn")
    if ALL_EXAMPLES or id(test) in _shortened:  # Tests of several parameters share one function.
        return
    _shortened.add(id(test))
    own = test._hypothesis_internal_use_settings
    fewer = min(own.max_examples, max(FEWEST, own.max_examples // SHARE))
    test._hypothesis_internal_use_settings = settings(own, max_examples=fewer)


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
