"""A reread file as the tables that expectations run on."""

from __future__ import annotations

import pandas as pd

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.table import Table


def stand_in(frequencies: FrequencyTable, weight_column: str) -> pd.DataFrame:
    """
    Return a table without rows that has the columns of the frequencies, and ``weight_column``.

    Taken for the table itself it is refused, because of no rows anything would hold.

    :raises InvalidInputError: the file itself has a column of that name, which then is no declared one.
    """
    if weight_column in frequencies.names:
        raise InvalidInputError(
            f"a column named {weight_column} is in the file but not declared; "
            "drop it or declare it in the publication file"
        )
    return pd.DataFrame(columns=[*frequencies.names, weight_column])


def row_batch(table: Table) -> pd.DataFrame:
    """Return the rows with every cell as text."""
    return table.to_arrow().to_pandas()


def number_batch(table: Table) -> pd.DataFrame:
    """Return the rows with a column as numbers where every cell that is not a gap is one; the rest stays text."""
    rows = row_batch(table)
    for name in rows.columns:
        numbers = pd.to_numeric(rows[name], errors="coerce")
        if numbers.notna().any() and numbers.isna().equals(rows[name].isna()):
            rows[name] = numbers
    return rows
