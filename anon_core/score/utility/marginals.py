"""How far the distribution of each column, as a reader estimates it, is from the original's: total variation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.comparison import Comparison
from anon_core.score.utility.queries import Spread, counted, estimates


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginals:
    """The total variation distance of every column: 0 where the shares of all values are right, 1 at worst."""

    by_column: dict[str, float]
    mean: float
    worst: float


def marginals(comparison: Comparison) -> Marginals:
    """
    Compare the shares of a column's values in the original with those that a reader estimates from the release.

    Labels are spread evenly over the values of the original that they cover; half the sum of all differences is the
    distance. Removed rows are part of the original and not of the release. Where nothing is published of something,
    the distance is 1. A gap is a value.
    """
    by_column = {}
    for ladder in comparison.ladders:
        original = counted(comparison.before, [ladder.column])
        released = counted(comparison.after, [ladder.column])
        shares = np.zeros(ladder.maps.shape[1])
        shares[original.codes[0]] = original.rows / max(int(original.rows.sum()), 1)
        total = int(released.rows.sum())
        if not total:
            by_column[ladder.column] = 1.0 if len(original.rows) else 0.0
            continue
        expected = estimates([Spread.of(ladder)], [np.arange(len(shares))], released) / total
        by_column[ladder.column] = float(np.abs(shares - expected).sum() / 2)
    found = list(by_column.values())
    return Marginals(by_column=by_column, mean=sum(found) / max(len(found), 1), worst=max(found, default=0.0))
