"""Rows that are alone before and after a column was decomposed [Omer2016]_, Figures 7 to 9 in one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.report.plots.drawing import BLUE, ORANGE, counted, named, named_set, picture, rows_downwards

if TYPE_CHECKING:
    from anon_core.hierarchy.decompose import Decomposition

MOST_SETS = 40
"""More sets of columns than this are not drawn: those with most rows alone before are."""


def plot_decomposition(decomposition: Decomposition, path: Path | str) -> None:
    """
    Draw the outliers of every set of columns before, and after with the published parts jointly, or of 40 such sets.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises StorageError: the file cannot be written.
    """
    effect = list(decomposition.effect)
    if len(effect) > MOST_SETS:
        effect = sorted(effect, key=lambda one: (-one.before.outliers, len(one.columns), one.columns))[:MOST_SETS]
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
                axes.annotate(
                    f"{counted(one.outliers)}  ({one.share:.2%})",
                    (one.outliers, place),
                    xytext=(5, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                )
        rows_downwards(axes, labels)
        axes.grid(visible=False, axis="y")
        axes.set_xlim(
            0, 1.2 * max([1, *(one.before.outliers for one in effect), *(one.after.outliers for one in effect)])
        )
        axes.xaxis.set_major_formatter(lambda value, _: counted(int(value)))
        axes.set_xlabel(f"rows alone in their class (count, and % of {counted(decomposition.rows, 'row')})")
        axes.set_ylabel("columns that others may know")
        shown = (
            "" if len(effect) == len(decomposition.effect) else f" ({MOST_SETS} of {len(decomposition.effect)} sets)"
        )
        title = f"Rows singled out before and after {named(decomposition.column)} was decomposed{shown}"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        figure.legend(loc="outside lower right", ncols=2)
