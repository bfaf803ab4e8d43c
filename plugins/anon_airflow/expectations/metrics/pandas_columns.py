"""pandas columns as codes and weights, merging no two different cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from anon_airflow.expectations.metrics.refusal import NotMeasurableError

Array = np.ndarray[Any, np.dtype[Any]]


def require_columns(table: pd.DataFrame, columns: Sequence[str], weight_column: str | None) -> None:
    """
    Refuse an empty table, absent or doubled columns, and a weight column that is also measured.

    :raises NotMeasurableError: naming columns that were asked for, never others: a file without a header has cells
        for names.
    """
    if not len(table):
        raise NotMeasurableError("there are no rows, and of no rows anything would hold")
    names = list(table.columns)
    wanted = [*columns, *([] if weight_column is None else [weight_column])]
    absent = [name for name in wanted if name not in names]
    if absent:
        raise NotMeasurableError(f"the table has no column {', '.join(absent)}")
    doubled = [name for name in wanted if names.count(name) > 1]
    if doubled:
        raise NotMeasurableError(f"more than one column is named {', '.join(sorted(set(doubled)))}")
    if weight_column in columns:
        raise NotMeasurableError(f"{weight_column} cannot be a weight and a published column at once")


def weights_of(table: pd.DataFrame, weight_column: str | None) -> Array:
    """
    Return how many rows each row of the table stands for: 1 without a weight column.

    :raises NotMeasurableError: a weight is missing, not a whole number, or below 1.
    """
    if weight_column is None:
        return np.ones(len(table), np.int64)
    weights = table[weight_column]
    whole = pd.api.types.is_integer_dtype(weights.dtype)
    if not whole or weights.isna().any() or weights.min() < 1:
        raise NotMeasurableError(f"column {weight_column} must hold whole numbers from 1 up, without gaps")
    if int(weights.max()) * len(weights) > np.iinfo(np.int64).max:
        raise NotMeasurableError(f"column {weight_column} holds numbers too large to add up")
    return np.asarray(weights, np.int64)


def codes_of(column: pd.Series) -> tuple[Array, pa.Array]:
    """
    Return a column as codes and a domain of numbers that stand for its values; a gap is the null at the end.

    >>> codes, domain = codes_of(pd.Series(["01", "1", None, "01"]))
    >>> codes.tolist(), domain.to_pylist()
    ([0, 1, 2, 0], [0, 1, None])
    """
    codes, values = _factorize(column)
    gaps = codes < 0
    domain = list(range(values))
    if gaps.any():
        codes = np.where(gaps, values, codes)
        domain.append(None)  # type: ignore[arg-type]
    return codes.astype(np.int64), pa.array(domain, pa.int64())


def _factorize(column: pd.Series) -> tuple[Array, int]:
    """Return codes with -1 for gaps, and how many values there are; ``1``, ``1.0`` and ``True`` are three values."""
    if isinstance(column.dtype, pd.CategoricalDtype) and not _is_mixed(column.cat.categories):
        return np.asarray(column.cat.codes, np.int64), len(column.cat.categories)
    codes, values = pd.factorize(column)
    codes = np.asarray(codes, np.int64)
    known = codes >= 0
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        finer = column.to_numpy(np.float64)[known].view(np.int64)  # by its bits, minus zero is not zero
    elif _is_mixed(column):
        kinds, names = pd.factorize(np.array([type(cell).__name__ for cell in column[known]], dtype=object))
        finer = codes[known] * len(names) + kinds
    else:
        return codes, len(values)
    codes[known], values = pd.factorize(finer)
    return codes, len(values)


def _is_mixed(cells: Any) -> bool:
    return bool(cells.dtype == object and pd.api.types.infer_dtype(cells, skipna=True) not in ("string", "empty"))
