"""Minimal unique column sets as minimal hitting sets, depth first, of edges that come while they are searched.

The search is MMCS (Murakami and Uno, 2014): choose an uncovered edge, try its members one after the other, and go on
only while every chosen column is the only one to hit some edge. A set that hits all known edges is put to the test
against the table; one that fails gives new edges which it does not hit, and the search goes on below it (the idea of
HPIValid, Birnick et al., 2020). An edge is the complement of a set that is not unique: for an exact search what two
rows differ in, for an approximate one what is left when a set that failed has grown as far as it can while it fails.

Nothing is lost because edges come late. Let X be not unique and within reach of a node; then, when that node is left,
some known edge misses X. For the path towards X (at every branching, the member of X that is tried last) ends either
at an edge that X does not hit, or where a chosen u is no longer the only one to hit an edge. In that case X without u,
not unique either, was within reach of a member tried before u, so some known edge f misses it; f holds no other member
of X than u, and if it holds u, u was the only one to hit f. So f misses X. And a minimal unique set T is never given
up for the sake of u: T without u is not unique, so by then an edge was known that only u hits. With a size limit it is
enough that this holds for X below the limit.

Bits of an edge are columns; bits of ``hit_by[column]``, ``uncovered[depth]`` and ``once[depth]`` are edges, in so many
``blocks`` of 64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.compiled.bitsets import ONE, ZERO, assign, clear, holds, lowest, ones, put, take_lowest
from anon_core.kernels.compiled.partitions import (
    Arena,
    copy_some,
    crowd,
    crowd_exceeds,
    differences,
    has_room,
    keep_minimal,
    refine,
    take_place,
)
from anon_core.kernels.grouping import Integers, Words

DONE, PAUSED, WANTS_ROOM, WANTS_EDGES, WANTS_RESULTS = range(5)
"""Why the search comes back: it has finished, it lets others run, or some array is full."""

TEST, CHOOSE, NEXT = range(3)
"""Where it goes on: a set that hits all edges is put to the test, an edge is chosen, or its next member."""

DEPTH, PHASE, LEVELS, EDGES, FOUND, NODES, GROWN, PASSED, WORK = range(9)
"""What the search keeps in ``state`` between two calls."""

ADDED = 64
"""So many of the minimal difference sets of a set that failed become edges at most."""

SAMPLED = 4096
"""Before the search pairs are taken from so many rows, neighbours in the order of their tuples."""

WITNESSES = 16
"""An approximate search grows a set that failed while so many times more rows than allowed begin as witnesses."""

STRIDE = 7919
"""Witnesses are taken from another place every time, so that edges differ."""

SELDOM = 64
"""Of the sets that fail at the size limit, one in so many is grown: the edge is not needed, but saves tests."""


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


class Search(NamedTuple):
    """
    Where the search stands, in arrays only, so that it can leave and come back.

    Bits of ``edges`` are columns; bits of ``hit_by``, ``uncovered`` and ``once`` are edges. For every depth:
    ``uncovered`` edges are hit by no chosen column, those ``once`` by exactly one; ``candidates`` may still be chosen,
    ``untried`` are members of the edge that is being branched on. ``pool`` and ``work`` are work space.
    """

    arena: Arena
    edges: Words
    hit_by: Words
    uncovered: Words
    once: Words
    candidates: Words
    untried: Words
    chosen: Integers
    found: Words
    pool: Words
    work: Words
    state: Integers
    max_size: int
    allowed: int
    exact: bool


@compiled
def add_edge(search: Search, edge: Words) -> None:
    """Add an edge that no chosen column hits."""
    number = search.state[EDGES]
    assign(search.edges[number], edge)
    hit_by, uncovered = search.hit_by, search.uncovered
    for column in range(len(hit_by)):
        if holds(edge, column):
            put(hit_by[column], number)
    for d in range(search.state[DEPTH] + 1):
        put(uncovered[d], number)
    search.state[EDGES] = number + 1


@compiled
def run(search: Search, nodes: int, work: int) -> int:
    """Go on for so many nodes or so much work; return why it came back."""
    state, max_size = search.state, search.max_size
    edges, hit_by, uncovered, once = search.edges, search.hit_by, search.uncovered, search.once
    candidates, untried, chosen = search.candidates, search.untried, search.chosen
    until_nodes, until_work = state[NODES] + nodes, state[WORK] + work
    while state[DEPTH] >= 0:
        depth = state[DEPTH]
        if state[PHASE] == TEST:
            reason = put_to_test(search, until_work)
            if reason != DONE:
                return reason
        elif state[PHASE] == CHOOSE:
            if depth < max_size:
                blocks = (state[EDGES] + 63) >> 6
                slots = max_size - depth
                choose(edges, blocks, uncovered[depth], candidates[depth], untried[depth], search.work, slots)
            state[PHASE] = NEXT
        elif state[NODES] >= until_nodes:
            return PAUSED
        else:
            column = take_lowest(untried[depth])
            if column < 0:
                state[DEPTH] = depth - 1
                state[LEVELS] = min(state[LEVELS], depth - 1)
                continue
            state[NODES] += 1
            chosen[depth + 1] = column
            blocks = (state[EDGES] + 63) >> 6
            some = cover(hit_by, blocks, uncovered, once, chosen, depth + 1)
            if (some and depth + 1 == max_size) or not all_needed(hit_by, blocks, once, chosen, depth + 1):
                continue
            assign(candidates[depth + 1], candidates[depth])
            put(candidates[depth], column)
            clear(untried[depth + 1])
            state[DEPTH] = depth + 1
            state[PHASE] = CHOOSE if some else TEST
    return DONE


@compiled
def put_to_test(search: Search, until_work: int) -> int:
    """
    Test the chosen columns against the table.

    If they are unique they are noted, and there is nothing to try below. If not, there will be at least one new edge
    that they do not hit.
    """
    arena, state, chosen = search.arena, search.state, search.chosen
    depth = state[DEPTH]
    while state[LEVELS] < depth:
        level = state[LEVELS]
        if not search.exact and level + 1 == depth == search.max_size and state[PASSED] % SELDOM:
            # Nothing can follow, so no partition is needed: most sets fail after a look at few rows.
            state[WORK] += 1 + search.allowed
            if not crowd_exceeds(arena, level, chosen[depth], search.allowed):
                return note_found(search)
            state[PASSED] += 1
            state[PHASE] = NEXT
            return DONE
        if not has_room(arena, level):
            return WANTS_ROOM
        if state[WORK] >= until_work:
            return PAUSED
        refine(arena, level, chosen[level + 1])
        state[WORK] += arena.member_at[level + 1] - arena.member_at[level]
        state[LEVELS] = level + 1
    if crowd(arena, depth) > search.allowed:
        return fail(search) if search.exact else grow(search, until_work)
    return note_found(search)


@compiled
def note_found(search: Search) -> int:
    """Note the chosen columns as a result; nothing below them is minimal."""
    state = search.state
    if state[FOUND] == len(search.found):
        return WANTS_RESULTS
    note_chosen(search, search.found[state[FOUND]])
    state[FOUND] += 1
    state[PHASE] = NEXT
    return DONE


@compiled
def note_chosen(search: Search, target: Words) -> None:
    """Write down the chosen columns."""
    clear(target)
    for d in range(1, search.state[DEPTH] + 1):
        put(target, search.chosen[d])


@compiled
def fail(search: Search) -> int:
    """Make edges of what the rows differ in that the chosen columns leave indistinguishable."""
    arena, state, pool = search.arena, search.state, search.pool
    depth, columns = state[DEPTH], len(arena.codes)
    most = min(ADDED, len(pool)) if depth else len(pool)
    if state[EDGES] + most > len(search.edges):
        return WANTS_EDGES
    if not has_room(arena, depth):
        return WANTS_ROOM
    # No literals: numba would compile what is called with them once more.
    end, sampled = int(np.int64(0)), int(np.int64(SAMPLED))
    if depth:
        end = differences(arena, depth, pool, end, len(pool))
    else:  # Nothing is chosen yet: a sample of pairs from the classes of every single column, among some of the rows.
        copy_some(arena, depth, sampled, state[EDGES])
        if not has_room(arena, depth + 1):
            return WANTS_ROOM
        for column in range(columns):
            refine(arena, depth + 1, column)
            end = differences(arena, depth + 2, pool, end, len(pool) // columns)
    state[WORK] += end * columns
    for i in range(min(most, keep_minimal(pool, end))):
        add_edge(search, pool[i])
    state[PHASE] = CHOOSE
    return DONE


@compiled
def grow(search: Search, until_work: int) -> int:
    """
    Add columns to a set that failed while it still fails; what is then outside is a new edge.

    The columns come in turn, from the one that tells least apart. One that would make the set unique does so for every
    larger set too, so one pass gives a maximal set. ``GROWN`` counts the columns that had their turn.
    """
    arena, state = search.arena, search.state
    grown, outside = search.work[2], search.work[3]
    depth, columns = state[DEPTH], len(arena.codes)
    if state[EDGES] == len(search.edges):
        return WANTS_EDGES
    level = depth + 1  # The partition of the grown set lies above that of the chosen columns.
    if state[GROWN] == 0:
        if not has_room(arena, depth):
            return WANTS_ROOM
        note_chosen(search, grown)
        copy_some(arena, depth, WITNESSES * (search.allowed + 1), state[EDGES] * STRIDE)
    while state[GROWN] < columns:
        if not holds(grown, state[GROWN]):
            if not has_room(arena, level):
                return WANTS_ROOM
            if state[WORK] >= until_work:
                return PAUSED
            refine(arena, level, state[GROWN])
            state[WORK] += arena.member_at[level + 1] - arena.member_at[level]
            if crowd(arena, level + 1) > search.allowed:
                put(grown, state[GROWN])
                take_place(arena, level)
        state[GROWN] += 1
    clear(outside)
    for column in range(columns):
        if not holds(grown, column):
            put(outside, column)
    add_edge(search, outside)
    state[GROWN] = 0
    state[PASSED] += 1
    state[PHASE] = CHOOSE
    return DONE
