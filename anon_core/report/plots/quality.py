"""What is left for every k [Bampoulidis2019]_, Figure 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anon_core.report.plots.drawing import BLACK, BLUE, ORANGE, RED, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.recode.sweep import Swept

MOST_NUMBERED = 10
"""With more k's than this there is no room for a figure at every point."""

_SAME = 5e-4


def draw_quality(axes: Axes, sweep: Sequence[Swept], *, k: int, rows: int) -> None:
    """
    Draw non-uniform entropy, plain and by priority, against k, the same distance from each k to the next.

    Below every k stands the share of the ``rows`` that was removed for it. A k that cannot be reached has a cross at
    the bottom, and interrupts the lines. Where both entropies are equal everywhere, as without priorities, there is one
    line.
    """
    few = len(sweep) <= MOST_NUMBERED
    plain, weighted = [one.nue for one in sweep], [one.wnue for one in sweep]
    equal = all(a == b for a, b in zip(plain, weighted, strict=True))
    _line(axes, plain, BLUE, "o", "-", "non-uniform entropy left (NUE)")
    if not equal:
        _line(axes, weighted, ORANGE, "s", "--", "the same by priority (wNUE)")
    lost = [at for at, one in enumerate(sweep) if one.nue is None]
    if lost:
        axes.plot(lost, [0.0] * len(lost), "X", color=RED, markersize=9, label="cannot be reached")
    own = [at for at, one in enumerate(sweep) if one.k == k]
    for at in own:
        axes.axvline(at, color=BLACK, linestyle=":", linewidth=1, zorder=0, label=f"k = {k:,}")
    if few:
        _figures(axes, plain, [None] * len(sweep) if equal else weighted)
    removed = ["–" if one.rows_removed is None else percent(one.rows_removed, rows) for one in sweep]
    between = "\n" if few else "  "
    axes.set_xticks(
        range(len(sweep)), [f"{one.k:,}{between}{share}" for one, share in zip(sweep, removed, strict=True)]
    )
    axes.tick_params(axis="x", labelsize=8, labelrotation=0 if few else 90)
    axes.set_xlim(-0.5, len(sweep) - 0.5)
    axes.set_ylim(-0.1, 1.1)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.grid(visible=False, axis="x")
    axes.set_title("What is left for every k")
    axes.set_xlabel("k, and the share of rows removed")
    axes.set_ylabel("left (1 = everything)")


def _line(axes: Axes, figures: Sequence[float | None], colour: str, mark: str, dash: str, label: str) -> None:
    heights = [float("nan") if figure is None else figure for figure in figures]
    axes.plot(range(len(heights)), heights, color=colour, marker=mark, linestyle=dash, markersize=5, label=label)


def _figures(axes: Axes, plain: Sequence[float | None], weighted: Sequence[float | None]) -> None:
    """Write the figures at the points: of two the higher one above, the lower one below; of equal ones one."""
    for at, pair in enumerate(zip(plain, weighted, strict=True)):
        known = sorted(figure for figure in pair if figure is not None)
        if known:
            _figure(axes, at, known[-1], above=True)
        if known and known[-1] - known[0] >= _SAME:
            _figure(axes, at, known[0], above=False)


def _figure(axes: Axes, at: int, height: float, *, above: bool) -> None:
    axes.annotate(
        f"{height:.3f}",
        (at, height),
        xytext=(0, 6 if above else -6),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        fontsize=7,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},  # The line of k may run behind it.
    )
