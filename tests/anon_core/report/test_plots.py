"""Pictures: the same bytes every time, readable, and without any cell value."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anon_core.detection.selective import Selection, Subset
from anon_core.detection.singletons import detect
from anon_core.engines.arrow import ArrowEngine
from anon_core.errors import InvalidInputError, StorageError
from anon_core.frequency import FrequencyTable
from anon_core.measures.sensitivity.scores import Scores, score_columns
from anon_core.measures.sensitivity.sweeps import sweep_adversary
from anon_core.report.plots import plot_detection, plot_scores, plot_selection
from anon_core.table import Table
from anon_core.table.masking import mask
from tests.properties.tables import table_of
from tests.properties.unique_sets import brute_search

CANARY = "canary7731"
NAMES = ["card", "town", "$\\frac{$ --> <&>", "sex", "a\x07very\nlong name of a column that nobody can remember"]
DRAWN = ["card", "town", "$\\frac{$", "sex", "a very long n…y can remember"]


def texts(path: Path) -> str:
    """What is written in an SVG: matplotlib puts every text it draws into a comment as well."""
    return " ".join(re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"), re.DOTALL))


def people(count: int = 12) -> Table:
    rows = [
        (f"{CANARY}{n:02}", f"{CANARY} town {n % 5}", f"{n % 4}{CANARY}", CANARY if n % 2 else None, f"{CANARY}{n % 3}")
        for n in range(count)
    ]
    return table_of(NAMES, rows)


def scored(table: Table) -> Scores:
    return score_columns(
        ArrowEngine(table=table), brute_search(FrequencyTable.of(table)), dict.fromkeys(table.names, 0.5)
    )


def draw_detection(path: Path) -> None:
    plot_detection(detect(FrequencyTable.of(people())), path)


def draw_scores(path: Path) -> None:
    plot_scores(scored(people()), path)


def draw_scores_and_sweep(path: Path) -> None:
    table = mask(people(), {"card": 1})
    unique = brute_search(FrequencyTable.of(table))
    sweep = sweep_adversary(table.names, unique, dict.fromkeys(table.names, 0.5))
    plot_scores(scored(table), path, before=scored(people()), sweep=sweep)


def draw_no_scores(path: Path) -> None:
    table = people()
    scores = scored(table_of(NAMES, [*zip(*(c.to_pylist() for c in table.to_arrow().columns), strict=True)] * 2))
    assert scores.average is None
    plot_scores(scores, path)


def draw_selection(path: Path) -> None:
    frequencies = FrequencyTable.of(people())
    chosen = [one for size in (1, 2, 5) for one in combinations(NAMES, size)]
    parts = [frequencies.project(one) for one in chosen]
    found = tuple(
        Subset(columns=one, distinct=part.tuples, singletons=part.singletons)
        for one, part in zip(chosen, parts, strict=True)
    )
    plot_selection(Selection(rows=12, subsets=found, elected=("card",)), path)


DRAWINGS = [draw_detection, draw_scores, draw_scores_and_sweep, draw_no_scores, draw_selection]
Drawing = Callable[[Path], None]


def test_whoever_draws_keeps_their_own_settings_and_the_picture_does_not_follow_them(tmp_path: Path) -> None:
    import matplotlib

    draw_scores(tmp_path / "first.svg")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red"}):
        draw_scores(tmp_path / "second.svg")
        assert matplotlib.rcParams["font.size"] == 20
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_picture_names_every_column_and_holds_no_cell_value(tmp_path: Path, draw: Drawing) -> None:
    path = tmp_path / "picture.svg"
    draw(path)
    text = path.read_text(encoding="utf-8")
    for name in DRAWN:
        assert name in text  # As a comment beside the drawn letters, so the search for the canary can find something.
    assert CANARY not in text
    assert "<dc:date>" not in text
    ElementTree.fromstring(text)


def test_a_picture_of_sixty_columns_names_them_all_and_grows_with_them(tmp_path: Path) -> None:
    names = [f"column_{n:02}" for n in range(60)]
    table = table_of(names, [tuple(str(row * n % 7) for n in range(60)) for row in range(3)])
    unique = brute_search(FrequencyTable.of(table), max_size=1)
    path = tmp_path / "wide.svg"
    plot_scores(score_columns(ArrowEngine(table=table), unique, dict.fromkeys(names, 0.5)), path)
    text = path.read_text()
    assert all(f"<!-- {name} -->" in text for name in names)
    height = float(ElementTree.fromstring(text).attrib["height"].removesuffix("pt"))
    assert height / 60 > 12  # Points for each name of 9 points.


def test_axes_have_names_and_units(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    draw_scores_and_sweep(path)
    text = path.read_text()
    for words in ("probability (0 to 1)", "rank (1 = most sensitive, of 5)", "sensitivity before masking"):
        assert f"<!-- {words} -->" in text
    assert "average of all columns" in text
    draw_detection(path)
    assert "<!-- rows singled out (% of 12 rows) -->" in path.read_text()


def test_where_people_are_counted_the_picture_says_people(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    visits = table_of(["person", "town", "sex"], [("a", "x", "F"), ("a", "y", "F"), ("b", "x", "F"), ("c", "x", "M")])
    plot_detection(detect(FrequencyTable.of(visits, unit="person")), path)
    drawn = texts(path)
    assert "People singled out by the best column set of every size" in drawn
    assert "people singled out (% of 3 people)" in drawn
    assert "1 person, 33.33%" in drawn
    assert "row" not in drawn


def test_one_row_or_column_is_told_in_the_singular(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    plot_detection(detect(FrequencyTable.of(table_of(["town"], [("x",), ("x",), ("y",)]))), path)
    assert "1 row, 33.33%" in texts(path)
    assert "the only column" in texts(path)


def test_a_table_without_unique_sets_is_drawn_with_the_reason(tmp_path: Path) -> None:
    draw_no_scores(tmp_path / "picture.svg")
    assert "so sensitivity is not defined (12 of 24 rows repeat an earlier one)" in " ".join(
        texts(tmp_path / "picture.svg").split()
    )


def test_too_many_subsets_are_cut_and_the_picture_says_so(tmp_path: Path) -> None:
    many = tuple(Subset(columns=(f"c{n}",), distinct=n, singletons=0) for n in range(100))
    plot_selection(Selection(rows=99, subsets=many, elected=("c99",)), tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text()
    assert "(60 of 100 subsets)" in text
    assert "<!-- c99 -->" in text
    assert "<!-- c39 -->" not in text
    assert re.findall(r"<!-- (\d+) \(elected\) -->", text) == ["99"]


@pytest.mark.parametrize("name", ["picture.pdf", "picture", "picture.svg.gz"])
def test_another_kind_of_file_is_refused_and_the_two_kinds_are_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"\.svg or \.png"):
        draw_detection(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    draw_scores(tmp_path / "PICTURE.PNG")
    assert (tmp_path / "PICTURE.PNG").read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_does_not_exist_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="drawing a picture failed"):
        draw_scores(tmp_path / "nowhere" / "picture.svg")


def test_matplotlib_is_loaded_only_to_draw_and_never_with_a_display(tmp_path: Path) -> None:
    program = (
        "import sys, anon_core.report.plots as plots;"
        "from anon_core.detection.selective import Selection;"
        "assert 'matplotlib' not in sys.modules;"
        "plots.plot_selection(Selection(rows=0, subsets=(), elected=()), sys.argv[1]);"
        "assert 'matplotlib' in sys.modules;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "empty.svg")], check=True)
    assert (tmp_path / "empty.svg").exists()
