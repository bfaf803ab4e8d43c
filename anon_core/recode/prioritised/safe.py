"""Mode ``safe``: local recoding into classes that are safe in the exact sense, with a search for a cheap one.

The paper's greedy, with ``*`` as a level and exact classes, loses more than ARX's local recoding. This search does not:
classes by the order of nodes (:mod:`node_order`), a better order (:mod:`orders`), better neighbourhoods
(:mod:`neighbourhoods`). Every step is deterministic for a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from anon_core.plan import RecodingPlan
from anon_core.recode.lattice.search import levels_for_all
from anon_core.recode.method import Progress
from anon_core.recode.prioritised.encoding import Encoded, Partition
from anon_core.recode.prioritised.neighbourhoods import improved
from anon_core.recode.prioritised.node_order import Nodes, mean_prices, nodes_of
from anon_core.recode.prioritised.orders import Found, Start, better_order, start
from anon_core.recode.prioritised.prices import Objective, costs_beside

SWEEPS_PER_ORDER = 3
FEW_CLASSES = 20
"""With fewer classes a single level for all rows may well be better, and costs little to try."""
_AUTO = 240
_AUTO_TUPLES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeSearch:
    """The plan that was found, the nodes that were tried, and how many sweeps were made."""

    plan: RecodingPlan
    nodes: Nodes
    sweeps: int


def search_safe(
    encoded: Encoded,
    objective: Objective,
    *,
    globally: Callable[[], RecodingPlan | None] | None = None,
    progress: Progress | None = None,
) -> SafeSearch:
    """
    Put the tuples that have to be recoded into safe classes; some may be removed.

    Where the first classes break the policy, or are few, or sensitive columns make it hard to tell, the search begins
    with what global recoding finds, if that is better; ``globally`` returns it where it is known already.
    """
    settings = encoded.task.settings
    random = np.random.default_rng(settings.seed)
    prices = mean_prices(encoded, costs_beside(encoded, objective))
    nodes = nodes_of(encoded.heights, prices, encoded.base, len(encoded.open), random)
    begin = start(encoded, nodes, objective, progress=progress)
    few = begin.found.partition.count < FEW_CLASSES or encoded.task.requirements.others
    if (begin.found.breaks or few) and (plan := globally() if globally else levels_for_all(encoded.task)) is not None:
        open_ = replace(encoded, settled=np.zeros_like(encoded.settled))
        other = Found.measured(open_, objective, _classes_of(plan))
        if other.is_better_than(begin.found):
            encoded, begin = open_, Start(found=other, hits=begin.hits)
    sweeps, found = sweeps_of(settings.improve, len(encoded.open)), begin.found
    if sweeps and found.partition.count > 1:
        trials = -(-sweeps // SWEEPS_PER_ORDER)
        found = better_order(encoded, nodes, objective, begin, trials=trials, random=random, progress=progress)
        found = improved(encoded, objective, found, sweeps=sweeps, random=random, progress=progress)
    return SafeSearch(plan=found.partition.plan(encoded), nodes=nodes, sweeps=sweeps)


def _classes_of(plan: RecodingPlan) -> Partition:
    """Return the classes that a plan publishes; removed tuples are in none."""
    return Partition.numbered(np.where(plan.removed, -1, plan.classes().member))


def sweeps_of(improve: int | str, tuples: int) -> int:
    """
    Return how many sweeps ``improve`` means for so many tuples that have to be recoded.

    By itself fewer for large tables, where a sweep takes long, and for small ones, where there is little to find.

    >>> sweeps_of("auto", 15_000), sweeps_of("auto", 100_000), sweeps_of("auto", 12), sweeps_of(7, 100)
    (240, 21, 5, 7)
    """
    if isinstance(improve, int):
        return improve
    return max(5, min(_AUTO, tuples // 20, int(_AUTO * (_AUTO_TUPLES / max(tuples, 1)) ** 1.5)))
