"""All minimal sets of columns on which each row is unique."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from anon_core.api.shown import NAMES, Shown, rows_or_people
from anon_core.api.sources import Names, TableLike, names_of, rows_of, searched_names
from anon_core.detection import Progress
from anon_core.detection.searched_columns import searched_columns
from anon_core.detection.unique_columns import UniqueColumns, unique_column_combinations


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueColumnSets(UniqueColumns, Shown):
    """
    The minimal unique ``sets``; see :class:`~anon_core.detection.unique_columns.UniqueColumns` for the figures.

    ``columns`` were searched; on all of them together ``alone`` rows are unique, or so many people where a ``unit``
    tells them apart.
    """

    FIELDS: ClassVar[Mapping[str, str]] = {"size": "int64", "columns": NAMES}

    columns: tuple[str, ...]
    alone: int
    unit: tuple[str, ...]

    @property
    def heading(self) -> str:
        return f"{rows_or_people(self.rows, self.unit)}: {len(self.sets):,} minimal unique sets"

    def records(self) -> list[dict[str, Any]]:
        """Return the sets, smallest first."""
        return [{"size": len(one), "columns": list(one)} for one in self.sets]


def uccs(
    source: TableLike,
    *,
    columns: Names | None = None,
    exclude: Names = (),
    max_size: int | None = None,
    approximate: float = 0.0,
    ignore_duplicates: bool = False,
    unit: Names | None = None,
    progress: Progress | None = None,
) -> UniqueColumnSets:
    """
    Find every minimal set of columns on which each row is unique, up to ``max_size`` columns.

    ``columns`` are searched but those to ``exclude``, by default all. A share ``approximate`` of the rows need not be
    unique. With ``ignore_duplicates`` rows that are equal in all columns count once; without, one such pair means that
    there is no set. ``unit`` counts people: a set is unique if all people are alone in one of their classes, and with
    ``ignore_duplicates`` people who share all their rows with others are left out.

    :raises UnknownColumnError: a column is not in the table.
    :raises InvalidInputError: nothing is left to search, or more than 50 columns without a ``max_size``.
    :raises TableError: the table cannot be read.
    """
    rows, people = rows_of(source), names_of(unit)
    names = searched_columns(rows.table.names, searched_names(columns), names_of(exclude), people)
    frequencies = rows.counted_for(people).people(names)
    found = unique_column_combinations(
        frequencies,
        max_size=max_size,
        approximate=approximate,
        ignore_duplicates=ignore_duplicates,
        progress=progress,
    )
    own = {one.name: getattr(found, one.name) for one in fields(UniqueColumns)}
    alone = frequencies.tuples if ignore_duplicates else frequencies.singletons
    if people:
        alone = found.rows - (0 if ignore_duplicates else found.duplicate_rows)
    return UniqueColumnSets(**own, columns=names, alone=alone, unit=people)
