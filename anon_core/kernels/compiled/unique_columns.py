"""Drive the compiled search for unique column combinations: give it room, let others run, and hand out its results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anon_core.kernels.compiled import unique_search as us
from anon_core.kernels.compiled.partitions import enlarge, new_arena
from anon_core.kernels.grouping import AnyCodes, Words

NODES = 50_000
"""After so many nodes, ..."""

WORK = 20_000_000
"""... or so many rows looked at (about 0.1 s), Ctrl-C and the progress get their turn."""

PAIRS = 1024
"""So many row pairs are compared at a time, at most, ..."""

SAMPLE = 8
"""... or, before the search, so many of each column if that is more."""

SPARE_BLOCKS, RESULTS, ROOM = 4, 1024, 3
"""What the search has at first: room for edges (64 a block), for results, and for partitions (times all rows)."""


def minimal_unique_sets(
    codes: AnyCodes, light: AnyCodes, *, max_size: int, allowed: int, exact: bool, progress: Callable[[int], None]
) -> Words:
    """
    Return the minimal sets of columns (bits) on which at most ``allowed`` light rows are not alone.

    ``codes[i]`` are the codes of column ``i``; ``light`` says which rows count, and is empty if all do. ``exact`` is
    for ``allowed == 0``, all rows light and no two equal.
    """
    search = _start(codes, light, max_size, allowed, exact)
    while True:
        reason = us.run(search, NODES, WORK)
        if reason == us.DONE:
            return search.found[: search.state[us.FOUND]]
        if reason == us.PAUSED:
            progress(int(search.state[us.NODES]))
        elif reason == us.WANTS_ROOM:
            enlarge(search.arena)
        elif reason == us.WANTS_RESULTS:
            search = search._replace(found=_taller(search.found))
        else:
            search = search._replace(
                edges=_taller(search.edges),
                hit_by=_wider(search.hit_by),
                uncovered=_wider(search.uncovered),
                once=_wider(search.once),
            )


def _start(codes: AnyCodes, light: AnyCodes, max_size: int, allowed: int, exact: bool) -> us.Search:
    columns = len(codes)
    words = (columns + 63) // 64
    pool = max(PAIRS, columns * SAMPLE)
    blocks = (pool + 63) // 64 + SPARE_BLOCKS
    search = us.Search(
        arena=new_arena(codes, light, max_size, ROOM),
        edges=np.zeros((blocks * 64, words), np.uint64),
        hit_by=np.zeros((columns, blocks), np.uint64),
        uncovered=np.zeros((max_size + 1, blocks), np.uint64),
        once=np.zeros((max_size + 1, blocks), np.uint64),
        candidates=np.zeros((max_size + 1, words), np.uint64),
        untried=np.zeros((max_size + 1, words), np.uint64),
        chosen=np.zeros(max_size + 1, np.int64),
        found=np.zeros((RESULTS, words), np.uint64),
        pool=np.zeros((pool, words), np.uint64),
        work=np.zeros((4, words), np.uint64),
        state=np.zeros(9, np.int64),
        max_size=max_size,
        allowed=allowed,
        exact=exact,
    )
    for column in range(columns):
        search.candidates[0, column >> 6] |= np.uint64(1 << (column & 63))
    return search


def _taller(sets: Words) -> Words:
    return np.concatenate([sets, np.zeros_like(sets)])


def _wider(sets: Words) -> Words:
    return np.concatenate([sets, np.zeros_like(sets)], axis=1)
