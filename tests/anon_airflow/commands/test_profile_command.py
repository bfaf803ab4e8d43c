"""``anon profile``: the types it shows are those that hierarchies read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.faults.anon_process import anon

CANARY = "QanaryDay"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    days = [f"{1 + n % 28:02}/{1 + n % 12:02}/{1950 + n % 60}" for n in range(100)]
    rows = [f"{day};{day};{n},5;{n};word {n};{day[6:]}-{day[3:5]}-{day[:2]}" for n, day in enumerate(days)]
    rows[0] = f"{days[0]};{CANARY};0,5;x;word;1950-01-01"
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["born;moved;wage;age;word;iso", *rows]) + "\n")
    return path


@pytest.mark.parametrize("options", [[], ["--sketch"]])
def test_a_column_has_the_type_that_hierarchies_read_in_it(table: Path, tmp_path: Path, options: list[str]) -> None:
    shown: list[dict[str, Any]] = anon("profile", table, *options, "--json", home=tmp_path / "home").json["columns"]
    assert [(c["name"], c["type"], c["values_of_another_type"]) for c in shown] == [
        ("born", "date", 0),
        ("moved", "date", 1),
        ("wage", "decimal", 0),
        ("age", "integer", 1),
        ("word", "text", 0),
        ("iso", "date", 0),
    ]


def test_values_of_another_type_are_counted_beside_it(table: Path, tmp_path: Path) -> None:
    ended = anon("profile", table, home=tmp_path / "home")
    assert ended.code == 0, ended.err
    assert "date, 1 value not" in ended.out
    assert CANARY not in ended.out + ended.err
