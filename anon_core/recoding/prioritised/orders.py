"""A search for a better order of nodes: which columns to generalise most in the whole table."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.recoding.method import Progress
from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition
from anon_core.recoding.prioritised.leftovers import with_leftovers_placed
from anon_core.recoding.prioritised.node_order import Nodes, by_node_order, mean_prices
from anon_core.recoding.prioritised.prices import Objective, costs_beside

ADAPTATIONS = 4
"""So many passes take their costs from the pass before."""
FULL_PASSES = 2
LARGE_PASS_SIZE = 400_000_000
"""Tuples times nodes of one pass: so many take some seconds."""
ORDERS_AT_ONCE = 2
"""So many orders are tried at the same time on any number of cores: the result must not depend on the cores."""

# These figures were found by experiments on Adult; other tables may have better ones. With any figures results are
# safe.
_STEP = 0.3
"""How far a price changes in one trial (the standard deviation of its logarithm): by about a third, up or down."""
_COLUMNS_MOVED = 0.3
"""The share of the columns whose prices change in one trial: if it is small, the trial shows which columns help."""
_LEVELS_MOVED = 0.15
"""The share of the single levels whose prices change too: there are several levels per column."""
_LEVEL_STEP = 0.7
"""How far the price of a single level changes, as a share of the step of a column, to which it is added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """
    A partition, its cost, and what cells cost beside it.

    ``breaks`` counts the rows that are suppressed beyond what is allowed, or are in classes that are not safe. A
    partition that breaks less is better at any cost.
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
    """The best result of the first passes, and the nodes that made a class in any of them."""

    found: Found
    hits: Integers


def start(encoded: Encoded, nodes: Nodes, objective: Objective, *, progress: Progress | None = None) -> Start:
    """
    Build classes by the order of nodes, several times.

    NUE counts frequencies among the rows at or above a level, so the costs of a pass depend on the result of the pass
    before. For large tables only the first two passes try all nodes; the others try the nodes that have made a class.
    """
    hits = [np.array([len(nodes.levels) - 1])]
    large = len(nodes.levels) * len(encoded.open) > LARGE_PASS_SIZE

    def a_pass(costs: Floats) -> Found:
        some = np.unique(np.concatenate(hits)) if large and len(hits) > FULL_PASSES else None
        ordered = by_node_order(encoded, nodes, mean_prices(encoded, costs), some)
        hits.append(ordered.hits)
        if progress:
            progress("first passes", len(hits) - 1, ADAPTATIONS + 1)
        return Found.measured(encoded, objective, with_leftovers_placed(encoded, costs, ordered.partition))

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

    A marginal cost does not show what becomes cheaper for other columns when a column is fully generalised; multiplied
    prices do. Only nodes that have made a class before are tried.
    """
    best, factors = begin.found, np.ones(encoded.keys.shape[1])
    with ThreadPoolExecutor(ORDERS_AT_ONCE) as pool:
        for done in range(0, trials, ORDERS_AT_ONCE):
            drawn = [factors * _disturbance(encoded, random) for _ in range(ORDERS_AT_ONCE)]
            prices = mean_prices(encoded, best.costs) * np.array(drawn)
            tried = pool.map(lambda own: by_node_order(encoded, nodes, own, begin.hits), prices)
            for own, ordered in zip(drawn, list(tried), strict=True):
                partition = with_leftovers_placed(encoded, best.costs, ordered.partition)
                found = Found.measured(encoded, objective, partition)
                if found.is_better_than(best):
                    best, factors = found, own
            if progress:
                progress("orders of generalisations", min(done + ORDERS_AT_ONCE, trials), trials)
    return best


def _disturbance(encoded: Encoded, random: np.random.Generator) -> Floats:
    """Return factors for all slots: some columns become more expensive or cheaper, and some single levels too."""
    columns = np.exp(_STEP * random.normal(size=encoded.columns) * (random.random(encoded.columns) < _COLUMNS_MOVED))
    slots = encoded.keys.shape[1]
    single = np.exp(_LEVEL_STEP * _STEP * random.normal(size=slots) * (random.random(slots) < _LEVELS_MOVED))
    return np.asarray(np.repeat(columns, encoded.tops + 1) * single)
