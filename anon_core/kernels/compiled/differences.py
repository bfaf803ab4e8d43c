"""Difference sets of row pairs as bit masks over the columns, and the minimal ones among them."""

from __future__ import annotations

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.compiled.bitsets import ZERO, size_of, within
from anon_core.kernels.compiled.partitions import Arena
from anon_core.kernels.grouping import AnyCodes, Words


@compiled
def compare(codes: AnyCodes, one: int, other: int, differ: Words) -> None:
    """Write the columns in which two rows differ."""
    for i in range(len(differ)):
        word = ZERO
        for bit in range(min(64, len(codes) - 64 * i)):
            column = 64 * i + bit
            word |= np.uint64(codes[column, one] != codes[column, other]) << np.uint64(bit)
        differ[i] = word


@compiled
def differences(arena: Arena, level: int, sets: Words, begin: int, limit: int) -> int:
    """
    Write the difference sets of neighbours in the classes of a level, and return how many there are now.

    Neighbours follow each other in the order of their tuples, so they agree on more than chance would have it. Where
    there are more than ``limit``, they are taken at equal steps over all classes.
    """
    members, starts, codes = arena.members, arena.starts, arena.codes
    last = arena.member_at[level + 1]
    first, past = arena.start_at[level], arena.start_at[level + 1]
    pairs = last - arena.member_at[level] - (past - first)
    step = max(1, (pairs + limit - 1) // limit)
    end, skip = begin, 0
    for at in range(first, past):
        stop = starts[at + 1] if at + 1 < past else last
        i = starts[at] + skip
        while i + 1 < stop:
            one, other = members[i], members[i + 1]
            compare(codes, one, other, sets[end])
            end += 1
            i += step
        skip = i + 1 - stop
    return end


@compiled
def keep_minimal(sets: Words, end: int) -> int:
    """Keep, of the sets before ``end``, those that contain no other, smallest first; return how many."""
    sizes = np.empty(end, np.int64)
    for i in range(end):
        sizes[i] = size_of(sets[i])
    kept = 0
    for size in range(64 * sets.shape[1] + 1):
        for i in range(kept, end):
            if sizes[i] == size and is_minimal(sets, kept, i):
                # It changes places with one that is larger, or of this size and not minimal.
                swap(sets, kept, i)
                sizes[i] = sizes[kept]
                kept += 1
    return kept


@compiled
def is_minimal(sets: Words, end: int, candidate: int) -> bool:
    """Whether none of the sets before ``end`` lies in a candidate."""
    for i in range(end):  # noqa: SIM110 - numba compiles no generator expression.
        if within(sets[i], sets[candidate]):
            return False
    return True


@compiled
def swap(sets: Words, one: int, other: int) -> None:
    """Let two sets change places."""
    for i in range(sets.shape[1]):
        sets[one, i], sets[other, i] = sets[other, i], sets[one, i]
