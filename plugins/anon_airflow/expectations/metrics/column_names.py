"""The names of the columns of a table that has rows."""

from __future__ import annotations

from typing import Any

from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.execution_engine.sqlalchemy_execution_engine import SqlAlchemyExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from anon_airflow.expectations.inputs import counted_already
from anon_airflow.expectations.metrics import sql_cells
from anon_airflow.expectations.metrics.pandas_cells import require_columns, require_rows, require_unit
from anon_airflow.expectations.metrics.refusal import Refusal, refuse_instead_of_raising


class ColumnNames(TableMetricProvider):
    """
    The names in the order of the table without weights and unit, or a :class:`Refusal` (no rows, no such columns).
    """

    metric_name = "anon.column_names"
    value_keys = ("weight_column", "unit_column")

    @metric_value(engine=PandasExecutionEngine)
    @refuse_instead_of_raising
    def _pandas(
        cls,
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any],
    ) -> list[str] | Refusal:
        table, _, _ = execution_engine.get_compute_domain(metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE)
        weight_column = metric_value_kwargs["weight_column"]
        names = list(table.columns)
        known = counted_already(table)
        require_rows(bool(len(table) if known is None else known.rows))
        return _published(names, weight_column, metric_value_kwargs["unit_column"])

    @metric_value(engine=SqlAlchemyExecutionEngine)
    @refuse_instead_of_raising
    def _sqlalchemy(
        cls,
        execution_engine: SqlAlchemyExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any],
    ) -> list[str] | Refusal:
        table, _, _ = execution_engine.get_compute_domain(metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE)
        weight_column = metric_value_kwargs["weight_column"]
        names = sql_cells.column_names(execution_engine, table)
        return _published(names, weight_column, metric_value_kwargs["unit_column"])


def _published(names: list[str], weight_column: str | None, unit_column: str | None) -> list[str]:
    if unit_column is not None:
        require_unit(unit_column, [], weight_column)
    require_columns(names, [] if unit_column is None else [unit_column], weight_column)
    return [name for name in names if name not in (weight_column, unit_column)]
