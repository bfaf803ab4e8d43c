"""How many rows are above each risk: an attacker who looks for one of them is right once in the size of its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anon_core.report.plots.drawing import BLUE, GREY, ORANGE, RED, counted, percent
from anon_core.score.risk import THRESHOLDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.score.rows_by_size import RowsBySize

Points = np.ndarray[Any, np.dtype[np.float64]]

_TICKS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCurve:
    """From each of the ``risks`` on, ascending, up to the next: the share of rows whose risk is above it."""

    risks: Points
    shares: Points


def risk_curve(found: RowsBySize, lowest: float) -> RiskCurve:
    """
    Return the share of rows above each prosecutor risk (1 / size of the class) from the lowest that is drawn up to 1.

    A row whose risk is exactly x is not above x. A table without rows has none above anything.

    >>> from anon_core.score.rows_by_size import RowsBySize, RowsOrUnits
    >>> found = RowsBySize(sizes=np.array([1, 4]), rows=np.array([2, 8]), classes=4, counted=RowsOrUnits.ROWS)
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
    """Return where the axis is marked; over many powers of ten, only those are."""
    ticks = [1.0, *_TICKS] if lowest >= 0.001 else [10.0**-n for n in range(12)]
    ticks = [tick for tick in ticks if tick >= lowest]
    return ticks, [f"{tick:.10f}".rstrip("0").rstrip(".") for tick in ticks]


def _name_thresholds(axes: Axes, *, upright: bool) -> None:
    """Write the thresholds over their lines, where no curve can be; upright where the lines are close together."""
    above: Any = axes.secondary_xaxis("top")
    labels = [str(limit) for limit in THRESHOLDS]
    above.set_xticks(THRESHOLDS, labels, fontsize=7, color=GREY, rotation=90 if upright else 0)
    above.minorticks_off()
    above.tick_params(length=2, color=GREY)
    above.spines["top"].set_visible(False)
