"""A reread file as the tables that expectations run on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.kernels import AnyCodes
from anon_core.table import Table


def frequency_batch(frequencies: FrequencyTable, weight_column: str) -> pd.DataFrame:
    """
    Return the distinct rows and, in ``weight_column``, how often each occurs.

    :raises InvalidInputError: the file itself has a column of that name, which then is no declared one.
    """
    if weight_column in frequencies.names:
        raise InvalidInputError(
            f"a column named {weight_column} is in the file but not declared; "
            "drop it or declare it in the publication file"
        )
    columns = {
        name: _categorical(codes, domain)
        for name, codes, domain in zip(frequencies.names, frequencies.codes, frequencies.domains, strict=True)
    }
    return pd.DataFrame({**columns, weight_column: frequencies.weights})


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


def _categorical(codes: AnyCodes, domain: pa.Array) -> pd.Categorical:
    gap = len(domain) - 1 if domain.null_count else -1  # the reader puts the gap last
    words = pd.Index(domain.drop_null().to_pylist(), dtype="str")
    return pd.Categorical.from_codes(np.where(codes == gap, -1, codes), categories=words)
