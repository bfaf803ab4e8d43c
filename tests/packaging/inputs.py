"""A table and a publication file that every command has something to say of."""

from __future__ import annotations

import csv
import random
from pathlib import Path

TABLE = "people.csv"
PUBLISHED = "published.csv"
_TOWNS = {"Alba": "NORTH", "Bosco": "NORTH", "Campo": "SOUTH", "Duna": "SOUTH"}
_SPEC = """\
dataset: people
title: People
schedule: null
source: {{file: {table}}}
unit: row
reviewed: {{by: Ann Steward, on: 2026-01-02}}
columns:
  id: {{role: identifier}}
  born: {{role: quasi, hierarchy: {{intervals: [10, 20]}}}}
  town: {{role: quasi, hierarchy: {{file: hierarchies/towns.csv}}}}
  zip: {{role: drop}}
  disease: {{role: sensitive{guarded}}}
privacy:
  k: 5
  suppression_limit: 0.05
  published_uniqueness: {{max_size: 3, max_share: 0.0, max_share_with_sensitive: 0.25}}
{freeform}\
recode: {{method: global}}
portal: {portal}
metadata: {{description: Fictional people, publisher: The Province, licence: CC-BY-4.0, contact: data@example.org}}
"""
_FREEFORM = "  freeform: {sigma_o: 1, sigma_t: 0.9, columns: {disease: {guard: [Flu]}}}\n"
_GUARDED = ", hierarchy: {file: hierarchies/diseases.csv}"


def write_inputs(folder: Path) -> Path:
    """Write the table, what was published of it and the files that describe it; return the folder."""
    drawn = random.Random(8)
    rows = [
        (at, 1950 + drawn.randrange(40), drawn.choice(list(_TOWNS)), f"{drawn.choice((110, 111, 224))}{at:03}")
        for at in range(600)
    ]
    header = ("id", "born", "town", "zip", "disease")
    cells = [(*row, drawn.choice(("Flu", "Asthma", "Gout", "Measles"))) for row in rows]
    _write(folder / TABLE, header, cells)
    coarse = [(f"{born // 20 * 20}s", _TOWNS[town], disease) for _, born, town, _, disease in cells]
    _write(folder / PUBLISHED, ("born", "town", "disease"), coarse)
    hierarchies = folder / "hierarchies"
    hierarchies.mkdir()
    (hierarchies / "towns.csv").write_text("".join(f"{town};{part};*\n" for town, part in _TOWNS.items()))
    (hierarchies / "diseases.csv").write_text("Flu;lungs;*\nAsthma;lungs;*\nGout;other;*\nMeasles;other;*\n")
    write_spec(folder / "people.yaml")
    write_spec(folder / "guarded.yaml", guard=True)
    return folder


def write_spec(path: Path, *, portal: str = "{folder: portal}", guard: bool = False) -> None:
    """Write a publication file of the table; with ``guard`` one that guards a value from being inferred."""
    given = {"freeform": _FREEFORM, "guarded": _GUARDED} if guard else {"freeform": "", "guarded": ""}
    path.write_text(_SPEC.format(table=path.parent / TABLE, portal=portal, **given))


def _write(path: Path, header: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
