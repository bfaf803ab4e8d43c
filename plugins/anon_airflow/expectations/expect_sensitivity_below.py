"""No published column helps too much to single people out."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.measured_expectation import (
    ColumnNames,
    Finding,
    MeasuredExpectation,
    NotMeasurableError,
    PositiveCount,
    Probabilities,
    Share,
    StrictFlag,
)
from anon_core.detect.unique_columns import unique_column_combinations
from anon_core.frequency import FrequencyTable
from anon_core.score.sensitivity import ROUNDING, sensitivities


class ExpectSensitivityBelow(MeasuredExpectation):
    """
    Expect the sensitivity of each of ``columns`` to be at most ``limit`` (Gong 2020).

    It is measured from the sets of up to ``max_size`` columns on which all rows but the share ``approximate`` are
    unique; with ``ignore_duplicates`` equal rows count once. ``reveal`` says how likely each column is known. A table
    without any such set at all has no sensitivity, and that is not a pass: count equal rows once.
    """

    columns: ColumnNames
    limit: Share
    max_size: PositiveCount
    approximate: Share
    ignore_duplicates: StrictFlag
    reveal: Probabilities

    title: ClassVar[str] = "sensitivity"
    promise: ClassVar[str] = "the sensitivity of each of {columns} is at most {limit}"
    success_keys: ClassVar[tuple[str, ...]] = (
        "columns",
        "limit",
        "max_size",
        "approximate",
        "ignore_duplicates",
        "reveal",
        "weight_column",
    )
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        unique = unique_column_combinations(
            measured,
            max_size=self.max_size,
            approximate=self.approximate,
            ignore_duplicates=self.ignore_duplicates,
        )
        found = sensitivities(self.columns, unique.sets, self.reveal, larger_exist=unique.exists)
        if found is None:
            raise NotMeasurableError(
                "no set of columns makes enough rows unique, so sensitivity is not defined; "
                "set `detect.ignore_duplicates: true`, or `detect.approximate`"
            )
        above = [name for name in self.columns if found[name] > self.limit + ROUNDING]
        worst = max(self.columns, key=lambda name: found[name])
        named = ", ".join(f"{name} {found[name]:.4g}" for name in above)
        return Finding(
            passed=not above,
            measured=found[worst],
            required=self.limit,
            observed={
                "highest": found[worst],
                "column": worst,
                "columns_above": len(above),
                "unique_sets": len(unique.sets),
                "rows": measured.rows,
            },
            sentence=f"the highest is {found[worst]:.4g} ({worst}), {self.limit:g} allowed"
            + (f"; above it: {named}: generalise or drop these columns" if above else ""),
        )
