"""Freeform attacks on published labels, placed by the hierarchies that made them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from anon_airflow.expectations.metrics.hierarchy_folder import hierarchy_folder
from anon_airflow.expectations.metrics.pandas_columns import Array, codes_of, require_columns, weights_of
from anon_airflow.expectations.metrics.refusal import NotMeasurableError, Refusal, refuse_instead_of_raising
from anon_core.errors import HierarchyError, InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.published import UNKNOWN, placed
from anon_core.policy import Guard, Sensitivity
from anon_core.score.freeform import FreeformCheck, GuardedColumn, check_freeform, guarded
from anon_core.spec import Hierarchy
from anon_core.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Threats:
    """How many attacks are breaches, the rows of the column that has most, and the largest threat and its column."""

    breaches: int
    rows_concerned: int
    threat: float
    column: str | None
    rows: int

    @classmethod
    def of(cls, check: FreeformCheck, rows: int) -> Threats:
        """Return the counts of a check; the attack itself, which is made of values, stays behind."""
        worst = check.worst
        return cls(
            breaches=check.breaches,
            rows_concerned=max((one.rows for one in check.columns), default=0),
            threat=worst.threat if worst else 0.0,
            column=worst.column if worst else None,
            rows=rows,
        )


class FreeformThreats(TableMetricProvider):
    """
    :class:`Threats` by the extended Definition 3.4 of Wang 2009, or a :class:`Refusal`.

    A label that its hierarchy does not know, and a hierarchy file that is not the one the suite was rendered for, are
    refused: whatever was measured then would be about something else.
    """

    metric_name = "anon.freeform_threats"
    value_keys = ("columns", "hierarchies", "guards", "sigma_o", "sigma_t", "weight_column")

    @metric_value(engine=PandasExecutionEngine)
    @refuse_instead_of_raising
    def _pandas(
        cls,
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any],
    ) -> Threats | Refusal:
        table, _, _ = execution_engine.get_compute_domain(metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE)
        asked = metric_value_kwargs
        names: list[str] = asked["columns"]
        require_columns(table, names, asked["weight_column"])
        _require_settings(names, asked["hierarchies"], asked["guards"])
        weights = weights_of(table, asked["weight_column"])
        columns, codes = [], []
        for name in names:
            guard = Guard.model_validate(asked["guards"][name]) if name in asked["guards"] else None
            column, own = _placed(table[name], weights, asked["hierarchies"][name], guard, asked["sigma_o"])
            columns.append(column)
            codes.append(own)
        domains = [pa.nulls(len(column.floors)) for column in columns]
        published = FrequencyTable.from_codes(names, codes, domains, weights)
        return Threats.of(check_freeform(published, columns, asked["sigma_t"]), published.rows)


def _require_settings(
    names: Sequence[str], hierarchies: Mapping[str, Mapping[str, str]], guards: Mapping[str, Any]
) -> None:
    """:raises NotMeasurableError: a column has no hierarchy, or one that is guarded is not measured or has no file."""
    if set(hierarchies) != set(names):
        raise NotMeasurableError("every column needs its hierarchy, and nothing else has one")
    if not guards or not set(guards) <= set(names):
        raise NotMeasurableError("at least one column is guarded, and every guarded one is measured")
    if without := sorted(name for name in guards if "file" not in hierarchies[name]):
        raise NotMeasurableError(f"guarded values of {', '.join(without)} cannot be counted without a hierarchy file")


def _placed(
    cells: pd.Series, weights: Array, hierarchy: Mapping[str, str], guard: Guard | None, sigma_o: float
) -> tuple[GuardedColumn, Array]:
    """Return a column with what its labels give away, and the place of every cell among them."""
    name = str(cells.name)
    if guard is not None and guard.sensitivity is Sensitivity.FREQUENCY:
        raise NotMeasurableError(f"the sensitivity of {name} by frequency needs the originals")
    codes, labels = _labelled(cells)
    try:
        found = placed(name, labels, _hierarchy(name, hierarchy), hierarchy_folder())
        column = guarded(found.taxonomy, guard, sigma_o)
    except HierarchyError:
        raise NotMeasurableError(f"the hierarchy of {name} cannot be used; `anon hierarchy check` tells why") from None
    except InvalidInputError as error:
        raise NotMeasurableError(str(error)) from None
    own = found.places[codes]
    if strange := int(np.count_nonzero(found.places == UNKNOWN)):
        rows = counted(int(weights[own == UNKNOWN].sum()), "row")
        raise NotMeasurableError(f"the hierarchy of {name} does not know {counted(strange, 'label')}, in {rows}")
    return column, own


def _labelled(cells: pd.Series) -> tuple[Array, list[str | None]]:
    """Return codes and the label that each stands for; a gap is None."""
    codes, _ = codes_of(cells)
    _, first, member = np.unique(codes, return_index=True, return_inverse=True)
    labels = [None if pd.isna(cell) else cell for cell in cells.iloc[first]]
    if not all(label is None or isinstance(label, str) for label in labels):
        raise NotMeasurableError(f"{cells.name} holds cells that are not text")
    return member, labels


def _hierarchy(name: str, given: Mapping[str, str]) -> Hierarchy:
    """
    Return a hierarchy as the suite names it.

    :raises NotMeasurableError: its file is not there, or another one than when the suite was rendered.
    """
    if set(given) == {"root"}:
        return Hierarchy(root=given["root"])
    if set(given) != {"file", "sha256"}:
        raise NotMeasurableError(f"the hierarchy of {name} is neither a file with its sha256 nor a root")
    if _digest(hierarchy_folder() / given["file"]) != given["sha256"]:
        raise NotMeasurableError(f"the hierarchy file of {name} is gone or was changed; run the publication again")
    return Hierarchy(file=given["file"])


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return None
