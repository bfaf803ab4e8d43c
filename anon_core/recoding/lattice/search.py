"""Global recoding: one level per column for the whole table; rows still unsafe are removed [LeFevre2005]_.

LeFevre, DeWitt, Ramakrishnan: Incognito: efficient full-domain k-anonymity, 2005. Kohlmayer, Prasser, Eckert, Kemper,
Kuhn: Flash: efficient, stable and optimal k-anonymity, 2012. Nodes (a level per column) are visited in the order of
their lower bounds, and paths to the root are searched by halving, to find out quickly which nodes cannot be safe.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import prod

import numpy as np

from anon_core.errors import PolicyNotMetError
from anon_core.kernels import Integers
from anon_core.models import PrivacyModel
from anon_core.plan import RecodingPlan
from anon_core.recoding.lattice.nodes import ClassCounter, Frontier, Node, NodeClasses, NodeCosts
from anon_core.recoding.method import Progress
from anon_core.recoding.requirements import Requirements
from anon_core.recoding.task import Candidate, Recoding, Task
from anon_core.table import Mask
from anon_core.wording import counted

MAX_NODES = 200_000
"""After so many nodes the search stops, and says that its result may not be the best."""

TIE = 1e-12
"""Costs closer than this are equal: they are sums of the same shares in another order."""

MAX_NODES_REPORTED = 12
"""So many of the safe nodes are reported, the best ones."""


def recode_globally(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Find the combination of levels with the lowest cost in the utility measure, such that every class is safe.

    Classes below k people are removed, if their rows are no more than may be suppressed. No other class is removed,
    because that could give a sensitive value away. So the search first finds the levels that k alone needs. If classes
    there break what is required of sensitive columns, it raises levels from there on; each such class must be merged
    with at least one class that keeps the requirements, if there is one. Closeness compares with the rows that stay.

    Costs are those of ``task.settings.utility``, with removed rows at the root. Without removals they only grow on the
    way up, so no node above a node that costs more than the best one can win. The result is optimal: of all nodes, for
    k alone; else of the nodes above the best one for k alone. Of equal costs it is the node with fewer removed rows,
    then the one with lower levels of the more important columns.

    :raises PolicyNotMetError: no combination is safe; rows at the root in every column count as removed.
    """
    search = _searched(task, progress)
    if not search.found:
        raise _not_met(task, search.closest, search.broken)
    best, above = search.found[0], " from those on that k alone needs" if task.requirements.required_beyond_k else ""
    why = f"Of {counted(search.counted, 'combination')} of levels that were counted{above}, this one is safe and costs "
    why += f"least ({_MEASURES[task.settings.utility]})"
    return Recoding(
        method="global",
        plan=search.plan(best.node),
        why=why if search.complete else f"{why}; the search stopped at {MAX_NODES} combinations",
        candidates=tuple(search.describe(found, elected=found is best) for found in search.found[:MAX_NODES_REPORTED]),
        optimal=search.complete if _may_claim(task) else None,
    )


def levels_for_all(task: Task) -> RecodingPlan | None:
    """Return the plan that global recoding finds; None if no combination is safe."""
    search = _searched(task, None)
    return search.plan(search.found[0].node) if search.found else None


def _may_claim(task: Task) -> bool:
    """Whether a result may be called optimal: where people are counted, only if k and distinct values are required."""
    others = task.requirements.others
    return task.people is None or all(one.column is None or one.absorbing for one in others)


def _searched(task: Task, progress: Progress | None) -> _Lattice:
    """Search the lattice for k alone, then from the best levels on for the other requirements, and return it."""
    search = _Lattice(task.by_k_alone, progress)
    search.run()
    if task.requirements.required_beyond_k and search.found:
        above = _Lattice(task, progress, search.found[0].node)
        above.run()
        above.complete = above.complete and search.complete
        return above
    return search


_MEASURES = {
    "wnue": "non-uniform entropy by priority",
    "nue": "non-uniform entropy",
    "loss": "loss by priority",
    "rows": "rows changed or removed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closest:
    """The node with the fewest rows at risk, for the error when none is safe; ``k`` is its smallest class."""

    rows_at_risk: int
    k: int
    node: Node = ()
    lacking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Safe:
    """A node whose classes are safe when those below k are removed."""

    cost: float
    removed: int
    node: Node


def _not_met(task: Task, closest: _Closest, broken: tuple[PrivacyModel, ...]) -> PolicyNotMetError:
    # Otherwise a model of sensitive columns is broken, or too many rows say nothing.
    small, rows = closest.k < task.k and not broken, closest.rows_at_risk
    goal = f"k {task.k}" if small else f"suppression of at most {task.allowed} rows"
    less = "lower privacy.k"
    if broken:
        goal = f"{', '.join(one.goal for one in broken)} with k {task.k} and {goal}"
        asked = dict.fromkeys(f"privacy.{one.section}" for one in broken if one in task.requirements.required_beyond_k)
        less = f"require less in {', '.join(asked)}" if asked else "publish fewer rows of one person"
    return PolicyNotMetError(
        goal=goal,
        reached=closest.k if small else rows,
        rows_at_risk=rows,
        rows=task.frequencies.rows,
        advice=f"{task.allowed} rows may be removed, those that say nothing any more included: publish fewer "
        f"columns, add a level to a hierarchy, raise privacy.suppression_limit or {less}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mates:
    """
    Which tuples, at the levels that k alone needs, are in classes of k people that break another requirement
    (``lack``).

    Each such class must be merged with a mate, a class that keeps all requirements. If there is no such class, no mate
    is needed.
    """

    lack: Integers
    mate: Integers

    @classmethod
    def at(cls, node: Node, counter: ClassCounter, requirements: Requirements) -> _Mates:
        member = counter.members(node)
        small = counter.count(node).people < requirements.k
        kept = np.flatnonzero(~small[member])
        required = requirements.without(small[member])
        safe = required.safe(kept, (np.cumsum(~small) - 1)[member[kept]], int(np.count_nonzero(~small)))
        whole = np.zeros(len(small), np.bool_)
        whole[~small] = safe
        lack = np.flatnonzero((~small & ~whole)[member]) if safe.any() else np.zeros(0, np.int64)
        return cls(lack=lack, mate=np.flatnonzero(whole[member]))

    def missing(self, member: Integers, classes: int) -> Mask:
        """Return which classes contain a class that broke a requirement, and none that kept all."""
        lack, mate = np.zeros(classes, np.bool_), np.zeros(classes, np.bool_)
        lack[member[self.lack]] = True
        mate[member[self.mate]] = True
        return lack & ~mate


class _Lattice:
    """The search through the lattice, from the node ``floor`` on."""

    def __init__(self, task: Task, progress: Progress | None, floor: Node | None = None) -> None:
        self.task, self.progress = task, progress
        self.heights = [ladder.height for ladder in task.ladders]
        self.floor: Node = floor or (0,) * len(self.heights)
        self.costs, self.classes = NodeCosts(task), ClassCounter(task)
        self.importance = sorted(range(len(task.ladders)), key=lambda i: -task.weights[i])
        required = task.requirements
        self.mates = None if floor is None else _Mates.at(floor, self.classes, required)
        # Small classes that are removed below may merge and break a requirement; otherwise only safe classes merge.
        self.monotone = required.monotone and not (self.classes.count(self.floor).people < task.k).any()
        self.closest = _Closest(rows_at_risk=task.frequencies.rows + 1, k=0)
        self.hopeless = Frontier(len(self.heights), below=True)
        self.finished = Frontier(len(self.heights), below=False)
        self.judged: set[Node] = set()
        self.safe: list[_Safe] = []
        self.found: list[_Safe] = []
        self.best = float("inf")
        self.complete = True

    @property
    def broken(self) -> tuple[PrivacyModel, ...]:
        """The models that the closest node does not keep; none if too many rows are in classes below k."""
        if not self.closest.lacking:
            return ()
        member = self.classes.members(self.closest.node)
        required = self.task.requirements
        found = required.broken_by(np.arange(len(member)), member, int(member.max()) + 1)
        return found or required.others  # All are kept, but only by merges without a mate.

    @property
    def counted(self) -> int:
        return len(self.judged)

    def run(self) -> None:
        """Find the safe nodes, best first."""
        waiting: list[tuple[float, Node, int]] = [(self.costs.bound(self.floor), self.floor, 0)]
        levels = (height - low + 1 for height, low in zip(self.heights, self.floor, strict=True))
        size = min(prod(levels), MAX_NODES)  # No more nodes are visited.
        looked_at = 0
        while waiting:
            bound, node, last = heapq.heappop(waiting)
            if bound > self.best + TIE:
                break
            if looked_at >= MAX_NODES:
                self.complete = False
                self._improve()
                break
            looked_at += 1
            if self.progress:
                self.progress("level combinations", looked_at, size)
            # Above a node that is safe without removals all nodes are safe, and none is better.
            if self.finished.covers(node):
                continue
            if not self.hopeless.covers(node) and not self._hopeful(node):
                self._look_up(node)
            for i in range(last, len(node)):  # Each node is entered once: columns are raised from left to right.
                if node[i] < self.heights[i]:
                    parent = (*node[:i], node[i] + 1, *node[i + 1 :])
                    heapq.heappush(waiting, (max(bound, self.costs.bound(parent)), parent, i))
        self.found = sorted(self.safe, key=self._rank)

    def _rank(self, found: _Safe) -> tuple[float, int, Node]:
        return round(found.cost, 12), found.removed, tuple(found.node[i] for i in self.importance)

    def _look_up(self, node: Node) -> None:
        """Halve the path from a node to the roots until it is known up to where nodes cannot be safe."""
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
        """Return a path from a node to the roots; each step is the one that loses least detail."""
        way: list[Node] = []
        while True:
            steps = self._above(node)
            if not steps:
                return way
            node = min(steps, key=lambda step: (self.costs.detail(step), step))
            way.append(node)

    def _improve(self) -> None:
        """Go down from the roots, then from the nodes just above the best one, as long as that finds a better node."""
        best, start = None, [tuple(self.heights)]
        while start:
            for node in start:
                self._descend(node)
            found = min(self.safe, key=self._rank, default=None)
            start = self._above(found.node) if found and found != best else []
            best = found

    def _descend(self, node: Node) -> None:
        """Judge the nodes on one path down; each step goes to the cheapest node that may be safe."""
        self._hopeful(node)
        while True:
            below = [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level > self.floor[i]]
            below.sort(key=lambda step: (self.costs.bound(step), step))
            found = next((step for step in below if not self.hopeless.covers(step) and self._hopeful(step)), None)
            if found is None:
                return
            node = found

    def _above(self, node: Node) -> list[Node]:
        return [(*node[:i], level + 1, *node[i + 1 :]) for i, level in enumerate(node) if level < self.heights[i]]

    def _hopeful(self, node: Node) -> bool:
        """Judge a node once; return False if neither this node nor any node below can be safe."""
        if node in self.judged:
            return not self.hopeless.covers(node)
        self.judged.add(node)
        classes = self.classes.count(node)
        small = classes.people < self.task.k
        few = int(classes.sizes[small].sum()) <= self.task.allowed
        lacking = self._lacking(node, small) if few and self.task.requirements.others else ~small & small
        hopeful = few and not (self.monotone and lacking.any())
        if not hopeful:
            self.hopeless.add(node)
        self._note(node, classes, small, lacking)
        return hopeful

    def _note(self, node: Node, classes: NodeClasses, small: Mask, lacking: Mask) -> None:
        """Remember a node if it is safe; if not, remember it if it is the closest so far."""
        rows = self.task.frequencies.rows
        removed = int(classes.sizes[small].sum())
        blanked = self._blanked(node, classes, ~small)
        lost = int(classes.sizes[small | lacking].sum()) + self._blanked(node, classes, ~small & ~lacking)
        reached = 0 if blanked == rows else int(classes.people.min())
        if (lost, -reached) < (self.closest.rows_at_risk, -self.closest.k):
            self.closest = _Closest(rows_at_risk=lost, k=reached, node=node, lacking=bool(lacking.any()))
        if lacking.any() or lost > self.task.allowed or removed == rows:
            return
        cost = self.costs.cost(node, classes, small)
        self.safe.append(_Safe(cost=cost, removed=removed, node=node))
        self.best = min(self.best, cost)
        if not removed and cost <= self.costs.bound(node) + TIE:
            self.finished.add(node)

    def _lacking(self, node: Node, small: Mask) -> Mask:
        """Return which classes of k people break a requirement among the rows that stay, or lack a mate."""
        member = self.classes.members(node)
        kept = np.flatnonzero(~small[member])
        number = np.cumsum(~small) - 1
        required = self.task.requirements.without(small[member])
        lacking = np.zeros(len(small), np.bool_)
        lacking[~small] = ~required.safe(kept, number[member[kept]], int(np.count_nonzero(~small)))
        return lacking if self.mates is None else lacking | self.mates.missing(member, len(small))

    def _blanked(self, node: Node, classes: NodeClasses, kept: Mask) -> int:
        """Return how many kept rows would say nothing in any column: these rows are removed."""
        blank = kept
        for i, (ladder, level) in enumerate(zip(self.task.ladders, node, strict=True)):
            empty = ladder.empty[ladder.maps[level]]
            if not empty.any():
                return 0
            blank = blank & empty[self.task.frequencies.codes[i][classes.first]]
        return int(classes.sizes[blank].sum())

    def plan(self, node: Node) -> RecodingPlan:
        """Return the plan of a node."""
        frequencies = self.task.frequencies
        member, tuples = self.classes.members(node), len(frequencies.weights)
        small = self.classes.count(node).people < self.task.k
        return RecodingPlan(
            frequencies=frequencies,
            ladders=self.task.ladders,
            levels=np.repeat(np.array(node, np.int8)[:, None], tuples, axis=1),
            removed=np.asarray(small[member]),
        )

    def describe(self, found: _Safe, *, elected: bool) -> Candidate:
        names = [
            f"{name}: {ladder.level_names[level]}"
            for name, ladder, level in zip(self.task.frequencies.names, self.task.ladders, found.node, strict=True)
        ]
        return Candidate.of(
            self.plan(found.node),
            method="global",
            name=", ".join(names),
            weights=self.task.by_name,
            elected=elected,
            people=self.task.people,
        )
