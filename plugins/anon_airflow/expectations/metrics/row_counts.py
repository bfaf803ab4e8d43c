"""How many rows there are, and how many of them say nothing any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from anon_airflow.expectations.metrics.pandas_columns import require_columns, weights_of
from anon_airflow.expectations.metrics.refusal import Refusal, refuse_instead_of_raising


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """``rows`` in all, of which ``blanked`` say nothing in every column that was asked for."""

    rows: int
    blanked: int


class RowCounts(TableMetricProvider):
    """:class:`Rows`, or a :class:`Refusal`."""

    metric_name = "anon.row_counts"
    value_keys = ("columns", "roots", "weight_column")

    @metric_value(engine=PandasExecutionEngine)
    @refuse_instead_of_raising
    def _pandas(
        cls,
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any],
    ) -> Rows | Refusal:
        table, _, _ = execution_engine.get_compute_domain(metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE)
        columns, weight_column = metric_value_kwargs["columns"], metric_value_kwargs["weight_column"]
        require_columns(table, columns, weight_column)
        weights = weights_of(table, weight_column)
        blank = np.full(len(table), bool(columns))
        for name, root in zip(columns, metric_value_kwargs["roots"], strict=True):
            blank &= _says_nothing(table[name], root)
        return Rows(rows=int(weights.sum()), blanked=int(weights[blank].sum()))


def _says_nothing(cells: Any, root: str) -> Any:
    """Tell which cells are ``*`` or the root, which may carry its level where a lower label reads the same."""
    words = cells.astype("str")
    nothing = words.isin(["*", root]) | words.str.startswith(f"{root} (level ")
    return nothing.fillna(False).to_numpy(bool) & cells.notna().to_numpy(bool)
