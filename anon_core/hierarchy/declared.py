"""The levels of a hierarchy file with the names that the publication file gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from anon_core.errors import HierarchyError
from anon_core.hierarchy.files import read_levels
from anon_core.hierarchy.ladder import Ladder
from anon_core.hierarchy.levels import Levels
from anon_core.spec import Hierarchy, PartialPublication
from anon_core.wording import counted


def levels_of(hierarchy: Hierarchy, folder: Path) -> Levels:
    """
    Read the file of a hierarchy; its levels have the names in ``levels``, if the publication file gives some.

    :raises HierarchyError: the file is wrong, or ``levels`` has not one name for each of its levels.
    """
    levels = read_levels(folder / (hierarchy.file or ""))
    if problem := _problem(hierarchy, levels.names):
        raise HierarchyError(str(hierarchy.file), [problem])
    return replace(levels, names=list(hierarchy.levels[1:])) if hierarchy.levels else levels


def named(ladder: Ladder, hierarchy: Hierarchy) -> Ladder:
    """Return a ladder whose lowest level has the first name in ``levels``, if the publication file gives some."""
    if not hierarchy.levels:
        return ladder
    return replace(ladder, level_names=(hierarchy.levels[0], *ladder.level_names[1:]))


def level_name_problems(publication: PartialPublication) -> list[str]:
    """
    Return a sentence for every ``levels`` that does not have one name for each level of its file.

    :raises HierarchyError: a hierarchy file is wrong.
    """
    return [
        f"{where}.levels: {problem}"
        for where, hierarchy in _hierarchies(publication)
        if hierarchy.levels
        and (problem := _problem(hierarchy, read_levels(publication.resolve(hierarchy.file or "")).names))
    ]


def _hierarchies(publication: PartialPublication) -> Iterator[tuple[str, Hierarchy]]:
    for name, column in publication.columns.items():
        if column.hierarchy and column.hierarchy.file:
            yield f"columns.{name}.hierarchy", column.hierarchy
        for part, hierarchy in (column.decompose.hierarchies if column.decompose else {}).items():
            if hierarchy.file:
                yield f"columns.{name}.decompose.hierarchies.{part}", hierarchy


def _problem(hierarchy: Hierarchy, above: Sequence[str]) -> str:
    """Return what is wrong with the number of names; ``above`` are the levels above the values, without the root."""
    if not hierarchy.levels or len(hierarchy.levels) == len(above) + 1:
        return ""
    return (
        f"`{hierarchy.file}` has {counted(len(above) + 1, 'level')} (the values, and those above them; a last level of "
        f"* does not count), but {counted(len(hierarchy.levels), 'name')} for them: give one name for each"
    )
