"""Count a pandas table as distinct tuples and weights, without merging two different cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from anon_airflow.expectations.inputs import counted_already
from anon_airflow.expectations.metrics.refusal import NotMeasurableError
from anon_core.frequency import FrequencyTable, unit_codes
from anon_core.table import Column
from anon_core.table.people import one_spelling

Array = np.ndarray[Any, np.dtype[Any]]
MAX_ROWS = int(np.iinfo(np.int64).max)
"""The largest number of rows that can be counted."""


def counted(table: pd.DataFrame, columns: Sequence[str], weight_column: str | None) -> FrequencyTable:
    """
    Return the distinct tuples of some columns and the rows of each. Domains are the cells as text, a gap is null.

    :raises NotMeasurableError: no rows; see also :func:`require_columns` and :func:`weights_of`.
    """
    require_columns(list(table.columns), columns, weight_column)
    if (known := counted_already(table)) is not None:
        require_rows(bool(known.rows))
        return known.project(columns)
    require_rows(bool(len(table)))
    weights = weights_of(table, weight_column)
    if not columns:
        return FrequencyTable(names=(), codes=(), domains=(), weights=np.array([weights.sum()], np.int64))
    coded = [codes_of(table[name]) for name in columns]
    return FrequencyTable.from_codes(columns, [codes for codes, _ in coded], [domain for _, domain in coded], weights)


def require_rows(has_rows: bool) -> None:
    """:raises NotMeasurableError: the table is empty."""
    if not has_rows:
        raise NotMeasurableError("there are no rows, so any requirement would hold")


def require_weights(weight_column: str, are_counts: bool) -> None:
    """:raises NotMeasurableError: the weights are not counts."""
    if not are_counts:
        raise NotMeasurableError(f"column {weight_column} must hold whole numbers from 1 up, without gaps")


def require_columns(names: Sequence[str], columns: Sequence[str], weight_column: str | None) -> None:
    """
    Reject missing or duplicate columns, and a weight column that is also measured.

    :raises NotMeasurableError: it names only columns of the arguments: in a file without a header, names are cells.
    """
    wanted = [*columns, *([] if weight_column is None else [weight_column])]
    absent = [name for name in wanted if name not in names]
    if absent:
        raise NotMeasurableError(f"the table has no column {', '.join(absent)}")
    doubled = [name for name in wanted if names.count(name) > 1]
    if doubled:
        raise NotMeasurableError(f"more than one column is named {', '.join(sorted(set(doubled)))}")
    if len(set(columns)) < len(columns):
        raise NotMeasurableError("a column is named twice")
    if weight_column in columns:
        raise NotMeasurableError(f"{weight_column} cannot be a weight and a published column at once")


def require_unit(unit_column: str, columns: Sequence[str], weight_column: str | None) -> None:
    """:raises NotMeasurableError: the unit column is measured as well, or is the weight."""
    if unit_column in columns:
        raise NotMeasurableError(f"{unit_column} cannot tell people apart and be a published column at once")
    if unit_column == weight_column:
        raise NotMeasurableError(f"{unit_column} cannot tell people apart and be the weight at once")


def columns_asked(arguments: dict[str, Any]) -> list[str]:
    """
    Return the columns that a metric counts over: ``columns``, and the ``sensitive`` one and the unit, if given.

    :raises NotMeasurableError: the unit is measured as well, or is the weight.
    """
    columns = [*arguments["columns"], *([] if arguments.get("sensitive") is None else [arguments["sensitive"]])]
    unit = arguments["unit_column"]
    if unit is None:
        return columns
    require_unit(unit, columns, arguments.get("weight_column"))
    return [*columns, unit]


def people_of(counted: FrequencyTable) -> FrequencyTable:
    """
    Return the people of a table that was counted over some columns and, last, the unit; a gap is an unknown person.

    Two spellings of a unit are one person, as in a publication file.

    :raises NotMeasurableError: units of different types have the same text, and would count as several people.
    """
    *codes, units = counted.codes
    *domains, whose = counted.domains
    if len(set(whose.to_pylist())) < len(whose):
        raise NotMeasurableError(
            f"cells of different types have the same text in {counted.names[-1]}: cast them to text"
        )
    people = unit_codes(one_spelling(Column(name=counted.names[-1], codes=units, domain=whose)))
    return FrequencyTable.from_codes(counted.names[:-1], codes, domains, counted.weights, people)


def weights_of(table: pd.DataFrame, weight_column: str | None) -> Array:
    """
    Return how many rows each row of the table stands for: 1 without a weight column.

    :raises NotMeasurableError: a weight is missing, not a whole number, or below 1; or the sum is too large.
    """
    if weight_column is None:
        return np.ones(len(table), np.int64)
    weights = table[weight_column]
    whole = pd.api.types.is_integer_dtype(weights.dtype)
    require_weights(weight_column, whole and not weights.isna().any() and bool(weights.min() >= 1))
    if int(weights.max()) * len(weights) > MAX_ROWS and sum(map(int, weights)) > MAX_ROWS:
        raise NotMeasurableError(f"column {weight_column} holds numbers too large to add up")
    return np.asarray(weights, np.int64)


def codes_of(column: pd.Series) -> tuple[Array, pa.Array]:
    """
    Return a column as codes into a domain of its values as text, in their order; a gap is the null at the end.

    Cells of different types are different values, even with the same text: ``1``, ``1.0`` and the text ``1``.

    >>> codes, domain = codes_of(pd.Series(["1", "01", None, "01"]))
    >>> codes.tolist(), domain.to_pylist()
    ([1, 0, 2, 0], ['01', '1', None])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _codes_of_categories(column)
    codes, texts = _factorize(column)
    order = np.argsort(np.asarray(texts, dtype=object), kind="stable") if texts else np.zeros(0, np.int64)
    rank = np.empty(len(texts) + 1, np.int64)
    rank[order] = np.arange(len(texts))
    rank[-1] = len(texts)  # A gap has the code -1, which indexes the last entry.
    gap: list[str | None] = [None] if (codes < 0).any() else []
    return rank[codes], pa.array([*(texts[at] for at in order), *gap], pa.string())


def _codes_of_categories(column: pd.Series) -> tuple[Array, pa.Array]:
    """Return the codes of a categorical column: only its categories are converted, its rows are renamed."""
    own = np.asarray(column.cat.codes)
    times = np.bincount(own.astype(np.intp) + 1, minlength=len(column.cat.categories) + 1)
    used = np.flatnonzero(times[1:])
    places, domain = codes_of(pd.Series(column.cat.categories[used]))
    rename = np.empty(len(times), np.int32)
    rename[used] = places
    rename[-1] = len(domain)  # A gap has the code -1, which indexes the last entry.
    return rename[own], pa.concat_arrays([domain, pa.nulls(1, pa.string())]) if times[0] else domain


def _factorize(column: pd.Series) -> tuple[Array, list[str]]:
    """Return codes with -1 for gaps, and the text of each value."""
    if _is_text(column):
        codes, values = pd.factorize(column)
        return np.asarray(codes, np.int64), [str(value) for value in values]
    known = column.notna().to_numpy(bool)
    cells = column[known].to_list()
    one_of_each = {type(cell): cell for cell in cells}
    if any(pd.api.types.is_list_like(cell) for cell in one_of_each.values()):  # `str` shortens long arrays.
        raise NotMeasurableError("a column holds lists in its cells, which cannot be compared: publish plain values")
    # By type and text: as values, 1 and True would be equal, and so would 0 and minus zero, 1.0 and 1.00.
    keys = pd.Series([f"{type(cell).__name__}\0{cell}" for cell in cells], dtype=object)
    codes = np.full(len(column), -1, np.int64)
    codes[known], values = pd.factorize(keys)
    return codes, [str(key).partition("\0")[2] for key in values]


def _is_text(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.StringDtype):
        return True
    return bool(column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) in ("string", "empty"))
