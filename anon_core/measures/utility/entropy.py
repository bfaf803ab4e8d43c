"""Non-uniform entropy (NUE): how much information of a column is left [DeWaal1999]_, [Bampoulidis2019]_.

De Waal, Willenborg: Information loss through global recoding and local suppression, 1999. Here as the programs of
Bampoulidis et al. and ARX compute it, with cells of one column at several levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.utility.cells import RecodedCells


@dataclass(frozen=True, slots=True, kw_only=True)
class Entropy:
    """The information left: 1 is everything, 0 is nothing. ``weighted`` (wNUE) weights columns by their priorities."""

    overall: float
    weighted: float
    by_column: dict[str, float]


def entropy(cells: RecodedCells, weights: Mapping[str, float] | None = None) -> Entropy:
    """
    Measure non-uniform entropy; it must be known which row became which.

    For a column let l0 < l1 < ... be the levels of its cells, and S the rows at level lj or above. Each lj adds to the
    loss -sum over S of log2(f(value at l(j-1)) / f(value at lj)), where f counts inside S, and before l0 comes the
    value as collected. With max = -sum over all rows of log2(f(value) / rows):

    - score of a column = 1 - loss / max;
    - NUE = 1 - sum of losses / sum of maxima;
    - wNUE = the same with both sums weighted; a column that ``weights`` does not name weighs 1.

    A removed row is at the root. A value that the hierarchy does not know is itself on level 0, and the root above. A
    column with a single value has nothing to lose (max 0): its score is 1, and so is NUE if all columns are like that.
    Labels must cover the values that they were made from.
    """
    lost, most = {}, {}
    rows = cells.weights.astype(np.float64)
    for ladder, values, labels in zip(cells.ladders, cells.values, cells.labels, strict=True):
        levels = ladder.height + 1
        places = values.astype(np.int64) * levels + ladder.lowest[labels]
        counts = np.bincount(places, rows, minlength=ladder.maps.shape[1] * levels)
        lost[ladder.column], most[ladder.column] = _lost_and_most(ladder, counts.reshape(-1, levels))
    shares = {name: (weights or {}).get(name, 1.0) for name in lost}
    return Entropy(
        overall=_left(sum(lost.values()), sum(most.values())),
        weighted=_left(*(sum(side[name] * shares[name] for name in shares) for side in (lost, most))),
        by_column={name: _left(lost[name], most[name]) for name in lost},
    )


def _left(lost: float, most: float) -> float:
    return 1 - lost / most if most > 0 else 1.0


def _lost_and_most(ladder: Ladder, counts: AnyCodes) -> tuple[float, float]:
    """Return the loss of one column and its maximum, from the rows with each value (row) at each level (column)."""
    as_collected: Integers = np.arange(len(counts))
    below: AnyCodes = as_collected
    lost = 0.0
    for level in np.flatnonzero(counts.any(axis=0)):
        inside = counts[:, level:].sum(axis=1)
        # On level 0 every value is itself, also one that the hierarchy does not know.
        here = ladder.maps[level] if level else as_collected
        lost += bits_within(np.bincount(here, inside)) - bits_within(np.bincount(below, inside))
        below = here
    return lost, most_bits(counts.sum(axis=1))


def most_bits(rows: AnyCodes) -> float:
    """Return the bits of a column, from the rows of each value: -sum over rows of log2(f(value) / rows)."""
    return bits_within(rows.sum()) - bits_within(rows)


def bits_within(sizes: AnyCodes | int | float) -> float:
    """
    Return the bits that it takes to tell rows apart inside their groups: the sum of f * log2(f) over groups of f rows.

    That is the sum over rows of log2(f of its group), so -sum over rows of log2(f before / f after) is a difference of
    two of these.

    >>> bits_within(4), bits_within(np.array([2, 2, 0]))
    (8.0, 4.0)
    """
    some = np.asarray(sizes, np.float64).reshape(-1)
    some = some[some > 0]
    return float((some * np.log2(some)).sum())
