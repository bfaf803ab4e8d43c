"""The ladder of one column, from what is known about values; and the values themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anon_core.hierarchy.checking import checked
from anon_core.hierarchy.ladder import ROOT, Ladder, climb
from anon_core.hierarchy.levels import Levels
from anon_core.table import Column


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
