"""Tries every way to put a few items into classes, and returns the cheapest: exact, for up to twelve items.

An item is a tuple, or several that stay together. The union of two safe classes (k people, of whom none has more than
half of the rows) is safe, so a class that divides into two safe classes is never part of the cheapest way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition
from anon_core.recoding.prioritised.prices import Objective
from anon_core.table import Mask

MAX_ITEMS = 12
"""Twelve items have 4,096 unions, and usually some thousand ways."""
MAX_WAYS = 60_000
"""With more ways the search gives up: it would take seconds."""
_MAX_CELLS_AT_ONCE = 1 << 22
"""So many levels of cells are held in memory at once."""


def cheapest(
    encoded: Encoded, objective: Objective, partition: TuplePartition, items: Sequence[Integers], may_go: Mask
) -> TuplePartition | None:
    """
    Return the partition with some items put into classes in the way that loses least, and all other classes kept.

    No class of the partition may have tuples both in an item and outside. Only items whose tuples ``may_go`` may be
    removed. None if no way is safe and suppresses at most the allowed rows, or if there are too many ways.
    """
    blocks = _Blocks.of(encoded, items)
    rest = partition.classes.copy()
    rest[np.concatenate(items)] = -1
    kept = TuplePartition.numbered(rest)
    outside = np.ones(len(rest), np.bool_)
    outside[np.concatenate(items)] = False
    gone = outside & (rest < 0)
    suppressed = int(encoded.weights[gone].sum()) + kept.plan(encoded).rows_blanked
    optional = np.array([bool(may_go[item].all()) for item in items])
    ways = _ways(blocks, optional, encoded.task.allowed - suppressed)
    if ways is None or not len(ways):
        return None
    levels = kept.levels(encoded)
    levels[gone] = encoded.heights
    costs = _costs(encoded, objective, levels, items, blocks, ways)
    best = ways[int(np.argmin(np.round(costs, 12)))]
    rest = kept.classes.copy()  # Numbered anew: no class has a number that a union may get.
    for item, block in zip(items, best.tolist(), strict=True):
        rest[item] = kept.count + block if block else -1
    return TuplePartition.numbered(rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Blocks:
    """
    Every union of items as a class; union ``u`` has item ``i`` if bit ``i`` of ``u`` is set.

    ``usable`` unions are safe and do not divide into two safe ones. ``blank`` unions say nothing in any column.
    """

    items: int
    rows: Integers
    levels: Integers
    usable: Mask
    blank: Mask

    @classmethod
    def of(cls, encoded: Encoded, items: Sequence[Integers]) -> _Blocks:
        count, unions = len(items), np.arange(1 << len(items))
        levels, together, blank = _common(encoded, items)
        tuples, group = [], []
        for at, item in enumerate(items):
            having = unions[(unions >> at) & 1 == 1]
            tuples.append(np.tile(item, len(having)))
            group.append(np.repeat(having - 1, len(item)))
        safe = np.zeros(1 << count, np.bool_)
        safe[1:] = encoded.task.requirements.safe(np.concatenate(tuples), np.concatenate(group), (1 << count) - 1)
        safe &= together
        rows = sum(((unions >> at) & 1) * int(encoded.weights[item].sum()) for at, item in enumerate(items))
        return cls(items=count, rows=np.asarray(rows), levels=levels, usable=_indivisible(safe), blank=blank)


def _common(encoded: Encoded, items: Sequence[Integers]) -> tuple[Integers, Mask, Mask]:
    """Return the lowest levels at which each union is equal, whether there are such levels, and whether it is blank."""
    unions = 1 << len(items)
    levels = np.zeros((unions, encoded.columns), np.int64)
    together, blank = np.ones(unions, np.bool_), np.ones(unions, np.bool_)
    for column, (ladder, codes) in enumerate(zip(encoded.task.ladders, encoded.task.frequencies.codes, strict=True)):
        found = np.zeros(unions, np.bool_)
        says_nothing = np.zeros(unions, np.bool_)
        for level, labels in enumerate(ladder.maps):
            least, most = np.full(unions, len(ladder.labels)), np.full(unions, -1)
            for at, item in enumerate(items):
                own, below, above = labels[codes[item]], slice(0, 1 << at), slice(1 << at, 2 << at)
                least[above] = np.minimum(least[below], own.min())
                most[above] = np.maximum(most[below], own.max())
            new = (least == most) & ~found
            levels[new, column] = level
            says_nothing[new] = ladder.empty[most[new]]
            found |= new
        together &= found
        blank &= says_nothing
    return levels, together, blank


def _indivisible(safe: Mask) -> Mask:
    """Return the safe unions of which no part is safe with the rest of it."""
    found = safe.copy()
    for union in np.flatnonzero(safe).tolist():
        part = (union - 1) & union
        while part > union ^ part:  # Every two parts once, the larger number first.
            if safe[part] and safe[union ^ part]:
                found[union] = False
                break
            part = (part - 1) & union
    return found


def _ways(blocks: _Blocks, optional: Mask, allowed: int) -> Integers | None:
    """
    Return the class of every item in every way, as the number of its union; 0 for removed ones.

    None where there are too many ways.
    """
    left = np.array([(1 << blocks.items) - 1])
    suppressed = np.zeros(1, np.int64)
    ways = np.zeros((1, blocks.items), np.int64)
    usable = np.flatnonzero(blocks.usable)
    for at in range(blocks.items):  # Step ``at`` places item ``at`` in the ways where it is not placed yet.
        bit = 1 << at
        waiting = np.flatnonzero(left & bit)
        grown = [(left[left & bit == 0], suppressed[left & bit == 0], ways[left & bit == 0])]
        own = usable[(usable & bit > 0) & (usable & (bit - 1) == 0)]
        for union in [*own.tolist(), *([0] if optional[at] else [])]:
            lost = int(blocks.rows[union] if blocks.blank[union] else 0) if union else int(blocks.rows[bit])
            fits = waiting[(left[waiting] & union == union) & (suppressed[waiting] + lost <= allowed)]
            placed = ways[fits].copy()
            placed[:, [one for one in range(blocks.items) if (union >> one) & 1]] = union
            grown.append((left[fits] & ~(union or bit), suppressed[fits] + lost, placed))
        left, suppressed, ways = (np.concatenate(parts) for parts in zip(*grown, strict=True))
        if len(left) > MAX_WAYS:
            return None
    return ways


def _costs(
    encoded: Encoded,
    objective: Objective,
    levels: Integers,
    items: Sequence[Integers],
    blocks: _Blocks,
    ways: Integers,
) -> Floats:
    """Return what the whole table loses in every way; ``levels`` are the levels of the kept tuples."""
    size = max(1, _MAX_CELLS_AT_ONCE // max(1, levels.size))
    found = []
    for first in range(0, len(ways), size):
        some = ways[first : first + size]
        every = np.repeat(levels[None, :, :], len(some), axis=0)
        for at, item in enumerate(items):
            block = some[:, at]
            own = np.where((block > 0)[:, None], blocks.levels[block], encoded.heights)
            every[:, item, :] = own[:, None, :]
        found.append(_lost(encoded, objective, every))
    return np.concatenate(found)


def _lost(encoded: Encoded, objective: Objective, levels: Integers) -> Floats:
    """Return what several recodings lose, from the levels of all cells; :meth:`Objective.cost` does it for one."""
    total = np.zeros(len(levels))
    for column, (ladder, codes) in enumerate(zip(encoded.task.ladders, encoded.task.frequencies.codes, strict=True)):
        if not ladder.height:
            continue
        labels = ladder.maps[levels[:, :, column], codes[None, :]]
        reached = ladder.lowest[labels]
        below = np.arange(ladder.maps.shape[1])
        bits = np.zeros(len(levels))
        for level in range(1, ladder.height + 1):
            inside = np.where(reached >= level, encoded.weights, 0).astype(np.float64)
            here = ladder.maps[level]
            bits += _within(inside, here[codes]) - _within(inside, below[codes])
            below = here
        total += objective.per_bit[column] * bits
    return total


def _within(rows: Floats, groups: Integers) -> Floats:
    """Return for every recoding the bits that it takes to tell rows apart inside their groups."""
    _, own = np.unique(groups, return_inverse=True)
    sizes = rows @ (own[:, None] == np.arange(own.max(initial=-1) + 1)).astype(np.float64)
    return np.asarray((sizes * np.log2(np.maximum(sizes, 1))).sum(axis=1))
