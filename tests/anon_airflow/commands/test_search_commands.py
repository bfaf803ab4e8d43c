"""``anon profile``, ``detect``, ``select``, ``uccs`` and ``score``: what they print, and what they refuse."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.faults.anon_process import anon, start
from tests.faults.publications import NAMES, csv_text, people


def test_profile_prints_the_keys_of_the_design(home, table):
    shown = anon("profile", table, "--json", home=home).json
    assert shown["rows"] == 400
    keys = {"name", "type", "distinct", "missing", "entropy", "unique_share", "proposed_role", "reason"}
    assert [column["name"] for column in shown["columns"]] == list(NAMES)
    for column in shown["columns"]:
        assert keys <= set(column)
    by_name = {column["name"]: column for column in shown["columns"]}
    assert by_name["id"]["proposed_role"] == "identifier"
    assert by_name["sex"]["distinct"] == 2


def test_detect_prints_the_keys_of_the_design(home, table):
    shown = anon("detect", table, "--exclude", "id,notes", "--max-size", "3", "--json", home=home).json
    assert {"rows", "rows_dropped", "identifiers", "best", "best_by_size", "all_columns"} <= set(shown)
    assert {"columns", "singletons", "share", "distinct"} <= set(shown["best"])
    assert {"singletons", "share", "distinct"} <= set(shown["all_columns"])
    assert [each["size"] for each in shown["best_by_size"]] == [1, 2, 3]
    for each in shown["best_by_size"]:
        assert {"size", "columns", "singletons", "share", "distinct"} <= set(each)
        assert len(each["columns"]) == each["size"]
    assert (shown["rows"], shown["rows_dropped"]) == (400, 0)


def test_detect_drops_rows_with_gaps_in_the_searched_columns(home, table):
    table.write_text(csv_text([("1", "1950", "", "F", "3", ""), *people()]))
    shown = anon("detect", table, "--columns", "born,town,sex", "--missing", "drop", "--json", home=home).json
    assert (shown["rows"], shown["rows_dropped"]) == (400, 1)


def test_detect_with_an_unknown_column_names_it(home, table):
    ended = anon("detect", table, "--columns", "born,colour", home=home)
    assert ended.code == 2
    assert "colour" in ended.err


def test_detect_draws_the_curve_and_says_how_many_pairs_are_told_apart(home, table, tmp_path):
    picture = tmp_path / "curve.svg"
    shown = anon("detect", table, "--exclude", "id,notes", "--plot", picture, "--json", home=home).json
    assert picture.read_bytes().startswith(b"<?xml")
    for each in shown["best_by_size"]:
        assert each["distinct_ratio"] == each["distinct"] / 400
    # Of 400 people n share a sex, 400 - n the other: pairs of different sex are told apart.
    alone = anon("detect", table, "--columns", "sex", "--json", home=home).json["all_columns"]
    women = sum(person[3] == "F" for person in people())
    assert alone["separation_ratio"] == pytest.approx(2 * women * (400 - women) / (400 * 399))


def test_uccs_and_score_count_people_where_a_unit_is_named(home, tmp_path):
    """Everybody has two equal rows: no row is alone on anything, and everybody is alone on the town."""
    path = tmp_path / "visits.csv"
    path.write_text("person,town,year\n" + "a,X,1\na,X,1\nb,Y,1\nB ,Y,1\nc,Z,2\nc,Z,2\n")
    assert anon("uccs", path, "--columns", "town,year", "--json", home=home).json["uccs"] == []
    found = anon("uccs", path, "--unit", "person", "--json", home=home).json
    assert (found["uccs"], found["rows"], found["unit"]) == ([["town"]], 3, ["person"])
    scores = anon("score", path, "--unit", "person", "--json", home=home).json
    assert [(one["name"], one["sensitivity"], one["unique_share"]) for one in scores["columns"]] == [
        ("town", 0.5, 1.0),
        ("year", 0.0, pytest.approx(1 / 3)),
    ]
    assert "3 people" in anon("score", path, "--unit", "person", home=home).out
    refused = anon("score", path, "--unit", "person", "--sweep", "rows", home=home)
    assert refused.code == 2 and "--sweep draws rows, not people; leave --unit out" in refused.err


def test_detect_counts_people_where_a_unit_is_named(home, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("person,town,year\n" + "a,X,1\na,X,1\nb,X,2\nc,Y,2\n")
    shown = anon("detect", path, "--unit", "person", "--json", home=home).json
    assert (shown["rows"], shown["unit"]) == (3, ["person"])
    # Both rows of `a` are alone with `a` in year 1, and `c` is alone in Y: by rows nobody would be alone in year 1.
    assert shown["best_by_size"][0]["singletons"] == 1
    assert shown["all_columns"]["singletons"] == 3
    assert shown["identifiers"] == [["town", "year"]]
    assert anon("detect", path, "--unit", "nobody", home=home).code == 2


def test_columns_may_be_named_in_several_lists_and_with_a_comma_in_a_name(home, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"Name, first",town,year\nAnn,X,1\nBob,X,2\n')
    shown = anon("uccs", path, "--columns", '"Name, first",town', "--columns", "year", "--json", home=home).json
    assert shown["uccs"] == [["Name, first"], ["year"]]
    ended = anon("uccs", path, "--columns", "Town", home=home)
    assert ended.code == 2 and "did you mean `town`" in ended.err


def test_where_nobody_is_singled_out_it_says_so(home, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sex\n" + "F\nM\n" * 5)
    assert anon("detect", path, home=home).out.endswith("no set of these columns singles people out\n")


def test_select_prints_the_keys_of_the_design(home, table):
    shown = anon("select", table, "--columns", "sex,born", "--json", home=home).json
    assert [subset["columns"] for subset in shown["subsets"]] == [["sex"], ["born"], ["sex", "born"]]
    for subset in shown["subsets"]:
        assert {"columns", "distinct", "singletons"} <= set(subset)
    assert shown["elected"] == ["sex", "born"]
    assert shown["rows_dropped"] == 0


def test_select_reports_what_it_dropped_by_reason(home, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,x,1\n1,x,1\n?,x,1\n2,y,?\n")
    shown = anon("select", path, "--columns", "a,b", "--drop-missing", "--drop-duplicates", "--missing-word", "?",
                 "--json", home=home).json  # fmt: skip
    assert (shown["rows"], shown["rows_dropped"]) == (2, 2)
    assert (shown["rows_dropped_missing"], shown["rows_dropped_duplicates"]) == (1, 1)
    plain = anon("select", path, "--columns", "a,b", "--drop-duplicates", home=home).out
    assert "1 duplicate" in plain and plain.endswith("chosen as quasi-identifiers: a\n")


def test_uccs_prints_every_minimal_set(home, table):
    shown = anon("uccs", table, "--json", home=home).json
    assert ["id"] in shown["uccs"] and ["notes"] in shown["uccs"]
    assert shown["duplicate_rows"] == 0
    small = anon("uccs", table, "--max-size", "1", "--json", home=home).json
    assert small["uccs"] == [["id"], ["notes"]]


def test_uccs_of_a_table_with_equal_rows_says_what_to_do(home, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,b\n1,x\n1,x\n2,y\n3,y\n")
    ended = anon("uccs", path, home=home)
    assert ended.code == 0
    assert "1 row repeats an earlier one" in ended.out
    assert "--ignore-duplicates or --approximate" in ended.out
    assert anon("uccs", path, "--json", home=home).json == {
        "uccs": [], "duplicate_rows": 1, "rows": 4, "unit": [], "max_size": None, "approximate": 0.0
    }  # fmt: skip
    assert anon("uccs", path, "--ignore-duplicates", "--json", home=home).json["uccs"] == [["a"]]
    assert anon("uccs", path, "--approximate", "0.5", "--json", home=home).json["uccs"] == [["a"]]


def test_score_prints_the_keys_of_the_design(home, table):
    shown = anon("score", table, "--json", home=home).json
    assert [column["name"] for column in shown["columns"]] == list(NAMES)
    for column in shown["columns"]:
        assert {"name", "sensitivity", "exact", "cardinality", "unique_share", "entropy", "ranks"} <= set(column)
        assert column["exact"] <= column["sensitivity"] + 1e-12
    assert shown["columns"][0]["sensitivity"] == 0.5
    assert shown["average"] == pytest.approx(sum(c["sensitivity"] for c in shown["columns"]) / len(NAMES))


def test_score_takes_a_probability_for_all_and_for_one(home, table):
    shown = anon("score", table, "--p", "0.1", "--p", "id=0.9", "--json", home=home).json
    by_name = {column["name"]: column["sensitivity"] for column in shown["columns"]}
    assert (by_name["id"], by_name["notes"]) == (0.9, 0.1)


def test_score_after_masking_shows_what_was_before(home, table, tmp_path):
    picture = tmp_path / "scores.png"
    shown = anon("score", table, "--exclude", "notes", "--mask", "id=3", "--plot", picture, "--json", home=home).json
    assert picture.read_bytes().startswith(b"\x89PNG")
    before = {column["name"]: column for column in shown["before"]["columns"]}
    after = {column["name"]: column for column in shown["columns"]}
    assert (before["id"]["cardinality"], after["id"]["cardinality"]) == (400, 1)
    assert after["id"]["sensitivity"] != before["id"]["sensitivity"]
    assert "before masking" in anon("score", table, "--mask", "id=3", home=home).out


@pytest.mark.parametrize("sweep", ["rows", "adversary"])
def test_score_sweeps_over_rows_and_over_the_adversary(home, table, sweep):
    words = ("score", table, "--exclude", "id,notes", "--ignore-duplicates", "--sweep", sweep)
    shown = anon(*words, "--json", home=home).json
    points = shown["sweep"]["points"]
    assert [point["at"] for point in points] == sorted({point["at"] for point in points})
    assert points[-1]["average"] == pytest.approx(shown["average"])
    assert "average sensitivity by" in anon(*words, home=home).out


def test_a_table_without_unique_sets_has_no_sensitivity_and_says_why(home, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,b\n1,x\n1,x\n2,y\n")
    shown = anon("score", path, "--json", home=home).json
    assert {column["sensitivity"] for column in shown["columns"]} == {None}
    assert shown["average"] is None
    assert "approximate" in shown["reason"]
    assert "approximate" in anon("score", path, home=home).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["detect", "--columns", "born,colour"], "colour"),
        (["uccs", "--columns", "born,colour,shade"], "'colour', 'shade'"),
        (["score", "--exclude", "colour"], "colour"),
        (["select", "--columns", "colour"], "colour"),
        (["select", "--columns", "sex,sex"], "named twice: sex"),
        (["detect", "--columns", "sex,sex"], "named twice: sex"),
        (["detect", "--max-size", "0"], "--max-size"),
        (["uccs", "--max-size", "0"], "--max-size"),
        (["uccs", "--approximate", "1.5"], "between 0 and 1"),
        (["uccs", "--approximate", "nan"], "between 0 and 1"),
        (["uccs", "--exclude", ",".join(NAMES)], "no column is left"),
        (["uccs", "--columns", ""], "names no column"),
        (["detect", "--columns", "sex", "--unit", "sex"], "says who is counted"),
        (["score", "--p", "0,3"], "after a point"),
        (["score", "--p", "0.1", "--p", "0.2"], "given twice"),
        (["score", "--p", "1.01"], "between 0 and 1"),
        (["score", "--p", "-1"], "between 0 and 1"),
        (["score", "--p", "nan"], "between 0 and 1"),
        (["score", "--p", "often"], "not a number"),
        (["score", "--p", "colour=0.5"], "colour"),
        (["score", "--mask", "id"], "column=number"),
        (["score", "--mask", "id=0"], "column=number"),
        (["score", "--mask", "colour=2"], "colour"),
        (["score", "--mask", "id=1", "--mask", "id=2"], "twice"),
        (["score", "--plot", "scores.pdf"], ".svg or .png"),
        (["detect", "--plot", "no/such/folder/curve.svg"], "no/such/folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_wrong_call_ends_with_2_and_says_what_is_wrong(home, table, tmp_path, words, said):
    ended = anon(words[0], table, *words[1:], home=home, cwd=tmp_path)
    assert ended.code == 2, ended.out
    assert said in ended.err
    assert ended.out == ""
    assert "Traceback" not in ended.err


def test_nested_parquet_columns_are_refused_by_name(home, tmp_path):
    path = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"ok": ["a"], "tags": [["x", "y"]], "who": [{"n": 1}]}), path)
    for command in ("detect", "uccs", "score", "profile"):
        ended = anon(command, path, home=home)
        assert ended.code == 2
        assert "tags, who" in ended.err


def wide_table(path: Path, columns: int = 200, rows: int = 120) -> Path:
    draw = random.Random(1)
    names = ",".join(f"c{n}" for n in range(columns))
    lines = (",".join(str(draw.randrange(3)) for _ in range(columns)) for _ in range(rows))
    path.write_text("\n".join([names, *lines]) + "\n")
    return path


def test_a_search_of_every_size_over_a_wide_table_says_what_it_may_cost_and_can_be_stopped(home, tmp_path):
    path = wide_table(tmp_path / "wide.csv")
    started = start("uccs", path, "--max-size", "200", home=home)
    started.until_it_says("searching: [1-9]")
    os.kill(started.pid, signal.SIGINT)
    ended = started.wait()
    assert ended.code == 130
    assert "200 columns and sets of up to 200" in ended.err and "Ctrl-C" in ended.err
    assert "searching: " in ended.err and "searching: 0" not in ended.err
    assert "Traceback" not in ended.err


def test_an_interrupt_inside_a_compiled_loop_is_an_interrupt(home, tmp_path):
    path = wide_table(tmp_path / "wide.csv", columns=120, rows=12_000)
    started = start("detect", path, "--max-size", "5", home=home)
    started.until_it_says("searching: [1-9]")
    time.sleep(0.5)
    os.kill(started.pid, signal.SIGINT)
    ended = started.wait()
    assert (ended.code, ended.out) == (130, "")
    assert ended.err.endswith("stopped\n")
    assert "bug" not in ended.err


def test_a_small_table_is_answered_without_loading_what_only_large_ones_need(table, tmp_path):
    """Numba, the database and the plots take longer to import than the answer takes."""
    program = """
import json, sys
from anon_airflow.cli import main
sys.argv[1:] = json.loads(sys.argv[1])
try:
    main()
except SystemExit as end:
    loaded = [name for name in ("numba", "sqlalchemy", "matplotlib", "pandas", "pydantic") if name in sys.modules]
    print("LOADED", loaded, end.code, file=sys.stderr)
"""
    for words in ([command, str(table), "--columns", "sex,town"] for command in ("detect", "select", "uccs", "score")):
        ended = subprocess.run(
            [sys.executable, "-c", program, json.dumps(words)], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert "LOADED [] 0" in ended.stderr, words


@pytest.mark.parametrize("command", ["uccs", "score", "detect"])
def test_a_wide_table_is_not_searched_without_a_largest_size(home, tmp_path, command):
    path = tmp_path / "wide.csv"
    path.write_text("".join(",".join(f"{start}{n}" for n in range(1_000)) + "\n" for start in "cxyx"))
    ended = anon(command, path, home=home)
    assert (ended.code, ended.out) == (2, "")
    assert "1,000 columns have too many sets to search" in ended.err
    assert "--max-size 3" in ended.err
    assert anon(command, path, "--max-size", "1", "--json", home=home).code == 0
    fifty = ",".join(f"c{n}" for n in range(50))
    assert anon(command, path, "--columns", fifty, "--json", home=home).code == 0
