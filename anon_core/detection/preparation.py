"""Drops rows before a search, if the caller asks for it, and counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.errors import InvalidInputError
from anon_core.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The rows that are left, and how many were dropped for each reason."""

    table: Table
    with_gaps: int = 0
    duplicates: int = 0

    @property
    def dropped(self) -> int:
        return self.with_gaps + self.duplicates


def prepare(
    table: Table, columns: Sequence[str], *, drop_missing: bool = False, drop_duplicates: bool = False
) -> Prepared:
    """
    Drop the rows with a gap in one of these columns, then those that repeat an earlier row in *every* column.

    A row that equals another only in the columns of the search is no duplicate: such rows are what the search counts.

    :raises UnknownColumnError: there is no such column.
    :raises InvalidInputError: no row is left.
    """
    chosen = table.select(columns)
    with_gaps = duplicates = 0
    if drop_missing and chosen.columns:
        complete = ~np.logical_or.reduce([column.gaps for column in chosen.columns])
        with_gaps = table.rows - int(np.count_nonzero(complete))
        table = table.keep(complete) if with_gaps else table
    if drop_duplicates and table.columns and table.rows:
        groups = kernels.group([c.codes for c in table.columns], [len(c.domain) for c in table.columns])
        duplicates = table.rows - len(groups.first)
        first = np.zeros(table.rows, np.bool_)
        first[groups.first] = True
        table = table.keep(first) if duplicates else table
    if not table.rows:
        raise InvalidInputError(
            f"every row has a gap in these columns (all {with_gaps:,} were dropped), so nothing is left; "
            "keep gaps as a category, or choose columns with fewer gaps"
        )
    return Prepared(table=table, with_gaps=with_gaps, duplicates=duplicates)
