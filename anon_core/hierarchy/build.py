"""Ladders made from the values themselves: intervals, prefixes, dates, a root; or read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import numpy as np

from anon_core.errors import HierarchyError, UnmappedValuesError
from anon_core.hierarchy.columns import ladder_of, values_of
from anon_core.hierarchy.declared import levels_of, named
from anon_core.hierarchy.files import FileFormat, format_of
from anon_core.hierarchy.kinds.dates import by_date, form_of
from anon_core.hierarchy.kinds.prefixes import by_prefix
from anon_core.hierarchy.kinds.widths import by_intervals
from anon_core.hierarchy.ladder import ROOT, Ladder
from anon_core.hierarchy.levels import Levels
from anon_core.spec import Hierarchy, PartialPublication
from anon_core.table import Column


class Columns(Protocol):
    """A table, or an engine, which returns single columns."""

    def column(self, name: str, /) -> Column: ...


def ladders(publication: PartialPublication, table: Columns, columns: Sequence[str]) -> dict[str, Ladder]:
    """
    Build the ladder of every named column; one without a declared hierarchy has only the root above it.

    :raises UnmappedValuesError: hierarchies do not cover all values and the spec does not say ``unmapped: suppress``;
        every such column is named, with counts.
    :raises HierarchyError: hierarchy files are wrong; the error lists the faults of all of them.
    """
    built: dict[str, Ladder] = {}
    unmapped: dict[str, tuple[int, int]] = {}
    wrong: list[HierarchyError] = []
    declared = publication.effective_columns
    for name in columns:
        hierarchy = declared[name].hierarchy
        column = table.column(name)
        withheld = declared[name].withheld
        try:
            built[name] = ladder(column, hierarchy, publication.root, withheld=withheld)
        except HierarchyError as error:
            wrong.append(error)
            continue
        missing = built[name].unmapped
        if withheld is not None:
            missing = missing & [value != withheld for value in column.domain.to_pylist()]
        if missing.any() and (hierarchy is None or hierarchy.unmapped != "suppress"):
            unmapped[name] = (int(missing.sum()), int(np.count_nonzero(missing[column.codes])))
    if wrong:
        raise _together(wrong)
    if unmapped:
        wanted = {name: _wanted(table.column(name), declared[name].hierarchy, publication.root) for name in unmapped}
        raise UnmappedValuesError(unmapped, wanted)
    return built


def _together(errors: Sequence[HierarchyError]) -> HierarchyError:
    """Return one error with the faults of all files, each listed once for all columns that have it."""
    files = dict.fromkeys(error.where for error in errors)
    if len(files) == 1:
        return HierarchyError(errors[0].where, list(dict.fromkeys(p for error in errors for p in error.problems)))
    told = dict.fromkeys(f"{error.where}: {problem}" for error in errors for problem in error.problems)
    return HierarchyError(f"{len(files)} hierarchies", list(told))


def _wanted(column: Column, hierarchy: Hierarchy | None, folder: Path) -> str:
    """Return what the hierarchy requires of values, as the end of a sentence that counts them."""
    if hierarchy and hierarchy.file:
        rules = format_of(folder / hierarchy.file) is FileFormat.RULES
        return f", without a {'rule' if rules else 'line'} in {hierarchy.file}"
    if hierarchy and hierarchy.intervals:
        return ", not numbers such as 1957 or 3.5"
    return f", {form_of(values_of(column)).wanted}"


def ladder(column: Column, hierarchy: Hierarchy | None, folder: Path, *, withheld: str | None = None) -> Ladder:
    """
    Build one column's ladder. Values that the hierarchy does not cover are marked in ``unmapped``.

    So is ``withheld``, the value that decomposing put in the place of what it could not split: it says nothing, and
    stands at the root from the beginning.

    :raises HierarchyError: the hierarchy file is wrong.
    """
    values = [value for value in values_of(column) if value != withheld]
    if hierarchy is None or hierarchy.root is not None:
        root_only = Levels(paths={value: [] for value in values}, names=[])
        return ladder_of(column, root_only, root=(hierarchy.root if hierarchy else None) or ROOT)
    if hierarchy.file is not None:
        file = folder / hierarchy.file
        return named(ladder_of(column, levels_of(hierarchy, folder), where=str(file)), hierarchy)
    if hierarchy.intervals is not None:
        return ladder_of(column, by_intervals(values, [Decimal(str(width)) for width in hierarchy.intervals]))
    if hierarchy.prefix is not None:
        return ladder_of(column, by_prefix(values, hierarchy.prefix))
    return ladder_of(column, by_date(values, [str(part.value) for part in hierarchy.date or ()]))
