"""Lower single cells as long as enough rows still cover every original."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.compiled.local_classes import Cells
from anon_core.kernels.grouping import AnyCodes, Integers


class Covered(NamedTuple):
    """
    Whom published tuples cover: tuple ``t`` covers at most ``originals[starts[of[t]]:starts[of[t] + 1]]``.

    ``met[d]`` counts the published rows that cover original ``d``; it is kept up to date.
    """

    of: Integers
    starts: Integers
    originals: Integers
    met: Integers


@compiled
def covers(cells: Cells, member: int, original: int, levels: Integers) -> bool:
    """Whether a tuple, published at some levels, covers an original."""
    for column in range(len(levels)):
        slot = cells.base[column] + levels[column]
        if cells.keys[member, slot] != cells.keys[original, slot]:
            return False
    return True


@compiled
def met_by(cells: Cells, covered: Covered, member: int, levels: Integers, found: Integers) -> int:
    """Write the originals that a tuple covers at some levels; return how many there are."""
    own, count = covered.of[member], 0
    for at in range(covered.starts[own], covered.starts[own + 1]):
        if covers(cells, member, covered.originals[at], levels):
            found[count] = covered.originals[at]
            count += 1
    return count


@compiled
def may_lower(cells: Cells, covered: Covered, member: int, slot: int, found: Integers, count: int, least: int) -> bool:
    """Whether a cell may go down to a slot: who is not covered any more has enough rows without this one."""
    left = 0
    for i in range(count):
        original = found[i]
        if cells.keys[member, slot] == cells.keys[original, slot]:
            left += cells.weights[original]
        elif covered.met[original] - cells.weights[member] < least:
            return False
    return left >= least


@compiled
def lower(cells: Cells, covered: Covered, member: int, slot: int, found: Integers, count: int) -> int:
    """Subtract the rows of a tuple from originals that it no longer covers at a slot; return how many it covers."""
    left = 0
    for i in range(count):
        original = found[i]
        if cells.keys[member, slot] == cells.keys[original, slot]:
            found[left] = original
            left += 1
        else:
            covered.met[original] -= cells.weights[member]
    return left


@compiled
def lower_all(cells: Cells, covered: Covered, members: Integers, levels: AnyCodes, least: int) -> int:
    """Lower the cells of tuples one after the other, the one that gains most first; return how many were lowered."""
    columns = levels.shape[1]
    lowered = 0
    gains = np.zeros(columns)
    found = np.zeros(np.diff(covered.starts).max(), np.int64)
    for member in members:
        blocked = levels[member] == 0
        count = met_by(cells, covered, member, levels[member], found)
        while True:
            best = -1
            for column in range(columns):
                slot = cells.base[column] + levels[member, column]
                gains[column] = cells.costs[member, slot] - cells.costs[member, slot - 1]
                if not blocked[column] and (best < 0 or gains[column] > gains[best]):
                    best = column
            if best < 0:
                break
            slot = cells.base[best] + levels[member, best] - 1
            if may_lower(cells, covered, member, slot, found, count, least):
                count = lower(cells, covered, member, slot, found, count)
                levels[member, best] -= 1
                lowered += 1
                blocked[best] = levels[member, best] == 0
            else:
                blocked[best] = True
    return lowered
