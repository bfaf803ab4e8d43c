"""The distinct tuples of the table that a release was made from: the second input of some expectations."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from anon_airflow.expectations.inputs import original_named
from anon_airflow.expectations.metrics import pandas_cells, sql_cells
from anon_airflow.expectations.metrics.refusal import NotMeasurableError
from anon_airflow.expectations.metrics.table_metric import TableMetric
from anon_core.frequency import FrequencyTable


class OriginalFrequencies(TableMetric):
    """
    A :class:`FrequencyTable` over the ``columns`` of the ``original``, and the unit, if any.

    The original is the table of this name in :func:`~anon_airflow.expectations.inputs.originals`; in a database also
    the table of this name, ``schema.table`` in another schema.
    """

    metric_name = "anon.original_frequencies"
    value_keys = ("columns", "original", "unit_column")

    @classmethod
    def in_pandas(cls, table: Any, arguments: dict[str, Any]) -> FrequencyTable:
        found = _given(arguments)
        if found is None:
            raise NotMeasurableError("the original is not given: evaluate it within `originals`")
        return found

    @classmethod
    def in_database(cls, engine: Any, table: Any, arguments: dict[str, Any]) -> FrequencyTable:
        given = _given(arguments)
        if given is not None:
            return given
        schema, _, name = arguments["original"].rpartition(".")
        columns = pandas_cells.columns_asked(arguments)
        return sql_cells.counted(engine, sa.table(name, schema=schema or None), columns, None)


def _given(arguments: dict[str, Any]) -> FrequencyTable | None:
    columns, original = pandas_cells.columns_asked(arguments), original_named(arguments["original"])
    if isinstance(original, FrequencyTable):
        pandas_cells.require_columns(original.names, columns, None)
        return original.project(columns)
    return None if original is None else pandas_cells.counted(original, columns, None)
