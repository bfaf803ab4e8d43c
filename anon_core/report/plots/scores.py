"""Pictures of the scores of all columns: sensitivities, ranks and sweeps [Gong2020]_, Figures 1 to 6."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_core.measures.sensitivity.sweeps import Axis, Sweep
from anon_core.report.plots.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    PURPLE,
    RED,
    SKY,
    counted,
    named,
    picture,
    rows_downwards,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.measures.sensitivity.scores import ScoredColumn, Scores

_RANKED = {
    "sensitivity": ("sensitivity", "o", BLACK),
    "cardinality": ("distinct values", "s", ORANGE),
    "unique_share": ("share of unique values", "^", BLUE),
    "entropy": ("entropy", "D", GREEN),
}
_COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY)
_DASHES = ("-", "--", "-.", ":", "-", "--")


def plot_scores(scores: Scores, path: Path | str, *, before: Scores | None = None, sweep: Sweep | None = None) -> None:
    """
    Draw the sensitivity of every column with the exact probability on it, and its rank by all four measures.

    The most sensitive column is on top. With ``before`` (masking), both sensitivities stand side by side; with a
    ``sweep``, a third panel shows how they move. Where sensitivity is not defined the picture says why.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises StorageError: the file cannot be written.
    """
    columns = sorted(scores.columns, key=lambda one: -(one.sensitivity or 0.0))
    upper = 1.6 + (0.24 if before else 0.2) * max(len(columns), 6)
    lower = 3.8 if sweep else 0.0
    with picture(path, width=12, height=upper + lower) as figure:
        figure.suptitle(_title(scores), x=0.01, ha="left", fontsize=11)
        top: Any = figure
        if sweep:
            panels: Any = figure.subfigures(2, 1, height_ratios=[upper, lower])
            top, bottom = panels
            draw_sweep(bottom.subplots(), sweep)
        left, right = top.subplots(1, 2, width_ratios=[3, 2], sharey=True)
        _sensitivities(left, columns, scores, before)
        _ranks(right, columns)
        rows_downwards(left, [named(one.name) for one in columns])
        for axes, where in ((left, "outside lower left"), (right, "outside lower right")):
            handles, labels = axes.get_legend_handles_labels()
            top.legend(handles, labels, loc=where, ncols=2)


def _title(scores: Scores) -> str:
    sets = counted(scores.unique_sets, "minimal unique column set")
    limit = "" if scores.max_size is None else f" of up to {counted(scores.max_size, 'column')}"
    return f"Sensitivity of the columns: {counted(scores.rows, 'row')}, {sets}{limit}"


def _sensitivities(axes: Axes, columns: Sequence[ScoredColumn], scores: Scores, before: Scores | None) -> None:
    axes.set_title("Sensitivity")
    axes.set_xlabel("probability (0 to 1)")
    axes.set_xlim(0, _farthest(scores, before))
    axes.grid(visible=False, axis="y")
    if before:
        earlier = {one.name: one for one in before.columns}
        _bars(axes, [earlier.get(one.name) for one in columns], -0.2, 0.38, ORANGE, "sensitivity before masking")
        _exact(axes, [earlier.get(one.name) for one in columns], -0.2, before, "")
        _bars(axes, columns, 0.2, 0.38, SKY, "sensitivity after masking")
        _exact(axes, columns, 0.2, scores, "exact")
    else:
        _bars(axes, columns, 0.0, 0.7, SKY, "sensitivity (upper bound)")
        _exact(axes, columns, 0.0, scores, "exact")
    if before and before.average is not None:
        axes.axvline(before.average, color=RED, linestyle=":", label=f"average before masking: {before.average:.3f}")
    if scores.average is not None:
        when = "average after masking" if before else "average sensitivity"
        axes.axvline(scores.average, color=RED, linestyle="--", label=f"{when}: {scores.average:.3f}")
    if scores.reason:
        reason = textwrap.fill(scores.reason, 60)
        axes.text(0.5, 0.5, reason, ha="center", va="center", transform=axes.transAxes, bbox={"facecolor": "white"})


def _farthest(scores: Scores, before: Scores | None) -> float:
    """Return where the axis ends: a little beyond the largest figure, at most at 1."""
    shown = [one.sensitivity or 0.0 for some in (scores, before) if some for one in some.columns]
    return min(1.0, 1.06 * max(shown, default=0.0)) or 1.0


def _bars(
    axes: Axes, columns: Sequence[ScoredColumn | None], shift: float, height: float, colour: str, label: str
) -> None:
    shown = [(at + shift, one.sensitivity) for at, one in enumerate(columns) if one and one.sensitivity is not None]
    if shown:
        axes.barh([at for at, _ in shown], [width for _, width in shown], height=height, color=colour, label=label)


def _exact(axes: Axes, columns: Sequence[ScoredColumn | None], shift: float, scores: Scores, label: str) -> None:
    shown = [(at + shift, one.exact) for at, one in enumerate(columns) if one and one.exact is not None]
    if not shown:
        return
    error = scores.exact_error or 0.0
    how = f"exact probability, sampled ± {error:.4f}" if error else "exact probability"
    axes.errorbar(
        [found for _, found in shown],
        [at for at, _ in shown],
        xerr=error or None,
        fmt="D",
        color=BLACK,
        markersize=3.5,
        linewidth=0.8,
        label=how if label else "_",
    )


def _ranks(axes: Axes, columns: Sequence[ScoredColumn]) -> None:
    """Draw the four ranks of a column on its row, each a little lower than the one before, so that none is hidden."""
    axes.set_title("Rank by four measures")
    axes.set_xlabel(f"rank (1 = most sensitive, of {len(columns)})")
    axes.hlines(range(len(columns)), 1, max(len(columns), 1), color=PALE, linewidth=0.6)
    axes.grid(visible=False, axis="y")
    for place, (measure, (label, marker, colour)) in enumerate(_RANKED.items()):
        shown = [
            (rank, at + 0.2 * (place - 1.5))
            for at, one in enumerate(columns)
            if (rank := one.ranks[measure]) is not None
        ]
        if shown:
            ranks, rows = zip(*shown, strict=True)
            axes.plot(ranks, rows, marker, color=colour, markersize=4, linestyle="none", label=label)
    axes.set_xlim(0.3, len(columns) + 0.7)
    axes.set_xticks(range(1, len(columns) + 1) if len(columns) < 15 else [1, *range(5, len(columns) + 1, 5)])
    axes.tick_params(axis="y", length=0)


def draw_sweep(axes: Axes, sweep: Sweep) -> None:
    """
    Draw one line for each column and a thick one for the average, as in Figure 4.

    Sixty colours cannot be told apart: the six columns that move most have one, the others are grey. Where there is no
    unique set the lines pause and a cross on the axis says so.
    """
    at = [point.at for point in sweep.points]
    values = {
        name: [None if point.sensitivities is None else point.sensitivities[name] for point in sweep.points]
        for name in sweep.columns
    }
    moving = sorted(sweep.columns, key=lambda name: -_range(values[name]))[: len(_COLOURS)]
    others = [name for name in sweep.columns if name not in moving]
    for name in others:
        label = counted(len(others), "other column") if name == others[0] else "_"
        axes.plot(at, _gaps(values[name]), color=PALE, linewidth=0.8, label=label)
    for name, colour, dash in zip(moving, _COLOURS, _DASHES, strict=False):
        axes.plot(at, _gaps(values[name]), color=colour, linestyle=dash, linewidth=1.4, label=named(name))
    averages = [point.average for point in sweep.points]
    axes.plot(at, _gaps(averages), color=BLACK, linewidth=3.5, marker="o", label="average of all columns")
    undefined = [point.at for point in sweep.points if point.sensitivities is None]
    if undefined:
        axes.plot(undefined, [0.0] * len(undefined), "x", color=GREY, clip_on=False, label="no unique set: not defined")
    known = [value for line in values.values() for value in line if value is not None]
    axes.set_ylim(0, min(1.0, 1.06 * max(known, default=0.0)) or 1.0)
    axes.set_ylabel("sensitivity (0 to 1)")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    _label(axes, sweep, at)


def _label(axes: Axes, sweep: Sweep, at: list[int]) -> None:
    if sweep.axis is Axis.ROWS:
        axes.set_title("Sensitivity against the number of rows")
        axes.set_xlabel("rows sampled (count, logarithmic)")
        axes.set_xscale("log")
    else:
        axes.set_title("Sensitivity against what the adversary may know")
        axes.set_xlabel("largest number of columns that the adversary knows (count)")
    axes.set_xticks(at, [counted(one) for one in at])
    axes.minorticks_off()


def _range(values: list[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) - min(known) if known else 0.0


def _gaps(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]
