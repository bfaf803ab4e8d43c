"""``anon recode`` where people have several rows: k in people, nothing of the unit, and no removal that tells."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.faults.anon_process import Ended, anon

TOWNS = {"Alba": "North", "Bria": "North", "Cusa": "South", "Dosso": "South"}
COLUMNS: dict[str, Any] = {
    "tax_code": {"role": "identifier"},
    "office": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}},
    "town": {"role": "quasi", "hierarchy": {"file": "towns.csv"}},
    "illness": {"role": "sensitive"},
}
Record = dict[str, Any]


def visits(people: int = 240, each: int = 3) -> list[Record]:
    """Several visits of each person, at an age and in a town of their own; offices number people anew."""
    names = list(TOWNS)
    return [
        {
            "tax_code": f"c{person // 2}",
            "office": "ab"[person % 2],
            "age": 30 + (person * 7 + (visit if person % 5 == 0 else 0)) % 40,
            "town": names[(person // 3 + (visit if person % 7 == 0 else 0)) % 4],
            "illness": ["flu", "cold", "gout", "HIV"][(person + visit) % 4],
        }
        for person in range(people)
        for visit in range(1 + person % each)
    ]


def recoded(folder: Path, rows: list[Record], *options: str, **changes: Any) -> Ended:
    folder.mkdir(exist_ok=True)
    (folder / "towns.csv").write_text("".join(f"{town};{region}\n" for town, region in TOWNS.items()))
    with (folder / "visits.csv").open("w") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    content = {
        "unit": ["tax_code", "office"],
        "columns": COLUMNS,
        "privacy": {"k": 5, "suppression_limit": 0.05},
        "recode": {"method": "best", "improve": 3},
        **changes,
    }
    spec = folder / "spec.yaml"
    spec.write_text(yaml.safe_dump(content, sort_keys=False))
    output = folder / "out.csv"
    files = [str(folder / "visits.csv"), "--spec", str(spec), "--output", str(output), "--force", "--json"]
    return anon("recode", *files, *options, home=folder / "home")


def released(folder: Path) -> list[Record]:
    with (folder / "out.csv").open() as stream:
        return list(csv.DictReader(stream))


METHODS = [
    {"method": "global"},
    {"method": "prioritised", "improve": 3},
    {"method": "best", "improve": 3},
]


@pytest.mark.parametrize("recode", METHODS, ids=lambda one: one["method"])
def test_every_class_has_k_people_counted_from_what_was_written(tmp_path: Path, recode: dict[str, Any]) -> None:
    rows = visits()
    ended = recoded(tmp_path, rows, "--keep-order", recode=recode, privacy={"k": 5, "suppression_limit": 0})
    told = json.loads(ended.out)
    shown = released(tmp_path)
    assert len(shown) == len(rows) and told["rows_removed"] == 0
    inside: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for before, after in zip(rows, shown, strict=True):
        inside.setdefault((after["age"], after["town"]), Counter())[before["tax_code"], before["office"]] += 1
    assert min(map(len, inside.values())) == told["k"]["exact"] >= 5
    assert all(2 * max(of.values()) <= of.total() for of in inside.values())
    assert len(inside) > 2


def test_the_unit_is_not_published_and_nothing_of_it_is_told(tmp_path: Path) -> None:
    ended = recoded(tmp_path, visits())
    assert set(released(tmp_path)[0]) == {"age", "town", "illness"}
    assert "c17" not in ended.out + ended.err


def test_classes_of_one_person_each_do_not_pass_for_large_ones(tmp_path: Path) -> None:
    """Each class has 8 rows, and all of them are one person's: k in rows would be 8."""
    rows = [
        {**visits()[0], "tax_code": f"c{n}", "age": 30 + n % 20, "town": list(TOWNS)[n // 20]} for n in range(80)
    ] * 8
    ended = recoded(tmp_path, rows)
    assert json.loads(ended.out)["rows_changed"] > 0 and json.loads(ended.out)["k"]["exact"] >= 5
    alone = recoded(tmp_path / "rows", rows, unit="row")
    assert json.loads(alone.out)["rows_changed"] == 0, "every row taken for another person: the table is safe as it is"


@pytest.mark.parametrize("recode", METHODS, ids=lambda one: one["method"])
def test_a_column_that_is_published_as_collected_is_told_among_those_recoded(
    tmp_path: Path, recode: dict[str, Any]
) -> None:
    rows = [{**row, "desk": "12"[row["age"] % 2]} for row in visits()]
    columns = {**COLUMNS, "desk": {"role": "other"}}
    assert recoded(tmp_path, rows, recode=recode, columns=columns).code == 0
    files = [tmp_path / "visits.csv", "--spec", tmp_path / "spec.yaml", "--output", tmp_path / "out.csv", "--force"]
    ended = anon("recode", *files, home=tmp_path / "home")
    assert ended.code == 0, ended.err
    assert "desk" in ended.out.partition("what was changed")[2]


def test_fewer_people_than_k_are_refused_with_their_number(tmp_path: Path) -> None:
    ended = recoded(tmp_path, [{**visits()[0], "tax_code": f"c{n % 4}"} for n in range(50)])
    assert ended.code == 1 and "which has 4 people" in ended.err
    assert not (tmp_path / "out.csv").exists()


def test_a_unit_whose_column_is_not_in_the_table_is_refused(tmp_path: Path) -> None:
    rows = [{name: cell for name, cell in row.items() if name != "office"} for row in visits()]
    ended = recoded(tmp_path, rows)
    assert ended.code == 2 and "office" in ended.err


@pytest.mark.parametrize("recode", METHODS, ids=lambda one: one["method"])
def test_four_people_of_one_town_who_all_have_hiv_are_not_removed(tmp_path: Path, recode: dict[str, Any]) -> None:
    """Known: the town has four people. Removed, they would be those who lack diversity, and so all have HIV."""
    others = [
        {
            "tax_code": f"c{n}",
            "office": "a",
            "age": 40,
            "town": list(TOWNS)[n % 3],
            "illness": "flu" if n % 2 else "HIV",
        }
        for n in range(120)
    ]
    four = [{"tax_code": f"d{n}", "office": "a", "age": 40, "town": "Dosso", "illness": "HIV"} for n in range(4)]
    policy = {"k": 4, "suppression_limit": 0.1, "l_diversity": [{"column": "illness", "l": 2}]}
    ended = recoded(tmp_path, [*others, *four], "--keep-order", recode=recode, privacy=policy)
    shown = released(tmp_path)
    assert ended.code == 0 and len(shown) == 124, ended.err
    town = shown[-1]["town"]
    together = Counter(row["illness"] for row in shown if row["town"] == town)
    assert together["flu"] > 0, "merged with a class that was diverse"
    (check,) = [one for one in json.loads(ended.out)["checks"] if one["name"] == "removal"]
    assert check["passed"] and check["counts"]["missing"] == 0 and check["counts"]["coarser"] >= 2


def removal_of(folder: Path, file: str, *options: str) -> dict[str, Any]:
    """What `anon check` says of removal, given the table as collected."""
    files = [str(folder / file), "--spec", str(folder / "spec.yaml"), "--original", str(folder / "visits.csv")]
    ended = anon("check", *files, "--json", *options, home=folder / "home")
    (check,) = [one for one in json.loads(ended.out)["checks"] if one["name"] == "removal"]
    return dict(check)


def cut(folder: Path, lines: list[str], town: str) -> str:
    """Leave out the rows of a town."""
    (folder / "cut.csv").write_text("".join(line for line in lines if town not in line))
    return "cut.csv"


@pytest.mark.parametrize("beside", [False, True], ids=["", "beside a column declared other"])
def test_a_release_from_which_they_were_removed_is_refused(tmp_path: Path, beside: bool) -> None:
    columns = {**COLUMNS, **({"colour": {"role": "other"}} if beside else {})}
    rows = [
        {
            "tax_code": f"c{n}",
            "office": "a",
            "age": 40,
            "town": list(TOWNS)[n % 4],
            "illness": "flu",
            **({"colour": "red" if n // 4 < 5 else "blue"} if beside else {}),
        }
        for n in range(40)
    ]
    recoded(tmp_path, rows, unit="row", columns=columns, privacy={"k": 4, "suppression_limit": 0.3})
    lines = (tmp_path / "out.csv").read_text().splitlines(keepends=True)
    assert removal_of(tmp_path, "out.csv")["passed"]
    check = removal_of(tmp_path, cut(tmp_path, lines, "Dosso"))
    assert not check["passed"] and check["counts"]["rows"] == 10 and check["counts"]["classes"] == 4 + 4 * beside, check


def test_what_may_be_missing_is_counted_in_people_also_without_a_pairing(tmp_path: Path) -> None:
    rows = [
        {"tax_code": f"c{n % 40}", "office": "a", "age": 40, "town": list(TOWNS)[n % 4], "illness": "flu"}
        for n in range(120)
        if n % 4 != 3 or n % 40 < 12  # Three people of the last town, with three rows each.
    ]
    recoded(tmp_path, rows, privacy={"k": 4, "suppression_limit": 0.3})
    lines = (tmp_path / "visits.csv").read_text().splitlines(keepends=True)
    assert removal_of(tmp_path, cut(tmp_path, lines, "Dosso"))["passed"], "a class of three people"
    check = removal_of(tmp_path, cut(tmp_path, lines, "Alba"))
    assert not check["passed"] and check["counts"]["rows"] == 30, check
