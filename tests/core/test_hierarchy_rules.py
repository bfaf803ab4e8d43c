"""Hierarchies as rules: what they mean, against a few lines of brute force, and every fault by line."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import HierarchyError, UnmappedValuesError
from anon_core.hierarchy.build import ladder, ladders
from anon_core.hierarchy.columns import ladder_of
from anon_core.hierarchy.files import levels_in
from anon_core.spec import Hierarchy, load_spec
from tests.core.table_files import write
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
    assert levels.names == ["provinces", "level 2 of places.txt"]


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
        ("".join(f"{{l{n}}} => l{n + 1}\n" for n in range(150)), ["has 150 levels; at most 100 are meant by anybody"]),
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


VALUES, LABELS = ("a", "b", "c", "5", "9.0"), ("P", "Q", "R", "a")
Bounds = tuple[int, int, bool, bool]


@st.composite
def rule_files(draw: st.DrawFn) -> list[tuple[int, list[str | Bounds], str]]:
    """Rules as level, left side and label: values, labels and intervals, faulty more often than not."""
    bounds = st.tuples(st.integers(0, 4), st.integers(5, 10), st.booleans(), st.booleans())
    low, rules = 0, []
    for _ in range(draw(st.integers(1, 5))):
        low += draw(st.integers(0, 1)) if low else 1
        items = draw(
            st.lists(st.one_of(st.sampled_from(VALUES), st.sampled_from(LABELS), bounds), min_size=1, max_size=3)
        )
        rules.append((low, items, draw(st.sampled_from(LABELS))))
    return rules


def spelled_out(rules: Sequence[tuple[int, list[str | Bounds], str]]) -> str:
    lines, at = [], 0
    for level, items, label in rules:
        lines += [f"level {level}"] * (level > at)
        at = level
        shown = [i if isinstance(i, str) else f"{'(['[i[2]]}{i[0]}, {i[1]}{')]'[i[3]]}" for i in items]
        lines.append(f"{{{', '.join(shown)}}} => {label}")
    return "\n".join(lines)


def holds(bounds: Bounds, number: Decimal) -> bool:
    low, high, low_closed, high_closed = bounds
    return low < number < high or (number == low and low_closed) or (number == high and high_closed)


def brute_force(rules: Sequence[tuple[int, list[str | Bounds], str]]) -> dict[str, list[str]] | None:
    """The paths of every named value and of many numbers, one level after the other; None if there is a fault."""
    made = {label for _, _, label in rules}
    numbers = {n: Decimal(n) for n in (f"{half / 2:.2f}" for half in range(-2, 24))}
    numbers |= {i: Decimal(i) for _, items, _ in rules for i in items if i in ("5", "9.0")}
    paths: dict[str, list[str]] = {n: [n] for n in numbers}
    named: set[str] = {n for n in numbers if n in ("5", "9.0")}
    seen: set[str] = set(named)
    for level in range(1, rules[-1][0] + 1):
        taken: dict[str, list[tuple[int, str, bool]]] = {}
        earlier = {label for at, _, label in rules if at < level}
        names_below = {i for at, items, _ in rules for i in items if at < level and isinstance(i, str)}
        ranges_below = [i for at, items, _ in rules for i in items if at < level and not isinstance(i, str)]
        for line, (at, items, label) in enumerate(rules):
            known = [known_below(i, earlier | names_below, ranges_below) for i in items]
            if (
                at == level > 1
                and any(known)
                and not all(known or not isinstance(i, str) for i, known in zip(items, known, strict=True))
            ):
                return None
            for item in items if at == level else ():
                if not isinstance(item, str):
                    hit = [v for v, number in numbers.items() if holds(item, number)]
                    seen |= set(hit)
                    direct = False
                else:
                    standing = [v for v in paths if v in seen and level > 1 and paths[v][-1] == item]
                    if standing:
                        if item in named and paths[item][-1] != item:
                            return None
                        hit, direct = standing, standing == [item]
                    elif item in earlier and item not in named:
                        return None
                    else:
                        paths.setdefault(item, [item] * level)
                        named.add(item)
                        seen.add(item)
                        hit, direct = [item], True
                for value in hit:
                    taken.setdefault(value, []).append((line, label, direct))
        for found in taken.values():
            for one in found:
                for other in found:
                    if one[0] != other[0] and (one[1] != other[1] or (one[2] and other[2])):
                        return None
        before = {v: path[-1] for v, path in paths.items()}
        for value, path in paths.items():
            path.append(taken[value][0][1] if value in taken else path[-1])
        if level > 1:
            for one in seen:
                for other in seen:
                    if before[one] == before[other] and paths[one][-1] != paths[other][-1]:
                        return None
    edges = {(i, label) for _, items, label in rules for i in items if isinstance(i, str) and i != label}
    for _ in made:
        edges |= {(a, d) for a, b in edges for c, d in edges if b == c}
    if any((b, a) in edges for a, b in edges if a != b) or any(a == b for a, b in edges):
        return None
    return {value: path[1:] for value, path in paths.items() if value in seen}


def known_below(item: str | Bounds, names: set[str], ranges: Sequence[Bounds]) -> bool:
    """Whether something on a left side was made, named or covered by a level below."""
    if not isinstance(item, str):
        return any(holds_both(item, other) for other in ranges)
    number = Decimal(item) if item in ("5", "9.0") else None
    return item in names or (number is not None and any(holds(other, number) for other in ranges))


@settings(max_examples=400, deadline=None)
@given(rules=rule_files())
def test_rules_mean_what_brute_force_makes_of_them(rules: list[tuple[int, list[str | Bounds], str]]) -> None:
    overlapping = any(
        one < other and a[0] == b[0] and any(holds_both(x, y) for x in a[1] for y in b[1])
        for one, a in enumerate(rules)
        for other, b in enumerate(rules)
    )
    wanted = None if overlapping else brute_force(rules)
    try:
        levels = levels_in(spelled_out(rules), "rules.txt", "rules.txt")
    except HierarchyError:
        assert wanted is None, "sound rules were refused"
        return
    assert wanted is not None, "faulty rules were taken"
    got = levels.covering(list(wanted))
    assert {value: list(got[value]) for value in wanted} == wanted


def holds_both(one: str | Bounds, other: str | Bounds) -> bool:
    """Whether two intervals share a number; their ends are whole, so a quarter step finds it."""
    if isinstance(one, str) or isinstance(other, str):
        return False
    return any(holds(one, Decimal(n) / 4) and holds(other, Decimal(n) / 4) for n in range(-4, 48))


@st.composite
def trees(draw: st.DrawFn) -> dict[str, list[str]]:
    """Paths of one length in which every label occurs on one level only."""
    values = draw(
        st.lists(st.text("abc,;{}=>\"'[]()#é-", min_size=1, max_size=4).map(str.strip), min_size=1, unique=True)
    )
    values = [value for value in values if value]
    below = {value: value for value in values}
    paths: dict[str, list[str]] = {value: [] for value in values}
    for level in range(1, draw(st.integers(1, 3)) + 1):
        above = {label: f"L{level} {draw(st.integers(0, 2))}" for label in sorted(set(below.values()))}
        below = {value: above[label] for value, label in below.items()}
        for value in values:
            paths[value].append(below[value])
    return paths


@settings(max_examples=100, deadline=None)
@given(paths=trees())
def test_one_hierarchy_is_the_same_as_lines_and_as_rules_of_every_kind(paths: dict[str, list[str]]) -> None:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    depth = len(next(iter(paths.values()), []))
    lines = "".join(";".join(map(quoted, [value, *path])) + "\n" for value, path in paths.items())
    by_values, by_labels = [], []
    for level in range(depth):
        by_values.append(f"level {level + 1}")
        for label in sorted({path[level] for path in paths.values()}):
            values = [v for v, path in paths.items() if path[level] == label]
            labels = sorted({paths[v][level - 1] for v in values}) if level else values
            by_values.append(f"{{{', '.join(map(quoted, values))}}} => {label}")
            by_labels.append(f"{{{', '.join(map(quoted, labels))} => {quoted(label)}}}")
    for text in (lines, "\n".join(by_values), "\n".join(by_labels)) if paths else ():
        assert {v: list(p) for v, p in levels_in(text, "any.txt", "any.txt").paths.items()} == paths


SPEC = """\
dataset: places
title: Places
source: {file: places.csv}
columns:
  town: {role: quasi, hierarchy: {file: towns.rules%s}}
privacy: {k: 2}
recode: {method: none}
portal: {folder: portal}
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
