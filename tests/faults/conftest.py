"""A table of the faults that were tried, at the end of the tests.

It stands here, not with the matrix: of several processes the first one reads no file further down.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Show for every operation and fault how many points were tried, how they ended, and how much was found."""
    table: dict[tuple[str, str], Counter[str]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, content in getattr(report, "user_properties", ()):
                if name == "matrix":
                    _add(table, json.loads(content))
    if not table:
        return
    terminalreporter.section("faults")
    row = "{:<34} {:<10} {:>7} {:>7} {:>7} {:>7} {:>7} {:>9}".format
    terminalreporter.write_line(row("operation", "fault", "points", "killed", "exit 0", "exit 1", "exit 2", "findings"))
    total: Counter[str] = Counter()
    columns = ("points", "killed", "exit 0", "exit 1", "exit 2", "findings")
    for (operation, fault), counts in table.items():
        terminalreporter.write_line(row(operation, fault, *(counts[each] for each in columns)))
        total += counts
    terminalreporter.write_line(row("together", "", *(total[each] for each in columns)))


def _add(table: dict[tuple[str, str], Counter[str]], found: dict[str, Any]) -> None:
    counts = table.setdefault((found["operation"], found["fault"]), Counter())
    counts.update({"points": found["points"], "findings": found["findings"], **found["ended"]})
