"""Every subset of nominated columns, and the quasi-identifier that is chosen among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from anon_core.api.shown import NAMES, Shown, rows_or_people
from anon_core.api.sources import Names, TableLike, names_of, rows_of
from anon_core.detection import Progress
from anon_core.detection.preparation import prepare
from anon_core.detection.searched_columns import searched_columns
from anon_core.detection.selective import Selection
from anon_core.detection.selective import select as count_subsets


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected(Selection, Shown):
    """
    Every subset, counted, and the ``elected`` one; see :class:`~anon_core.detection.selective.Selection`.

    Of the rows dropped before, ``rows_dropped_missing`` had a gap and ``rows_dropped_duplicates`` repeated another.
    """

    FIELDS: ClassVar[Mapping[str, str]] = {
        "columns": NAMES,
        "distinct": "int64",
        "singletons": "int64",
        "chosen": "bool",
    }

    rows_dropped_missing: int
    rows_dropped_duplicates: int

    @property
    def rows_dropped(self) -> int:
        return self.rows_dropped_missing + self.rows_dropped_duplicates

    @property
    def heading(self) -> str:
        return f"{rows_or_people(self.rows, ())}: every subset of the nominated columns"

    def records(self) -> list[dict[str, Any]]:
        """Return all subsets, smallest first."""
        return [
            {
                "columns": list(one.columns),
                "distinct": one.distinct,
                "singletons": one.singletons,
                "chosen": one.columns == self.elected,
            }
            for one in self.subsets
        ]


def select(
    source: TableLike,
    columns: Names,
    *,
    drop_missing: bool = False,
    drop_duplicates: bool = False,
    progress: Progress | None = None,
) -> Selected:
    """
    Count every subset of the nominated ``columns``, and choose the one with most distinct tuples, then fewest columns.

    With ``drop_missing`` rows with a gap in one of them are left out before, with ``drop_duplicates`` rows that repeat
    an earlier one in every column of the table.

    :raises UnknownColumnError: a column is not in the table.
    :raises InvalidInputError: no column or more than 20 are nominated, or no row is left.
    :raises TableError: the table cannot be read.
    """
    rows = rows_of(source)
    names = searched_columns(rows.table.names, names_of(columns))
    prepared = prepare(rows.table, names, drop_missing=drop_missing, drop_duplicates=drop_duplicates)
    found = count_subsets(rows.engine.of(prepared.table).count(names), progress=progress)
    own = {one.name: getattr(found, one.name) for one in fields(Selection)}
    return Selected(**own, rows_dropped_missing=prepared.with_gaps, rows_dropped_duplicates=prepared.duplicates)
