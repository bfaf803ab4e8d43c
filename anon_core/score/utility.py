"""What recoding cost: loss, and the shares of rows and cells that changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anon_core.plan import RecodingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """How much of the table is left: 0 is untouched, 1 is nothing. A removed row counts as lost altogether."""

    loss: float
    weighted_loss: float
    loss_by_column: dict[str, float]
    rows_changed_share: float
    cells_changed_share: float


def utility(plan: RecodingPlan, weights: Mapping[str, float] | None = None) -> Utility:
    """Measure the loss (iLoss) of a plan, plain and weighted by the priorities of the columns."""
    frequencies = plan.frequencies
    names, rows = frequencies.names, max(frequencies.rows, 1)
    by_column = {}
    for i, name in enumerate(names):
        lost = plan.ladders[i].loss()[plan.levels[i], frequencies.codes[i]]
        lost = np.where(plan.removed, 1.0, lost)
        by_column[name] = float((lost * frequencies.weights).sum() / rows)
    shares = {name: (weights or {}).get(name, 1.0) for name in names}
    total = sum(shares.values()) or 1.0
    published = max(rows - plan.rows_removed, 1)
    return Utility(
        loss=sum(by_column.values()) / max(len(names), 1),
        weighted_loss=sum(by_column[name] * shares[name] for name in names) / total,
        loss_by_column=by_column,
        rows_changed_share=plan.rows_changed / published,
        cells_changed_share=sum(plan.cells_changed.values()) / (published * max(len(names), 1)),
    )
