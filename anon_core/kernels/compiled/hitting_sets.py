"""One step of MMCS (Murakami and Uno, 2014): which edge to branch on, and what choosing a column changes.

Bits of an edge are columns; bits of ``hit_by[column]``, ``uncovered[depth]`` and ``once[depth]`` are edges, in so many
``blocks`` of 64.
"""

from __future__ import annotations

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.compiled.bitsets import ONE, ZERO, assign, clear, lowest, ones
from anon_core.kernels.grouping import Integers, Words


@compiled
def choose(
    edges: Words, blocks: int, uncovered: Words, candidates: Words, untried: Words, work: Words, slots: int
) -> None:
    """Choose the uncovered edge with fewest candidates: its candidates become ``untried``, none if there is no hope."""
    common, packed = work[0], work[1]
    words = len(candidates)
    best, chosen = 64 * words + 1, 0
    disjoint = 0
    assign(common, candidates)
    clear(packed)
    clear(untried)
    for block in range(blocks):
        rest = uncovered[block]
        while rest:
            edge = (block << 6) + lowest(rest)
            rest &= rest - ONE
            size = 0
            shared = ZERO
            for i in range(words):
                here = edges[edge, i] & candidates[i]
                size += int(ones(here))
                common[i] &= here
                shared |= here & packed[i]
            if not shared:  # Edges that share no candidate need a column each.
                disjoint += 1
                for i in range(words):
                    packed[i] |= edges[edge, i] & candidates[i]
            if not size or disjoint > slots:
                return
            if size < best:
                best, chosen = size, edge
    for i in range(words):
        untried[i] = common[i] if slots == 1 else edges[chosen, i] & candidates[i]
        candidates[i] &= ~untried[i]


@compiled
def cover(hit_by: Words, blocks: int, uncovered: Words, once: Words, chosen: Integers, depth: int) -> np.uint64:
    """Write which edges the column chosen last leaves uncovered or hit once; return zero if none is uncovered."""
    column = chosen[depth]
    some = ZERO
    for b in range(blocks):
        hits = hit_by[column, b]
        once[depth, b] = (once[depth - 1, b] & ~hits) | (uncovered[depth - 1, b] & hits)
        uncovered[depth, b] = uncovered[depth - 1, b] & ~hits
        some |= uncovered[depth, b]
    return some


@compiled
def all_needed(hit_by: Words, blocks: int, once: Words, chosen: Integers, depth: int) -> bool:
    """Whether every column chosen before the last is the only one to hit some edge."""
    for d in range(1, depth):
        earlier = chosen[d]
        b = 0
        while b < blocks and not once[depth, b] & hit_by[earlier, b]:
            b += 1
        if b == blocks:
            return False
    return True
