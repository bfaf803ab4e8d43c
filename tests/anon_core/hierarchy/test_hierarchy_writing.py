"""Every hierarchy that is built is sound, and the file of it reads back as it was."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import HierarchyError, InternalError, InvalidInputError
from anon_core.hierarchy.columns import checked, faults_in, ladder_of, rows_of, values_of
from anon_core.hierarchy.files import levels_in
from anon_core.hierarchy.files.writing import figures_of, kept_apart, lines_of, same_ladder, text_of, whole_ladder
from anon_core.hierarchy.kinds.dates import by_date
from anon_core.hierarchy.kinds.frequency_groups import by_frequency
from anon_core.hierarchy.kinds.ordered_groups import in_order
from anon_core.hierarchy.kinds.prefixes import by_prefix
from anon_core.hierarchy.kinds.widths import by_cuts, by_intervals
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.hierarchy.levels import Levels
from anon_core.table import Column
from tests.properties.tables import Cell, paths_for, spelled, table_of

ODD = [
    "*",
    "",
    "12*",
    "1-2",
    "[1, 2]",
    "other",
    "x;y",
    'say "hi"',
    "two\nlines",
    "{a} => b",
    "# c",
    "level 1",
    "\ufeffé",
    "a\n{b} => c",
]
CELLS = st.lists(
    st.one_of(
        st.none(),
        st.sampled_from(ODD),
        st.integers(-5, 40).map(str),
        st.sampled_from(["1.5", "1,5", "2019-05-15", "21.01.1949", "21/01/1949"]),
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3),
    ),
    min_size=1,
    max_size=20,
)


def column_of(cells: list[Cell]) -> Column:
    return table_of(["c"], [(cell,) for cell in cells]).column("c")


def built(column: Column, kind: str) -> Levels:
    values, rows = values_of(column), rows_of(column)
    return {
        "intervals": lambda: by_intervals(values, [Decimal(5), Decimal(10)]),
        "cuts": lambda: by_cuts(values, [[Decimal(2), Decimal(18)], [Decimal(18)]]),
        "date": lambda: by_date(values, ["month", "quarter", "year"]),
        "prefix": lambda: by_prefix(values, [2, 1]),
        "frequency": lambda: by_frequency(rows, [2, 4]),
        "groups": lambda: in_order(rows, [2, 5]),
        "root": lambda: Levels(paths={value: ["any"] for value in values}, names=["any"]),
        "rules": lambda: levels_in("[0, 9) => low\n{other, a} => word\n--\n{low, [9, 20)} => number", "r", "r"),
    }[kind]()


@settings(max_examples=400, deadline=None)
@given(
    cells=CELLS,
    kind=st.sampled_from(["intervals", "cuts", "date", "prefix", "frequency", "groups", "root", "rules"]),
)
def test_every_file_that_is_built_is_read_back_to_the_same_ladder(cells: list[Cell], kind: str) -> None:
    column = column_of(cells)
    made = ladder_of(column, built(column, kind))
    assert_sound(made, column)
    text = lines_of(made)
    if not text:
        with pytest.raises(InvalidInputError, match="there is nothing to write"):
            text_of(made, column)
        return
    assert text_of(made, column) == text
    again = ladder_of(column, levels_in(text, "file", "file"))
    assert spelled(again) == spelled(made)
    assert again.maps.tolist() == made.maps.tolist()
    assert again.unmapped.tolist() == made.unmapped.tolist()
    assert lines_of(again) == text
    depths = {line.count(";") for line in text.splitlines()} if not set(text) & set('"\n\r') else {made.height}
    assert depths <= {made.height}


def test_a_value_that_no_file_may_hold_is_not_written() -> None:
    column = column_of(["a", "b\0", None])
    with pytest.raises(InvalidInputError, match=r"column 'c': 1 value with a zero byte \(NUL\)"):
        text_of(ladder_of(column, built(column, "root")), column)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), cells=st.lists(st.sampled_from(["a", "b", "c", "*", None]), min_size=1))
def test_labels_that_are_kept_apart_stay_so_in_the_file(data: st.DataObject, cells: list[Cell]) -> None:
    column = column_of(cells)
    paths = data.draw(paths_for(sorted({cell for cell in cells if cell is not None})))
    depth = len(next(iter(paths.values()), []))
    made = climb("c", column.domain, dict(paths), [f"level {n}" for n in range(depth)] + ["root"])
    text = lines_of(made)
    if text:
        try:
            again = ladder_of(column, levels_in(text, "file", "file"))
        except HierarchyError as error:  # `a` above `b` above `a`, each for the same values, is a cycle
            assert "a cycle" in str(error)
            return
        assert same_ladder(made, again)


def assert_sound(ladder: Ladder, column: Column) -> None:
    """By definition, in plain Python: the values at level 0, functions up to one root, strangers at the root."""
    levels = spelled(ladder)
    values = column.domain.to_pylist()
    root = levels[-1][0]
    assert set(levels[-1]) == {root}
    for code, value in enumerate(values):
        column_of_labels = [level[code] for level in levels]
        if ladder.unmapped[code]:
            assert set(column_of_labels) == {root}
        else:
            assert column_of_labels[0] == value
    for below, above in pairwise(levels):
        parents: dict[Cell, Cell] = {}
        for low, high in zip(below, above, strict=True):
            assert parents.setdefault(low, high) == high


def ladder(maps: list[list[int]], labels: list[str], unmapped: list[bool], names: int | None = None) -> Ladder:
    return Ladder(
        column="c",
        labels=pa.array(labels, pa.string()),
        maps=np.array(maps, np.int32),
        level_names=tuple(f"level {n}" for n in range(names or len(maps))),
        unmapped=np.array(unmapped, np.bool_),
    )


SOUND = ladder([[0, 1, 2], [3, 3, 2], [4, 4, 4]], ["a", "b", "c", "N", "*"], [False] * 3)


@pytest.mark.parametrize(
    ("unsound", "said"),
    [
        (replace(SOUND, level_names=("one",)), "it has 3 levels and 1 name of levels"),
        (replace(SOUND, labels=pa.array(["a", "b", "c", "N", "a"])), "two of its labels are spelled the same"),
        (
            ladder([[0, 1], [2, 2], [0, 1], [3, 3]], ["a", "b", "N", "*"], [False] * 2),
            "a label of level 1 has two parents",
        ),
        (ladder([[0, 1], [2, 3]], ["a", "b", "N", "*"], [False] * 2), "not everything meets at the root"),
        (ladder([[0, 1], [2, 2]], ["a", "b", "*"], [False, True]), "a value that is not covered is published"),
        (ladder([[0, 0], [2, 2]], ["a", "b", "*"], [False] * 2), "a value does not stand for itself alone"),
        (ladder([[2, 2], [2, 2]], ["a", "b", "*"], [False, True]), "a value does not stand for itself alone"),
    ],
)
def test_an_unsound_ladder_is_our_bug_unless_people_wrote_it(unsound: Ladder, said: str) -> None:
    assert any(said in problem for problem in faults_in(unsound))
    with pytest.raises(InternalError, match="UnsoundLadder"):
        checked(unsound)
    with pytest.raises(HierarchyError, match=r"^places\.csv: column 'c': "):
        checked(unsound, "places.csv")


def test_a_sound_ladder_passes() -> None:
    assert checked(SOUND) is SOUND


def test_a_ladder_is_the_same_only_if_every_label_below_the_root_is() -> None:
    other = replace(SOUND, labels=pa.array(["a", "b", "c", "M", "*"]))
    root = replace(SOUND, labels=pa.array(["a", "b", "c", "N", "any"]))
    assert same_ladder(SOUND, SOUND)
    assert same_ladder(SOUND, root)
    assert not same_ladder(SOUND, other)
    assert not same_ladder(SOUND, replace(SOUND, maps=SOUND.maps[1:]))
    assert not same_ladder(SOUND, replace(SOUND, unmapped=np.array([True, False, False])))


def test_figures_count_the_labels_of_every_level_and_what_was_kept_apart() -> None:
    levels = levels_in("AOSTA;AOSTA;VDA\nCOGNE;AOSTA;VDA\nTORINO;TO;PIE\n;ABROAD;ABROAD", "places.csv", "places.csv")
    whole = whole_ladder(levels, "places.csv")
    assert [figures.labels for figures in figures_of(whole)] == [3, 2, 2, 1]
    assert kept_apart(whole, levels.covering([])) == [(1, "AOSTA")]
    column = column_of(["COGNE", "x", None])
    some = ladder_of(column, levels)
    assert [figures.labels for figures in figures_of(some)] == [1, 2, 2, 1]


def test_figures_of_rules_count_no_piece_of_the_numbers() -> None:
    levels = levels_in("[0, 9) => low\n{x} => word\n--\n[9, 20) => high", "r", "r")
    assert [figures.labels for figures in figures_of(whole_ladder(levels, "r"))] == [1, 2, 3, 1]
    assert kept_apart(whole_ladder(levels, "r"), levels.covering([])) == []
