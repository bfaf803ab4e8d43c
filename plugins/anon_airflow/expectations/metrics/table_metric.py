"""A metric of a whole table, with one method for each engine that it is measured by."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.execution_engine.sqlalchemy_execution_engine import SqlAlchemyExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from anon_airflow.expectations.metrics.refusal import refuse_instead_of_raising

Engine = PandasExecutionEngine | SqlAlchemyExecutionEngine


class TableMetric(TableMetricProvider):
    """
    What is measured of a table by the arguments named in ``value_keys``, or a ``Refusal``.

    Great Expectations registers a subclass for each engine by its ``metric_name``, and calls the functions below with
    the subclass. ``table`` is a DataFrame in pandas, and something to select from in a database.
    """

    @classmethod
    @abstractmethod
    def in_pandas(cls, table: Any, arguments: dict[str, Any]) -> Any:
        """:raises NotMeasurableError: the table has no rows, or not what the arguments name."""

    @classmethod
    @abstractmethod
    def in_database(cls, engine: SqlAlchemyExecutionEngine, table: Any, arguments: dict[str, Any]) -> Any:
        """:raises NotMeasurableError: the table has no rows, or not what the arguments name; another database."""

    @metric_value(engine=PandasExecutionEngine)
    @refuse_instead_of_raising
    def _pandas(
        cls,
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        **_: Any,
    ) -> Any:
        return cls.in_pandas(_table(execution_engine, metric_domain_kwargs), metric_value_kwargs)

    @metric_value(engine=SqlAlchemyExecutionEngine)
    @refuse_instead_of_raising
    def _sqlalchemy(
        cls,
        execution_engine: SqlAlchemyExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        **_: Any,
    ) -> Any:
        table = _table(execution_engine, metric_domain_kwargs)
        return cls.in_database(execution_engine, table, metric_value_kwargs)


def _table(engine: Engine, domain: dict[str, Any]) -> Any:
    table, _, _ = engine.get_compute_domain(domain, domain_type=MetricDomainTypes.TABLE)
    return table
