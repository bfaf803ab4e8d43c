"""``anon freeform``: what it prints, refuses, explains on a terminal and keeps to itself elsewhere."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.faults.anon_process import anon
from tests.faults.terminal import on_a_terminal
from tests.papers.test_wang import DISEASES, INCOMES, NAMES, T1

CANARY = "Qanary"
FREEFORM: dict[str, Any] = {
    "sigma_o": 1,
    "sigma_t": 0.5,
    "columns": {
        "Income": {"guard": ["High", "Middle", "Low"], "observability": {"belief": {"default": 0}, "boost": 1}},
        "Disease": {"guard": ["AIDS", "TB"]},
    },
}
COLUMNS: dict[str, Any] = {
    "Sex": {"role": "quasi"},
    "Income": {"role": "sensitive", "hierarchy": {"file": "incomes.csv"}},
    "Disease": {"role": "sensitive", "hierarchy": {"file": "diseases.csv"}},
}
VALUES = ("AIDS", "Flu", "190K", "High", "E.Coli")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written(tmp_path / "t1.csv", T1)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return spec_of(tmp_path)


def written(path: Path, rows: list[tuple[str, ...]], names: tuple[str, ...] = NAMES) -> Path:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([names, *rows])
    return path


def spec_of(folder: Path, *, columns: Any = None, freeform: Any = FREEFORM, recode: Any = None) -> Path:
    (folder / "diseases.csv").write_text(DISEASES)
    (folder / "incomes.csv").write_text(INCOMES)
    guards = freeform["columns"] if freeform else {}
    declared = {
        name: column if name in guards or column["role"] == "quasi" else {"role": "sensitive"}
        for name, column in (columns or COLUMNS).items()
    }
    content = {
        "columns": declared,
        "privacy": {
            "k": 2,
            "published_uniqueness": {"max_share_alone": 1.0},  # The paper's table has twelve rows.
            **({"freeform": freeform} if freeform else {}),
        },
        "recode": recode or {"method": "freeform"},
    }
    path = folder / "hospital.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def test_it_prints_the_keys_of_the_design(table: Path, spec: Path, home: Path) -> None:
    ended = anon("freeform", table, "--spec", spec, "--json", home=home)
    assert ended.code == 1, ended.err
    assert ended.json == {
        "rows": 12,
        "definition": "3.4",
        "sigma_o": 1,
        "sigma_t": 0.5,
        "holds": False,
        "breaches": 2,
        "breaches_3_3": 2,
        "worst": {"threat": 1.0, "attribute": "Income"},
        "columns": [
            {"name": "Income", "breaches": 1, "breaches_3_3": 1, "rows": 1, "threat": 1.0},
            {"name": "Disease", "breaches": 1, "breaches_3_3": 1, "rows": 2, "threat": 1.0},
        ],
    }


def test_it_tells_counts_in_words_and_no_value(table: Path, spec: Path, home: Path) -> None:
    ended = anon("freeform", table, "--spec", spec, home=home)
    assert ended.code == 1
    told = "1 attack on 2 rows; the worst infers a guarded value for certain from 2 observed columns (2 of 2 rows)"
    assert f"Disease: {told}" in ended.out
    assert not [value for value in VALUES if value in ended.out + ended.err]


def test_values_never_go_into_a_pipe_or_the_json(table: Path, spec: Path, home: Path) -> None:
    for options in ((), ("--json",)):
        ended = anon("freeform", table, "--spec", spec, "--show-values", *options, home=home)
        assert ended.code == 1
        assert "--show-values shows values on a terminal only" in ended.err
        assert not [value for value in VALUES if value in ended.out + ended.err]


def test_attacks_are_explained_on_a_terminal(table: Path, spec: Path, home: Path) -> None:
    ended = on_a_terminal("freeform", table, "--spec", spec, "--show-values", "--json", home=home)
    assert ended.code == 1
    assert "a person with Sex M and Income High: Disease AIDS for certain, 2 rows" in ended.err
    assert "a person with Sex F and Disease Flu: Income 190K for certain, 1 row" in ended.err
    assert not [value for value in VALUES if value in ended.out]


def test_a_threat_below_1_is_explained_by_its_share(tmp_path: Path, home: Path) -> None:
    rows = [("M", "190K", "AIDS"), ("M", "160K", "AIDS"), ("M", "190K", "E.Coli"), ("F", "30K", "E.Coli")]
    columns = {"Disease": FREEFORM["columns"]["Disease"]}
    spec = spec_of(
        tmp_path, freeform={**FREEFORM, "columns": columns}, columns={**COLUMNS, "Income": {"role": "other"}}
    )
    table = written(tmp_path / "t.csv", rows)
    ended = on_a_terminal("freeform", table, "--spec", spec, "--show-values", home=home)
    assert ended.code == 1
    assert "a person with Sex M: Disease AIDS with 66.67%, 2 of 3 rows" in ended.err


def test_example_1_1_is_gone_after_recoding(table: Path, spec: Path, tmp_path: Path, home: Path) -> None:
    out = tmp_path / "t3.csv"
    recoded = anon("recode", table, "--spec", spec, "--output", out, "--json", home=home)
    assert recoded.code == 0, recoded.err
    shown = recoded.json
    assert shown["method"] == "freeform"
    assert shown["cells_changed"] == {"Sex": 0, "Income": 0, "Disease": 6}
    assert [level["rows"] for level in shown["levels"]["Disease"]] == [6, 6]
    assert shown["k"]["exact"] == shown["k"]["link"] == 6
    assert [one["elected"] for one in shown["candidates"]] == [True, False]
    assert shown["utility"]["nue"] == pytest.approx(shown["candidates"][0]["nue"])
    assert [check["passed"] for check in shown["checks"] if check["name"] == "no_freeform_breach"] == [True]
    with out.open() as stream:
        assert {row["Disease"] for row in csv.DictReader(stream)} == {"VI", "E.Coli", "TB"}
    ended = anon("freeform", out, "--spec", spec, "--json", home=home)
    assert ended.code == 0, ended.err
    assert (ended.json["breaches"], ended.json["worst"]["threat"]) == (0, 0.5)
    assert anon("check", out, "--spec", spec, home=home).code == 0
    assert anon("check", table, "--spec", spec, home=home).code == 1


def test_recoding_is_told_without_a_value(table: Path, spec: Path, tmp_path: Path, home: Path) -> None:
    picture = tmp_path / "p.svg"
    ended = anon(
        "recode", table, "--spec", spec, "--output", tmp_path / "t3.csv", "--plot", picture, home=home
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "every sensitive value suppressed" in ended.out
    assert picture.exists()
    assert not [value for value in VALUES if value in ended.out + ended.err]


def test_k_is_reached_as_well_where_it_is_to_follow(table: Path, tmp_path: Path, home: Path) -> None:
    columns = {**COLUMNS, "Income": {**COLUMNS["Income"], "role": "quasi"}}
    spec = spec_of(tmp_path, columns=columns, recode={"method": "freeform", "then": "prioritised"})
    ended = anon("recode", table, "--spec", spec, "--output", tmp_path / "t4.csv", "--json", home=home)
    assert ended.code == 0, ended.err
    assert ended.json["holds"] and ended.json["k"]["exact"] >= 2
    assert anon("freeform", tmp_path / "t4.csv", "--spec", spec, home=home).code == 0


def test_what_everybody_has_cannot_be_kept(table: Path, tmp_path: Path, home: Path) -> None:
    everything = {**FREEFORM, "columns": {"Disease": {"guard": ["VI", "BI"]}}}
    spec = spec_of(tmp_path, freeform=everything)
    ended = anon("recode", table, "--spec", spec, "--output", tmp_path / "out.csv", home=home)
    assert ended.code == 1
    assert "infeasible" in ended.err and "Disease" in ended.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("options", [("--sweep-k", "2"), ("--improve", "3"), ("--mode", "link")])
def test_options_without_effect_on_method_freeform_are_refused(
    table: Path, spec: Path, tmp_path: Path, home: Path, options: tuple[str, ...]
) -> None:
    ended = anon("recode", table, "--spec", spec, "--output", tmp_path / "out.csv", *options, home=home)
    assert ended.code == 2
    assert "would" in ended.err


def test_cells_outside_the_taxonomy_are_counted_and_not_named(spec: Path, tmp_path: Path, home: Path) -> None:
    table = written(tmp_path / "t.csv", [*T1, ("F", "30K", CANARY), ("M", "30K", CANARY), ("M", f"{CANARY}K", "Flu")])
    for options in ((), ("--show-values",), ("--json",)):
        ended = anon("freeform", table, "--spec", spec, *options, home=home)
        assert ended.code == 2
        assert "column 'Income': 1 distinct value, 1 row; column 'Disease': 1 distinct value, 2 rows" in ended.err
        assert CANARY not in ended.out + ended.err
        assert not ended.out
    ended = on_a_terminal("freeform", table, "--spec", spec, "--show-values", home=home)
    assert ended.code == 2
    assert f"values of column 'Disease' that do not fit: '{CANARY}'" in ended.err


def test_labels_of_every_level_are_placed_whatever_made_them(tmp_path: Path, home: Path) -> None:
    columns = {
        "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
        "zip": {"role": "quasi", "hierarchy": {"prefix": [2, 1]}},
        "Disease": COLUMNS["Disease"],
    }
    freeform = {**FREEFORM, "columns": {"Disease": {"guard": ["AIDS"]}}}
    spec = spec_of(tmp_path, columns=columns, freeform=freeform)
    rows = [
        ("any", "30-34", "12*", "Flu"),
        ("any", "33", "123", "VI"),
        ("any", "*", "*", "*"),
        ("any", "41", "", "BI"),
    ]
    table = written(tmp_path / "t.csv", rows, tuple(columns))
    ended = anon("freeform", table, "--spec", spec, "--json", home=home)
    assert ended.code == 0, ended.err
    written(table, [*rows, ("any", "50-54", "45*", "Flu")], tuple(columns))
    ended = anon("freeform", table, "--spec", spec, home=home)
    assert ended.code == 2
    assert "column 'age': 1 distinct value, 1 row; column 'zip': 1 distinct value, 1 row" in ended.err
    assert "anon hierarchy build" in ended.err
    assert "50-54" not in ended.err


def test_a_guarded_column_made_from_values_is_not_judged_once_it_is_generalised(tmp_path: Path, home: Path) -> None:
    spec = spec_of(
        tmp_path,
        columns={**COLUMNS, "Disease": {"role": "sensitive", "hierarchy": {"root": "ill"}}},
        freeform={**FREEFORM, "columns": {"Disease": {"guard": ["AIDS"]}}},
    )
    for rows, code in ((T1, 0), ([*T1, ("F", "30K", "ill")], 2)):
        ended = anon("freeform", written(tmp_path / "t.csv", rows), "--spec", spec, home=home)
        assert ended.code == code, ended.err
    assert "made from the values" in ended.err


def test_how_frequent_values_were_cannot_be_told_of_a_generalised_table(tmp_path: Path, home: Path) -> None:
    guard = {"guard": ["AIDS", "TB"], "sensitivity": "frequency"}
    spec = spec_of(tmp_path, freeform={**FREEFORM, "columns": {"Disease": guard}})
    for rows, code in ((T1, 0), ([*T1, ("F", "30K", "VI")], 2)):
        ended = anon("freeform", written(tmp_path / "t.csv", rows), "--spec", spec, home=home)
        assert ended.code == code, ended.err
    assert "sensitivity: frequency" in ended.err


def test_wrong_input_ends_with_2(table: Path, tmp_path: Path, home: Path) -> None:
    ended = anon("freeform", table, "--spec", spec_of(tmp_path, freeform=None, recode={"method": "none"}), home=home)
    assert ended.code == 2 and "privacy.freeform" in ended.err
    misspelt = {**FREEFORM, "columns": {"Disease": {"guard": ["Aids"]}}}
    ended = anon("freeform", table, "--spec", spec_of(tmp_path, freeform=misspelt), home=home)
    assert ended.code == 2 and "1 of 1 name found neither" in ended.err
    lacking = written(tmp_path / "two.csv", [row[:2] for row in T1], NAMES[:2])
    ended = anon("freeform", lacking, "--spec", spec_of(tmp_path), home=home)
    assert ended.code == 2 and "no column named 'Disease'" in ended.err
