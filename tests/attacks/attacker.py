"""An attacker: reads what is on a portal, and nothing else. The truth is kept apart, only to score the guesses."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_airflow.gate.witness import KEPT
from anon_core.errors import PolicyNotMetError, RefusedError
from anon_core.table import RELEASED, read
from tests.anon_airflow.run.step_runs import run_of, take
from tests.faults.publications import csv_text

Rows = Sequence[tuple[str, ...]]
Columns = dict[str, str | dict[str, Any]]
STEPS = ("stage", "recode", "gate")
ACCEPTED = {"reason": "printed in a public list", "by": "A. Rossi", "until": "2999-12-31"}


def publication(folder: Path, rows: Rows, columns: Columns, **changes: Any) -> Path:
    """
    Write a publication of some rows; ``columns`` has the role of each, or all that a publication file says of it.

    ``recode``, ``unit`` and ``files`` (hierarchies) are those of the publication, all others of its ``privacy``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x.csv").write_text(csv_text(rows, list(columns)))
    for name, lines in changes.pop("files", {}).items():
        (folder / name).write_text("".join(";".join(line) + "\n" for line in lines))
    recode, unit = changes.pop("recode", {"method": "none"}), changes.pop("unit", "row")
    uniqueness = {"max_share_with_sensitive": 1.0, **changes.pop("published_uniqueness", {})}
    spec = {
        "dataset": "people",
        "title": "People",
        "source": {"file": "x.csv"},
        "columns": {name: {"role": one} if isinstance(one, str) else one for name, one in columns.items()},
        "detect": {"max_size": 1},
        "privacy": {"k": 5, **changes, "published_uniqueness": uniqueness},
        "recode": recode,
        "unit": unit,
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "portal": {"folder": "portal"},
    }
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return path


def refused(spec: Path) -> str:
    """Run a publication that must be refused; return what is said of it."""
    run = run_of(spec, spec.parent / "home")
    with pytest.raises((RefusedError, PolicyNotMetError)) as caught:
        take(run, *STEPS)
    take(run, "record")
    assert not list((spec.parent / "portal").rglob("*.csv")), "an attacker has nothing to read"
    return str(caught.value)


class Release:
    """
    What anybody can read of a release: its table, its report, its page and its manifest.

    ``whose`` is the truth: each published row beside its person, where people have several rows. ``internal`` are the
    checks as the publisher sees them. No attacker reads either.
    """

    def __init__(self, spec: Path) -> None:
        run = run_of(spec, spec.parent / "home")
        take(run, *STEPS)
        self.whose = _whose(run.gated / KEPT)
        self.internal = {one["name"]: one for one in run.noted("gate")["checks"]}
        take(run, "publish")
        self.place = spec.parent / "portal/people"
        latest = self.place / "latest"
        with (latest / "people.csv").open() as file:
            self.names, *rows = csv.reader(file)
        self.rows = [tuple(row) for row in rows]
        self.report = json.loads((latest / "report.json").read_text())
        self.page = (self.place / "index.html").read_text()

    def cells(self, *names: str) -> list[tuple[str, ...]]:
        at = [self.names.index(name) for name in names or self.names]
        return [tuple(row[i] for i in at) for row in self.rows]

    def groups(self, *names: str) -> Counter[tuple[str, ...]]:
        return Counter(self.cells(*names))

    def check(self, name: str) -> dict[str, Any]:
        return next(one for one in self.report["privacy"]["checks"] if one["name"] == name)

    def people(self, *names: str) -> dict[tuple[str, ...], Counter[str]]:
        """The truth: of each class the people behind it, and how many of its rows are theirs."""
        at = [self.names.index(name) for name in names]
        found: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for row, person in self.whose:
            found[tuple(row[i] for i in at)][person] += 1
        return found


def alone(rows: Iterable[tuple[str, ...]]) -> int:
    return sum(times == 1 for times in Counter(rows).values())


def _whose(kept: Path) -> list[tuple[tuple[str, ...], str]]:
    if not kept.exists():
        return []
    table = read(kept, RELEASED)
    cells = [["" if cell is None else str(cell) for cell in column.to_pylist()] for column in table.to_arrow().columns]
    return [(row[:-1], row[-1]) for row in zip(*cells, strict=True)]
