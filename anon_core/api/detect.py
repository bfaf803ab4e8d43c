"""The column sets of a table that single out most rows, or people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from anon_core.api.shown import NAMES, Shown, rows_or_people
from anon_core.api.sources import Names, TableLike, names_of, rows_of, searched_names
from anon_core.detection import Progress
from anon_core.detection.preparation import prepare
from anon_core.detection.search_size import check_search_size
from anon_core.detection.searched_columns import searched_columns
from anon_core.detection.singletons import ColumnSet, Detection
from anon_core.detection.singletons import detect as search

DEFAULT_MAX_SIZE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected(Detection, Shown):
    """
    What a search for singletons found; see :class:`~anon_core.detection.singletons.Detection` for its figures.

    ``rows`` are what was counted: rows, or people where a ``unit`` tells them apart. ``rows_dropped`` had a gap. Of
    ``rows_unknown`` it is not known whose they are, for they have a gap in the unit.
    """

    FIELDS: ClassVar[Mapping[str, str]] = {
        "size": "int64",
        "columns": NAMES,
        "singletons": "int64",
        "share": "double",
        "distinct": "int64",
        "identifier": "bool",
    }

    rows_dropped: int
    rows_unknown: int
    unit: tuple[str, ...]

    @property
    def heading(self) -> str:
        return f"{rows_or_people(self.rows, self.unit)}: the set of each size that singles out most"

    def records(self) -> list[dict[str, Any]]:
        """Return the best set of every size, and that of all columns."""
        sets = list(self.best_by_size)
        if self.all_columns.columns not in [one.columns for one in sets]:
            sets.append(self.all_columns)
        return [_record(one, one.singletons == self.rows) for one in sets]


def detect(
    source: TableLike,
    *,
    columns: Names | None = None,
    exclude: Names = (),
    max_size: int | None = None,
    drop_missing: bool = False,
    unit: Names | None = None,
    progress: Progress | None = None,
) -> Detected:
    """
    Find the column sets that single out most rows, exactly, up to ``max_size`` columns (5, if nothing is given).

    ``columns`` are searched but those to ``exclude``, by default all. With ``drop_missing`` rows with a gap in one of
    them are left out before; else a gap is a category of its own. ``unit`` counts people in place of rows.

    :raises UnknownColumnError: a column is not in the table.
    :raises InvalidInputError: nothing is left to search, or more than 50 columns without a ``max_size``.
    :raises TableError: the table cannot be read.
    """
    rows, people = rows_of(source), names_of(unit)
    names = searched_columns(rows.table.names, searched_names(columns), names_of(exclude), people)
    check_search_size(len(names), max_size)
    prepared = prepare(rows.table, names, drop_missing=drop_missing)
    frequencies = replace(rows, table=prepared.table).counted_for(people).people(names)
    found = search(frequencies, max_size=max_size or DEFAULT_MAX_SIZE, progress=progress)
    own = {one.name: getattr(found, one.name) for one in fields(Detection)}
    gaps = [column.gaps for column in prepared.table.select(people).columns]
    unknown = int(np.count_nonzero(np.logical_or.reduce(gaps))) if gaps else 0
    return Detected(**own, rows_dropped=prepared.dropped, rows_unknown=unknown, unit=people)


def _record(one: ColumnSet, identifier: bool) -> dict[str, Any]:
    return {
        "size": len(one.columns),
        "columns": list(one.columns),
        "singletons": one.singletons,
        "share": one.share,
        "distinct": one.distinct,
        "identifier": identifier,
    }
