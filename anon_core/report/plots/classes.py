"""How many rows live in small classes and how many in large ones, and where k divides them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anon_core.kernels import Integers
from anon_core.report.plots.drawing import BLACK, BLUE, RED, counted, percent, rows_downwards

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.score.rows_by_size import RowsBySize

_STARTS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000, 1_000_000)
_STRIPES = "////"


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeBin:
    """Classes with at least ``first`` and at most ``last`` rows; None is as many as there may be."""

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
        axes.annotate(
            f"{counted(number)} ({percent(number, found.total)})" if number else "0",
            (number, at + shift),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
