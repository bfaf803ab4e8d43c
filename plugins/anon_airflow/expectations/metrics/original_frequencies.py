"""The distinct tuples of the table that a release was made from: the second input of some expectations."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.execution_engine.sqlalchemy_execution_engine import SqlAlchemyExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from anon_airflow.expectations.inputs import original_named
from anon_airflow.expectations.metrics import pandas_cells, sql_cells
from anon_airflow.expectations.metrics.refusal import NotMeasurableError, Refusal, refuse_instead_of_raising
from anon_core.frequency import FrequencyTable


class OriginalFrequencies(TableMetricProvider):
    """
    A :class:`FrequencyTable` over the ``columns`` of the ``original``, and the unit, if any, or a :class:`Refusal`.

    The original is the table of this name in :func:`~anon_airflow.expectations.inputs.originals`; in a database also
    the table of this name, ``schema.table`` in another schema.
    """

    metric_name = "anon.original_frequencies"
    value_keys = ("columns", "original", "unit_column")

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
        found = _given(metric_value_kwargs["original"], pandas_cells.columns_asked(metric_value_kwargs))
        if found is None:
            raise NotMeasurableError("the original is not given: evaluate it within `originals`")
        return found

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
        name, columns = metric_value_kwargs["original"], pandas_cells.columns_asked(metric_value_kwargs)
        given = _given(name, columns)
        if given is not None:
            return given
        schema, _, table = name.rpartition(".")
        return sql_cells.counted(execution_engine, sa.table(table, schema=schema or None), columns, None)


def _given(name: str, columns: list[str]) -> FrequencyTable | None:
    original = original_named(name)
    if isinstance(original, FrequencyTable):
        pandas_cells.require_columns(original.names, columns, None)
        return original.project(columns)
    return None if original is None else pandas_cells.counted(original, columns, None)
