"""The curve of sizes and singletons: whom the best column set of every size singles out [Pastore2020]_."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.report.plots.drawing import BLUE, GREY, RED, counted, named_set, picture, rows_downwards

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.detect.singletons import Detection


def plot_detection(detection: Detection, path: Path | str) -> None:
    """
    Draw the share of rows or units that the best set of every size singles out, and the level of all columns.

    Sizes go downwards, so that every set can be named beside its point. A ring marks the elected set.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises StorageError: the file cannot be written.
    """
    best, unit = detection.best_by_size, detection.counted.removesuffix("s")
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
    """Put a ring around the elected set, which need not be the best of its size: identifiers are not eligible."""
    elected = detection.best
    rows = [at for at, one in enumerate(detection.best_by_size) if elected and len(one.columns) == len(elected.columns)]
    if elected and rows:
        other = detection.best_by_size[rows[0]].columns != elected.columns
        why = " (what identifies everyone is not eligible)" if other else ""
        label = f"elected{why}: {named_set(elected.columns, width=72, lines=1)}"
        axes.plot(100 * elected.share, rows[0], "o", color=RED, markersize=11, fillstyle="none", label=label)
