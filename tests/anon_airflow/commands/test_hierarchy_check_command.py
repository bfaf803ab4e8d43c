"""``anon hierarchy check``: what it says of a file and of a table beside it, as users see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anon_airflow.commands.hierarchy_tables import CANARY, unfit, write_people
from tests.faults.anon_process import anon
from tests.faults.terminal import on_a_terminal


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_people(tmp_path / "people.csv")


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
    assert "level 2 has no rule for 2 labels of level 1: they stay unchanged" in ended.out
    assert anon("hierarchy", "check", file, "--json", home=home).json["without_a_rule_above"] == [2]
    file.write_text(file.read_text() + "{T0, AO} => Piemonte\n")
    ended = anon("hierarchy", "check", file, home=home)
    assert ended.code == 2
    assert "line 7 names something that level 1 does not make" in ended.err and "T0" not in ended.err


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
    assert "--show-values names them" in hinted.out and "`unmapped: suppress`" in hinted.out
    text = anon("hierarchy", "check", file, "--table", table, "--column", "town", "--show-values", home=home)
    assert text.code == 1
    assert (
        "town: 2 of 3 values covered; not covered: 1 value in 2 rows; 1 value of the file not in the table" in text.out
    )
    assert "labels that a lower level also has, so their level is added: 1" in text.out
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
    table: Path, tmp_path: Path, home: Path, command: str
) -> None:
    unfit(table)
    rules = tmp_path / "ages.rules"
    rules.write_text("[0, 99) => age\n")
    if command == "build":
        arguments = ["build", table, "--column", "age", "--rules", rules, "--show-values"]
    else:
        arguments = ["check", rules, "--table", table, "--column", "age", "--show-values"]
    ended = on_a_terminal("hierarchy", *arguments, home=home)
    assert ended.code == (2 if command == "build" else 1)
    assert CANARY in ended.err
    assert CANARY not in ended.out


@pytest.mark.reference
def test_the_hierarchies_of_arx_are_sound_and_cover_adult(reference_data: Path, home: Path) -> None:
    folder = reference_data / "adult_arx"
    for column in ("age", "education", "marital-status", "native-country", "occupation", "race", "sex", "workclass"):
        ended = anon(
            "hierarchy", "check", folder / f"hierarchy_{column}.csv", "--table", folder / "adult.csv",
            "--column", column, "--json", home=home,
        )  # fmt: skip
        assert (ended.code, ended.json["table"]["rows"]) == (0, 30_162), column
