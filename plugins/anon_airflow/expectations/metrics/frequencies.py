"""The distinct tuples of some columns and the rows of each: the metric of nearly every expectation."""

from __future__ import annotations

from typing import Any

from anon_airflow.expectations.metrics import pandas_cells, sql_cells
from anon_airflow.expectations.metrics.pandas_cells import columns_asked
from anon_airflow.expectations.metrics.table_metric import TableMetric
from anon_core.frequency import FrequencyTable


class Frequencies(TableMetric):
    """
    A :class:`FrequencyTable` over ``columns``, the ``sensitive`` one and the unit, if any.

    It stays in memory; results hold only counts.
    """

    metric_name = "anon.frequencies"
    value_keys = ("columns", "sensitive", "weight_column", "unit_column")

    @classmethod
    def in_pandas(cls, table: Any, arguments: dict[str, Any]) -> FrequencyTable:
        return pandas_cells.counted(table, columns_asked(arguments), arguments["weight_column"])

    @classmethod
    def in_database(cls, engine: Any, table: Any, arguments: dict[str, Any]) -> FrequencyTable:
        return sql_cells.counted(engine, table, columns_asked(arguments), arguments["weight_column"])
