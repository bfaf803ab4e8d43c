"""A search for a better order of nodes: which columns to sacrifice for the whole table."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.recoding.method import Progress
from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition
from anon_core.recoding.prioritised.leftovers import housed
from anon_core.recoding.prioritised.node_order import Nodes, by_node_order, mean_prices
from anon_core.recoding.prioritised.prices import Objective, costs_beside

ADAPTATIONS = 4
"""Passes whose costs are taken from the pass before."""
FULL_PASSES = 2
LARGE = 400_000_000
"""Tuples times nodes; a pass over so many takes some seconds."""
AT_ONCE = 2
"""Orders that are tried side by side, whatever the number of cores: the result must not depend on it."""

# What follows was found by trying on Adult; other tables may have better ones, and every result is safe with any.
_STEP = 0.3
"""How far a price moves in one trial (the deviation of its logarithm): by about a third, up or down."""
_COLUMNS_MOVED = 0.3
"""The share of the columns whose prices move in one trial: with few it shows which of them did it good."""
_LEVELS_MOVED = 0.15
"""The share of the single levels that move beside them: there are several per column."""
_LEVEL_STEP = 0.7
"""How far a single level moves, as a share of the step of a column: it adds to that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """
    A partition, what it costs, and what cells cost beside it.

    ``breaks`` counts the rows that are suppressed beyond what is allowed, or in classes that are not safe; whatever
    breaks less is better, whatever it costs.
    """

    partition: TuplePartition
    breaks: int
    cost: float
    costs: Floats

    def is_better_than(self, other: Found) -> bool:
        return (self.breaks, self.cost) < (other.breaks, other.cost)

    @classmethod
    def measured(cls, encoded: Encoded, objective: Objective, partition: TuplePartition) -> Found:
        plan, members = partition.plan(encoded), partition.members
        beyond = max(0, plan.rows_removed + plan.rows_blanked - encoded.task.allowed)
        safe = encoded.task.requirements.safe(members, partition.classes[members], partition.count)
        unsafe = members[~safe[partition.classes[members]]]
        return cls(
            partition=partition,
            breaks=beyond + int(encoded.weights[unsafe].sum()),
            cost=objective.cost(encoded, plan),
            costs=costs_beside(encoded, objective, partition.levels(encoded)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The best of the first passes, and the nodes that froze something in any of them."""

    found: Found
    hits: Integers


def start(encoded: Encoded, nodes: Nodes, objective: Objective, *, progress: Progress | None = None) -> Start:
    """
    Build classes by the order of nodes, several times: NUE counts frequencies inside the rows at or above a level.

    So the costs of one pass are those beside the result of the one before. Of large tables only the first two passes
    try all nodes, the others those that have frozen something.
    """
    hits = [np.array([len(nodes.levels) - 1])]
    large = len(nodes.levels) * len(encoded.open) > LARGE

    def a_pass(costs: Floats) -> Found:
        some = np.unique(np.concatenate(hits)) if large and len(hits) > FULL_PASSES else None
        ordered = by_node_order(encoded, nodes, mean_prices(encoded, costs), some)
        hits.append(ordered.hits)
        if progress:
            progress("first passes", len(hits) - 1, ADAPTATIONS + 1)
        return Found.measured(encoded, objective, housed(encoded, costs, ordered.partition))

    best = found = a_pass(costs_beside(encoded, objective))
    for _ in range(ADAPTATIONS):
        found = a_pass(found.costs)
        best = found if found.is_better_than(best) else best
    return Start(found=best, hits=np.unique(np.concatenate(hits)))


def better_order(
    encoded: Encoded,
    nodes: Nodes,
    objective: Objective,
    begin: Start,
    *,
    trials: int,
    random: np.random.Generator,
    progress: Progress | None = None,
) -> Found:
    """
    Try other prices for whole columns and single levels, and go on from the best.

    A marginal cost knows nothing of what becomes cheaper for others when a column is given up everywhere; prices that
    are multiplied find that out. Only nodes that have ever frozen something are tried.
    """
    best, factors = begin.found, np.ones(encoded.keys.shape[1])
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in range(0, trials, AT_ONCE):
            drawn = [factors * _disturbance(encoded, random) for _ in range(AT_ONCE)]
            prices = mean_prices(encoded, best.costs) * np.array(drawn)
            tried = pool.map(lambda own: by_node_order(encoded, nodes, own, begin.hits), prices)
            for own, ordered in zip(drawn, list(tried), strict=True):
                partition = housed(encoded, best.costs, ordered.partition)
                found = Found.measured(encoded, objective, partition)
                if found.is_better_than(best):
                    best, factors = found, own
            if progress:
                progress("orders of generalisations", min(done + AT_ONCE, trials), trials)
    return best


def _disturbance(encoded: Encoded, random: np.random.Generator) -> Floats:
    """Return factors for all slots: some columns become dearer or cheaper, and some single levels."""
    columns = np.exp(_STEP * random.normal(size=encoded.columns) * (random.random(encoded.columns) < _COLUMNS_MOVED))
    slots = encoded.keys.shape[1]
    single = np.exp(_LEVEL_STEP * _STEP * random.normal(size=slots) * (random.random(slots) < _LEVELS_MOVED))
    return np.asarray(np.repeat(columns, encoded.tops + 1) * single)
