"""Global recoding: one level per column for the whole table, the rows still unsafe removed [LeFevre2005]_.

LeFevre, DeWitt, Ramakrishnan: Incognito: efficient full-domain k-anonymity, 2005. The lattice of all combinations of
levels is walked breadth first from the bottom, each node counted from a node below it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.errors import PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import Integers
from anon_core.plan import RecodingPlan
from anon_core.policy import rows_allowed
from anon_core.recode.outcome import Candidate, Recoding
from anon_core.score.utility.cells import Recoded
from anon_core.score.utility.loss import loss
from anon_core.table import Mask

NODE_LIMIT = 200_000
"""Nodes counted before the search stops and says that its result may not be the best."""

TIE = 1e-12
"""Costs closer than this are equal: they are sums of the same shares in another order."""

HELD = 1 << 28
"""Tuples remembered of one layer for counting the next; nodes beyond that are counted from the table, slower."""

SHOWN = 12
"""How many of the safe nodes are reported, the best ones."""

Node = tuple[int, ...]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """A node's classes: which class each original tuple is in, and the rows of each class."""

    member: Integers
    sizes: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closest:
    """The node that leaves fewest rows at risk, for the message when none is safe."""

    rows_at_risk: int
    k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Safe:
    """A node whose unsafe rows may all be removed."""

    cost: float
    removed: int
    node: Node


def recode_globally(
    frequencies: FrequencyTable,
    ladders: Sequence[Ladder],
    *,
    k: int,
    suppression_limit: float,
    weights: Sequence[float],
    progress: Progress | None = None,
) -> Recoding:
    """
    Find the combination of levels that loses least while every class has at least ``k`` rows.

    Rows in smaller classes are removed if they are at most ``suppression_limit`` of all. The cost of a node is the
    weighted loss over the columns, a removed row counting as lost altogether; without removals it only grows on the
    way up, so nothing above a node that already costs more than the best can win, and the result is optimal. Ties go
    to fewer removed rows, then to lower levels of the more important columns.

    :raises PolicyNotMetError: no combination is safe; rows at the root in every column count as removed.
    """
    search = _Lattice(frequencies, ladders, k, suppression_limit, weights, progress)
    safe = search.run()
    if not safe:
        small = search.closest.k < k  # Else every class is large enough, and too many rows say nothing.
        raise PolicyNotMetError(
            measure="k" if small else "suppression of at most",
            wanted=k if small else f"{search.allowed} rows",
            reached=search.closest.k if small else search.closest.rows_at_risk,
            rows_at_risk=search.closest.rows_at_risk,
            rows=frequencies.rows,
            advice=f"{search.allowed} rows may be removed, those that say nothing any more included: publish fewer "
            "columns, add a level to a hierarchy, raise privacy.suppression_limit or lower privacy.k",
        )
    best = safe[0]
    plan = search.plan(best.node)
    shown = tuple(search.describe(found, elected=found is best) for found in safe[:SHOWN])
    return Recoding(
        method="global",
        plan=plan,
        why=f"Of {search.counted} combinations of levels that were counted, this one is safe and loses least"
        + ("" if search.complete else f" (the search stopped at {NODE_LIMIT} combinations)"),
        candidates=shown,
        optimal=search.complete,
    )


class _Lattice:
    """The walk through the lattice."""

    def __init__(
        self,
        frequencies: FrequencyTable,
        ladders: Sequence[Ladder],
        k: int,
        suppression_limit: float,
        weights: Sequence[float],
        progress: Progress | None,
    ) -> None:
        self.frequencies, self.ladders, self.k, self.progress = frequencies, ladders, k, progress
        self.allowed = rows_allowed(suppression_limit, frequencies.rows)
        self.closest = _Closest(rows_at_risk=frequencies.rows + 1, k=0)
        total = sum(weights) or 1.0
        self.weights = [weight / total for weight in weights]
        self.importance = sorted(range(len(ladders)), key=lambda i: -self.weights[i])
        # The mean loss of a column at a level does not depend on the other columns: computed once.
        self.losses = [
            (ladder.loss()[:, frequencies.codes[i]] @ frequencies.weights) / max(frequencies.rows, 1)
            for i, ladder in enumerate(ladders)
        ]
        self.counted = 0
        self.held = 0
        self.complete = True

    def run(self) -> list[_Safe]:
        """Return the safe nodes that were met, best first."""
        bottom: Node = (0,) * len(self.ladders)
        layer: dict[Node, _Counted | None] = {bottom: None}
        size = int(np.prod([ladder.height + 1 for ladder in self.ladders], dtype=np.float64))
        safe: list[_Safe] = []
        best = float("inf")
        while layer:
            above: dict[Node, _Counted | None] = {}
            self.held = 0
            for node in sorted(layer):
                if self.cost(node) > best + TIE:
                    continue
                if self.counted >= NODE_LIMIT:
                    self.complete = False
                    every = {found.node: found for found in [*safe, *self._descend()]}
                    return sorted(every.values(), key=self._rank)
                counted = self._count(node, layer[node])
                self.counted += 1
                found = self._judge(node, counted)
                if found:
                    safe.append(found)
                    best = min(best, found.cost)
                self._climb(node, counted, above)
                if self.progress:
                    self.progress(self.counted, size)
            layer = above
        return sorted(safe, key=self._rank)

    def _descend(self) -> list[_Safe]:
        """Return the safe nodes on one way down from the roots, each step the cheapest that leaves few rows at risk."""
        node: Node = tuple(ladder.height for ladder in self.ladders)
        counted = self._count(node, None)
        met: list[_Safe] = []
        while True:
            found = self._judge(node, counted)
            met += [found] if found else []
            below = []
            for i, level in enumerate(node):
                lower = (*node[:i], level - 1, *node[i + 1 :])
                fewer = self._count(lower, None) if level else None
                if fewer and int(fewer.sizes[fewer.sizes < self.k].sum()) <= self.allowed:
                    below.append((self.cost(lower), lower, fewer))
            if not below:
                return met
            _, node, counted = min(below, key=lambda step: step[:2])

    def cost(self, node: Node) -> float:
        """The weighted loss of a node when no row is removed: a lower bound for everything above it."""
        return sum(w * float(loss[level]) for w, loss, level in zip(self.weights, self.losses, node, strict=True))

    def _rank(self, found: _Safe) -> tuple[float, int, Node]:
        return round(found.cost, 12), found.removed, tuple(found.node[i] for i in self.importance)

    def _count(self, node: Node, below: _Counted | None) -> _Counted:
        """Count a node from the classes of one below it: only one tuple of each class needs a look."""
        weights = self.frequencies.weights
        if below is None:
            representatives, sizes = np.arange(self.frequencies.tuples), weights
            member = representatives
        else:
            member, sizes = below.member, below.sizes
            representatives = np.zeros(len(sizes), np.int64)
            representatives[member] = np.arange(len(member))
        codes = [
            ladder.maps[level, self.frequencies.codes[i][representatives]]
            for i, (ladder, level) in enumerate(zip(self.ladders, node, strict=True))
        ]
        groups = kernels.group(codes, [len(ladder.labels) for ladder in self.ladders], sizes)
        return _Counted(member=groups.member[member].astype(np.int32), sizes=groups.weights)

    def _judge(self, node: Node, counted: _Counted) -> _Safe | None:
        """Return the node with its full cost if the rows in too small classes may be removed and some are left."""
        small = counted.sizes < self.k
        removed = int(counted.sizes[small].sum())
        lost = removed + self._blanked(node, ~small[counted.member])
        reached = 0 if lost - removed == self.frequencies.rows else int(counted.sizes.min())
        if (lost, -reached) < (self.closest.rows_at_risk, -self.closest.k):
            self.closest = _Closest(rows_at_risk=lost, k=reached)
        if lost > self.allowed or removed == self.frequencies.rows:
            return None
        if not removed:
            return _Safe(cost=self.cost(node), removed=0, node=node)
        plan = self.plan(node, counted)
        weights = dict(zip(self.frequencies.names, self.weights, strict=True))
        return _Safe(cost=loss(Recoded.by(plan), weights).weighted, removed=removed, node=node)

    def _blanked(self, node: Node, kept: Mask) -> int:
        """Return how many kept rows would stand at the root everywhere: published in name only, they are removed."""
        blank = kept
        for i, (ladder, level) in enumerate(zip(self.ladders, node, strict=True)):
            at_root = ladder.maps[level] == ladder.maps[-1]
            if not at_root.any():
                return 0
            blank = blank & at_root[self.frequencies.codes[i]]
        return int(self.frequencies.weights[blank].sum())

    def _climb(self, node: Node, counted: _Counted, above: dict[Node, _Counted | None]) -> None:
        """Enter the nodes directly above, each to be counted from whichever node below it has fewest classes."""
        for i, level in enumerate(node):
            if level < self.ladders[i].height:
                parent = (*node[:i], level + 1, *node[i + 1 :])
                known = above.setdefault(parent, None)
                if known is None and self.held < HELD:
                    self.held += len(counted.member)
                    above[parent] = counted
                elif known is not None and len(counted.sizes) < len(known.sizes):
                    above[parent] = counted

    def plan(self, node: Node, counted: _Counted | None = None) -> RecodingPlan:
        """Return the plan that a node stands for."""
        counted = counted or self._count(node, None)
        tuples = self.frequencies.tuples
        return RecodingPlan(
            frequencies=self.frequencies,
            ladders=tuple(self.ladders),
            levels=np.repeat(np.array(node, np.int8)[:, None], tuples, axis=1),
            removed=np.asarray((counted.sizes < self.k)[counted.member]),
        )

    def describe(self, found: _Safe, *, elected: bool) -> Candidate:
        plan = self.plan(found.node)
        released = plan.released()
        names = [
            f"{name}: {ladder.level_names[level]}"
            for name, ladder, level in zip(self.frequencies.names, self.ladders, found.node, strict=True)
        ]
        return Candidate(
            name=", ".join(names),
            singletons=released.singletons,
            k=int(released.weights.min()),
            rows_changed=plan.rows_changed,
            rows_removed=plan.rows_removed,
            distinct=released.tuples,
            loss=found.cost,
            elected=elected,
        )
