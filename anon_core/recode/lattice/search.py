"""Global recoding: one level per column for the whole table, the rows still unsafe removed [LeFevre2005]_.

LeFevre, DeWitt, Ramakrishnan: Incognito: efficient full-domain k-anonymity, 2005. Kohlmayer, Prasser, Eckert, Kemper,
Kuhn: Flash: efficient, stable and optimal k-anonymity, 2012. Nodes (a level per column) are looked at in the order of
the least that they can cost, and ways up are halved to find out quickly what is hopeless.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import prod

import numpy as np

from anon_core.errors import PolicyNotMetError
from anon_core.plan import RecodingPlan
from anon_core.recode.lattice.nodes import ClassCounter, Classes, Frontier, Node, NodeCosts
from anon_core.recode.method import Progress
from anon_core.recode.task import Candidate, Recoding, Task
from anon_core.table import Mask
from anon_core.wording import counted

NODE_LIMIT = 200_000
"""Nodes looked at before the search stops and says that its result may not be the best."""

TIE = 1e-12
"""Costs closer than this are equal: they are sums of the same shares in another order."""

SHOWN = 12
"""How many of the safe nodes are reported, the best ones."""


def recode_globally(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Find the combination of levels that costs least in the measure that elects, while every class is safe.

    Safe is a class with at least k rows that keeps what is required of sensitive columns. Other classes are removed if
    they hold at most as many rows as may be suppressed; closeness is then held to the rows that stay. Costs are those
    of ``task.settings.utility``, a removed row standing at the root. Without removals they only grow on the way up, so
    nothing above a node that costs more than the best can win, and the result is optimal. Ties go to fewer removed
    rows, then to lower levels of the more important columns.

    :raises PolicyNotMetError: no combination is safe; rows at the root in every column count as removed.
    """
    search = _Lattice(task, progress)
    safe = search.run()
    if not safe:
        raise _not_met(task, search.closest)
    why = f"Of {counted(search.counted, 'combination')} of levels that were counted, this one is safe and costs least"
    why += f" ({_MEASURES[task.settings.utility]})"
    return Recoding(
        method="global",
        plan=search.plan(safe[0].node),
        why=why if search.complete else f"{why}; the search stopped at {NODE_LIMIT} combinations",
        candidates=tuple(search.describe(found, elected=found is safe[0]) for found in safe[:SHOWN]),
        optimal=search.complete,
    )


def levels_for_all(task: Task) -> RecodingPlan | None:
    """Return the plan that global recoding finds, None where no combination is safe."""
    search = _Lattice(task, None)
    safe = search.run()
    return search.plan(safe[0].node) if safe else None


_MEASURES = {
    "wnue": "non-uniform entropy by priority",
    "nue": "non-uniform entropy",
    "loss": "loss by priority",
    "rows": "rows changed or removed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closest:
    """The node that leaves fewest rows at risk, for the message when none is safe; ``k`` is its smallest class."""

    rows_at_risk: int
    k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Safe:
    """A node whose unsafe rows may all be removed."""

    cost: float
    removed: int
    node: Node


def _not_met(task: Task, closest: _Closest) -> PolicyNotMetError:
    small, rows = closest.k < task.k, closest.rows_at_risk  # Else it is diversity, or too many rows say nothing.
    goal = f"k {task.k}" if small else f"suppression of at most {task.allowed} rows"
    if not small and task.requirements.others:
        goal = f"k {task.k} with diversity of sensitive columns and {goal}"
    return PolicyNotMetError(
        goal=goal,
        reached=closest.k if small else rows,
        rows_at_risk=rows,
        rows=task.frequencies.rows,
        advice=f"{task.allowed} rows may be removed, those that say nothing any more included: publish fewer "
        "columns, add a level to a hierarchy, raise privacy.suppression_limit or lower privacy.k",
    )


class _Lattice:
    """The walk through the lattice."""

    def __init__(self, task: Task, progress: Progress | None) -> None:
        self.task, self.progress = task, progress
        self.heights = [ladder.height for ladder in task.ladders]
        self.costs, self.classes = NodeCosts(task), ClassCounter(task)
        self.importance = sorted(range(len(task.ladders)), key=lambda i: -task.weights[i])
        # Only of k and of distinct values the rows that fail never grow on the way up, whatever classes meet.
        self.monotone = not task.allowed or all(one.absorbing for one in task.requirements.others)
        self.closest = _Closest(rows_at_risk=task.frequencies.rows + 1, k=0)
        self.hopeless = Frontier(len(self.heights), below=True)
        self.finished = Frontier(len(self.heights), below=False)
        self.judged: set[Node] = set()
        self.safe: list[_Safe] = []
        self.best = float("inf")
        self.complete = True

    @property
    def counted(self) -> int:
        return len(self.judged)

    def run(self) -> list[_Safe]:
        """Return the safe nodes that were met, best first."""
        bottom: Node = (0,) * len(self.heights)
        waiting: list[tuple[float, Node, int]] = [(self.costs.bound(bottom), bottom, 0)]
        size = min(prod(height + 1 for height in self.heights), NODE_LIMIT)  # No more of them are looked at.
        looked_at = 0
        while waiting:
            bound, node, last = heapq.heappop(waiting)
            if bound > self.best + TIE:
                break
            if looked_at >= NODE_LIMIT:
                self.complete = False
                self._improve()
                break
            looked_at += 1
            if self.progress:
                self.progress("level combinations", looked_at, size)
            # Above a node that is safe without removals everything is safe, and nothing is better.
            if self.finished.covers(node):
                continue
            if not self.hopeless.covers(node) and not self._hopeful(node):
                self._look_up(node)
            for i in range(last, len(node)):  # Every node is entered once: its columns were raised from left to right.
                if node[i] < self.heights[i]:
                    parent = (*node[:i], node[i] + 1, *node[i + 1 :])
                    heapq.heappush(waiting, (max(bound, self.costs.bound(parent)), parent, i))
        return sorted(self.safe, key=self._rank)

    def _rank(self, found: _Safe) -> tuple[float, int, Node]:
        return round(found.cost, 12), found.removed, tuple(found.node[i] for i in self.importance)

    def _look_up(self, node: Node) -> None:
        """Halve the way from a hopeless node to the roots until it is known up to where it is hopeless."""
        way = self._way_up(node)
        low, high = 0, len(way) - 1
        while low <= high:
            middle = (low + high) // 2
            step = way[middle]
            beyond = self.costs.bound(step) > self.best + TIE
            if beyond or (not self.hopeless.covers(step) and self._hopeful(step)):
                high = middle - 1
            else:
                low = middle + 1

    def _way_up(self, node: Node) -> list[Node]:
        """Return the nodes from one to the roots, each step the one that loses least detail."""
        way: list[Node] = []
        while True:
            steps = self._above(node)
            if not steps:
                return way
            node = min(steps, key=lambda step: (self.costs.detail(step), step))
            way.append(node)

    def _improve(self) -> None:
        """Go down from the roots, then from the nodes next above the best one, as long as that finds a better one."""
        best, start = None, [tuple(self.heights)]
        while start:
            for node in start:
                self._descend(node)
            found = min(self.safe, key=self._rank, default=None)
            start = self._above(found.node) if found and found != best else []
            best = found

    def _descend(self, node: Node) -> None:
        """Judge the nodes on one way down, each step the cheapest that is hopeful."""
        self._hopeful(node)
        while True:
            below = [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level]
            below.sort(key=lambda step: (self.costs.bound(step), step))
            found = next((step for step in below if not self.hopeless.covers(step) and self._hopeful(step)), None)
            if found is None:
                return
            node = found

    def _above(self, node: Node) -> list[Node]:
        return [(*node[:i], level + 1, *node[i + 1 :]) for i, level in enumerate(node) if level < self.heights[i]]

    def _hopeful(self, node: Node) -> bool:
        """Judge a node once; return False if neither it nor any node below it can be safe."""
        if node in self.judged:
            return not self.hopeless.covers(node)
        self.judged.add(node)
        classes = self.classes.count(node)
        small = classes.sizes < self.task.k
        few = int(classes.sizes[small].sum()) <= self.task.allowed
        unsafe = ~self._safe_classes(node, classes) if few and self.task.requirements.others else small
        removed = int(classes.sizes[unsafe].sum())
        hopeful = few and (removed <= self.task.allowed or not self.monotone)
        if not hopeful:
            self.hopeless.add(node)
        self._note(node, classes, unsafe, removed)
        return hopeful

    def _note(self, node: Node, classes: Classes, unsafe: Mask, removed: int) -> None:
        """Remember a node if it is safe, else how close it came."""
        rows = self.task.frequencies.rows
        blanked = self._blanked(node, classes, ~unsafe)
        lost = removed + blanked
        reached = 0 if blanked == rows else int(classes.sizes.min())
        if (lost, -reached) < (self.closest.rows_at_risk, -self.closest.k):
            self.closest = _Closest(rows_at_risk=lost, k=reached)
        if lost > self.task.allowed or removed == rows:
            return
        if removed and self.task.requirements.others and not self._still_safe(node, unsafe):
            return
        cost = self.costs.cost(node, classes, unsafe)
        self.safe.append(_Safe(cost=cost, removed=removed, node=node))
        self.best = min(self.best, cost)
        if not removed and cost <= self.costs.bound(node) + TIE:
            self.finished.add(node)

    def _safe_classes(self, node: Node, classes: Classes) -> Mask:
        member = self.classes.members(node)
        return self.task.requirements.safe(np.arange(len(member)), member, len(classes.sizes))

    def _still_safe(self, node: Node, unsafe: Mask) -> bool:
        """Whether the classes that stay are close to the rows that stay, and not only to all rows."""
        member = self.classes.members(node)
        removed = unsafe[member]
        number = np.cumsum(~unsafe) - 1
        kept = np.flatnonzero(~removed)
        required = self.task.requirements.without(removed)
        return bool(required.safe(kept, number[member[kept]], int(np.count_nonzero(~unsafe))).all())

    def _blanked(self, node: Node, classes: Classes, kept: Mask) -> int:
        """Return how many kept rows would say nothing in any column: published in name only, they are removed."""
        blank = kept
        for i, (ladder, level) in enumerate(zip(self.task.ladders, node, strict=True)):
            empty = ladder.empty[ladder.maps[level]]
            if not empty.any():
                return 0
            blank = blank & empty[self.task.frequencies.codes[i][classes.first]]
        return int(classes.sizes[blank].sum())

    def plan(self, node: Node) -> RecodingPlan:
        """Return the plan that a node stands for."""
        frequencies = self.task.frequencies
        member, tuples = self.classes.members(node), len(frequencies.weights)
        safe = self.task.requirements.safe(np.arange(tuples), member, int(member.max(initial=-1)) + 1)
        return RecodingPlan(
            frequencies=frequencies,
            ladders=self.task.ladders,
            levels=np.repeat(np.array(node, np.int8)[:, None], tuples, axis=1),
            removed=np.asarray(~safe[member]),
        )

    def describe(self, found: _Safe, *, elected: bool) -> Candidate:
        names = [
            f"{name}: {ladder.level_names[level]}"
            for name, ladder, level in zip(self.task.frequencies.names, self.task.ladders, found.node, strict=True)
        ]
        return Candidate.of(
            self.plan(found.node), method="global", name=", ".join(names), weights=self.task.by_name, elected=elected
        )
