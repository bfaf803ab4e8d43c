"""Count a table in a database as distinct tuples and weights: with one GROUP BY there, then in the core.

Databases compare texts by collations, and some treat two different texts as equal; a GROUP BY that merges cells
overstates k. So cells are grouped by type and bytes in SQLite, and by value and text in PostgreSQL. How other databases
compare is not known, so they are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd
import sqlalchemy as sa

from anon_airflow.expectations.metrics.pandas_cells import MAX_ROWS, require_columns, require_rows, require_weights
from anon_airflow.expectations.metrics.pandas_cells import counted as counted_rows
from anon_airflow.expectations.metrics.refusal import NotMeasurableError
from anon_core.frequency import FrequencyTable

_ROWS = "\0rows"
"""The name of the count of rows of a group; no column of a database has such a name."""
_LOW_BITS = 32

Keys = Callable[[sa.ColumnElement[Any]], list[sa.ColumnElement[Any]]]


def _sqlite_keys(cell: sa.ColumnElement[Any]) -> list[sa.ColumnElement[Any]]:
    return [sa.func.typeof(cell), sa.collate(cell, "BINARY")]


def _postgresql_keys(cell: sa.ColumnElement[Any]) -> list[sa.ColumnElement[Any]]:
    return [cell, sa.collate(sa.cast(cell, sa.Text), "C")]


_KEYS: dict[str, Keys] = {"sqlite": _sqlite_keys, "postgresql": _postgresql_keys}
_POSTGRESQL_WHOLE = frozenset({20, 21, 23})
"""The type codes of bigint, smallint and integer."""


def counted(engine: Any, selectable: Any, columns: Sequence[str], weight_column: str | None) -> FrequencyTable:
    """
    Return the distinct tuples of some columns and the rows of each. Only groups leave the database.

    :raises NotMeasurableError: another kind of database, no rows, missing columns, weights that are not counts, or
        cells that the database distinguishes and its driver does not.
    """
    dialect = _dialect(engine)
    table = _from(selectable)
    with engine.get_connection() as connection:
        kinds = _kinds(connection, table)
        require_columns([name for name, _ in kinds], columns, weight_column)
        if weight_column is not None and dialect == "postgresql":
            require_weights(weight_column, dict(kinds)[weight_column] in _POSTGRESQL_WHOLE)
        cells = [_column(name) for name in columns]
        query = sa.select(*cells, *_totals(dialect, weight_column)).select_from(table)
        if cells:
            query = query.group_by(*(key for cell in cells for key in _KEYS[dialect](cell)))
        groups = [tuple(row) for row in connection.execute(query)]
    return _table(groups, columns, weight_column)


def _table(groups: list[tuple[Any, ...]], columns: Sequence[str], weight_column: str | None) -> FrequencyTable:
    """
    Return fetched groups as a frequency table.

    A group ends with four figures: its rows in two parts, the number of valid weights, and the number of weights.
    """
    require_rows(any(group[-1] for group in groups))
    if weight_column is not None:
        require_weights(weight_column, all(group[-2] == group[-1] for group in groups))
    rows = [(int(group[-4]) << _LOW_BITS) + int(group[-3]) for group in groups]
    if sum(rows) > MAX_ROWS:
        raise NotMeasurableError(f"column {weight_column} holds numbers too large to add up")
    frame = pd.DataFrame(
        {at: pd.Series([_cell(group[at]) for group in groups], dtype=object) for at, _ in enumerate(columns)}
        | {_ROWS: pd.Series(rows, dtype="int64")}
    )
    found = counted_rows(frame.rename(columns=dict(enumerate(columns))), columns, _ROWS)
    if len(found.weights) < len(groups):
        raise NotMeasurableError("the driver merges cells that the database distinguishes: cast them to text")
    return found


def _cell(value: Any) -> Any:
    """Return a cell; NaN as text, because in PostgreSQL it is a value and not a gap."""
    return "NaN" if isinstance(value, (float, Decimal)) and value != value else value


def column_names(engine: Any, selectable: Any) -> list[str]:
    """
    Return the names of all columns, in their order.

    :raises NotMeasurableError: another database, or no rows.
    """
    _dialect(engine)
    table = _from(selectable)
    with engine.get_connection() as connection:
        require_rows(connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first() is not None)
        return [name for name, _ in _kinds(connection, table)]


def _totals(dialect: str, weight_column: str | None) -> list[sa.ColumnElement[Any]]:
    """
    Return columns for the rows of a group in two parts, the number of its valid weights, and of all its weights.

    The upper and the lower bits of weights are added separately: SQLite stops with an error if a sum does not fit.
    """
    counts = [sa.func.count().label(None) for _ in range(3)]
    if weight_column is None:
        return [sa.literal_column("0").label(None), *counts]
    weight = _column(weight_column)
    whole = sa.cast(weight, sa.BigInteger)
    is_count = weight >= 1 if dialect == "postgresql" else sa.and_(sa.func.typeof(weight) == "integer", weight >= 1)
    high, low = whole.op(">>")(sa.literal_column(f"{_LOW_BITS}")), whole.op("&")(2**_LOW_BITS - 1)
    parts = (high, low, sa.case((is_count, 1), else_=0))
    return [*(sa.func.sum(part).label(None) for part in parts), counts[-1]]


def _dialect(engine: Any) -> str:
    name = str(engine.dialect_name)
    if name not in _KEYS:
        raise NotMeasurableError(f"it can be measured in {' and '.join(sorted(_KEYS))}, not in this kind of database")
    return name


def _from(selectable: Any) -> Any:
    return selectable.subquery() if isinstance(selectable, sa.Select) else selectable


def _column(name: str) -> sa.ColumnElement[Any]:
    return sa.column(sa.quoted_name(name, quote=True))


def _kinds(connection: Any, table: Any) -> list[tuple[str, Any]]:
    """Return the names of all columns and the codes of their types in the database, without fetching rows."""
    found = connection.execute(sa.select(sa.text("*")).select_from(table).limit(0))
    kinds = [(str(column[0]), column[1]) for column in found.cursor.description]
    found.close()
    return kinds
