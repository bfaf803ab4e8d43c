"""One picture of how safe a table is, before and after recoding, and how much information is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_core.report.plots.classes import draw_class_sizes, draw_risk, size_bins
from anon_core.report.plots.drawing import counted, legend_below, percent, picture
from anon_core.report.plots.utility import draw_quality, draw_utility, height_of

if TYPE_CHECKING:
    from anon_core.measures.risk.rows_by_size import RowsBySize
    from anon_core.measures.utility import Utility
    from anon_core.recoding.sweep import SweptK


def plot_assessment(
    after: RowsBySize,
    path: Path | str,
    *,
    k: int,
    before: RowsBySize | None = None,
    utility: Utility | None = None,
    weights: Mapping[str, float] | None = None,
    sweep: Sequence[SweptK] = (),
) -> None:
    """
    Draw the sizes of the classes and the risk of the rows, beside the table before recoding where there is one.

    With ``utility`` a panel below shows what is left of every column, ordered by ``weights``, those of the priorities.
    With a ``sweep`` a panel shows what is left for every k, in place of the risk. A table without rows is drawn empty.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises StorageError: the file cannot be written.
    """
    largest = max(int(one.sizes.max(initial=1)) for one in (after, before) if one is not None)
    upper = 1.9 + (0.3 if before else 0.24) * max(len(size_bins(k, largest)), 7)
    lower = height_of(utility) if utility else 0.0
    with picture(path, width=12, height=upper + lower) as figure:
        figure.suptitle(_title(after, before, k), x=0.01, ha="left", fontsize=11)
        top: Any = figure
        if utility:
            panels: Any = figure.subfigures(2, 1, height_ratios=[upper, lower])
            top, bottom = panels
            axes = bottom.subplots()
            draw_utility(axes, utility, weights)
            legend_below(bottom, axes, "outside lower left")
        left, right = top.subplots(1, 2, width_ratios=[6, 5])
        draw_class_sizes(left, after, k=k, before=before)
        if sweep:
            draw_quality(right, sweep, k=k, rows=(before or after).total)
        else:
            draw_risk(right, after, k=k, before=before)
        legend_below(top, left, "outside lower left")
        legend_below(top, right, "outside lower right")


def _title(after: RowsBySize, before: RowsBySize | None, k: int) -> str:
    classes = f"{counted(after.total, after.counted.singular)} in {after.classes:,} class{'es' * (after.classes != 1)}"
    then = f"; {_below(before, k)} before recoding" if before else ""
    return f"{classes}: {_below(after, k)} in classes smaller than k = {k:,}{then}"


def _below(found: RowsBySize, k: int) -> str:
    return f"{found.below(k):,} ({percent(found.below(k), found.total)})"
