"""Cells of coarsened columns that other published columns restore: held against the source, while it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_core.hierarchy.coarsen import coarsen
from anon_core.measures.coarsened import restored_coarsened
from anon_core.measures.restored import Restored
from anon_core.spec import PartialPublication
from anon_core.table import Column, Table, read
from tests.properties.tables import table_of

TOWNS = [f"T{at:02}" for at in range(40)]


def held(
    table: Table, columns: dict[str, Any], folder: Path = Path(), people: Column | None = None
) -> tuple[Restored, ...]:
    """Columns that are not named are sensitive, and published as collected."""
    declared = {name: columns.get(name, {"role": "sensitive"}) for name in table.names}
    spec = PartialPublication.model_validate({"columns": declared, "privacy": {"k": 5}})
    spec._file = folder / "people.yaml"
    return restored_coarsened(table, coarsen(table, spec), spec, people)


def incomes(beside: str) -> Table:
    draw = np.random.default_rng(3)
    found = []
    for _ in range(2000):
        income = int(draw.integers(0, 60)) * 1000
        other = {"raw": str(income), "free": str(draw.integers(0, 60)), "in euros": f"{income} EUR"}[beside]
        found.append((str(income), other))
    return table_of(("income", "other"), found)


ROUNDED = {"income": {"role": "sensitive", "coarsen": {"round": 20_000}}}


@pytest.mark.parametrize("beside", ["raw", "in euros"])
@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_what_is_rounded_and_published_elsewhere_is_restored(beside: str, role: str) -> None:
    (one,) = held(incomes(beside), {**ROUNDED, "other": {"role": role}})
    assert one.people == one.hidden > 1800, "all that is not rounded to itself"
    assert [rule.by for rule in one.rules] == [("other",)]


def test_what_others_do_not_know_is_not_restored() -> None:
    assert held(incomes("free"), ROUNDED) == ()


def test_a_column_that_is_coarser_in_the_same_way_restores_nothing() -> None:
    assert held(incomes("raw"), {**ROUNDED, "other": {"role": "sensitive", "coarsen": {"round": 20_000}}}) == ()


@pytest.mark.parametrize("role", ["quasi", "identifier", "drop"])
def test_what_is_recoded_later_or_never_published_restores_nothing_here(role: str) -> None:
    assert held(incomes("raw"), {**ROUNDED, "other": {"role": role}}) == ()


def test_people_are_counted_where_they_have_several_rows() -> None:
    rows = [(str(at % 30 * 1000), str(at % 30)) for at in range(300) for _ in range(4)]
    people = table_of(("person",), [(f"P{at // 4}",) for at in range(1200)]).columns[0]
    rounded = {"income": {"role": "sensitive", "coarsen": {"round": 10_000}}}
    (one,) = held(table_of(("income", "other"), rows), rounded, people=people)
    assert one.people == 270


def test_a_level_between_counts_too(tmp_path: Path) -> None:
    """Published is the region: a column that tells the province, and not the town, restores the province."""
    lines = [f"{town};P{at // 5};{'NS'[at // 20]}" for at, town in enumerate(TOWNS)]
    (tmp_path / "towns.csv").write_text("\n".join(lines) + "\n")
    rows = [(TOWNS[at % 40], str(at % 40 // 5), "xyz"[at % 3]) for at in range(2000)]
    town = {"role": "other", "hierarchy": {"file": "towns.csv"}, "coarsen": {"level": 2}}
    (one,) = held(table_of(("town", "zone", "free"), rows), {"town": town}, tmp_path)
    assert one.people == 2000 and one.rules[0].by == ("zone",)
    town["coarsen"] = {"level": 1}
    assert held(table_of(("town", "zone", "free"), rows), {"town": town}, tmp_path) == ()


def test_of_dates_a_month_beside_the_year_counts_too() -> None:
    rows = [(f"20{at % 10:02}-{at % 12 + 1:02}-{at % 28 + 1:02}", f"{at % 12 + 1}") for at in range(3000)]
    (one,) = held(table_of(("day", "month"), rows), {"day": {"role": "sensitive", "coarsen": {"date": "year"}}})
    assert one.people == 3000


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "column", "rule", "cells"),
    [
        ("adult.csv.gz", "age", {"round": 10}, 0),
        ("adult.csv.gz", "hours-per-week", {"round": 10}, 0),
        ("adult.csv.gz", "capital-loss", {"round": 500}, 0),
        ("adult.csv.gz", "capital-gain", {"round": 5000}, 597),
        ("driver_licences_valle_aosta.csv.gz", "punti_patente", {"round": 10}, 0),
        ("driver_licences_valle_aosta.csv.gz", "anno_nascita", {"round": 10}, 0),
        ("driver_licences_valle_aosta.csv.gz", "data_rilascio", {"date": "month"}, 18_464),
    ],
)
def test_false_alarms_on_real_tables_are_those_of_the_document(
    reference_data: Path, name: str, column: str, rule: dict[str, Any], cells: int
) -> None:
    """All other columns as collected, but for those that say the same twice."""
    table = read(reference_data / name)
    quasi = [one for one in ("sex", "race", "comune_residenza", "sesso") if one in table.names]
    columns: dict[str, Any] = {
        **{one: {"role": "quasi"} for one in quasi},
        column: {"role": "sensitive", "coarsen": rule},
    }
    assert sum(one.people for one in held(table, columns)) == cells
    document = (Path(__file__).parents[3] / "docs/measures.md").read_text(encoding="utf-8")
    assert not cells or f"{cells:,}" in document
