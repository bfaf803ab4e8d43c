"""Distinct counts of every subset of some columns [Omer2016]_, Figures 2 and 3."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.report.plots.drawing import BLACK, BLUE, SKY, counted, named_set, picture, rows_downwards

if TYPE_CHECKING:
    from anon_core.detect.selective import Selection

MOST_SUBSETS = 60
"""More subsets than this are not drawn: those with most distinct tuples are."""


def plot_selection(selection: Selection, path: Path | str) -> None:
    """
    Draw the distinct tuples and the singletons of every subset, or of the 60 with most distinct tuples.

    The elected subset is drawn darker.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises StorageError: the file cannot be written.
    """
    subsets = list(selection.subsets)
    if len(subsets) > MOST_SUBSETS:
        subsets = sorted(subsets, key=lambda one: (-one.distinct, len(one.columns), one.columns))[:MOST_SUBSETS]
    labels = [named_set(one.columns, lines=1) for one in subsets]
    with picture(path, width=9.5, height=1.8 + 0.25 * len(labels)) as figure:
        axes = figure.subplots()
        rows = range(len(subsets))
        colours = [BLUE if one.columns == selection.elected else SKY for one in subsets]
        axes.barh(rows, [one.distinct for one in subsets], color=colours, height=0.7, label="distinct combinations")
        axes.plot([one.singletons for one in subsets], rows, "D", color=BLACK, markersize=4, label="rows singled out")
        for at, one in enumerate(subsets):
            axes.annotate(
                counted(one.distinct) + (" (elected)" if one.columns == selection.elected else ""),
                (max(one.distinct, one.singletons), at),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        rows_downwards(axes, labels)
        axes.grid(visible=False, axis="y")
        axes.set_xlim(0, 1.18 * max([one.distinct for one in subsets] or [1]))
        axes.xaxis.set_major_formatter(lambda value, _: counted(int(value)))
        axes.set_xlabel("distinct combinations of values, and rows singled out (count)")
        axes.set_ylabel("columns of the subset")
        shown = (
            "" if len(subsets) == len(selection.subsets) else f" ({MOST_SUBSETS} of {len(selection.subsets)} subsets)"
        )
        figure.suptitle(f"How far every subset tells rows apart{shown}", x=0.01, ha="left", fontsize=11)
        figure.legend(loc="outside lower right", ncols=2)
