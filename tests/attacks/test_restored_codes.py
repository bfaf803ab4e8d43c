"""A recoded column beside what gives it back: a code in one column, in two, in many, or of one town only."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.attacks.test_other_and_sensitive import Release, Rows, publication, refused

TOWNS = [f"M{town:03}" for town in range(60)]
"""Ten in each province."""
Told = Callable[[int], tuple[str, ...]]
SPLIT: dict[str, Told] = {
    "in one column": lambda town: (f"{town:03}",),
    "in two columns": lambda town: (str(town // 8), str(town % 8)),
    "in thirty, two towns each": lambda town: tuple(str(town - 2 * at) if town // 2 == at else "-" for at in range(30)),
    "of two towns only": lambda town: (str(town) if town < 2 else "-",),
}


def people() -> Rows:
    draw = random.Random(1)
    return [(str(draw.randrange(60)), draw.choice("FM"), str(draw.randrange(1940, 2000, 5))) for _ in range(4000)]


def with_towns(folder: Path, code: Told) -> Path:
    rows = [(TOWNS[int(town)], sex, year, *code(int(town))) for town, sex, year in people()]
    names = [f"code {at}" for at in range(len(rows[0]) - 3)]
    columns = {"town": "quasi", "sex": "quasi", "year": "quasi", **dict.fromkeys(names, "sensitive")}
    spec = publication(folder, rows, columns)
    (folder / "towns.csv").write_text("\n".join(f"{town};P{at // 10}" for at, town in enumerate(TOWNS)))
    content: dict[str, Any] = yaml.safe_load(spec.read_text())
    content["columns"]["town"] |= {"hierarchy": {"file": "towns.csv"}, "priority": 3}
    content["columns"]["sex"]["priority"] = 1
    content["columns"]["year"]["priority"] = 2
    content["recode"] = {"method": "prioritised"}
    spec.write_text(yaml.safe_dump(content, sort_keys=False))
    return spec


@pytest.mark.parametrize("how", SPLIT)
def test_a_towns_code_however_it_is_split_is_refused(tmp_path: Path, how: str) -> None:
    said = refused(with_towns(tmp_path, SPLIT[how]))
    assert "restored values" in said and "0 allowed: town of" in said and "by code" in said


def test_without_the_code_an_attacker_reads_no_town_off_its_province(tmp_path: Path) -> None:
    release = Release(with_towns(tmp_path, lambda town: ("xyz"[town % 3],)))
    hidden = [row for row in release.rows if row[0].startswith("P")]
    with (tmp_path / "x.csv").open() as file:
        assert len(hidden) > 100 and len(list(csv.reader(file))) == len(release.rows) + 1
    assert release.check("restored_values")["passed"]
