"""The distinct tuples of some columns and the rows of each: the metric of nearly every expectation."""

from __future__ import annotations

from typing import Any

from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.execution_engine.sqlalchemy_execution_engine import SqlAlchemyExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from anon_airflow.expectations.metrics import pandas_cells, sql_cells
from anon_airflow.expectations.metrics.pandas_cells import columns_asked
from anon_airflow.expectations.metrics.refusal import Refusal, refuse_instead_of_raising
from anon_core.frequency import FrequencyTable


class Frequencies(TableMetricProvider):
    """
    A :class:`FrequencyTable` over ``columns``, the ``sensitive`` one and the unit, if any, or a :class:`Refusal`.

    It stays in memory; results hold only counts.
    """

    metric_name = "anon.frequencies"
    value_keys = ("columns", "sensitive", "weight_column", "unit_column")

    @metric_value(engine=PandasExecutionEngine)
    @refuse_instead_of_raising
    def _pandas(
        cls,
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any],
    ) -> FrequencyTable | Refusal:
        table, _, _ = execution_engine.get_compute_domain(metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE)
        return pandas_cells.counted(table, columns_asked(metric_value_kwargs), metric_value_kwargs["weight_column"])

    @metric_value(engine=SqlAlchemyExecutionEngine)
    @refuse_instead_of_raising
    def _sqlalchemy(
        cls,
        execution_engine: SqlAlchemyExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any],
    ) -> FrequencyTable | Refusal:
        table, _, _ = execution_engine.get_compute_domain(metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE)
        weight_column = metric_value_kwargs["weight_column"]
        return sql_cells.counted(execution_engine, table, columns_asked(metric_value_kwargs), weight_column)
