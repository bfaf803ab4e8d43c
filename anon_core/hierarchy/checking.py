"""A ladder, checked when it is built: a fault in it would be published as a fact."""

from __future__ import annotations

import numpy as np

from anon_core.errors import HierarchyError, InternalError
from anon_core.hierarchy.ladder import Ladder
from anon_core.wording import counted


def checked(ladder: Ladder, where: str = "") -> Ladder:
    """
    Return the ladder if it is sound: equal depth, each level a function of the one below, one root, values covered.

    A value that the hierarchy does not know must be marked as unmapped and stand at the root on every level; every
    other one must stand for itself, and for nothing else, at level 0.

    :raises HierarchyError: it is not, and people wrote the hierarchy, at ``where``.
    :raises InternalError: it is not, and we built it.
    """
    problems = faults_in(ladder)
    if problems and where:
        raise HierarchyError(where, [f"column {ladder.column!r}: {problem}" for problem in problems])
    if problems:
        raise InternalError("UnsoundLadder", f"hierarchy of column {ladder.column!r} ({'; '.join(problems)})")
    return ladder


def faults_in(ladder: Ladder) -> list[str]:
    """Return everything that keeps a ladder from being sound, without a label."""
    maps, unmapped = ladder.maps, ladder.unmapped
    problems = []
    if len(ladder.level_names) != len(maps):
        problems.append(
            f"it has {counted(len(maps), 'level')} and {counted(len(ladder.level_names), 'name')} of levels"
        )
    if len({*ladder.labels.to_pylist()}) != len(ladder.labels):
        problems.append("two of its labels are spelled the same")
    if not maps.size:
        return problems
    for level in range(len(maps) - 1):
        above = np.full(len(ladder.labels), -1, np.int32)
        above[maps[level]] = maps[level + 1]
        split = np.flatnonzero(above[maps[level]] != maps[level + 1])
        if len(split):
            problems.append(
                f"a label of level {level} has two parents at level {level + 1} ({counted(len(split), 'value')})"
            )
    if len(np.unique(maps[-1])) > 1:
        problems.append("not everything meets at the root")
    if (maps[:, unmapped] != maps[-1, 0]).any():
        problems.append("a value that is not covered is published as something")
    known = maps[0, ~unmapped]
    if len(np.unique(known)) != len(known) or (unmapped.any() and (known == maps[-1, 0]).any()):
        problems.append("at level 0 a value does not stand for itself alone")
    return problems
