"""A table in a database as distinct tuples and weights: one GROUP BY there, then the core.

Databases compare texts by collations, and some call two different texts equal; a group-by that merges cells overstates
k. So cells are grouped by what they are: by kind and bytes in SQLite, by value and text in PostgreSQL. Of another
database we do not know how it compares, so it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import sqlalchemy as sa

from anon_airflow.expectations.metrics.pandas_cells import counted as counted_rows
from anon_airflow.expectations.metrics.pandas_cells import require_columns
from anon_airflow.expectations.metrics.refusal import NotMeasurableError
from anon_core.frequency import FrequencyTable

_ROWS = "\0rows"
"""What the rows of a group are called here; no column of a database has such a name."""
_LARGEST = 2**63 - 1

Keys = Callable[[sa.ColumnElement[Any]], list[sa.ColumnElement[Any]]]


def _sqlite_keys(cell: sa.ColumnElement[Any]) -> list[sa.ColumnElement[Any]]:
    return [sa.func.typeof(cell), sa.collate(cell, "BINARY")]


def _postgresql_keys(cell: sa.ColumnElement[Any]) -> list[sa.ColumnElement[Any]]:
    return [cell, sa.collate(sa.cast(cell, sa.Text), "C")]


_KEYS: dict[str, Keys] = {"sqlite": _sqlite_keys, "postgresql": _postgresql_keys}
_IS_WHOLE: dict[str, Callable[[sa.ColumnElement[Any]], sa.ColumnElement[bool]]] = {
    "sqlite": lambda weight: sa.func.typeof(weight) == "integer",
    "postgresql": lambda weight: sa.cast(sa.func.pg_typeof(weight), sa.Text).in_(["smallint", "integer", "bigint"]),
}


def counted(engine: Any, selectable: Any, columns: Sequence[str], weight_column: str | None) -> FrequencyTable:
    """
    Return the distinct tuples of some columns and the rows of each. Only groups leave the database.

    :raises NotMeasurableError: another database, no rows, columns that are not there, weights that are none.
    """
    dialect = _dialect(engine)
    table = _from(selectable)
    with engine.get_connection() as connection:
        names = _names(connection, table)
        require_columns(names, columns, weight_column, has_rows=True)
        cells = [_column(name) for name in columns]
        query = sa.select(*cells, *_totals(dialect, weight_column)).select_from(table)
        if cells:
            query = query.group_by(*(key for cell in cells for key in _KEYS[dialect](cell)))
        groups = [tuple(row) for row in connection.execute(query)]
    rows = [group[len(columns)] for group in groups]
    if not any(group[-1] for group in groups):
        raise NotMeasurableError("there are no rows, and of no rows anything would hold")
    if weight_column is not None and not all(group[-2] == group[-1] for group in groups):
        raise NotMeasurableError(f"column {weight_column} must hold whole numbers from 1 up, without gaps")
    if sum(map(int, rows)) > _LARGEST:
        raise NotMeasurableError(f"column {weight_column} holds numbers too large to add up")
    frame = pd.DataFrame(
        {at: pd.Series([group[at] for group in groups], dtype=object) for at, _ in enumerate(columns)}
        | {_ROWS: pd.Series([int(one) for one in rows], dtype="int64")}
    )
    return counted_rows(frame.rename(columns=dict(enumerate(columns))), columns, _ROWS)


def column_names(engine: Any, selectable: Any) -> list[str]:
    """
    Return the names of all columns, in their order.

    :raises NotMeasurableError: another database, or no rows.
    """
    _dialect(engine)
    table = _from(selectable)
    with engine.get_connection() as connection:
        if connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first() is None:
            raise NotMeasurableError("there are no rows, and of no rows anything would hold")
        return _names(connection, table)


def _totals(dialect: str, weight_column: str | None) -> list[sa.ColumnElement[Any]]:
    """Return the rows of a group, how many of its weights are whole numbers from 1 up, and how many there are."""
    if weight_column is None:
        return [sa.func.count().label(None), sa.func.count().label(None)]
    weight = _column(weight_column)
    good = sa.case((sa.and_(_IS_WHOLE[dialect](weight), weight >= 1), 1), else_=0)
    return [sa.func.sum(weight).label(None), sa.func.sum(good).label(None), sa.func.count().label(None)]


def _dialect(engine: Any) -> str:
    name = str(engine.dialect_name)
    if name not in _KEYS:
        raise NotMeasurableError(f"it is measured in {' and '.join(sorted(_KEYS))}, not in this kind of database")
    return name


def _from(selectable: Any) -> Any:
    return selectable.subquery() if isinstance(selectable, sa.Select) else selectable


def _column(name: str) -> sa.ColumnElement[Any]:
    return sa.column(sa.quoted_name(name, quote=True))


def _names(connection: Any, table: Any) -> list[str]:
    """Return the names as the database has them; nothing is fetched."""
    found = connection.execute(sa.select(sa.text("*")).select_from(table).limit(0))
    return list(map(str, found.keys()))
