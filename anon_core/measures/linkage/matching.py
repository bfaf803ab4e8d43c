"""Which pairs of an original and a published row lie in some perfect matching, on distinct tuples.

An adversary who has both tables rules out every pair that is in no assignment of all rows. Given any one perfect
matching, a pair (d, r) with r covering d is in some perfect matching exactly if d and r are in one strongly connected
component of the graph "d -> r when r covers d, r -> d when they are matched" (Dulmage and Mendelsohn, 1958).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anon_core.kernels import Integers, weigh
from anon_core.measures.linkage.covering import Covering
from anon_core.table import Mask

MAX_ROWS = 2**31 - 1
"""The flows of scipy are 32-bit integers."""


def perfect_matching(edges: Covering, before: Integers, after: Integers) -> Integers | None:
    """
    Return how many rows each edge carries in one perfect matching, or None where there is none.

    Every published row is made from an original of its own; where there are more originals than published rows, any of
    them may be the removed ones. Most rows are matched at once, pattern by pattern; a maximum flow matches the others.
    """
    from scipy.sparse.csgraph import maximum_flow

    if after.sum() > before.sum():
        return None
    taken = _taken_at_once(edges, before, after)
    left_before = before - weigh(edges.before, len(before), taken)
    left_after = after - weigh(edges.after, len(after), taken)
    missing = int(left_after.sum())
    if not missing:
        return taken
    originals, nodes = len(before), len(before) + len(after)
    sources, sinks, back = np.flatnonzero(left_before), np.flatnonzero(left_after), np.flatnonzero(taken)
    # The residual network: rows that are matched already can be matched anew.
    network = _network(
        [
            (edges.before, originals + edges.after, np.full(len(edges.before), int(before.sum()))),
            (originals + edges.after[back], edges.before[back], taken[back]),
            (np.full(len(sources), nodes), sources, left_before[sources]),
            (originals + sinks, np.full(len(sinks), nodes + 1), left_after[sinks]),
        ],
        nodes + 2,
    )
    found = maximum_flow(network, nodes, nodes + 1)
    if found.flow_value < missing:
        return None
    return np.asarray(taken + _flow_along(found.flow, edges.before, originals + edges.after), np.int64)


def _taken_at_once(edges: Covering, before: Integers, after: Integers) -> Integers:
    """Match greedily, the patterns that cover fewest rows first: where patterns nest, nothing better is possible."""
    taken = np.zeros(len(edges.before), np.int64)
    left_before, left_after = before.copy(), after.copy()
    starts = edges.starts
    ends = np.append(starts[1:], len(edges.before))
    covered = np.add.reduceat(before[edges.before], starts) if len(starts) else starts
    tuples = np.add.reduceat(np.diff(edges.after, prepend=-1) != 0, starts) if len(starts) else starts
    for at in np.argsort(covered / np.maximum(tuples, 1), kind="stable").tolist():
        chosen = slice(int(starts[at]), int(ends[at]))
        originals, published = edges.before[chosen], edges.after[chosen]
        offered = left_before[originals]
        # Within one published tuple its originals are used up one after the other.
        total = np.cumsum(offered)
        first = np.flatnonzero(np.diff(published, prepend=-1))
        before_these = np.repeat(total[first] - offered[first], np.diff(np.append(first, len(published))))
        room = left_after[published] - (total - offered - before_these)
        rows = np.clip(np.minimum(offered, room), 0, None)
        taken[chosen] = rows
        left_before[originals] -= rows  # An original is covered by one tuple of a pattern, so it occurs once here.
        np.subtract.at(left_after, published, rows)
    return taken


def hidden_among(edges: Covering, matched: Integers, before: int, after: int, *, removed: Integers) -> Mask:
    """
    Return which edges lie in some perfect matching.

    ``matched`` is how many rows each edge has in one perfect matching; ``removed`` how many rows of each original are
    not published in it: an adversary does not know which rows were removed, so they may be exchanged too.
    """
    from scipy.sparse.csgraph import connected_components

    back, gone = np.flatnonzero(matched), np.flatnonzero(removed)
    anyone = np.arange(before if len(gone) else 0)
    nowhere = before + after
    network = _network(
        [
            (edges.before, before + edges.after, np.ones(len(edges.before))),
            (before + edges.after[back], edges.before[back], np.ones(len(back))),
            (anyone, np.full(len(anyone), nowhere), np.ones(len(anyone))),
            (np.full(len(gone), nowhere), gone, np.ones(len(gone))),
        ],
        nowhere + 1,
    )
    component = connected_components(network, directed=True, connection="strong")[1]
    return np.asarray(component[edges.before] == component[before + edges.after])


def _network(arcs: list[tuple[Any, Any, Any]], nodes: int) -> Any:
    """Return a graph with 32-bit weights, from (tail, head, weight) of its arcs."""
    from scipy.sparse import csr_array

    tails, heads, weights = (np.concatenate(parts) for parts in zip(*arcs, strict=True))
    return csr_array((weights.astype(np.int32), (tails, heads)), shape=(nodes, nodes))


def _flow_along(flow: Any, tails: Integers, heads: Integers) -> Integers:
    """Return the flow along some arcs, negative where it goes back."""
    arcs = flow.tocoo()
    nodes = flow.shape[0]
    keys = arcs.row.astype(np.int64) * nodes + arcs.col
    order = np.argsort(keys)
    wanted = tails * nodes + heads
    at = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
    return np.where(keys[order][at] == wanted, arcs.data[order][at], 0).astype(np.int64)
