"""The tables that expectations are evaluated on, made from a file that was read back."""

from __future__ import annotations

import pandas as pd

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.table import Table


def stand_in(frequencies: FrequencyTable, weight_column: str) -> pd.DataFrame:
    """
    Return an empty table that has the columns of the frequencies, and ``weight_column``.

    Our metrics find the frequencies that it stands for; other code refuses it, because it has no rows.

    :raises InvalidInputError: the file itself has an undeclared column of that name.
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
    """Return the rows; a column is numbers if every cell that is not a gap is a number, else text."""
    rows = row_batch(table)
    for name in rows.columns:
        numbers = pd.to_numeric(rows[name], errors="coerce")
        if numbers.notna().any() and numbers.isna().equals(rows[name].isna()):
            rows[name] = numbers
    return rows
