"""Lower single cells as long as everybody is still covered by enough rows."""

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
def may_lower(cells: Cells, covered: Covered, member: int, levels: Integers, column: int, least: int) -> bool:
    """Whether a cell may go down one level: who is not covered any more has enough rows without this one."""
    slot = cells.base[column] + levels[column] - 1
    own, left = covered.of[member], 0
    for at in range(covered.starts[own], covered.starts[own + 1]):
        original = covered.originals[at]
        if covers(cells, member, original, levels):
            if cells.keys[member, slot] == cells.keys[original, slot]:
                left += cells.weights[original]
            elif covered.met[original] - cells.weights[member] < least:
                return False
    return left >= least


@compiled
def lower(cells: Cells, covered: Covered, member: int, levels: Integers, column: int) -> None:
    """Lower a cell by one level, and count for everybody who is not covered any more."""
    slot = cells.base[column] + levels[column] - 1
    own = covered.of[member]
    for at in range(covered.starts[own], covered.starts[own + 1]):
        original = covered.originals[at]
        if cells.keys[member, slot] != cells.keys[original, slot] and covers(cells, member, original, levels):
            covered.met[original] -= cells.weights[member]
    levels[column] -= 1


@compiled
def lower_all(cells: Cells, covered: Covered, members: Integers, levels: AnyCodes, least: int) -> int:
    """Lower the cells of tuples one after the other, the one that gains most first; return how many were lowered."""
    columns = levels.shape[1]
    lowered = 0
    gains = np.zeros(columns)
    for member in members:
        blocked = np.zeros(columns, np.bool_)
        while True:
            best = -1
            for column in range(columns):
                slot = cells.base[column] + levels[member, column]
                gains[column] = cells.costs[member, slot] - cells.costs[member, slot - 1]
                if levels[member, column] > 0 and not blocked[column] and (best < 0 or gains[column] > gains[best]):
                    best = column
            if best < 0:
                break
            if may_lower(cells, covered, member, levels[member], best, least):
                lower(cells, covered, member, levels[member], best)
                lowered += 1
            else:
                blocked[best] = True
    return lowered
