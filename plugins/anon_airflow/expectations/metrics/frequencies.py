"""The distinct tuples of some columns and the rows of each: one GROUP BY, then the core."""

from __future__ import annotations

from typing import Any

from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from anon_airflow.expectations.metrics.pandas_columns import codes_of, require_columns, weights_of
from anon_airflow.expectations.metrics.refusal import Refusal, refuse_instead_of_raising
from anon_core.frequency import FrequencyTable


class Frequencies(TableMetricProvider):
    """A :class:`FrequencyTable` over ``columns``, or a :class:`Refusal`. Its domains are numbers: no value leaves."""

    metric_name = "anon.frequencies"
    value_keys = ("columns", "weight_column")

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
        columns, weight_column = metric_value_kwargs["columns"], metric_value_kwargs["weight_column"]
        require_columns(table, columns, weight_column)
        coded = [codes_of(table[name]) for name in columns]
        return FrequencyTable.from_codes(
            columns, [codes for codes, _ in coded], [domain for _, domain in coded], weights_of(table, weight_column)
        )
