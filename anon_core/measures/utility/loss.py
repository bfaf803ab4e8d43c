"""How much detail recoding lost (iLoss [Xiao2006]_), and how many rows and cells it changed.

Xiao, Tao: Personalized privacy preservation, 2006.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anon_core.measures.utility.cells import RecodedCells, Released, covered


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """How much detail is lost: 0 is nothing, 1 is everything. ``weighted`` weights columns by their priorities."""

    overall: float
    weighted: float
    by_column: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The shares of the published rows, and of their cells, that are not as collected."""

    rows: float
    cells: float


def loss(cells: Released, weights: Mapping[str, float] | None = None) -> Loss:
    """
    Measure which share of the other values of its column a cell may also stand for, on average.

    A removed row counts as fully lost. A column with a single value loses only its removed rows. It does not matter
    which row became which. A column that ``weights`` does not name weighs 1.
    """
    published = np.where(cells.removed, 0, cells.weights)
    rows, removed = max(cells.rows, 1), cells.rows_removed
    by_column = {}
    for ladder, labels in zip(cells.ladders, cells.labels, strict=True):
        others = (covered(ladder) - 1) / max(ladder.maps.shape[1] - 1, 1)
        counts = np.bincount(labels, published, minlength=len(others))
        by_column[ladder.column] = (float((counts * others).sum()) + removed) / rows
    shares = {name: (weights or {}).get(name, 1.0) for name in by_column}
    return Loss(
        overall=sum(by_column.values()) / max(len(by_column), 1),
        weighted=sum(lost * shares[name] for name, lost in by_column.items()) / (sum(shares.values()) or 1.0),
        by_column=by_column,
    )


def changes(cells: RecodedCells) -> Changes:
    """Return the shares that changed; removed rows are left out of both."""
    published = np.where(cells.removed, 0, cells.weights)
    some, touched = np.zeros(len(published), np.bool_), 0
    for ladder, values, labels in zip(cells.ladders, cells.values, cells.labels, strict=True):
        changed = (labels != ladder.maps[0, values]) | ladder.unmapped[values]
        some |= changed
        touched += int(published[changed].sum())
    rows = max(int(published.sum()), 1)
    return Changes(rows=int(published[some].sum()) / rows, cells=touched / (rows * max(len(cells.ladders), 1)))
