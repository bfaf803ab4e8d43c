"""Mode ``link``: at least k rows may be those of each person, and every row may be that of at least k people.

There are two ways, and the better result is used: the classes of mode ``safe``, with cells lowered as far as possible;
and the result of mode ``paper``, with people who are covered by too few rows put into classes, and then lowered.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anon_core import kernels
from anon_core.comparison import Comparison
from anon_core.kernels import Integers
from anon_core.measures.linkage.covering import Covering, coverings
from anon_core.measures.linkage.four_ks import MAX_PAIRS
from anon_core.plan import RecodingPlan
from anon_core.recoding.prioritised.encoding import Encoded
from anon_core.recoding.prioritised.leftovers import joined
from anon_core.recoding.prioritised.node_order import by_node_order, mean_prices, nodes_of
from anon_core.recoding.prioritised.prices import Objective, costs_beside
from anon_core.table import Mask

_MAX_ROUNDS = 4
"""After cells are lowered, others may be lowered too; after a few rounds hardly any."""


def lowered(encoded: Encoded, objective: Objective, plan: RecodingPlan) -> RecodingPlan:
    """
    Return a plan with cells at lower levels where link k and source k allow it.

    If these do not hold before, or too many tuples cover each other to compare them all, the same plan is returned.

    A person with several rows counts once, in the tuple that is their home (see :meth:`TuplePeople.homes`), which never
    overstates a union of tuples. A person who has fewer than k by that count keeps the rows that cover them.

    Tuples are visited from the one that can gain most, of equal ones in their order.
    """
    from anon_core.kernels.compiled.local_classes import Cells
    from anon_core.kernels.compiled.lowering import Covered, lower_all

    meetings, exactly = _Covers(encoded, plan), encoded.task.people is None
    if plan.removed.all() or meetings.originals is None:
        return plan
    if exactly and meetings.met[~plan.removed].min() < encoded.task.k:
        return plan
    levels = np.ascontiguousarray(plan.levels.T.astype(np.int64))
    for _ in range(_MAX_ROUNDS):
        costs = costs_beside(encoded, objective, levels)
        slots = levels + encoded.base[:-1]
        gain = encoded.weights * np.take_along_axis(costs, slots, axis=1).sum(axis=1)
        members = np.flatnonzero((gain > 0) & ~plan.removed)
        members = members[np.argsort(-gain[members], kind="stable")]
        cells = Cells(encoded.keys, costs, meetings.weights, encoded.base, encoded.empty)
        covered = Covered(meetings.of, meetings.starts, meetings.originals, meetings.met)
        if not lower_all(cells, covered, members, levels, encoded.task.k):
            break
    return encoded.plan(levels, plan.removed)


def repaired(encoded: Encoded, objective: Objective, plan: RecodingPlan, random: np.random.Generator) -> RecodingPlan:
    """
    Return a plan in which at least k rows cover every person.

    People covered by fewer rows are put into classes of at least k rows, and their cells are raised to the levels of
    these classes: then every row of a class covers all people in it. A raised cell covers all that it covered before.
    If there are fewer than k such people, and none is near a class, they stay as they are: then the plan does not reach
    link k.
    """
    short: Mask = (_Covers(encoded, plan).met < encoded.task.k) & ~plan.removed
    if not short.any():
        return plan
    levels = plan.levels.T.astype(np.int64)
    some = replace(encoded, settled=~short)
    costs = costs_beside(encoded, objective, levels)
    prices = mean_prices(some, costs)
    nodes = nodes_of(encoded.heights, prices, encoded.base, len(some.open), random)
    partition = joined(some, costs, by_node_order(some, nodes, prices).partition)
    placed = partition.classes >= 0
    own = partition.class_levels(encoded)[partition.classes[placed]]
    levels[placed] = np.maximum(levels[placed], own)
    return encoded.plan(levels, plan.removed)


class _Covers:
    """
    Which originals each published tuple of a plan covers; ``weights`` of tuples give lower bounds for people.

    ``originals`` is None if there are more pairs than memory should hold.
    """

    def __init__(self, encoded: Encoded, plan: RecodingPlan) -> None:
        people = encoded.task.people
        self.weights: Integers = encoded.weights if people is None else people.homes(encoded.task.k)
        comparison = Comparison.of_plan(plan)
        after, kept = comparison.after, np.flatnonzero(~plan.removed)
        self.of: Integers = np.zeros(len(plan.removed), np.int64)
        if comparison.pairs is not None:
            self.of[kept] = comparison.pairs.after
        self.met: Integers = np.zeros(len(plan.removed), np.int64)
        self.starts: Integers = np.zeros(1, np.int64)
        self.originals: Integers | None = None
        published = kernels.weigh(self.of[kept], len(after.weights), self.weights[kept])
        parts: list[Covering] = []
        pairs = 0
        for part in coverings(plan.ladders, [codes[kept] for codes in plan.frequencies.codes], after.codes):
            np.add.at(self.met, kept[part.before], published[part.after])
            pairs += len(part.before)
            if pairs > MAX_PAIRS:
                parts.clear()
            else:
                parts.append(part)
        if pairs <= MAX_PAIRS:
            edges = Covering.joined(parts)
            order = np.argsort(edges.after, kind="stable")
            self.starts = np.searchsorted(edges.after[order], np.arange(len(after.weights) + 1))
            self.originals = kept[edges.before[order]]
