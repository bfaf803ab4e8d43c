"""``anon hierarchy build``: what it writes, prints and refuses, as users see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.hierarchy.build import ladder
from anon_core.spec import Hierarchy
from anon_core.table import read
from tests.anon_airflow.commands.hierarchy_tables import CANARY, unfit, write_people
from tests.faults.anon_process import Ended, anon
from tests.properties.tables import spelled


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_people(tmp_path / "people.csv")


def build(table: Path, home: Path, column: str, *options: str | Path, **limits: int) -> Ended:
    return anon("hierarchy", "build", table, "--column", column, *options, home=home, **limits)


@pytest.mark.parametrize(
    ("column", "options", "line", "labels"),
    [
        ("age", ["--intervals", "5,10"], "17;15-19;10-19;*", [6, 4, 4, 1]),
        ("age", ["--cuts", "18,30,65"], "18;18-29;*", [6, 4, 1]),
        ("age", ["--cuts", "18,65", "--cuts", "65"], "17;<18;<65;*", [6, 3, 2, 1]),
        ("issued", ["--date", "month,quarter,year"], "2019-02-05;2019-02;2019-Q1;2019;*", [5, 5, 4, 3, 1]),
        ("postcode", ["--prefix", "4,3,2"], "11020;1102*;110*;11*;*", [4, 3, 3, 2, 1]),
        ("town", ["--root", "any town"], "COGNE;any town;*", [3, 1, 1]),
        ("town", ["--root", "*"], "COGNE;*", [3, 1]),
        ("postcode", ["--frequency", "2,4"], "11020;other;other (level 2);*", [4, 3, 1, 1]),
        ("age", ["--groups", "2,3"], "18;18-40;3-71;*", [6, 3, 1, 1]),
        ("wage", ["--intervals", "5"], '"5,5";"[5, 10)";*', [5, 3, 1]),
    ],
)
def test_a_file_is_written_and_reads_back(
    table: Path, home: Path, tmp_path: Path, column: str, options: list[str], line: str, labels: list[int]
) -> None:
    output = tmp_path / "made.csv"
    ended = build(table, home, column, *options, "--output", output, "--json")
    assert ended.code == 0, ended.err
    shown = ended.json
    assert (shown["file"], shown["column"], shown["unmapped"]) == (str(output), column, {"values": 0, "rows": 0})
    assert [level["labels"] for level in shown["levels"]] == labels
    assert [level["level"] for level in shown["levels"]] == list(range(len(labels)))
    assert (shown["values"], shown["rows"], shown["holds_values_of_the_column"]) == (labels[0], 6, True)
    assert line in output.read_text().splitlines()
    checked = anon("hierarchy", "check", output, "--table", table, "--column", column, "--json", home=home)
    assert (checked.code, checked.json["table"]["unmapped"]) == (0, {"values": 0, "rows": 0})
    assert [level["labels"] for level in checked.json["levels"]] == labels
    published = ladder(read(table).column(column), Hierarchy(file="made.csv"), tmp_path)
    assert published.height == len(labels) - 1


def test_rules_become_lines_for_the_values_of_the_column(table: Path, home: Path, tmp_path: Path) -> None:
    rules = tmp_path / "towns.rules"
    rules.write_text("{AOSTA, COGNE} => AOSTA\n{MILANO, MONZA} => MILANO\n")
    output = tmp_path / "towns.csv"
    shown = build(table, home, "town", "--rules", rules, "--output", output, "--json").json
    assert shown["kept_apart"] == 2
    assert output.read_text() == "AOSTA;AOSTA (level 1);*\nCOGNE;AOSTA (level 1);*\nMILANO;MILANO (level 1);*\n"
    labels = [
        spelled(ladder(read(table).column("town"), Hierarchy(file=name), tmp_path))
        for name in ("towns.rules", "towns.csv")
    ]
    assert labels[0] == labels[1]


def test_it_is_said_that_the_file_holds_values(table: Path, home: Path, tmp_path: Path) -> None:
    ended = build(table, home, "age", "--groups", "2")
    assert ended.code == 0
    assert "wrote hierarchy_age.csv; it holds the values of the column: keep it as private as the table" in ended.out
    assert (tmp_path / "hierarchy_age.csv").exists()
    assert "71" not in ended.out + ended.err


def test_an_existing_file_is_not_overwritten_unless_forced_and_the_table_never(
    table: Path, home: Path, tmp_path: Path
) -> None:
    output = tmp_path / "made.csv"
    output.write_text("mine")
    ended = build(table, home, "age", "--groups", "2", "--output", output)
    assert (ended.code, output.read_text()) == (2, "mine")
    assert "exists already" in ended.err
    assert build(table, home, "age", "--groups", "2", "--output", output, "--force").code == 0
    assert output.read_text().startswith("17;")
    before = table.read_bytes()
    ended = build(table, home, "age", "--groups", "2", "--output", table, "--force")
    assert (ended.code, table.read_bytes()) == (2, before)
    assert "is read by this command" in ended.err


def test_a_full_disk_leaves_nothing_behind(table: Path, home: Path, tmp_path: Path) -> None:
    output = tmp_path / "made.csv"
    table.write_text("age\n" + "".join(f"{age}\n" for age in range(2000)))
    ended = build(table, home, "age", "--groups", "2", "--output", output, largest_file=4000)
    assert ended.code == 2
    assert "writing the hierarchy file failed" in ended.err
    assert sorted(path.name for path in tmp_path.glob("*made*")) == []


def test_values_that_are_not_covered_stop_it_or_are_left_out(table: Path, home: Path, tmp_path: Path) -> None:
    unfit(table)
    output = tmp_path / "made.csv"
    ended = build(table, home, "age", "--intervals", "5", "--output", output, "--show-values")
    assert (ended.code, output.exists()) == (2, False)
    assert "column 'age': 1 distinct value, 2 rows, not numbers such as 1957 or 3.5" in ended.err
    assert "--show-values shows values on a terminal only" in ended.err
    assert CANARY not in ended.err + ended.out
    ended = build(table, home, "age", "--intervals", "5", "--output", output, "--unmapped", "suppress", "--json")
    assert (ended.code, ended.json["unmapped"]) == (0, {"values": 1, "rows": 2})
    assert CANARY not in output.read_text()
    ended = anon("hierarchy", "check", output, "--table", table, "--column", "age", "--json", home=home)
    assert (ended.code, ended.json["table"]["unmapped"]) == (1, {"values": 1, "rows": 2})


def test_where_nothing_is_covered_nothing_is_written(table: Path, home: Path, tmp_path: Path) -> None:
    output = tmp_path / "made.csv"
    ended = build(table, home, "town", "--intervals", "5", "--output", output, "--unmapped", "suppress")
    assert (ended.code, output.exists()) == (2, False)
    assert "there is nothing to write" in ended.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give exactly one of --intervals, --cuts"),
        (["--groups", "2", "--root", "x"], "give exactly one of"),
        (["--groups", "2", "--groups", "3"], "--groups is given twice"),
        (["--groups", "2,7"], "7 is more than the 6 rows with a value"),
        (["--groups", "2", "--order", "3,3"], "it names a value twice"),
        (["--intervals", "5", "--order", "a,b"], "--order can only be given with --groups"),
        (["--cuts", "15,000,30,000"], "'000' is not a number; write thousands without points and commas"),
        (["--cuts", "1.500.000"], "'1.500.000' is not a number; write thousands without points and commas"),
        (["--groups", "2,x"], "'x' is not a whole number"),
        (["--groups", "-5"], "'-5' is not a whole number"),
        (["--groups", ","], "is empty"),
        (["--root", ""], "is empty"),
        (["--frequency", "9,3"], "3 does not lie above 9"),
        (["--intervals", "5,12"], "12 is no multiple of 5"),
        (["--intervals", "inf"], "'inf' is not a number"),
        (["--intervals", "0"], "0 is no interval width"),
        (["--cuts", "30,18"], "the cut points of level 1 do not grow: an interval would cover nothing"),
        (["--date", "year,month"], "date levels should become coarser"),
        (["--date", "week"], "'day', 'month', 'quarter', 'year' or 'decade'"),
        (["--prefix", "2,3"], "prefix lengths should become shorter"),
        (["--prefix", "0"], "greater than or equal to 1"),
        (["--rules", "nowhere.rules"], "no such hierarchy file"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    table: Path, home: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    ended = build(table, home, "age", *options)
    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert list(tmp_path.glob("hierarchy_*")) == []


def test_an_unknown_column_is_named_and_one_that_is_like_it_suggested(table: Path, home: Path, tmp_path: Path) -> None:
    ended = build(table, home, "postcod", "--root", "x")
    assert ended.code == 2
    assert "no column named 'postcod'" in ended.err and "did you mean `postcode`?" in ended.err
    (tmp_path / "h.csv").write_text("a;b\n")
    ended = anon("hierarchy", "check", tmp_path / "h.csv", "--table", table, "--column", "postcod", home=home)
    assert ended.code == 2
    assert "did you mean `postcode`?" in ended.err


def test_the_same_fault_of_two_parts_of_dates_is_told_once(table: Path, home: Path) -> None:
    ended = build(table, home, "issued", "--date", "mese,anno")
    assert ended.code == 2
    assert ended.err.count("'day', 'month'") == 1


def days(path: Path, *others: str) -> Path:
    path.write_text("day\n" + "".join(f"{1 + n % 28:02}/{1 + n % 12:02}/{1950 + n % 60}\n" for n in range(60)))
    path.write_text(path.read_text() + "".join(f"{other}\n" for other in others))
    return path


def test_groups_of_dates_stop_on_what_is_no_date(home: Path, tmp_path: Path) -> None:
    table, output = days(tmp_path / "days.csv", "1970", "31/02/1980", "x", "x"), tmp_path / "made.csv"
    ended = build(table, home, "day", "--groups", "10", "--output", output)
    assert (ended.code, output.exists()) == (2, False)
    assert "3 distinct values, 4 rows, not dates such as 21/01/1949" in ended.err
    ended = build(table, home, "day", "--groups", "10", "--output", output, "--unmapped", "suppress", "--json")
    assert (ended.code, ended.json["unmapped"], ended.json["order"]) == (0, {"values": 3, "rows": 4}, "time")
    assert "\n1970;" not in output.read_text()


def test_dates_of_which_the_month_cannot_be_told_are_not_grouped_by_letters(home: Path, tmp_path: Path) -> None:
    (tmp_path / "days.csv").write_text("day\n03/04/2019\n05/06/2018\n")
    ended = build(tmp_path / "days.csv", home, "day", "--groups", "2")
    assert ended.code == 2
    assert "does not tell whether the day or the month comes first" in ended.err


def test_groups_say_that_their_ends_are_published_and_when_the_order_is_that_of_letters(
    table: Path, home: Path
) -> None:
    ended = build(table, home, "town", "--groups", "3")
    assert "groups are named by their first and last value: these two values will be published" in ended.out
    assert "the values are in alphabetical order; give another order with --order a,b,c" in ended.out
    ended = build(table, home, "age", "--groups", "3")
    assert "will be published" in ended.out and "letters" not in ended.out
    assert "will be published" not in build(table, home, "town", "--frequency", "3").out


def test_groups_follow_the_order_that_is_given(table: Path, home: Path, tmp_path: Path) -> None:
    output = tmp_path / "made.csv"
    options = ["--groups", "4", "--order", "COGNE,MILANO,AOSTA", "--output", output]
    ended = build(table, home, "town", *options)
    assert ended.code == 0 and "letters" not in ended.out
    assert "COGNE;[COGNE, AOSTA]" in output.read_text().replace('"', "")
    ended = build(table, home, "town", "--groups", "4", "--order", "COGNE,AOSTA")
    assert ended.code == 2
    assert "1 distinct value, 2 rows, without a place in the order that is given" in ended.err


@pytest.mark.parametrize(
    ("column", "options", "said"),
    [
        ("pay", ["--cuts", "150.000"], "150.000 was read as a decimal number; write thousands without a point"),
        ("pay", ["--cuts", "15.000"], "2 values of the column, written like 15.000, were read as decimal numbers"),
        ("age", ["--cuts", "15000"], "level 1 (cut at 15000) has a single label for all values"),
        ("age", ["--intervals", "5,1000"], "level 2 (intervals of 1000) has a single label for all values"),
    ],
)
def test_what_may_be_meant_otherwise_is_told(
    home: Path, tmp_path: Path, column: str, options: list[str], said: str
) -> None:
    (tmp_path / "pay.csv").write_text("age;pay\n31;14.500\n42;21.000\n53;7\n")
    ended = build(tmp_path / "pay.csv", home, column, *options)
    assert ended.code == 0
    assert said in ended.err


def test_a_comma_that_may_divide_thousands_is_told_where_values_are_not_read(home: Path, tmp_path: Path) -> None:
    (tmp_path / "pay.csv").write_text("pay\n15,000\n7,500\n", encoding="utf-8")
    ended = build(tmp_path / "pay.csv", home, "pay", "--intervals", "5", "--delimiter", ";")
    assert ended.code == 2
    assert "a comma as in 15,000 can separate thousands or decimals" in ended.err


def test_the_names_of_levels_are_said_to_stay_behind(table: Path, home: Path, tmp_path: Path) -> None:
    rules = tmp_path / "ages.rules"
    rules.write_text("level 1: generations\n[0, 99) => age\n")
    ended = build(table, home, "age", "--rules", rules)
    assert "generations" in ended.out and "the names of levels in the rules are not in the new file" in ended.out
    rules.write_text("[0, 99) => age\n")
    assert "stay behind" not in build(table, home, "age", "--rules", rules, "--force").out


def test_dates_of_which_the_day_cannot_be_told_are_refused_with_the_reason(home: Path, tmp_path: Path) -> None:
    table = tmp_path / "days.csv"
    table.write_text("day\n03/04/2019\n05/06/2019\n")
    ended = build(table, home, "day", "--date", "year")
    assert ended.code == 2
    assert "does not tell whether the day or the month comes first" in ended.err
