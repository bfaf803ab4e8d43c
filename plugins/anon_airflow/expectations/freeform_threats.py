"""Freeform attacks on published labels, placed by the hierarchies that made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from anon_airflow.expectations.hierarchies import WITHHELD, hierarchy_named
from anon_airflow.expectations.inputs import hierarchy_folder
from anon_airflow.expectations.metrics.refusal import NotMeasurableError
from anon_core.errors import HierarchyError, InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.published import UNKNOWN, placed
from anon_core.kernels import Integers
from anon_core.policy import Guard, Sensitivity
from anon_core.score.freeform import FreeformCheck, GuardedColumn, check_freeform, guarded
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


def threats_in(
    published: FrequencyTable,
    *,
    hierarchies: Mapping[str, Mapping[str, str]],
    guards: Mapping[str, Mapping[str, Any]],
    sigma_o: float,
    sigma_t: float,
) -> Threats:
    """
    Find freeform attacks by the extended Definition 3.4 of Wang 2009.

    A label that its hierarchy does not know, and a hierarchy file that is not the one the suite was rendered for, are
    refused: whatever was measured then would be about something else.

    :raises NotMeasurableError: so it is, or columns, hierarchies and guards do not fit each other.
    """
    _require_settings(published.names, hierarchies, guards)
    columns, codes = [], []
    for name, own, domain in zip(published.names, published.codes, published.domains, strict=True):
        guard = Guard.model_validate(guards[name]) if name in guards else None
        column, places = _placed(name, domain.to_pylist(), hierarchies[name], guard, sigma_o)
        if strange := int(np.count_nonzero(places == UNKNOWN)):
            rows = counted(int(published.weights[places[own] == UNKNOWN].sum()), "row")
            raise NotMeasurableError(f"the hierarchy of {name} does not know {counted(strange, 'label')}, in {rows}")
        columns.append(column)
        codes.append(places[own])
    domains = [pa.nulls(len(column.floors)) for column in columns]
    placed_table = FrequencyTable.from_codes(published.names, codes, domains, published.weights)
    return Threats.of(check_freeform(placed_table, columns, sigma_t), published.rows)


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
    name: str, labels: Sequence[str | None], hierarchy: Mapping[str, str], guard: Guard | None, sigma_o: float
) -> tuple[GuardedColumn, Integers]:
    """Return a column with what its labels give away, and the place of every label among them."""
    if guard is not None and guard.sensitivity is Sensitivity.FREQUENCY:
        raise NotMeasurableError(f"the sensitivity of {name} by frequency needs the originals")
    try:
        found = placed(
            name, labels, hierarchy_named(name, hierarchy), hierarchy_folder(), withheld=hierarchy.get(WITHHELD)
        )
        return guarded(found.taxonomy, guard, sigma_o), found.places
    except HierarchyError:
        raise NotMeasurableError(f"the hierarchy of {name} cannot be used; `anon hierarchy check` tells why") from None
    except InvalidInputError as error:
        raise NotMeasurableError(str(error)) from None
