"""Pictures of rows by the size of their class, divided at k, and by their risk, 1 / size of the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.measures.risk.attackers import THRESHOLDS
from anon_core.report.plots.drawing import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    RED,
    counted,
    percent,
    rows_downwards,
    write_beside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.measures.risk.rows_by_size import RowsBySize

_STARTS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000, 1_000_000)
_STRIPES = "////"
_TICKS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeBin:
    """Classes with at least ``first`` and at most ``last`` rows; None means no upper limit."""

    first: int
    last: int | None

    def __str__(self) -> str:
        if self.last is None:
            return f"{self.first:,} or more"
        return counted(self.first) if self.first == self.last else f"{self.first:,}–{self.last:,}"


def size_bins(k: int, largest: int) -> list[SizeBin]:
    """
    Return the bins of a histogram of class sizes, up to that of the largest class or of k; one of them starts at k.

    >>> [str(one) for one in size_bins(7, 12)]
    ['1', '2', '3', '4', '5–6', '7–9', '10–19']
    """
    starts = sorted({*_STARTS, k})
    lasts = [*(start - 1 for start in starts[1:]), None]
    needed = max(k, largest)
    return [SizeBin(first=a, last=b) for a, b in zip(starts, lasts, strict=True) if a <= needed]


def rows_in_bins(found: RowsBySize, bins: list[SizeBin]) -> Integers:
    """Return how many rows are in classes of each bin; the bins follow each other, the first one starts at 1."""
    at = np.searchsorted([one.first for one in bins], found.sizes, side="right") - 1
    rows = np.zeros(len(bins), np.int64)
    np.add.at(rows, at, found.rows)
    return rows


def draw_class_sizes(axes: Axes, after: RowsBySize, *, k: int, before: RowsBySize | None = None) -> None:
    """
    Draw how many rows are in classes of each size, before and after one below the other.

    Classes below k are striped and in the colour of a warning; bars of the table before are hollow.
    """
    sides = [("", after)] if before is None else [("before, ", before), ("after, ", after)]
    bins = size_bins(k, max(int(one.sizes.max(initial=1)) for _, one in sides))
    height = 0.7 if before is None else 0.38
    for place, (when, found) in enumerate(sides):
        shift = 0.0 if before is None else 0.42 * (place - 0.5)
        _bars(axes, found, bins, k=k, shift=shift, height=height, when=when, hollow=found is before)
    axes.axhline(sum(one.first < k for one in bins) - 0.5, color=BLACK, linestyle="--", linewidth=1, label=f"k = {k:,}")
    rows_downwards(axes, [str(one) for one in bins])
    longest = max(int(rows_in_bins(one, bins).max(initial=0)) for _, one in sides)
    axes.set_xlim(0, 1.4 * longest or 1)
    axes.locator_params(axis="x", nbins=5 if longest < 10**7 else 3, integer=True)  # Long numbers need room.
    axes.xaxis.set_major_formatter(lambda value, _: counted(int(value)))
    axes.grid(visible=False, axis="y")
    axes.set_title(f"{after.counted.capitalize()} by the size of their class")
    axes.set_xlabel(f"{after.counted} (count, and % of the table)")
    axes.set_ylabel(f"size of the class ({after.counted})")


def _bars(
    axes: Axes, found: RowsBySize, bins: list[SizeBin], *, k: int, shift: float, height: float, when: str, hollow: bool
) -> None:
    rows = rows_in_bins(found, bins)
    small = np.array([one.first < k for one in bins])
    for chosen, colour, stripes, what in ((small, RED, _STRIPES, "smaller than k"), (~small, BLUE, "", "k or more")):
        if chosen.any():
            axes.barh(
                np.flatnonzero(chosen) + shift,
                rows[chosen],
                height=height,
                facecolor="white" if hollow else colour,
                edgecolor=colour if hollow else "white",
                linewidth=1 if hollow else 0,
                hatch=stripes,
                label=f"{when}{what}",
            )
    for at, number in enumerate(rows.tolist()):
        text = f"{counted(number)} ({percent(number, found.total)})" if number else "0"
        write_beside(axes, text, (number, at + shift), gap=4, size=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCurve:
    """For each of the ``risks``, ascending, up to the next one: the share of rows whose risk is above it."""

    risks: Floats
    shares: Floats


def risk_curve(found: RowsBySize, lowest: float) -> RiskCurve:
    """
    Return the share of rows above each prosecutor risk (1 / size of the class) from the lowest that is drawn up to 1.

    A row whose risk is exactly x is not above x. A table without rows has none above anything.

    >>> from anon_core.measures.risk.rows_by_size import RowsBySize, RowsOrPeople
    >>> found = RowsBySize(sizes=np.array([1, 4]), rows=np.array([2, 8]), classes=4, counted=RowsOrPeople.ROWS)
    >>> curve = risk_curve(found, 0.1)
    >>> curve.risks.tolist(), curve.shares.tolist()
    ([0.1, 0.25, 1.0], [1.0, 0.2, 0.0])
    """
    total = max(found.total, 1)
    shown = found.sizes * lowest < 1
    sizes, smaller = found.sizes[shown][::-1], (np.cumsum(found.rows) - found.rows)[shown][::-1]
    first = int(found.rows[shown].sum()) / total
    closing = [] if len(sizes) and sizes[-1] == 1 else [1.0]
    return RiskCurve(
        risks=np.concatenate([[lowest], 1 / sizes, closing]),
        shares=np.concatenate([[first], smaller / total, [0.0] * len(closing)]),
    )


def draw_risk(axes: Axes, after: RowsBySize, *, k: int, before: RowsBySize | None = None) -> None:
    """Draw the share of rows above each risk, before and after, with 1/k and the usual thresholds as lines."""
    lowest = min(0.01, 0.25 / k)
    sides = [(after, "", BLUE, "-", 2.0)]
    if before is not None:
        sides = [(before, "before: ", ORANGE, "-.", 1.6), (after, "after: ", BLUE, "-", 2.0)]
    for limit in THRESHOLDS:
        axes.axvline(limit, color=GREY, linestyle=":", linewidth=1)
    axes.axvline(1 / k, color=RED, linestyle="--", linewidth=1.2, label=f"1/k = {1 / k:.3g}")
    for found, when, colour, dash, width in sides:
        curve = risk_curve(found, lowest)
        above = f"{percent(found.below(k), found.total)} of {counted(found.total, found.counted.singular)} above 1/k"
        axes.step(
            [*curve.risks, 1.5],
            100 * np.append(curve.shares, 0.0),
            where="post",
            color=colour,
            linestyle=dash,
            linewidth=width,
            label=when + (above if found.total else f"no {found.counted}"),
        )
    axes.set_xscale("log")
    axes.set_xlim(lowest, 1.3)
    axes.set_ylim(-2, 103)
    axes.set_xticks(*_ticks(lowest))
    axes.minorticks_off()
    _name_thresholds(axes, upright=lowest < 0.001)
    axes.set_title(f"{after.counted.capitalize()} above each risk")
    axes.set_xlabel("risk of being found: 1 / size of the class (logarithmic)")
    axes.set_ylabel(f"{after.counted} with more than this risk (%)")


def _ticks(lowest: float) -> tuple[list[float], list[str]]:
    """Return the positions of the ticks; over many powers of ten, only the powers."""
    ticks = [1.0, *_TICKS] if lowest >= 0.001 else [10.0**-n for n in range(12)]
    ticks = [tick for tick in ticks if tick >= lowest]
    return ticks, [f"{tick:.10f}".rstrip("0").rstrip(".") for tick in ticks]


def _name_thresholds(axes: Axes, *, upright: bool) -> None:
    """Write the thresholds over their lines, where no curve can be; upright if the lines are close together."""
    above: Any = axes.secondary_xaxis("top")
    labels = [str(limit) for limit in THRESHOLDS]
    above.set_xticks(THRESHOLDS, labels, fontsize=7, color=GREY, rotation=90 if upright else 0)
    above.minorticks_off()
    above.tick_params(length=2, color=GREY)
    above.spines["top"].set_visible(False)
