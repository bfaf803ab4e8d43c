"""Pictures of class sizes, risk, utility and values: right figures, whole texts, no value unless asked for."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from anon_core.comparison import Comparison, compare
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.measures.risk.rows_by_size import RowsOrPeople, rows_by_size
from anon_core.measures.risk.value_risk import rows_at_risk_by_value
from anon_core.measures.utility import Utility, utility
from anon_core.recoding.sweep import SweptK
from anon_core.report.plots import plot_assessment, plot_value_risk
from anon_core.report.plots.utility import columns_left
from tests.anon_core.report.drawable import by_value, classes
from tests.anon_core.report.test_plots import Drawing
from tests.properties.tables import table_of

CANARY = "canary7731"
NAMES = ["$town ü <&>", "sex", "a\x07very\nlong name of a column that nobody can remember"]
DRAWN = ["$town ü <&>", "sex", "a very long n…y can remember"]


def recoded(*, paired: bool = True) -> Comparison:
    rows = [(f"{CANARY}{n % 5}", f"{CANARY}{n % 2}", f"{CANARY}{n % 3}") for n in range(40)]
    before = table_of(NAMES, rows)
    after = table_of(NAMES, [(f"{town} above", sex, "*") for town, sex, _ in rows])
    ladders = [
        climb(one.name, one.domain, {v: [f"{v} above"] for v in one.domain.to_pylist()}, ["above", "root"], "*")
        for one in before.columns
    ]
    return compare(before, after, ladders, same_order=paired)


def measured(*, paired: bool = True) -> Utility:
    return utility(recoded(paired=paired), k=3)


def draw_one(path: Path) -> None:
    plot_assessment(rows_by_size(recoded().after), path, k=3)


def draw_both(path: Path) -> None:
    found = recoded()
    weights = dict(zip(NAMES, [0.25, 1.0, 0.5], strict=True))
    plot_assessment(
        rows_by_size(found.after),
        path,
        k=3,
        before=rows_by_size(found.before),
        utility=utility(found, weights),
        weights=weights,
    )


def draw_without_entropy(path: Path) -> None:
    found = recoded()
    plot_assessment(
        rows_by_size(found.after), path, k=3, before=rows_by_size(found.before), utility=measured(paired=False)
    )


def draw_values(path: Path) -> None:
    plot_value_risk(rows_at_risk_by_value(recoded().before, NAMES, NAMES[0], k=3), path)


def draw_many_values(path: Path) -> None:
    values = [f"{CANARY}{n}" for n in range(300)]
    plot_value_risk(by_value([*values, None], [10**9] * 301, [10**9 - n for n in range(301)]), path)


def draw_tiny(path: Path) -> None:
    plot_assessment(classes({1: 1}), path, k=5)


def draw_empty(path: Path) -> None:
    plot_assessment(classes({}), path, k=2, before=classes({1: 10**6}))


def draw_huge(path: Path) -> None:
    sizes = {size: size * 997 for size in [*range(1, 400), 10**4, 10**6, 10**8, 10**10]}
    plot_assessment(
        classes(sizes, RowsOrPeople.PEOPLE), path, k=12_345, before=classes({1: 10**10}, RowsOrPeople.PEOPLE)
    )


def draw_sweep(path: Path) -> None:
    found = recoded()
    sizes, weights = (2, 3, 5, 10, 40_000), dict(zip(NAMES, [0.25, 1.0, 0.5], strict=True))
    left = [SweptK(k=k, nue=0.9 - k / 50, wnue=0.95 - k / 90, rows_removed=k) for k in sizes[:-1]]
    plot_assessment(
        rows_by_size(found.after),
        path,
        k=3,
        before=rows_by_size(found.before),
        utility=utility(found, weights),
        weights=weights,
        sweep=[*left, SweptK(k=sizes[-1], reason="the table has only 40 rows")],
    )


def draw_long_sweep(path: Path) -> None:
    left = [
        SweptK(k=2**n, nue=1 - n / 40, wnue=1 - n / 40, rows_removed=50 * n) if n % 7 else SweptK(k=2**n, reason="no")
        for n in range(1, 21)
    ]
    plot_assessment(classes({5: 100}), path, k=5, before=classes({1: 1000}), sweep=left)


def draw_no_values(path: Path) -> None:
    plot_value_risk(by_value([], [], []), path, show_values=True)


def draw_one_value(path: Path) -> None:
    plot_value_risk(by_value([CANARY], [0], [1]), path)


OF_TABLES = [draw_one, draw_both, draw_without_entropy, draw_values, draw_sweep]
DRAWINGS = [
    *OF_TABLES,
    *(draw_many_values, draw_tiny, draw_empty, draw_huge, draw_no_values, draw_one_value, draw_long_sweep),
]


def texts(path: Path) -> list[str]:
    """What is written in an SVG: matplotlib puts every text it draws into a comment as well."""
    found = re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"), re.DOTALL)
    return [text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for text in found]


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that were drawn, to look at what is in them."""
    from matplotlib.figure import Figure

    drawn: list[Any] = []
    save = Figure.savefig

    def keep(self: Any, *arguments: Any, **options: Any) -> None:
        drawn.append(self)
        save(self, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    return drawn


def bars(axes: Any) -> dict[str, list[float]]:
    """The length of every bar by what the legend calls it."""
    return {one.get_label(): [float(bar.get_width()) for bar in one] for one in axes.containers}


@pytest.mark.parametrize("draw", DRAWINGS)
def test_no_text_is_cut_off_and_none_overlaps_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: Drawing
) -> None:
    from matplotlib.text import Text

    boxes: dict[str, Any] = {}
    write = Text.draw

    def watch(self: Any, renderer: Any, *arguments: Any, **options: Any) -> None:
        if self.get_visible() and self.get_text().strip():
            boxes[f"{id(self)} {self.get_text()}"] = Text.get_window_extent(self, renderer)
            boxes["page"] = self.get_figure(root=True).bbox.frozen()
        write(self, renderer, *arguments, **options)

    monkeypatch.setattr(Text, "draw", watch)
    draw(tmp_path / "picture.png")
    page = boxes.pop("page")
    assert len(boxes) > 5
    outside = [
        text
        for text, box in boxes.items()
        if box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1
    ]
    assert outside == []
    # Boxes have room above and below their letters: shrunk by a fifth, lines that touch no longer overlap.
    letters = {text: box.shrunk(1, 0.8).anchored("C", box) for text, box in boxes.items()}
    assert [(one, two) for one, two in combinations(letters, 2) if letters[one].overlaps(letters[two])] == []


@pytest.mark.parametrize("draw", DRAWINGS)
def test_no_value_is_in_a_picture_unless_it_is_asked_for(tmp_path: Path, draw: Drawing) -> None:
    path = tmp_path / "picture.svg"
    draw(path)
    content = path.read_text(encoding="utf-8")
    assert CANARY not in content
    ElementTree.fromstring(content)


def test_values_are_in_the_picture_when_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    found = by_value([CANARY, None, "", " \t", "日本 <&> $x$", "y" * 90], [1] * 6, [2] * 6)
    plot_value_risk(found, path, show_values=True)
    assert {CANARY, "(gap)", '""', '"  "', "日本 <&> $x$", f"{'y' * 13}…{'y' * 14}"} <= set(texts(path))
    plot_value_risk(found, path)
    hidden = texts(path)
    assert [text for text in hidden if "value " in text and text[-1].isdigit()] == [f"value {n}" for n in range(1, 6)]
    assert "(gap)" in hidden


def test_a_picture_names_every_column_by_its_importance(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    draw_both(path)
    shown = [text for text in texts(path) if "(weight" in text]
    assert shown == [f"{DRAWN[1]}  (weight 1)", f"{DRAWN[2]}  (weight 0.5)", f"{DRAWN[0]}  (weight 0.25)"]


def test_the_bars_of_the_histogram_are_the_rows_of_both_tables(tmp_path: Path, figures: list[Any]) -> None:
    before, after = classes({1: 7, 3: 6, 12: 12}), classes({6: 12, 13: 13})
    plot_assessment(after, tmp_path / "picture.png", k=7, before=before)
    left = next(axes for axes in figures[0].axes if axes.get_title("left").startswith("Rows by"))
    # Bins: 1, 2, 3, 4, 5-6 | 7-9, 10-19.
    assert bars(left) == {
        "before, smaller than k": [7, 0, 6, 0, 0],
        "before, k or more": [0, 12],
        "after, smaller than k": [0, 0, 0, 0, 12],
        "after, k or more": [0, 13],
    }
    assert [label.get_text() for label in left.get_yticklabels()] == ["1", "2", "3", "4", "5–6", "7–9", "10–19"]
    (line,) = left.lines
    assert (line.get_label(), set(line.get_ydata())) == ("k = 7", {4.5})


def test_what_differs_in_colour_differs_in_shape_too(tmp_path: Path, figures: list[Any]) -> None:
    draw_both(tmp_path / "picture.png")
    left, right = (
        next(a for a in figures[0].axes if a.get_title("left").startswith(t)) for t in ("Rows by", "Rows ab")
    )
    looks = {(bool(one[0].get_hatch()), one[0].get_facecolor()[:3] == (1, 1, 1)) for one in left.containers}
    assert len(looks) == len(left.containers) == 4
    dashes = [line.get_linestyle() for line in right.lines if "above 1/k" in line.get_label()]
    assert len(set(dashes)) == 2


def test_the_curve_of_risk_stands_where_the_rows_are(tmp_path: Path, figures: list[Any]) -> None:
    path = tmp_path / "picture.svg"
    plot_assessment(classes({4: 4, 5: 5, 10: 10, 1000: 1}), path, k=5)
    right = next(axes for axes in figures[0].axes if axes.get_title("left") == "Rows above each risk")
    (curve,) = [line for line in right.lines if line.get_drawstyle() == "steps-post"]
    assert curve.get_xdata() == pytest.approx([0.01, 0.1, 0.2, 0.25, 1, 1.5])
    assert curve.get_ydata() == pytest.approx([95, 45, 20, 0, 0, 0])
    assert {line.get_xdata()[0] for line in right.lines[:-1]} == {0.09, 0.2, 0.33}
    assert "20.0% of 20 rows above 1/k" in texts(path)
    assert {"0.09", "0.33", "1/k = 0.2"} <= set(texts(path))


def test_utility_is_drawn_as_it_was_measured(tmp_path: Path, figures: list[Any]) -> None:
    found = measured()
    path = tmp_path / "picture.svg"
    plot_assessment(rows_by_size(recoded().after), path, k=3, utility=found)
    axes = next(axes for axes in figures[0].axes if axes.get_title("left").startswith("What is left"))
    assert found.entropy is not None
    assert bars(axes) == {"non-uniform entropy left (NUE)": [found.entropy.by_column[name] for name in NAMES]}
    (marks,) = axes.lines
    assert list(marks.get_xdata()) == [1 - found.loss.by_column[name] for name in NAMES]
    title = f"What is left of every column: NUE {found.entropy.overall:.4f}, loss {found.loss.overall:.4f}"
    assert title in texts(path)
    assert columns_left(found)[2].entropy == 0  # All of the last column is *, so something can fail here.


def test_what_is_left_for_every_k_is_drawn_as_it_was_measured(tmp_path: Path, figures: list[Any]) -> None:
    path = tmp_path / "picture.svg"
    draw_sweep(path)
    axes = next(axes for axes in figures[0].axes if axes.get_title("left") == "What is left for every k")
    lines = {line.get_label(): [float(at) for at in line.get_ydata()] for line in axes.lines}
    assert lines["non-uniform entropy left (NUE)"][:4] == pytest.approx([0.86, 0.84, 0.8, 0.7])
    assert lines["the same by priority (wNUE)"][:4] == pytest.approx([0.95 - k / 90 for k in (2, 3, 5, 10)])
    assert {line.get_label(): list(line.get_xdata()) for line in axes.lines}["cannot be reached"] == [4]
    shown = [label.get_text() for label in axes.get_xticklabels()]
    assert shown == ["2\n5.0%", "3\n7.5%", "5\n12.5%", "10\n25.0%", "40,000\n–"]
    assert not any("Rows above each risk" in text for text in texts(path))


def test_one_line_is_drawn_where_no_column_matters_more(tmp_path: Path, figures: list[Any]) -> None:
    draw_long_sweep(tmp_path / "picture.png")
    axes = next(axes for axes in figures[0].axes if axes.get_title("left") == "What is left for every k")
    assert {line.get_label() for line in axes.lines} == {"non-uniform entropy left (NUE)", "cannot be reached"}


def test_where_entropy_is_not_known_the_picture_says_why(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    draw_without_entropy(path)
    (title,) = [text for text in texts(path) if "NUE is not known" in text]
    assert "it is not known which row became which" in title
    assert "NUE" not in texts(path)
    assert "detail left (1 - loss)" in texts(path)


def test_many_columns_are_cut_and_the_picture_says_so(tmp_path: Path) -> None:
    found = measured(paired=False)
    names = {f"column_{n:03}": n / 100 for n in range(100)}
    many = replace(found, loss=replace(found.loss, by_column=names))
    path = tmp_path / "picture.svg"
    plot_assessment(classes({5: 5}), path, k=5, utility=many, weights=dict.fromkeys(list(names)[:98], 0.5))
    assert any("(60 of 100 columns)" in text for text in texts(path))
    assert any("column_099" in text for text in texts(path))  # It weighs 1, the others half of it.
    assert not any("column_058" in text for text in texts(path))


def test_the_bars_of_values_are_their_rows_and_what_is_cut_is_counted(tmp_path: Path, figures: list[Any]) -> None:
    values = [str(n) for n in range(50)]
    found = by_value(values, [10 * n for n in range(50)], [1] * 50)
    path = tmp_path / "picture.svg"
    plot_value_risk(found, path, show_values=True)
    (axes,) = figures[0].axes
    drawn = bars(axes)
    assert drawn["safe"] == [*(10 * n for n in range(49, 9, -1)), sum(10 * n for n in range(10))]
    assert drawn["at risk: in a class smaller than k = 5"] == [1] * 40 + [10]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        *(str(n) for n in range(49, 9, -1)),
        "10 more values",
    ]
    assert "460 rows, 10 at risk (2.2%)" in texts(path)
    assert any("(the 40 that most rows have of 50)" in text for text in texts(path))


def test_a_bar_that_is_shortened_keeps_its_proportions_and_says_so(tmp_path: Path, figures: list[Any]) -> None:
    path = tmp_path / "picture.svg"
    plot_value_risk(by_value([str(n) for n in range(1000)], [1] * 1000, [3] * 1000), path)
    drawn = bars(figures[0].axes[0])
    assert [widths[-1] for widths in drawn.values()] == pytest.approx([3, 1])
    assert {"960 more values (not to scale)", "3,840 rows, 2,880 at risk (75.0%)"} <= set(texts(path))


def test_people_are_called_people(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    plot_value_risk(by_value(["a"], [1], [0], RowsOrPeople.PEOPLE), path)
    assert "1 person, 0 at risk (0%)" in texts(path)
    plot_assessment(classes({2: 4}, RowsOrPeople.PEOPLE), path, k=2)
    assert "4 people in 2 classes: 0 (0%) in classes smaller than k = 2" in texts(path)
    assert not any("row" in text for text in texts(path))


def test_a_table_without_rows_is_drawn_as_one(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    draw_empty(path)
    assert "after: no rows" in texts(path)
    assert any("1,000,000 (100%) before recoding" in text for text in texts(path))


@pytest.mark.parametrize("name", ["picture.pdf", "picture"])
def test_another_kind_of_file_is_refused(tmp_path: Path, name: str) -> None:
    for draw in (draw_one, draw_values):
        with pytest.raises(InvalidInputError, match=r"\.svg or \.png"):
            draw(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.reference
def test_the_rows_at_risk_of_adult_are_those_that_the_peers_count(reference_data: Path, tmp_path: Path) -> None:
    from anon_core.table import read

    frequencies = FrequencyTable.of(read(reference_data / "adult_arx" / "adult.csv"))
    found = rows_by_size(frequencies)
    assert [found.below(k) for k in (2, 5, 10)] == [15_512, 23_470, 26_959]
    plot_assessment(found, tmp_path / "adult.svg", k=5)
    assert any("23,470 (77.8%) in classes smaller than k = 5" in text for text in texts(tmp_path / "adult.svg"))
    ages = rows_at_risk_by_value(frequencies, frequencies.names, "age", k=5)
    assert (len(ages.values), int(ages.at_risk.sum())) == (72, 23_470)
