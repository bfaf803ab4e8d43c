"""The names of the columns of a table that has rows."""

from __future__ import annotations

from typing import Any

from anon_airflow.expectations.inputs import counted_already
from anon_airflow.expectations.metrics import sql_cells
from anon_airflow.expectations.metrics.pandas_cells import require_columns, require_rows, require_unit
from anon_airflow.expectations.metrics.table_metric import TableMetric


class ColumnNames(TableMetric):
    """The names in the order of the table without weights and unit."""

    metric_name = "anon.column_names"
    value_keys = ("weight_column", "unit_column")

    @classmethod
    def in_pandas(cls, table: Any, arguments: dict[str, Any]) -> list[str]:
        known = counted_already(table)
        require_rows(bool(len(table) if known is None else known.rows))
        return _published(list(table.columns), arguments)

    @classmethod
    def in_database(cls, engine: Any, table: Any, arguments: dict[str, Any]) -> list[str]:
        return _published(sql_cells.column_names(engine, table), arguments)


def _published(names: list[str], arguments: dict[str, Any]) -> list[str]:
    weight_column, unit_column = arguments["weight_column"], arguments["unit_column"]
    if unit_column is not None:
        require_unit(unit_column, [], weight_column)
    require_columns(names, [] if unit_column is None else [unit_column], weight_column)
    return [name for name in names if name not in (weight_column, unit_column)]
