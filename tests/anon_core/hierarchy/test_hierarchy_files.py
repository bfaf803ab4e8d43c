"""Hierarchy files of lines: read however they are written, or refused with every fault, by line and without labels."""

from __future__ import annotations

import itertools
import os
import re
import traceback
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import HierarchyError
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.files import levels_in, read_levels
from anon_core.hierarchy.files.faults import cycles
from anon_core.spec import Hierarchy
from tests.anon_core.table.table_files import write
from tests.properties.tables import Cell, spelled, table_of

CANARY = "CANARY-7319"


def levels_of(folder: Path, text: str | bytes, values: list[Cell]) -> dict[Cell, list[Cell]]:
    """What each value becomes by a file, from level 0 to the root."""
    write(folder, text, "places.csv")
    column = table_of(["c"], [(value,) for value in values]).column("c")
    built = ladder(column, Hierarchy(file="places.csv"), folder)
    return {v: [level[code] for level in spelled(built)] for code, v in enumerate(column.domain.to_pylist())}


def problems_in(text: str) -> list[str]:
    """The faults of a file; neither the error nor its traceback quotes the planted label."""
    with pytest.raises(HierarchyError) as caught:
        levels_in(text, "places.csv", "places.csv")
    assert CANARY not in "".join(traceback.format_exception(caught.value)) + repr(caught.value.args)
    assert str(caught.value) == "places.csv: " + "; ".join(caught.value.problems)
    return list(caught.value.problems)


@pytest.mark.parametrize(
    "text",
    [
        "AOSTA;AO;*\nCOGNE;AO;*\nTORINO;TO;*\n",
        "AOSTA,AO,*\nCOGNE,AO,*\nTORINO,TO,*",
        "\ufeffAOSTA;AO\r\n\r\nCOGNE;AO\r\nTORINO;TO\r\n",
        "AOSTA;AO\rCOGNE;AO\rTORINO;TO",
        '"AOSTA","AO","*"\n"COGNE","AO","*"\n"TORINO","TO","*"\n',
        '\ufeff"AOSTA";AO;"*"\r\nCOGNE;"AO";*\r\n"TORINO";TO;*',
    ],
    ids=["semicolons", "commas", "mark, line ends, no root", "old line ends", "quotes", "mark and quotes"],
)
def test_a_hierarchy_file_is_read_however_it_is_written(tmp_path: Path, text: str) -> None:
    at = levels_of(tmp_path, text, ["AOSTA", "COGNE", "TORINO", None])
    assert at["COGNE"] == ["COGNE", "AO", "*"]
    assert at["TORINO"] == ["TORINO", "TO", "*"]
    assert at[None] == [None, None, "*"]


def test_delimiters_and_line_breaks_inside_quotes_are_part_of_the_label(tmp_path: Path) -> None:
    at = levels_of(tmp_path, '"a;b";"N, or ""S"""\n"c\r\nd";W\n', ["a;b", "c\r\nd"])
    assert at == {"a;b": ["a;b", 'N, or "S"', "*"], "c\r\nd": ["c\r\nd", "W", "*"]}


def test_a_quote_inside_a_bare_cell_is_a_quote(tmp_path: Path) -> None:
    assert levels_of(tmp_path, '5" pipe;pipe\n', ['5" pipe'])['5" pipe'][1] == "pipe"


@pytest.mark.parametrize(
    "text",
    [
        "500;[0, 1,000);[0, 10,000)\n1,500;[1,000, 2,000);[0, 10,000)\n",
        "500;[0, 1,000)\n1500;[1,000, 2,000)\n",  # both signs would do: here is less of the right one
    ],
)
def test_commas_in_labels_do_not_hide_the_semicolons_between_them(text: str) -> None:
    assert levels_in(text, "wages.csv", "wages.csv").paths["500"][0] == "[0, 1,000)"


def test_an_empty_first_cell_gives_the_gap_its_own_path_and_a_quoted_one_the_empty_text(tmp_path: Path) -> None:
    at = levels_of(tmp_path, 'COGNE;AO\n;ABROAD\n"";NONE\n', ["COGNE", "", None])
    assert at[None] == [None, "ABROAD", "*"]
    assert at[""] == ["", "NONE", "*"]


def test_a_file_of_one_level_lists_the_values_that_may_be_there(tmp_path: Path) -> None:
    write(tmp_path, "F\nM\n", "sexes.csv")
    column = table_of(["c"], [("F",), ("M",), ("X",)]).column("c")
    built = ladder(column, Hierarchy(file="sexes.csv"), tmp_path)
    assert (built.height, built.unmapped.tolist()) == (1, [False, False, True])


@settings(max_examples=150, deadline=None)
@given(
    words=st.lists(
        st.one_of(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),
            st.sampled_from(["{a} => b", "=>", "level 1", "# x", "---", "\ufeff", "a\n{b} => c"]),
        ),
        min_size=1,
        unique=True,
    ),
    delimiter=st.sampled_from(",;"),
)
def test_any_text_can_stand_in_a_hierarchy_file(words: list[str], delimiter: str) -> None:
    lines = [[word, f"of {n % 2}"] for n, word in enumerate(words)]
    text = "".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in line) + "\n" for line in lines)
    assert levels_in(text, "any.csv", "any.csv").paths == {word: [above] for word, above in lines}


EMPTY = "is empty; write one line per value, level 0 first"
OPEN = "begins a cell that has no end; is a quote left open?"
ZERO = "has a zero byte (NUL); save the file as UTF-8 text"
CYCLE = "labels back to each other (a cycle); give every level labels of its own"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", [EMPTY]),
        ("\n\r\n \t\n", [EMPTY]),
        (";;\n;;\n", [EMPTY]),
        (f"a;N;*\n{CANARY};N\nc;N;x;*\n", ["line 2 has 2 levels, line 1 has 3", "line 3 has 4 levels, line 1 has 3"]),
        (f"{CANARY}\na;N\nb;N\n", ["line 1 has 1 level, line 2 has 2"]),
        (f"{CANARY};N\nb;N\n\n{CANARY};N\n", ["line 4 repeats the value of line 1"]),
        (f";N\n{CANARY};N\n;N\n", ["line 3 repeats the value of line 1"]),
        (f"{CANARY};N;W\nb;N;E\n", ["lines 1 and 2 give one label of level 1 two parents at level 2"]),
        (f"{CANARY};;W\nb;N;\n", ["line 1 has an empty label at level 1", "line 2 has an empty label at level 2"]),
        (
            f"{CANARY};N;W;*\n{CANARY};N;E;*\nc;S;;*\n",
            [
                "line 2 repeats the value of line 1",
                "line 3 has an empty label at level 2",
                "lines 1 and 2 give one label of level 1 two parents at level 2",
            ],
        ),
        (  # What is ragged does not hide what else is wrong.
            f"{CANARY};N;W\nb;N\n{CANARY};N;E\nd;;\n",
            [
                "line 2 has 2 levels, line 1 has 3",
                "line 3 repeats the value of line 1",
                "line 4 has an empty label at level 1",
                "line 4 has an empty label at level 2",
                "lines 1 and 3 give one label of level 1 two parents at level 2",
            ],
        ),
        (f'"a\nb";N;W\n{CANARY};N;E\n', ["lines 1 and 3 give one label of level 1 two parents at level 2"]),
        (f"{CANARY};b\nb;{CANARY}\n", [f"lines 1, 2 lead {CYCLE}"]),
        (f"x;{CANARY};b;{CANARY}\n", [f"line 1 leads {CYCLE}"]),
        (f"a;{CANARY}\n{CANARY};c\nd;e\nc;a\n", [f"lines 1, 2, 4 lead {CYCLE}"]),
        ("a;N\nb;N\nb;*\n*;a\n", ["line 3 repeats the value of line 2"]),
        (f'a;N\n"{CANARY};N\nc;N\n', [f"line 2 {OPEN}"]),
        (f'a;N\na;"{CANARY}\nc;N\n', [f"line 2 {OPEN}"]),
        (f'a;N\n"b"{CANARY};N\n', ["line 2 goes on after a closing quote; write a quote inside as two"]),
        (f'"a;N\nb;N\n"{CANARY}";N\nd;N\n', ["line 3 goes on after a closing quote; write a quote inside as two"]),
        (
            f"a;N\n{{{CANARY}, b}} => c\nd;N\n",
            ["line 2 is a rule; a file has rules or lines such as value;label, not both"],
        ),
        (
            f'a;N\n"{CANARY * 20_000}";N\n',
            ["line 2 has a cell of more than 100,000 characters; is a quote left open?"],
        ),
        (";".join(f"l{n}" for n in range(200)), ["has 200 levels; at most 100 are allowed"]),
        (
            f"a;N\n{CANARY}\0;N\r\nc;N\rd;\0N\nc;N\n",
            [f"line 2 {ZERO}", f"line 4 {ZERO}", "line 5 repeats the value of line 3"],
        ),
    ],
)
def test_a_bad_hierarchy_file_lists_everything_wrong_by_line(text: str, problems: list[str]) -> None:
    assert problems_in(text) == problems


def test_of_very_many_faults_the_first_are_told_and_the_rest_counted() -> None:
    told = problems_in("a;N;*\n" * 5_000)
    assert told[0] == "line 2 repeats the value of line 1"
    assert (len(told), told[-1]) == (21, "and 4,979 more")


def test_thousands_of_faults_of_one_kind_do_not_hide_another() -> None:
    text = "a;N;W;*\n" * 5_000 + "b;N;E;*\nc;;W;*\nd;W\ne;V;T;*\nf;T;V;*\n"
    told = problems_in(text)
    assert (len(told), told[-1]) == (21, "and 4,983 more")
    for said in (
        "line 5003 has 2 levels, line 1 has 4",
        "line 2 repeats the value of line 1",
        "line 5002 has an empty label at level 1",
        "lines 1 and 5001 give one label of level 1 two parents at level 2",
        f"lines 5004, 5005 lead {CYCLE}",
    ):
        assert said in told
    assert told[1:3] == ["line 2 repeats the value of line 1", "line 3 repeats the value of line 1"]


def test_a_label_that_repeats_itself_one_level_up_is_no_cycle(tmp_path: Path) -> None:
    at = levels_of(tmp_path, "AOSTA;AOSTA\nCOGNE;AOSTA\n", ["AOSTA", "COGNE"])
    assert at["AOSTA"] == ["AOSTA", "AOSTA (level 1)", "*"]


@settings(max_examples=200, deadline=None)
@given(edges=st.sets(st.tuples(st.sampled_from("abcdef*"), st.sampled_from("abcdef*")), max_size=12))
def test_a_cycle_is_told_exactly_where_labels_reach_each_other(edges: set[tuple[str, str]]) -> None:
    lines = {edge: n for n, edge in enumerate(sorted(edges), 1)}
    ways = {(low, high) for low, high in edges if low != high and high != "*"}
    reach = set(ways)
    for middle, start, end in itertools.product("abcdef*", repeat=3):
        if (start, middle) in reach and (middle, end) in reach:
            reach.add((start, end))
    circular = sorted(lines[edge] for edge in ways if edge[::-1] in reach)
    told = [int(number) for text in cycles(lines) for number in re.findall(r"\d+", text)]
    assert sorted(told) == circular


def test_a_hierarchy_file_that_is_missing_or_not_a_text_is_refused(tmp_path: Path) -> None:
    for path, said in [
        (
            tmp_path / "nowhere.csv",
            "no such hierarchy file; check the path (from where a publication file's paths start",
        ),
        (write(tmp_path, "a;N\né;N\n".encode("latin-1"), "latin.csv"), "line 2 cannot be read as UTF-8 text"),
        (write(tmp_path, f"{CANARY};N\n".encode("utf-16"), "wide.csv"), "line 1 cannot be read as UTF-8 text"),
        (write(tmp_path, "\ufeff\n", "mark.csv"), EMPTY),
        (tmp_path, "is a folder; name a file"),
        (Path("/dev/null"), "is a device, not a regular file; name a file"),
        (tmp_path / ("x" * 300), "cannot be read"),
        (tmp_path / "a\0b", "cannot be read"),
    ]:
        with pytest.raises(HierarchyError) as caught:
            read_levels(path)
        assert str(caught.value).startswith(f"{path}: {said}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_hierarchy_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a;N\n", "secret.csv")
    path.chmod(0)
    with pytest.raises(HierarchyError, match="may not be read by this user"):
        read_levels(path)


def test_a_quote_left_open_in_a_large_hierarchy_file_is_found() -> None:
    assert problems_in(f'"{CANARY};N\n' + "a;N\n" * 50) == [f"line 1 {OPEN}"]
    long = "line 1 has a cell of more than 100,000 characters; is a quote left open?"
    assert problems_in(f'"{CANARY};N\n' + "a;N\n" * 50_000) == [long]
