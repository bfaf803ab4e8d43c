"""The ladder of one column, from what is known about values; and the values themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anon_core.errors import HierarchyError, InternalError
from anon_core.hierarchy.ladder import ROOT, Ladder, climb
from anon_core.hierarchy.levels import Levels
from anon_core.table import Column
from anon_core.wording import counted


def ladder_of(column: Column, levels: Levels, *, root: str = ROOT, where: str = "") -> Ladder:
    """
    Build the ladder of a column from what is known about values, and check it.

    ``where`` names the file that the levels come from, if people wrote them: then faults are theirs.

    :raises HierarchyError: the column's values do not climb the file's levels as they should.
    """
    paths = levels.covering(values_of(column))
    names = [*levels.names, root if root != ROOT else "suppressed"]
    climbed = climb(column.name, column.domain, paths, names, root)
    if where:  # A level that is made from values may have one label because there are few of them.
        climbed = replace(climbed, empty_levels=1 + len(levels.saying_nothing))
    return checked(climbed, where)


def values_of(column: Column) -> list[str]:
    """Return the distinct values of a column, in order, without the gap."""
    return [value for value in column.domain.to_pylist() if value is not None]


def rows_of(column: Column) -> dict[str, int]:
    """Return how many rows have each value, in the order of the values, without the gap."""
    rows = np.bincount(column.codes, minlength=len(column.domain)).tolist()
    return {value: count for value, count in zip(column.domain.to_pylist(), rows, strict=True) if value is not None}


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
