"""``anon decompose``: what it prints, writes and refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.faults.anon_process import anon
from tests.faults.publications import csv_text

CANARY = "QanaryPostcode"
ZIPS = ("28496", "32214", "32275", "28781", "51618", "51835", "54835", "54352", "59496", "59951")
SPLIT = ("--column", "zip", "--widths", "2,3", "--names", "state,local")


@pytest.fixture
def home(tmp_path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "zips.csv"
    path.write_text(csv_text([(code, "FM"[at % 2], "x") for at, code in enumerate(ZIPS)], ("zip", "sex", "race")))
    return path


def test_it_prints_the_keys_of_the_design(home, table):
    shown = anon("decompose", table, *SPLIT, "--publish", "state", "--with", "sex,race", "--json", home=home).json
    assert shown["column"] == "zip"
    assert shown["parts"] == [
        {"name": "state", "distinct": 5, "outliers": 0, "published": True},
        {"name": "local", "distinct": 8, "outliers": 6, "published": False},
    ]
    assert [effect["columns"] for effect in shown["effect"]] == [
        ["zip"],
        ["zip", "sex"],
        ["zip", "race"],
        ["zip", "sex", "race"],
        ["sex", "race"],
    ]
    for effect in shown["effect"]:
        assert set(effect["before"]) == set(effect["after"]) == {"distinct", "outliers", "share"}
    assert shown["effect"][0]["before"] == {"distinct": 10, "outliers": 10, "share": 1.0}
    assert shown["effect"][0]["after"] == {"distinct": 5, "outliers": 0, "share": 0.0}
    assert shown["effect"][0]["by_part"]["local"]["outliers"] == 6


def test_it_says_that_all_parts_together_are_the_column(home, table):
    ended = anon("decompose", table, *SPLIT, home=home)
    assert ended.code == 0
    assert "side by side they tell as much as the column" in ended.out
    assert "side by side" not in anon("decompose", table, *SPLIT, "--publish", "state", home=home).out


def test_no_value_is_printed(home, table):
    ended = anon("decompose", table, *SPLIT, "--with", "sex,race", home=home)
    assert not [code for code in ZIPS if code in ended.out + ended.err]


def test_the_output_has_the_published_parts_in_the_place_of_the_column(home, table, tmp_path):
    (tmp_path / "states.csv").write_text("".join(f"{code};S{code}\n" for code in {code[:2] for code in ZIPS}))
    out = tmp_path / "out.csv"
    ended = anon(
        "decompose", table, *SPLIT, "--publish", "state", "--lookup", f"state={tmp_path}/states.csv", "--output", out,
        home=home,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0] == {"state": "S28", "sex": "F", "race": "x"} and len(rows) == 10


def test_it_draws_what_changes(home, table, tmp_path):
    ended = anon("decompose", table, *SPLIT, "--with", "sex", "--plot", tmp_path / "p.svg", home=home)
    assert ended.code == 0, ended.err
    assert "zip, sex" in (tmp_path / "p.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "distinct"),
    [
        (["--separator", "8", "--names", "a,b", "--suppress"], [5, 4]),
        (["--pattern", r"(?P<a>\d)(?P<b>\d+)"], [3, 10]),
        (["--preset", "postcode-us"], [9, 8, 1]),
    ],
)
def test_every_way_to_split_can_be_asked_for(home, table, arguments, distinct):
    shown = anon("decompose", table, "--column", "zip", *arguments, "--json", home=home).json
    assert [part["distinct"] for part in shown["parts"]] == distinct


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "needs exactly one of"),
        (["--widths", "2,3"], "needs `names`"),
        (["--widths", "2,x", "--names", "a,b"], "whole numbers"),
        (["--widths", "2,3", "--names", "a,b", "--preset", "postcode-us"], "it has widths and preset"),
        (["--widths", "2,3", "--names", "a,sex"], "columns called like parts: sex"),
        (["--widths", "2,3", "--names", "a,b", "--publish", "c"], "no part is called `c`"),
        (["--widths", "2,3", "--names", "a,b", "--lookup", "a"], "PART=FILE"),
        (["--widths", "2,3", "--names", "a,b", "--with", "zip"], "the one to decompose"),
        (["--widths", "2,3", "--names", "a,b", "--with", "colour"], "colour"),
        (["--widths", "2,3", "--names", "a,b", "--output", "x.txt"], ".csv or .parquet"),
        (["--pattern", "(?P<a>x)(?=y)"], "linear time"),
        (["--pattern", "(?P<a>x{2000})"], "invalid repetition size"),
        (["--preset", "telephone", "--region", "XX"], "XX"),
        (["--widths", "2,2", "--names", "a,b"], "10 distinct values, 10 rows, do not fit `widths: [2, 2]`"),
    ],
)
def test_what_cannot_be_done_is_refused_with_code_2(home, table, arguments, said):
    ended = anon("decompose", table, "--column", "zip", *arguments, home=home)
    assert ended.code == 2
    assert said in ended.err
    assert not [code for code in ZIPS if code in ended.out + ended.err]


def test_the_table_itself_is_never_overwritten(home, table):
    before = table.read_bytes()
    assert anon("decompose", table, *SPLIT, "--output", table, home=home).code == 2
    assert table.read_bytes() == before
