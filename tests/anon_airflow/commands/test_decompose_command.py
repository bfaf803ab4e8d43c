"""``anon decompose``: what it prints, writes and refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.faults.anon_process import anon
from tests.faults.publications import csv_text
from tests.faults.terminal import on_a_terminal

CANARY = "QanaryPostcode"
ZIPS = ("28496", "32214", "32275", "28781", "51618", "51835", "54835", "54352", "59496", "59951")
SPLIT = ("--column", "zip", "--widths", "2,3", "--names", "state,local")


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
    assert "together they say as much as the column" in ended.out
    assert "together they say" not in anon("decompose", table, *SPLIT, "--publish", "state", home=home).out


def test_what_is_suppressed_is_counted_and_does_not_hide_that_all_parts_are_the_column(home, table):
    table.write_text(table.read_text() + f'"{CANARY}","F","x"\n"{CANARY}","F","x"\n"","F","x"\n')
    ended = anon("decompose", table, *SPLIT, "--unmapped", "suppress", home=home)
    assert ended.code == 0, ended.err
    assert "suppressed, and written as *: 1 value in 2 rows" in ended.out
    assert "together they say as much as the column" in ended.out
    shown = anon("decompose", table, *SPLIT, "--unmapped", "suppress", "--json", home=home).json
    assert shown["suppressed"] == {"values": 1, "rows": 2}
    assert [part["distinct"] for part in shown["parts"]] == [5, 8], "neither the gap nor * is a value of a part"
    assert shown["effect"][0]["before"]["distinct"] == 12


def test_parts_that_are_named_tell_less_than_the_column_where_names_coincide(home, table, tmp_path):
    names = tmp_path / "states.csv"
    codes = sorted({code[:2] for code in ZIPS})
    for label, said in (("one", False), ("{}", True)):
        names.write_text("".join(f"{code};{label.format(code)}\n" for code in codes))
        table.write_text("zip\n" + "".join(f"{code}000\n" for code in codes))
        ended = anon("decompose", table, *SPLIT, "--lookup", f"state={names}", home=home)
        assert ended.code == 0, ended.err
        assert ("together they say" in ended.out) is said


def test_telephone_numbers_without_a_country_ask_for_a_region(home, tmp_path):
    table = tmp_path / "phones.csv"
    table.write_text("phone\n06 1234567\n06 1234568\n")
    ended = anon("decompose", table, "--column", "phone", "--preset", "telephone", home=home)
    assert ended.code == 2
    assert "--region IT" in ended.err and "such as `region: IT`" in ended.err
    assert anon("decompose", table, "--column", "phone", "--preset", "telephone", "--region", "IT", home=home).code == 0


def test_a_misspelt_column_gets_a_suggestion(home, table):
    ended = anon("decompose", table, "--column", "zipp", "--widths", "2,3", "--names", "a,b", home=home)
    assert ended.code == 2
    assert "did you mean `zip`?" in ended.err


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
        (["--separator", "8", "--names", "a,b", "--unmapped", "suppress"], [4, 2]),
        (["--pattern", r"(?P<a>\d)(?P<b>\d+)"], [3, 10]),
        (["--preset", "postcode-us"], [9, 8, 0]),
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
        (["--widths", "2,3", "--names", "a,sex"], "columns with the names of parts: sex"),
        (["--widths", "2,3", "--names", "a,b", "--publish", "c"], "no part is called `c`"),
        (["--widths", "2,3", "--names", "a,b", "--lookup", "a"], "PART=FILE"),
        (["--widths", "2,3", "--names", "a,b", "--with", "zip"], "the one to decompose"),
        (["--widths", "2,3", "--names", "a,b", "--with", "colour"], "colour"),
        (["--widths", "2,3", "--names", "a,b", "--output", "x.txt"], ".csv or .parquet"),
        (["--pattern", "(?P<a>x)(?=y)"], "linear time"),
        (["--pattern", "(?P<a>x{2000})"], "invalid repetition size"),
        (["--preset", "telephone", "--region", "XX"], "XX"),
        (["--widths", "2,2", "--names", "a,b"], "10 distinct values, 10 rows, not of the form `widths: [2, 2]`"),
    ],
)
def test_what_cannot_be_done_is_refused_with_code_2(home, table, arguments, said):
    ended = anon("decompose", table, "--column", "zip", *arguments, home=home)
    assert ended.code == 2
    assert said in ended.err
    assert not [code for code in ZIPS if code in ended.out + ended.err]


def test_an_existing_file_is_not_overwritten_unless_forced(home, table, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("mine")
    ended = anon("decompose", table, *SPLIT, "--output", out, home=home)
    assert (ended.code, out.read_text()) == (2, "mine")
    assert "exists already; give another --output, or --force to overwrite it" in ended.err
    assert anon("decompose", table, *SPLIT, "--output", out, "--force", home=home).code == 0
    assert out.read_text().startswith('"state","local"')


def test_what_it_reads_is_never_overwritten(home, table, tmp_path):
    lookup = tmp_path / "states.csv"
    lookup.write_text("".join(f"{code};S\n" for code in {code[:2] for code in ZIPS}))
    for read in (table, lookup):
        before = read.read_bytes()
        ended = anon(
            "decompose", table, *SPLIT, "--lookup", f"state={lookup}", "--output", read, "--force", home=home
        )  # fmt: skip
        assert (ended.code, read.read_bytes()) == (2, before)
        assert "is read by this command" in ended.err


def test_a_full_disk_leaves_nothing_behind(home, table, tmp_path):
    table.write_text("zip\n" + "".join(f"{code}\n" for code in range(10_000, 14_000)))
    ended = anon("decompose", table, *SPLIT, "--output", tmp_path / "out.csv", home=home, largest_file=4000)
    assert ended.code == 2
    assert f"writing failed at {tmp_path / 'out.csv'}: " in ended.err
    assert list(tmp_path.glob("*out*")) == []


def test_values_that_do_not_fit_are_named_on_a_terminal_only(home, table):
    table.write_text(table.read_text() + f'"{CANARY}","F","x"\n')
    ended = anon("decompose", table, *SPLIT, "--show-values", home=home)
    assert ended.code == 2
    assert "--show-values shows values on a terminal only" in ended.err
    assert CANARY not in ended.err + ended.out
    ended = on_a_terminal("decompose", table, *SPLIT, "--show-values", home=home)
    assert ended.code == 2
    assert f"values of column 'zip' that do not fit: '{CANARY}'" in ended.err
    ended = on_a_terminal("decompose", table, *SPLIT, home=home)
    assert ended.code == 2 and CANARY not in ended.err


def test_of_very_many_values_the_rest_are_counted(home, table):
    table.write_text("zip\n" + "".join(f"v{at:02}\n" for at in range(53)))
    shown = on_a_terminal("decompose", table, *SPLIT, "--show-values", home=home).err
    assert "'v49' and 3 more" in shown and "v50" not in shown
