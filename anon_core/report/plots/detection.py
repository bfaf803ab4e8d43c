"""Pictures of how many rows sets of columns single out: the best of every size [Pastore2020]_, and all [Omer2016]_."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.report.plots.drawing import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    RED,
    SKY,
    counted,
    named,
    named_set,
    picture,
    rows_downwards,
    write_beside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.decompose import Decomposition
    from anon_core.detection.selective import Selection
    from anon_core.detection.singletons import Detection

MAX_SUBSETS = 60
"""Of more subsets only those with most distinct tuples are drawn."""
MAX_SETS = 40
"""Of more sets of columns only those with most rows alone before are drawn."""


def plot_detection(detection: Detection, path: Path | str) -> None:
    """
    Draw the share of rows or people that the best set of every size singles out, and the level of all columns.

    Sizes go downwards, so that every set can be named beside its point. A ring marks the chosen set.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises StorageError: the file cannot be written.
    """
    best, unit = detection.best_by_size, "row" if detection.counted == "rows" else "person"
    labels = [f"{len(one.columns)}:  {named_set(one.columns)}" for one in best]
    lines = sum(label.count("\n") + 1 for label in labels)
    with picture(path, width=9.5, height=1.7 + 0.19 * lines + 0.12 * len(labels)) as figure:
        axes = figure.subplots()
        shares = [100 * one.share for one in best]
        level = 100 * detection.all_columns.share
        axes.axvline(level, color=GREY, linestyle="--", label=_all_columns(detection))
        axes.plot(shares, range(len(best)), color=BLUE, marker="o", markersize=5, label="best set of its size")
        for at, one in enumerate(best):
            # The curve never turns left, so these two corners are free; near the right edge a text would be cut off.
            right = one.share < 0.8
            axes.annotate(
                f"{counted(one.singletons, unit)}, {one.share:.2%}",
                (shares[at], at),
                xytext=(7, 3) if right else (-7, -3),
                textcoords="offset points",
                ha="left" if right else "right",
                va="bottom" if right else "top",
                fontsize=8,
            )
        _elected(axes, detection)
        rows_downwards(axes, labels)
        axes.set_xlim(-3, 103)
        axes.set_xlabel(f"{detection.counted} singled out (% of {counted(detection.rows, unit)})")
        axes.set_ylabel("columns in the set")
        title = f"{detection.counted.capitalize()} singled out by the best column set of every size"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        figure.legend(loc="outside lower left", ncols=3)


def _all_columns(detection: Detection) -> str:
    number = len(detection.all_columns.columns)
    return f"all {number} columns" if number > 1 else "the only column"


def _elected(axes: Axes, detection: Detection) -> None:
    """Put a ring around the chosen set, which need not be the best of its size: identifiers are not eligible."""
    elected = detection.best
    rows = [at for at, one in enumerate(detection.best_by_size) if elected and len(one.columns) == len(elected.columns)]
    if elected and rows:
        other = detection.best_by_size[rows[0]].columns != elected.columns
        why = " (what identifies everyone is not eligible)" if other else ""
        label = f"elected{why}: {named_set(elected.columns, width=72, lines=1)}"
        axes.plot(100 * elected.share, rows[0], "o", color=RED, markersize=11, fillstyle="none", label=label)


def plot_selection(selection: Selection, path: Path | str) -> None:
    """
    Draw the distinct tuples and the singletons of every subset, or of the 60 with most distinct tuples.

    The chosen subset is drawn darker. These are the paper's Figures 2 and 3.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises StorageError: the file cannot be written.
    """
    subsets = list(selection.subsets)
    if len(subsets) > MAX_SUBSETS:
        subsets = sorted(subsets, key=lambda one: (-one.distinct, len(one.columns), one.columns))[:MAX_SUBSETS]
    labels = [named_set(one.columns, lines=1) for one in subsets]
    with picture(path, width=9.5, height=1.8 + 0.25 * len(labels)) as figure:
        axes = figure.subplots()
        rows = range(len(subsets))
        colours = [BLUE if one.columns == selection.elected else SKY for one in subsets]
        axes.barh(rows, [one.distinct for one in subsets], color=colours, height=0.7, label="distinct combinations")
        axes.plot([one.singletons for one in subsets], rows, "D", color=BLACK, markersize=4, label="rows singled out")
        for at, one in enumerate(subsets):
            text = counted(one.distinct) + (" (elected)" if one.columns == selection.elected else "")
            write_beside(axes, text, (max(one.distinct, one.singletons), at), gap=6)
        rows_downwards(axes, labels)
        axes.grid(visible=False, axis="y")
        axes.set_xlim(0, 1.18 * max([one.distinct for one in subsets] or [1]))
        axes.xaxis.set_major_formatter(lambda value, _: counted(int(value)))
        axes.set_xlabel("distinct combinations of values, and rows singled out (count)")
        axes.set_ylabel("columns of the subset")
        shown = (
            "" if len(subsets) == len(selection.subsets) else f" ({MAX_SUBSETS} of {len(selection.subsets)} subsets)"
        )
        figure.suptitle(f"How far every subset tells rows apart{shown}", x=0.01, ha="left", fontsize=11)
        figure.legend(loc="outside lower right", ncols=2)


def plot_decomposition(decomposition: Decomposition, path: Path | str) -> None:
    """
    Draw the outliers of every set of columns before, and after with the published parts jointly, or of 40 such sets.

    These are the paper's Figures 7 to 9 in one.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises StorageError: the file cannot be written.
    """
    effect = list(decomposition.effect)
    if len(effect) > MAX_SETS:
        effect = sorted(effect, key=lambda one: (-one.before.outliers, len(one.columns), one.columns))[:MAX_SETS]
    labels = [named_set(one.columns, lines=1) for one in effect]
    published = [part.name for part in decomposition.parts if part.published]
    with picture(path, width=9.5, height=1.8 + 0.45 * len(labels)) as figure:
        axes = figure.subplots()
        series = (
            ("before", ORANGE, -0.2, [one.before for one in effect]),
            ("after", BLUE, 0.2, [one.after for one in effect]),
        )
        for word, colour, offset, counts in series:
            what = named(decomposition.column) if word == "before" else named_set(published, lines=1)
            at = [row + offset for row in range(len(effect))]
            axes.barh(at, [one.outliers for one in counts], height=0.38, color=colour, label=f"{word}: {what}")
            for place, one in zip(at, counts, strict=True):
                write_beside(axes, f"{counted(one.outliers)}  ({one.share:.2%})", (one.outliers, place))
        rows_downwards(axes, labels)
        axes.grid(visible=False, axis="y")
        axes.set_xlim(
            0, 1.2 * max([1, *(one.before.outliers for one in effect), *(one.after.outliers for one in effect)])
        )
        axes.xaxis.set_major_formatter(lambda value, _: counted(int(value)))
        axes.set_xlabel(f"rows alone in their class (count, and % of {counted(decomposition.rows, 'row')})")
        axes.set_ylabel("columns that others may know")
        shown = "" if len(effect) == len(decomposition.effect) else f" ({MAX_SETS} of {len(decomposition.effect)} sets)"
        title = f"Rows singled out before and after {named(decomposition.column)} was decomposed{shown}"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        figure.legend(loc="outside lower right", ncols=2)
