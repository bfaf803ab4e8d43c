"""Pictures of how much information is left: of every column [Bampoulidis2019]_, Figure 2, and for every k, Figure 1."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anon_core.report.plots.drawing import BLACK, BLUE, ORANGE, RED, SKY, named, percent, rows_downwards

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.measures.utility import Utility
    from anon_core.recoding.sweep import SweptK

MAX_COLUMNS = 60
"""Of more columns only the most important are drawn; of equally important ones, the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnLeft:
    """What is left of one column: ``entropy`` (NUE, None where it is not known) and ``detail`` (1 - loss)."""

    name: str
    weight: float
    entropy: float | None
    detail: float


def columns_left(utility: Utility, weights: Mapping[str, float] | None = None) -> list[ColumnLeft]:
    """Return what is left of every column, the most important first; a column without a weight weighs 1."""
    found = [
        ColumnLeft(
            name=name,
            weight=(weights or {}).get(name, 1.0),
            entropy=None if utility.entropy is None else utility.entropy.by_column[name],
            detail=1 - lost,
        )
        for name, lost in utility.loss.by_column.items()
    ]
    return sorted(found, key=lambda one: -one.weight)


def draw_utility(axes: Axes, utility: Utility, weights: Mapping[str, float] | None = None) -> None:
    """
    Draw what is left of every column, 1 being everything: non-uniform entropy as bars, detail as marks on them.

    Where entropy is not known the picture says why, and detail stands alone.
    """
    columns = columns_left(utility, weights)
    weighted = len({one.weight for one in columns}) > 1
    shown = columns[:MAX_COLUMNS]
    bars = [(at, one.entropy) for at, one in enumerate(shown) if one.entropy is not None]
    if bars:
        places, widths = zip(*bars, strict=True)
        axes.barh(places, widths, height=0.66, color=SKY, label="non-uniform entropy left (NUE)")
    axes.plot(
        [one.detail for one in shown],
        range(len(shown)),
        "D",
        color=BLACK,
        markersize=4.5,
        clip_on=False,
        label="detail left (1 - loss)",
    )
    _figures(axes, shown)
    rows_downwards(axes, [_label(one, weighted) for one in shown])
    axes.tick_params(axis="y", pad=9)  # A mark at 0 stands over the axis.
    axes.set_xlim(min([0.0, *(width for _, width in bars)]), 1)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("what is left (0 = nothing, 1 = everything)")
    axes.set_title(_title(utility, weighted, len(shown), len(columns)))


def height_of(utility: Utility) -> float:
    """Return how many inches the panel needs."""
    rows = min(len(utility.loss.by_column), MAX_COLUMNS)
    return 1.5 + 0.24 * max(rows, 2) + (0.3 if utility.reason else 0.0)


def _figures(axes: Axes, shown: list[ColumnLeft]) -> None:
    """Write the figures beside the bars, with a heading over them."""
    columns = {
        "NUE": [one.entropy for one in shown if one.entropy is not None],
        "detail": [one.detail for one in shown],
    }
    for place, heading in enumerate(name for name in columns if columns[name]):
        beside: Any = {"textcoords": "offset points", "ha": "right", "annotation_clip": False, "fontsize": 8}
        right = 44 + 38 * place
        axes.annotate(heading, (1, 1), xycoords="axes fraction", xytext=(right, 3), **beside)
        for at, figure in enumerate(columns[heading]):
            axes.annotate(f"{figure:.3f}", (1, at), xytext=(right, 0), va="center", **beside)


def _label(one: ColumnLeft, weighted: bool) -> str:
    return f"{named(one.name)}  (weight {one.weight:.2g})" if weighted else named(one.name)


def _title(utility: Utility, weighted: bool, shown: int, columns: int) -> str:
    figures = []
    if utility.entropy is not None:
        figures.append(f"NUE {utility.entropy.overall:.4f}")
        if weighted:
            figures.append(f"wNUE {utility.entropy.weighted:.4f}")
    figures.append(f"loss {utility.loss.overall:.4f}")
    cut = "" if shown == columns else f" ({shown} of {columns} columns)"
    title = f"What is left of every column{cut}: {', '.join(figures)}"
    if utility.entropy is not None or not utility.reason:
        return title
    return f"{title}\n{textwrap.fill(f'NUE is not known: {utility.reason}', 120)}"


MAX_NUMBERED = 10
"""With more k's there is no room for a figure at every point."""

_SAME = 5e-4


def draw_quality(axes: Axes, sweep: Sequence[SweptK], *, k: int, rows: int) -> None:
    """
    Draw non-uniform entropy, plain and by priority, against k, the same distance from each k to the next.

    Below every k stands the share of the ``rows`` that was removed for it. A k that cannot be reached has a cross at
    the bottom, and interrupts the lines. Where both entropies are equal everywhere, as without priorities, there is one
    line.
    """
    few = len(sweep) <= MAX_NUMBERED
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
        _write_numbers(axes, plain, [None] * len(sweep) if equal else weighted)
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


def _write_numbers(axes: Axes, plain: Sequence[float | None], weighted: Sequence[float | None]) -> None:
    """Write the figures at the points: of two the higher one above, the lower one below; of equal ones one."""
    for at, pair in enumerate(zip(plain, weighted, strict=True)):
        known = sorted(figure for figure in pair if figure is not None)
        if known:
            _write_number(axes, at, known[-1], above=True)
        if known and known[-1] - known[0] >= _SAME:
            _write_number(axes, at, known[0], above=False)


def _write_number(axes: Axes, at: int, height: float, *, above: bool) -> None:
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
