"""The cost of a cell at each level, in bits, and the cost of a whole recoding: a mixture of wNUE and NUE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.measures.utility.cells import RecodedCells
from anon_core.measures.utility.entropy import entropy, most_bits
from anon_core.plan import RecodingPlan
from anon_core.recoding.prioritised.encoding import Encoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """
    The cost of a recoding: ``(1 - share) * (1 - wNUE) + share * (1 - NUE)``, with ``share`` the weight of plain NUE.

    ``per_bit`` is the cost of one bit that a column loses.
    """

    share: float
    per_bit: Floats

    @classmethod
    def of(cls, encoded: Encoded, share: float) -> Objective:
        task = encoded.task
        weights = np.array(task.weights, np.float64)
        most = np.array([most_bits(task.rows_by_value(column)) for column in range(encoded.columns)])
        most[encoded.fixed] = 0  # They have nothing to lose.
        weighted, plain = float((weights * most).sum()), float(most.sum())
        per_bit = (1 - share) * weights / (weighted or 1.0) + share / (plain or 1.0)
        return cls(share=share, per_bit=per_bit)

    def cost(self, encoded: Encoded, plan: RecodingPlan) -> float:
        """Return what a plan loses."""
        left = entropy(RecodedCells.by(plan), encoded.task.by_name)
        return (1 - self.share) * (1 - left.weighted) + self.share * (1 - left.overall)


def costs_beside(encoded: Encoded, objective: Objective, levels: Integers | None = None) -> Floats:
    """
    Return the cost of each tuple's cell at each slot: what one more row there adds to the loss of a recoding.

    NUE counts frequencies among the rows at or above a level, so a value with many rows generalised already costs
    little more. Without a recoding all rows count as being at the roots: then the cost is the bits of the level. Costs
    are relative to the largest one.
    """
    if levels is None:
        levels = np.repeat(encoded.heights[None, :], len(encoded.weights), axis=0)
    costs = np.zeros(encoded.keys.shape, np.float64)
    for column, (ladder, codes) in enumerate(zip(encoded.task.ladders, encoded.task.frequencies.codes, strict=True)):
        if not ladder.height:
            continue
        steps = ladder.height + 1
        places = codes.astype(np.int64) * steps + levels[:, column]
        counts = np.bincount(places, encoded.weights, minlength=ladder.maps.shape[1] * steps).reshape(-1, steps)
        bits = np.zeros(ladder.maps.shape[1])
        for level in range(1, steps):
            inside = counts[:, level:].sum(axis=1)
            bits = bits + _added(inside, ladder.maps[level]) - _added(inside, ladder.maps[level - 1])
            costs[:, encoded.base[column] + level] = objective.per_bit[column] * bits[codes]
    # They are rounded, so that the last digit, which differs between machines, does not change an order.
    costs = np.asarray(np.round(costs / (costs.max(initial=0.0) or 1.0), 12), np.float64)
    # More than all other columns may cost, so that tuples use this slot only if they are equal at no other node.
    costs[:, encoded.base[encoded.fixed] + 1] = float(encoded.columns * encoded.weights.sum())
    return costs


def _added(rows: Floats, labels: Integers) -> Floats:
    """Return for every value how much f * log2(f) of its label grows by one row."""
    sizes = np.bincount(labels, rows)[labels]
    return np.asarray((sizes + 1) * np.log2(sizes + 1) - np.where(sizes > 0, sizes * np.log2(np.maximum(sizes, 1)), 0))
