"""Random releases, published by the steps of a run, and what an attacker reads of them: only what is on the portal."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.gate.witness import KEPT
from anon_core.errors import AnonError
from anon_core.table import read
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take
from tests.faults.publications import PROVINCES, TOWNS, portal_of, write_publication

NAMES = ("id", "born", "town", "sex", "illness", "points", "shoe")
QUASI = ("born", "town", "sex")
ILLNESSES = ("flu", "cold", "asthma", "HIV")
DESCRIBED = {"born": "Year of birth", "town": "Where the person lives", "sex": "Sex"}


@dataclass(frozen=True)
class Random:
    """A release with everything that was public of it, and what was not: the source and whose its rows are."""

    folder: Path
    files: Mapping[str, Path]
    page: str
    collected: list[dict[str, str | None]]
    policy: Mapping[str, Any]
    unit: str
    missing: str
    people_of_rows: list[tuple[dict[str, str | None], str | None]] = field(default_factory=list)

    @property
    def report(self) -> dict[str, Any]:
        return json.loads(self.files["report.json"].read_bytes())

    @property
    def rows(self) -> list[dict[str, str | None]]:
        return rows_of(self.files["people.csv"])


def rows_of(path: Path) -> list[dict[str, str | None]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(stream)]


def source(draw: random.Random, *, several: bool, size: int) -> list[dict[str, str | None]]:
    """People whose rows are alike: each has one to four of them where there may be several, and some miss a cell."""
    found: list[dict[str, str | None]] = []
    for number in range(size):
        person: dict[str, str | None] = {
            "id": f"P{number:06}",
            "born": str(draw.choice((1940, 1950, 1952, 1961, 1961, 1963, 1999))),
            "town": draw.choice(TOWNS)[0],
            "sex": draw.choice("FM"),
            "illness": draw.choice(ILLNESSES),
            "points": str(draw.randint(1, 3)),
            "shoe": draw.choice("xxy"),
        }
        for _ in range(draw.randint(1, 4) if several else 1):
            row = dict(person)
            if several and draw.random() < 0.3:
                row |= {"town": draw.choice(TOWNS)[0], "illness": draw.choice(ILLNESSES)}
            if draw.random() < 0.02:
                row["town"] = None
            found.append(row)
    return found


def publication(draw: random.Random, folder: Path, table: Sequence[Mapping[str, str | None]], unit: str) -> Path:
    """Write a publication file with a policy that is drawn."""
    k = draw.randint(2, 4)
    linked = unit == "row" and draw.random() < 0.3
    method = "prioritised" if linked else draw.choice(("global", "prioritised", "best"))
    privacy: dict[str, Any] = {
        "k": k,
        "suppression_limit": draw.choice((0.2, 0.5)),
        "published_uniqueness": {"max_size": draw.choice((1, 2)), "max_share": draw.choice((0.5, 1.0))},
    }
    if linked:
        privacy["k_means"] = "link"
    elif draw.random() < 0.5:
        privacy["l_diversity"] = [{"column": "illness", "l": 2}]
    if not linked and draw.random() < 0.3:
        privacy["alpha"] = [{"column": "illness", "alpha": 0.9}]
    if not linked and draw.random() < 0.3:
        privacy["singletons"] = 2
    if not linked and draw.random() < 0.2:
        privacy["t_closeness"] = [{"column": "points", "t": 0.8, "distance": "ordered"}]
    if unit != "row" and draw.random() < 0.5:
        privacy["max_rows_per_person"] = draw.randint(1, 2)
    columns: dict[str, Any] = {
        "id": {"role": "identifier"},
        "born": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
        "town": {"role": "quasi", "hierarchy": {"file": "hierarchies/towns.csv"}},
        "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
        "illness": {"role": "sensitive"},
        "points": {"role": "sensitive"},
        "shoe": {"role": "other"},
    }
    if draw.random() < 0.3:
        columns["points"]["coarsen"] = {"round": 2}
    names = NAMES if unit == "id" or draw.random() < 0.5 else NAMES[1:]
    names = names if draw.random() < 0.4 else names[:-1]
    chosen = {name: {**columns[name], "description": DESCRIBED.get(name)} for name in names}
    lines = [",".join(names), *(",".join(row[name] or "" for name in names) for row in table)]
    more: dict[str, Any] = {"recode": {"method": method, **({"mode": "link"} if linked else {})}}
    missing = draw.choice(("category", "drop"))
    return write_publication(
        folder,
        source="\n".join(lines) + "\n",
        columns={name: {key: value for key, value in one.items() if value} for name, one in chosen.items()},
        privacy=privacy,
        unit=unit,
        missing=missing,
        **more,
    )


def published(draw: random.Random, folder: Path) -> Random | None:
    """Publish a random table by a random policy; None where it is refused."""
    unit = draw.choice(("row", "id"))
    table = source(draw, several=unit == "id" and draw.random() < 0.8, size=draw.randint(20, 70))
    return published_as(publication(draw, folder, table, unit), folder, table, unit)


def published_as(spec: Path, folder: Path, table: list[dict[str, str | None]], unit: str) -> Random | None:
    """Publish what a publication file says; None where it is refused."""
    run = run_of(spec, folder / "home", period="2026-01")
    try:
        take(run, *(one for one in UNTIL_GATE if one not in ("detect", "score")))
        kept = run.gated / KEPT
        witness = _whose(kept) if kept.exists() else []
        take(run, "publish")
    except AnonError:
        return None
    place = portal_of(spec) / "people"
    version = (place / "latest").resolve()
    return Random(
        folder=portal_of(spec),
        files={path.name: path for path in version.iterdir()},
        page=(place / "index.html").read_text(encoding="utf-8"),
        collected=table,
        policy=run.publication.privacy.model_dump(mode="json"),
        unit=unit,
        missing=str(run.publication.missing),
        people_of_rows=witness,
    )


def _whose(witness: Path) -> list[tuple[dict[str, str | None], str | None]]:
    """Return each released row, and whose it is."""
    table = read(witness)
    (unit,) = [name for name in table.names if name not in NAMES]
    cells = {one.name: [one.domain[code].as_py() for code in one.codes.tolist()] for one in table.columns}
    whose = cells.pop(unit)
    return [
        ({name: values[at] for name, values in cells.items()}, None if whose[at] is None else str(whose[at]))
        for at in range(table.rows)
    ]


def several_published(seeds: Iterable[int], wanted: int, folders: pytest.TempPathFactory) -> list[Random]:
    """Return the first releases of these seeds that were published; what is refused is left out."""
    found: list[Random] = []
    for seed in seeds:
        folder = folders.mktemp(f"release{seed}")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANON_HOME", str(folder / "home"))
            if one := published(random.Random(seed), folder):
                found.append(one)
        if len(found) == wanted:
            break
    return found


def classes_of(
    rows: Sequence[Mapping[str, str | None]],
) -> dict[tuple[str | None, ...], list[Mapping[str, str | None]]]:
    """The rows by what they say in the columns that others might know."""
    found: dict[tuple[str | None, ...], list[Mapping[str, str | None]]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in QUASI)].append(row)
    return found


def level_of(name: str, label: str | None) -> int:
    """At which level of its hierarchy a label stands, told by the label alone."""
    if label is None:
        return 0
    if name == "sex":
        return int(label == "any")
    if name == "town":
        return 2 if label == "*" else int(label in PROVINCES)
    if label == "*":
        return 4
    low, dash, high = label.partition("-")
    return {4: 1, 9: 2, 19: 3}[int(high) - int(low)] if dash else 0


def covers(name: str, label: str | None, value: str | None) -> bool:
    """Whether a label may stand for a value."""
    if label == value or label in ("*", "any"):
        return True
    if label is None or value is None:
        return False
    if name == "town":
        return value in PROVINCES.get(label, ())
    low, dash, high = label.partition("-")
    return name == "born" and bool(dash) and int(low) <= int(value) <= int(high)
