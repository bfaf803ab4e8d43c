"""``anon hierarchy build`` and ``check``: what they write, print and refuse, as users see it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from anon_core.hierarchy.build import ladder
from anon_core.spec import Hierarchy
from anon_core.table import read
from tests.faults.anon_process import Ended, anon
from tests.properties.tables import spelled

CANARY = "CANARY-7319"
ROWS = [
    ("3", "2019-01-05", "11020", "AOSTA", "5,5"),
    ("17", "2019-02-05", "11100", "AOSTA", "7"),
    ("18", "2019-05-05", "11100", "COGNE", "12,25"),
    ("40", "2020-05-05", "20121", "COGNE", "1,234"),
    ("70", "2021-05-05", "20121", "MILANO", ""),
    ("71", "", "20122", "MILANO", "3"),
]
COLUMNS = ("age", "issued", "postcode", "town", "wage")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("\n".join(";".join(row) for row in [COLUMNS, *ROWS]) + "\n")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


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
    assert "wrote hierarchy_age.csv; it holds the values of the column: keep it as you keep the table" in ended.out
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


def unfit(table: Path) -> None:
    table.write_text(table.read_text() + f"{CANARY};2019-01-01;x;y;1\n{CANARY};2019-01-01;x;y;1\n")


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
        (["--intervals", "5", "--order", "a,b"], "--order belongs to --groups"),
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
    assert "groups are named by their first and last value, which rows have: these will be published" in ended.out
    assert "the values are in the order of their letters; give another one with --order a,b,c" in ended.out
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
        ("pay", ["--cuts", "150.000"], "150.000 was read with decimals; write thousands without a point"),
        ("pay", ["--cuts", "15.000"], "2 values of the column, written like 15.000, read with decimals"),
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
    assert "a comma as in 15,000 may divide thousands or begin decimals" in ended.err


def test_a_table_in_the_place_of_a_hierarchy_is_told_as_such(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("sex;town;born\n" + "".join(f"{'FM'[n % 2]};town {n % 7};{1950 + n % 31}\n" for n in range(400)))
    ended = anon("hierarchy", "check", file, home=home)
    assert ended.code == 2
    lines = ended.err.strip().splitlines()
    counted = int(lines[0].split(": ")[-1].split()[0].replace(",", ""))
    assert len(lines) == counted + 2 and counted > 400
    assert "this looks like a table, not a hierarchy" in lines[-1]


def test_every_fault_is_listed_however_many_and_of_every_kind(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("".join(f"t{n};N;W\n" for n in range(300)) + "t0;N;W\n" * 60 + f"{CANARY};N;E\n{CANARY}\0;S;W\n")
    ended = anon("hierarchy", "check", file, home=home)
    assert ended.code == 2
    lines = [line.strip() for line in ended.err.strip().splitlines()]
    assert lines[0].endswith("towns.csv: 62 faults")
    assert len(lines) == 63
    assert "line 360 repeats the value of line 1" in lines
    assert "lines 1 and 361 give one label of level 1 two parents at level 2" in lines
    assert "line 362 has a zero byte (NUL); save the file as UTF-8 text" in lines
    assert CANARY not in ended.err


def test_rules_without_braces_are_told_and_not_taken_for_values(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "towns.rules"
    file.write_text("".join(f"{CANARY}{n} => TO\n" for n in range(12)))
    ended = anon("hierarchy", "check", file, home=home)
    assert ended.code == 2
    lines = [line.strip() for line in ended.err.strip().splitlines()]
    assert lines[1:] == [
        f"line {n} is a rule without braces: write {{a, b}} => c, or [18, 30) => c for numbers" for n in range(1, 13)
    ]


def test_a_file_that_is_no_text_is_one_fault(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_bytes("a;N\né;N\n".encode("latin-1"))
    ended = anon("hierarchy", "check", file, home=home)
    assert (ended.code, ended.err.splitlines()[0]) == (2, f"anon: {file}: 1 fault")
    assert "line 2 cannot be read as UTF-8 text; save it as UTF-8" in ended.err


def test_labels_that_have_no_rule_on_the_next_level_are_counted(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "towns.rules"
    file.write_text("level 1: provinces\n{a, b} => TO\n{c} => CN\n{d} => AO\nlevel 2\n{CN} => Piemonte\n")
    ended = anon("hierarchy", "check", file, home=home)
    assert "level 2 has no rule for 2 labels of level 1: they stay as they are" in ended.out
    assert anon("hierarchy", "check", file, "--json", home=home).json["without_a_rule_above"] == [2]
    file.write_text(file.read_text() + "{T0, AO} => Piemonte\n")
    ended = anon("hierarchy", "check", file, home=home)
    assert ended.code == 2
    assert "line 7 names something that level 1 does not make" in ended.err and "T0" not in ended.err


def test_the_names_of_levels_are_said_to_stay_behind(table: Path, home: Path, tmp_path: Path) -> None:
    rules = tmp_path / "ages.rules"
    rules.write_text("level 1: generations\n[0, 99) => age\n")
    ended = build(table, home, "age", "--rules", rules)
    assert "generations" in ended.out and "the names of levels stay behind in the rules" in ended.out
    rules.write_text("[0, 99) => age\n")
    assert "stay behind" not in build(table, home, "age", "--rules", rules, "--force").out


def test_dates_of_which_the_day_cannot_be_told_are_refused_with_the_reason(home: Path, tmp_path: Path) -> None:
    table = tmp_path / "days.csv"
    table.write_text("day\n03/04/2019\n05/06/2019\n")
    ended = build(table, home, "day", "--date", "year")
    assert ended.code == 2
    assert "does not tell whether the day or the month comes first" in ended.err


def test_a_faulty_file_is_refused_with_every_fault(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(f"a;N;W\nb;N\n{CANARY};N;E\n{CANARY};S;;\n")
    ended = anon("hierarchy", "check", file, home=home)
    assert ended.code == 2
    for fault in (
        "line 2 has 2 levels, line 1 has 3",
        "line 4 has 4 levels, line 1 has 3",
        "line 4 repeats the value of line 3",
        "line 4 has an empty label at level 2",
        "lines 1 and 3 give one label of level 1 two parents at level 2",
    ):
        assert fault in ended.err
    assert CANARY not in ended.err


def test_check_says_what_a_file_is_like_and_what_a_table_lacks(table: Path, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("AOSTA;AOSTA;*\nCOGNE;AOSTA;*\nTORINO;TO;*\n")
    alone = anon("hierarchy", "check", file, "--json", home=home)
    assert alone.code == 0
    shown = alone.json
    assert (shown["format"], shown["values"], shown["kept_apart"], shown["table"]) == ("lines", 3, 1, None)
    against = anon("hierarchy", "check", file, "--table", table, "--column", "town", "--json", home=home)
    assert against.code == 1
    found = against.json["table"]
    assert (found["values"], found["covered"], found["unmapped"]) == (3, 2, {"values": 1, "rows": 2})
    assert found["unused"] == 1
    hinted = anon("hierarchy", "check", file, "--table", table, "--column", "town", home=home)
    assert "--show-values names what is not covered" in hinted.out and "`unmapped: suppress`" in hinted.out
    text = anon("hierarchy", "check", file, "--table", table, "--column", "town", "--show-values", home=home)
    assert text.code == 1
    assert (
        "town: 2 of 3 values covered; not covered: 1 value in 2 rows; 1 value of the file not in the table" in text.out
    )
    assert "kept apart from the same word on a level below: 1 label" in text.out
    assert "--show-values" not in text.out and "`unmapped: suppress`" in text.out, "it was given already"
    assert "MILANO" not in text.out + text.err
    assert "--show-values shows values on a terminal only" in text.err


def test_table_and_column_go_together(table: Path, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("AOSTA;N\n")
    for options in (["--table", table], ["--column", "town"]):
        ended = anon("hierarchy", "check", file, *options, home=home)
        assert ended.code == 2
        assert "--table and --column go together" in ended.err


@pytest.mark.parametrize("command", ["build", "check"])
def test_values_without_a_place_are_named_on_a_terminal_when_asked_for(
    table: Path, tmp_path: Path, command: str
) -> None:
    unfit(table)
    rules = tmp_path / "ages.rules"
    rules.write_text("[0, 99) => age\n")
    if command == "build":
        arguments = ["build", table, "--column", "age", "--rules", rules, "--show-values"]
    else:
        arguments = ["check", rules, "--table", table, "--column", "age", "--show-values"]
    ours, its = pty.openpty()
    script = "from anon_airflow.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", script, "hierarchy", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=its,
        cwd=tmp_path,
    ) as process:
        os.close(its)
        shown = b""
        try:
            while block := os.read(ours, 4096):
                shown += block
        except OSError:  # how a terminal says that the other side has gone
            pass
        out = process.stdout.read() if process.stdout else b""
    os.close(ours)
    assert process.returncode == (2 if command == "build" else 1)
    assert CANARY.encode() in shown
    assert CANARY.encode() not in out


@pytest.mark.reference
def test_the_hierarchies_of_arx_are_sound_and_cover_adult(reference_data: Path, home: Path) -> None:
    folder = reference_data / "adult_arx"
    for column in ("age", "education", "marital-status", "native-country", "occupation", "race", "sex", "workclass"):
        ended = anon(
            "hierarchy", "check", folder / f"hierarchy_{column}.csv", "--table", folder / "adult.csv",
            "--column", column, "--json", home=home,
        )  # fmt: skip
        assert (ended.code, ended.json["table"]["rows"]) == (0, 30_162), column
