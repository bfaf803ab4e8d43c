"""Classes by the order of nodes: groups that are safe at the cheapest node become classes, then those at the next node.

All nodes of the lattice are tried, or a sample if there are too many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition

MAX_NODES = 20_000
"""Larger lattices are sampled; for large tables smaller ones too, but at least MIN_NODES nodes are tried."""
MIN_NODES = 2_000
MAX_PASS_SIZE = 1_000_000_000
"""Tuples times nodes of one pass: so many take some ten seconds."""
_MAX_ROUNDS = 200

_MAX_SHARE_DRAWN = 0.6
"""At most this share of a node's columns is drawn anew, so that it stays near the path; found on Adult."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Nodes as levels per column, the node of all roots last; ``total`` is how many nodes the lattice has."""

    levels: Integers
    total: int

    @property
    def sampled(self) -> bool:
        return len(self.levels) < self.total

    def slots(self, base: Integers) -> Integers:
        """Return the slots of every node."""
        return np.asarray(self.levels + base[:-1], np.int64)

    def costs(self, base: Integers, prices: Floats) -> Floats:
        """Return what each node costs, given a price for every slot."""
        return np.asarray(prices[self.slots(base)].sum(axis=1))


def nodes_of(heights: Integers, prices: Floats, base: Integers, tuples: int, random: np.random.Generator) -> Nodes:
    """
    Return the nodes to try for so many tuples.

    For a lattice that is too large these are: the path from the bottom to the roots that raises the cheapest column
    next, on which every tuple finds a class at some node; all nodes that raise one column, or two to the same level (or
    to the root, if that is lower); and nodes drawn at random around that path, so that cheap columns are raised more
    often than expensive ones.
    """
    total = math.prod(int(height) + 1 for height in heights)
    most = max(MIN_NODES, min(MAX_NODES, MAX_PASS_SIZE // max(tuples, 1)))
    if total <= most:
        return Nodes(levels=_all(heights), total=total)
    way = _cheapest_way(heights, prices, base)
    levels = np.unique(np.concatenate([way, *_few_raised(heights)]), axis=0)
    for _ in range(_MAX_ROUNDS):  # In a lattice that is only slightly larger, the last nodes are hardly ever drawn.
        if len(levels) >= most:
            break
        levels = np.unique(np.concatenate([levels, _around(way, heights, random)]), axis=0)
    return Nodes(levels=levels, total=total)


def _all(heights: Integers) -> Integers:
    sizes = [int(height) + 1 for height in heights]
    return np.asarray(np.indices(sizes).reshape(len(sizes), -1).T, np.int64)


def _cheapest_way(heights: Integers, prices: Floats, base: Integers) -> Integers:
    """Return the path from the bottom to the roots; each step raises the column whose cost grows least."""
    node = np.zeros(len(heights), np.int64)
    way = [node.copy()]
    for _ in range(int(heights.sum())):
        open_ = np.flatnonzero(node < heights)
        slots = base[open_] + node[open_]
        node[open_[np.argmin(prices[slots + 1] - prices[slots])]] += 1
        way.append(node.copy())
    return np.array(way)


def _few_raised(heights: Integers) -> list[Integers]:
    """Return the nodes that raise one column, or two to the same level or to a lower root."""
    found = []
    columns = len(heights)
    for one in range(columns):
        for other in range(one, columns):
            for level in range(1, int(max(heights[one], heights[other])) + 1):
                node = np.zeros((1, columns), np.int64)
                node[0, one], node[0, other] = min(level, heights[one]), min(level, heights[other])
                found.append(node)
    return found


def _around(way: Integers, heights: Integers, random: np.random.Generator) -> Integers:
    """Return nodes of the path with some columns at levels drawn anew."""
    again = way[random.integers(0, len(way), 1024)]
    drawn = random.integers(0, heights + 1, again.shape)
    share = random.random((len(again), 1)) * _MAX_SHARE_DRAWN
    return np.where(random.random(again.shape) < share, drawn, again)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedPartition:
    """The partition of an order of nodes, and which of the nodes made a class."""

    partition: TuplePartition
    hits: Integers


def mean_prices(encoded: Encoded, costs: Floats) -> Floats:
    """Return the mean cost of each slot for a row that has to be recoded."""
    rows = encoded.weights[encoded.open]
    return np.asarray(rows @ costs[encoded.open] / max(int(rows.sum()), 1))


def by_node_order(encoded: Encoded, nodes: Nodes, prices: Floats, some: Integers | None = None) -> OrderedPartition:
    """
    Put the open tuples into classes, node by node, in the order of the costs of the nodes by ``prices``.

    With ``some`` only these nodes are tried. Tuples that are left when no group is safe any more are in no class. Of
    equally expensive nodes the first is tried first.
    """
    from anon_core.kernels.compiled.local_classes import (
        Cells,
        Crowd,
        crowd_of,
        freeze,
        hash_table,
        next_groups,
        number_groups,
    )

    some = np.arange(len(nodes.levels)) if some is None else some
    order = some[np.argsort(np.round(nodes.costs(encoded.base, prices)[some], 12), kind="stable")]
    slots = nodes.slots(encoded.base)[order]
    members, least = encoded.open, encoded.task.k
    cells = Cells(encoded.keys, np.zeros((0, 0)), encoded.weights, encoded.base, encoded.empty)
    crowd = crowd_of(encoded.behind, members)
    crowd = Crowd(crowd.of_rows, crowd.units, members[crowd.tuples], crowd.rows)
    table = hash_table(len(members), 0 if crowd.of_rows else len(encoded.weights))
    classes = np.full(len(encoded.weights), -1, np.int64)
    left, found, node, hits = len(members), 0, 0, []
    rows = int(encoded.weights[members].sum())
    while rows >= least:
        node = next_groups(cells, crowd, slots, node, members, left, table, least)
        if node == len(slots):
            break
        found = number_groups(table, left, least, found)
        hits.append(int(order[node]))
        left = freeze(members, left, table, classes)
        rows = int(encoded.weights[members[:left]].sum())
        if not crowd.of_rows:
            still = table.at[crowd.tuples] >= 0
            crowd = Crowd(crowd.of_rows, crowd.units[still], crowd.tuples[still], crowd.rows[still])
        node += 1
    return OrderedPartition(partition=TuplePartition(classes=classes, count=found), hits=np.array(hits, np.int64))
