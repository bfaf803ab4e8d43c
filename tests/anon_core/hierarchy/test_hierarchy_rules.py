"""Hierarchies as rules: what they mean, and every fault by line."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path

import pytest

from anon_core.errors import HierarchyError, UnmappedValuesError
from anon_core.hierarchy.build import ladder, ladders
from anon_core.hierarchy.columns import ladder_of
from anon_core.hierarchy.files import levels_in
from anon_core.spec import Hierarchy, load_spec
from tests.anon_core.table.table_files import write
from tests.properties.tables import Cell, spelled, table_of

CANARY = "CANARY-7319"


def paths_of(text: str, values: Sequence[str] = ()) -> dict[str | None, list[str]]:
    """What rules make of these values, or of all they name."""
    levels = levels_in(text, "rules.txt", "rules.txt")
    known = levels.covering(values)
    return {value: list(known[value]) for value in values or levels.paths if value in known}


def problems_in(text: str) -> list[str]:
    with pytest.raises(HierarchyError) as caught:
        levels_in(text, "rules.txt", "rules.txt")
    assert CANARY not in "".join(traceback.format_exception(caught.value)) + repr(caught.value.args)
    return list(caught.value.problems)


def test_rules_are_read_in_both_spellings_of_the_paper() -> None:
    one = "{local-gov,federal-gov} => Government\n{private} => Private\n"
    other = "\ufeff{local-gov, federal-gov => Government}\r\n\r\n# a comment\r\n{private=>Private}".lstrip("\ufeff")
    wanted = {"local-gov": ["Government"], "federal-gov": ["Government"], "private": ["Private"]}
    assert paths_of(one) == paths_of(other) == wanted


def test_what_stands_in_double_quotes_may_hold_every_sign() -> None:
    text = '{"a,b", "{c}", "d => e", "say ""f""", 5" pipe, ""} => "x, {y} => z"\n'
    assert paths_of(text) == {
        value: ["x, {y} => z"] for value in ["a,b", "{c}", "d => e", 'say "f"', '5" pipe', ""]
    }  # fmt: skip


@pytest.mark.parametrize(
    "second",
    ["level 2\n", "# level 2\n", "Level 2:\n", "LEVEL  2 : regions\n", "---\n", "-----------\nlevel 2\n---\n"],
)
@pytest.mark.parametrize("first", ["", "level 1\n", "# level 1\n", "level 1\n-------\n", "--\n"])
@pytest.mark.parametrize("left", ["{a, b, c}", "{N, S}", "{N, c}"])
def test_a_level_begins_with_a_line_and_names_values_or_labels_below(first: str, second: str, left: str) -> None:
    text = f"{first}{{a, b}} => N\n{{c}} => S\n{second}{left} => W\n{{d}} => E"
    assert paths_of(text) == {"a": ["N", "W"], "b": ["N", "W"], "c": ["S", "W"], "d": ["d", "E"]}


def test_a_level_may_be_given_a_name() -> None:
    levels = levels_in("level 1: provinces\n{a} => N\nlevel 2\n{N} => W", "places.txt", "places.txt")
    assert levels.names == ["provinces", "places grouped, level 2 of 2"]


def test_without_a_line_for_levels_a_rule_is_one_level_above_what_it_names() -> None:
    text = "{a, b} => N\n{c} => S\n{d2} => d2\n{N, S} => W\n{d} => E\n{W, d2} => world"
    assert paths_of(text) == {
        "a": ["N", "W", "world"],
        "b": ["N", "W", "world"],
        "c": ["S", "W", "world"],
        "d": ["E", "E", "E"],
        "d2": ["d2", "d2", "world"],
    }


def test_a_last_level_of_stars_is_the_root() -> None:
    assert paths_of("{a, b} => N\n{c} => S\n{N, S} => *") == {"a": ["N"], "b": ["N"], "c": ["S"]}
    assert paths_of("{a, b} => *") == {"a": [], "b": []}


def test_intervals_take_in_numbers_whether_they_are_named_or_not() -> None:
    text = "[0, 18) => child\n[18, 30] => young\n(30, ) => older\nlevel 2\n{young, older} => adult\n"
    wanted = {"0": "child", "17.99": "child", "18": "young", "30.0": "young", "30.01": "older", "1E3": "older"}
    got = paths_of(text, [*wanted, "-1", "x"])
    assert got == {value: [label, label if label == "child" else "adult"] for value, label in wanted.items()}


def test_intervals_may_stand_among_values_and_on_upper_levels_only() -> None:
    text = "{[0, 18), unknown} => child\nlevel 2\n(-inf, 0) => before\n{child, [18, inf)} => after\n"
    assert paths_of(text, ["3", "unknown", "-2", "40"]) == {
        "3": ["child", "after"],
        "unknown": ["child", "after"],
        "-2": ["-2", "before"],
        "40": ["40", "after"],
    }


def test_intervals_read_a_decimal_comma_where_the_column_has_one() -> None:
    text = "[0, 1) => low\n[1, 2) => high\n"
    assert paths_of(text, ["0,5", "1,234"]) == {"0,5": ["low"], "1,234": ["high"]}
    assert paths_of(text, ["0", "1,234"]) == {"0": ["low"]}


def test_labels_of_intervals_are_kept_apart_in_every_month_alike() -> None:
    levels = levels_in("[0, 5) => low\n[5, 9) => high\nlevel 2\n{low, high} => low", "r.txt", "r.txt")
    for values in (["1"], ["1", "7"]):
        column = table_of(["c"], [(value,) for value in values]).column("c")
        assert [level[0] for level in spelled(ladder_of(column, levels))] == ["1", "low", "low (level 2)", "*"]


AGAIN = "names a value that line 1 names too, at level 1"
NEXT = "; if it is meant for the next level, write `level 2` above it"
SHAPE = "write {a, b} => c"
CYCLE = "labels back to each other (a cycle); give every level labels of its own"
NOR = (
    ", nor does a rule below name it as a value: is it misspelt? A value that is to stay as it is until here needs a "
    "rule on level 1, such as {a} => a"
)
BOTH = "a file has rules or lines such as value;label, not both"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (f"{{{CANARY}}} => N\n{{a, {CANARY}}} => S", [f"line 2 {AGAIN}{NEXT}"]),
        (f"{{{CANARY}}} => N\n{{a, {CANARY}}} => N", [f"line 2 {AGAIN}{NEXT}"]),
        (
            f"level 1\n{{{CANARY}}} => N\n{{a, {CANARY}}} => S",
            ["line 3 names a value that line 2 names too, at level 1"],
        ),
        ("[0, 9] => a\n[9, 12) => b", [f"lines 1 and 2 have intervals that overlap at level 1{NEXT}"]),
        (
            "level 1\n{a} => N\nlevel 2\n{N} => W\n{a} => W\n{a} => W",
            ["line 6 names a value that line 5 names too, at level 2"],
        ),
        ("--\n[0, 9) => a\n[9, 12) => b\n(1, 2) => c", ["lines 2 and 4 have intervals that overlap at level 1"]),
        (f"{{7, {CANARY}}} => a\n[0, 9) => b", [f"line 2 {AGAIN}{NEXT}"]),
        ("[5, 5) => a", ["line 1 has an interval that covers nothing"]),
        ("{x, (9, 3]} => a\n(5, 5) => b", [f"line {n} has an interval that covers nothing" for n in (1, 2)]),
        (f"{{}} => {CANARY}", [f"line 1 has nothing on the left side: {SHAPE}"]),
        (f"{{ }} => {CANARY}\n{{ => a}}", [f"line {n} has nothing on the left side: {SHAPE}" for n in (1, 2)]),
        (f"{{{CANARY}}} =>\n{{a => }}", [f"line {n} has nothing on the right side: {SHAPE}" for n in (1, 2)]),
        ('{a} => ""', [f"line 1 has nothing on the right side: {SHAPE}"]),
        (f"{{a,,{CANARY}}} => b\n{{c,}} => d", [f"line {n} has nothing between two commas" for n in (1, 2)]),
        (f"{{a}} => b\n{CANARY}", [f"line 2 is no rule: {SHAPE}"]),
        (f"{{a}} => b\n{CANARY};b\n", [f"line 2 is no rule: {SHAPE}; {BOTH}"]),
        (f"{{a}} => b\n{CANARY} => b", [f"line 2 is a rule without braces: {SHAPE}, or [18, 30) => c for numbers"]),
        (f"{CANARY} => b\n{{a}} => b", [f"line 1 is a rule without braces: {SHAPE}, or [18, 30) => c for numbers"]),
        (
            f"# towns\nlevel 1\n{CANARY} => b\n\n\"c;d\" => b, e\n",
            [f"line {n} is a rule without braces: {SHAPE}, or [18, 30) => c for numbers" for n in (3, 5)],
        ),
        ("{a\0} => b", ["line 1 has a zero byte (NUL); save the file as UTF-8 text"]),
        (f"[a, {CANARY}) => b", [f"line 1 is no rule: {SHAPE}, or [18, 30) => c for numbers"]),
        (
            f"{{{CANARY} => b => c}}\n{{{{a}} => b}}\n{{a}} => {{b}}",
            [f"line {n} has a brace or a second => inside a value: put the value in double quotes" for n in (1, 2, 3)],
        ),
        (f"{{{CANARY}}} => a\n{{a}} => {CANARY}", [f"lines 1, 2 lead {CYCLE}"]),
        (f"level 1\n{{a}} => {CANARY}\nlevel 2\n{{{CANARY}}} => a", [f"lines 2, 4 lead {CYCLE}"]),
        (
            f"{{{CANARY}, b}} => N\nlevel 2\n{{{CANARY}}} => S\n{{b}} => W",
            ["lines 3 and 4 give one label of level 1 two parents at level 2"],
        ),
        (
            f"{{{CANARY}, b}} => N\nlevel 2\n{{{CANARY}}} => S",
            ["line 3: a label of level 1 would have two parents at level 2, for only some of its values are named"],
        ),
        (
            "[0, 9) => N\nlevel 2\n[5, 12) => S",
            ["line 3: a label of level 1 would have two parents at level 2, for only some of its values are named"],
        ),
        (
            f"{{a}} => {CANARY}\n--\n{{{CANARY}}} => N\n--\n{{{CANARY}}} => S",
            [
                "line 5 names a label that other rules have put under another one below level 3: it would have two "
                "parents"
            ],
        ),
        (
            f"{{{CANARY}}} => W\n{{a}} => {CANARY}",
            [
                "line 1 names a label that line 2 makes only later: write finer rules first, or begin every level with "
                "a line such as `level 1`"
            ],
        ),
        (
            f"level 1\n{{a}} => N\n{{b}} => S\nlevel 2\n{{{CANARY}, S}} => W",
            [f"line 5 names something that level 1 does not make{NOR}"],
        ),
        (f"{{a}} => N\n{{b}} => S\n{{S, {CANARY}}} => W", [f"line 3 names something that level 1 does not make{NOR}"]),
        (
            f"level 1\n{{a}} => N\nlevel 2\n{{N}} => W\nlevel 3\n{{W, {CANARY}}} => E",
            [f"line 6 names something that level 2 does not make{NOR}"],
        ),
        ("[0, 5) => N\nlevel 2\n{N, 7} => W", [f"line 3 names something that level 1 does not make{NOR}"]),
        ("{a} =>\n{b} => S\nlevel 2\n{N, S} => W", [f"line 1 has nothing on the right side: {SHAPE}"]),
        ("level 2\n{a} => b", ["line 1 begins level 2 where level 1 should begin"]),
        ("{a} => b\nlevel 1\n{b} => c", ["line 2 begins level 1 where level 2 should begin"]),
        ("level 1\n{a} => b\nlevel 3\n{b} => c", ["line 3 begins level 3 where level 2 should begin"]),
        ("level 1\nlevel 2\n{a} => b", ["line 2 begins level 2 where level 1 should begin"]),
        ("".join(f"{{l{n}}} => l{n + 1}\n" for n in range(150)), ["has 150 levels; at most 100 are allowed"]),
        (
            f"{{a}} =>\n{{b}} => N\n{CANARY}\n{{b}} => S\n[3, 1] => x\nlevel 7\n{{N => N2}}",
            [
                f"line 1 has nothing on the right side: {SHAPE}",
                f"line 3 is no rule: {SHAPE}",
                "line 5 has an interval that covers nothing",
                "line 6 begins level 7 where level 2 should begin",
                "line 4 names a value that line 2 names too, at level 1",
            ],
        ),
    ],
)  # fmt: skip
def test_bad_rules_are_listed_all_at_once_by_line(text: str, problems: list[str]) -> None:
    assert problems_in(text) == problems


def test_a_rule_of_which_nothing_is_known_below_is_for_values_without_a_rule_there() -> None:
    levels = levels_in("level 1\n{a, b} => N\n{c} => S\nlevel 2\n{S} => W\n{d, e} => E", "r.txt", "r.txt")
    assert levels.paths["d"] == ["d", "E"]
    assert levels.staying == (1,), "N has no rule on level 2"


def test_labels_without_a_rule_on_the_next_level_are_counted() -> None:
    kept = levels_in("[0, 5) => a\n{x} => b\n{y} => c\nlevel 2\n{a} => W\n{c} => c\nlevel 3\n{W} => V", "r", "r")
    assert kept.staying == (1, 2), "b has no rule on level 2, b and c have none on level 3"
    assert levels_in("{x} => b\n{b} => *", "r", "r").staying == ()


def test_a_name_that_is_a_value_and_a_label_of_others_must_be_told_apart() -> None:
    told = problems_in(f"level 1\n{{{CANARY}}} => N\n{{a, b}} => {CANARY}\nlevel 2\n{{{CANARY}}} => W\n{{N}} => E")
    assert told[-1] == (
        "line 5 names what is a value and also a label of level 1 that does not hold it; list the values of the label "
        "instead"
    )


SPEC = """\
dataset: places
title: Places
source: {file: places.csv}
columns:
  town: {role: quasi, hierarchy: {file: towns.rules%s}}
privacy: {k: 2}
recode: {method: none}
portal: {folder: portal}
unit: row
reviewed: {by: Ada, "on": 2026-01-02}
"""


@pytest.mark.parametrize("suppress", [False, True])
def test_values_without_a_rule_are_counted_or_suppressed(tmp_path: Path, suppress: bool) -> None:
    write(tmp_path, "{COGNE, AOSTA} => AO\n", "towns.rules")
    publication = load_spec(write(tmp_path, SPEC % (", unmapped: suppress" * suppress), "places.yaml"))
    cells: list[Cell] = ["COGNE", CANARY, CANARY, None]
    table = table_of(["town"], [(cell,) for cell in cells])
    if suppress:
        built = ladders(publication, table, ["town"])["town"]
        assert spelled(built) == [["*", "COGNE", None], ["*", "AO", None], ["*", "*", "*"]]
        return
    with pytest.raises(UnmappedValuesError) as caught:
        ladders(publication, table, ["town"])
    assert caught.value.unmapped == {"town": (1, 2)}
    assert "column 'town': 1 distinct value, 2 rows, without a rule in towns.rules" in str(caught.value)
    assert CANARY not in repr(caught.value)


def test_what_only_the_column_shows_to_be_unsound_is_refused(tmp_path: Path) -> None:
    # The value 3 keeps its name on level 1, where others get it as their label; then they part.
    write(tmp_path, "[5, 9) => 3\nlevel 2\n[5, 9) => high\n[0, 5) => low\n", "odd.rules")
    column = table_of(["c"], [("3",), ("7",)]).column("c")
    with pytest.raises(HierarchyError, match="column 'c': a label of level 1 has two parents at level 2"):
        ladder(column, Hierarchy(file="odd.rules"), tmp_path)
