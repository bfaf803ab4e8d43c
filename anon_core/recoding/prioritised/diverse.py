"""Requirements of sensitive columns, reached after k: classes that break them are merged, never removed.

An attacker who knows how a release was made learns from a missing class, which k alone would have kept, that it broke
such a requirement. Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing, 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from anon_core.plan import RecodingPlan
from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition
from anon_core.recoding.prioritised.leftovers import merged
from anon_core.recoding.prioritised.orders import Found
from anon_core.recoding.prioritised.prices import Objective, costs_beside
from anon_core.recoding.task import Task

_MAX_LACKING_SHARE = 0.5
"""If classes that break a requirement have a larger share of the rows than this, larger classes are tried too."""


def diversified(
    task: Task,
    encoded: Encoded,
    objective: Objective,
    by_k: Callable[[int], RecodingPlan],
    globally: RecodingPlan | None,
) -> RecodingPlan:
    """
    Return the best plan: of those with the classes of ``by_k`` merged, and of global recoding.

    Each class that breaks a requirement is merged with the nearest class that keeps all. If few classes keep all, the
    same is tried with classes of two, four and eight times k. Only k decides which rows are removed. The plan that
    breaks least wins, then the one that loses least.
    """
    best = None
    for plan in (*_merged(task, encoded, objective, by_k), *([globally] if globally else [])):
        own = _held_to(task, encoded, plan)
        found = Found.measured(own, objective, TuplePartition.of(plan))
        if best is None or found.is_better_than(best[0]):
            best = found, found.partition.plan(own)
    return best[1] if best else by_k(task.k)


def _merged(
    task: Task, encoded: Encoded, objective: Objective, by_k: Callable[[int], RecodingPlan]
) -> Iterator[RecodingPlan]:
    """Yield the plans from classes of k people, and of more, merged until all keep the requirements."""
    removed, k = None, task.k
    while True:
        plan = by_k(k)
        removed = plan.removed if removed is None else removed
        if (plan.removed & ~removed).any():
            return  # It would remove rows that k alone does not remove.
        own, partition = _held_to(task, encoded, plan), TuplePartition.of(plan)
        safe = own.task.requirements.safe(partition.members, partition.classes[partition.members], partition.count)
        costs = costs_beside(encoded, objective, partition.levels(own))
        yield merged(own, costs, partition, own.task.requirements).plan(own)
        lacking = np.append(~safe, False)[partition.classes]
        if (
            encoded.weights[lacking].sum() <= _MAX_LACKING_SHARE * encoded.weights[~plan.removed].sum()
            or 2 * k > task.counted
        ):
            return
        k *= 2


def _held_to(task: Task, encoded: Encoded, plan: RecodingPlan) -> Encoded:
    """Return the encoded table whose classes are judged by the rows that a plan keeps."""
    requirements = task.requirements.without(plan.removed)
    return replace(encoded.all_open, task=replace(task, requirements=requirements))
