"""How sensitivities move over a sweep: the average drawn thick [Gong2020]_, Figure 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anon_core.report.plots.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PALE, PURPLE, RED, SKY, counted, named
from anon_core.score.sweeps import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.score.sweeps import Sweep

_COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY)
_DASHES = ("-", "--", "-.", ":", "-", "--")


def draw_sweep(axes: Axes, sweep: Sweep) -> None:
    """
    Draw one line for each column and a thick one for the average.

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
