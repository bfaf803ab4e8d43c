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
from anon_core.frequency import FrequencyTable
from anon_core.score.sensitivity_limit import sensitivity_found


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
        found = sensitivity_found(
            measured,
            limit=self.limit,
            max_size=self.max_size,
            approximate=self.approximate,
            ignore_duplicates=self.ignore_duplicates,
            reveal=self.reveal,
        )
        if found is None:
            raise NotMeasurableError(
                "no set of columns makes enough rows unique, so sensitivity is not defined; "
                "set `detect.ignore_duplicates: true`, or `detect.approximate`"
            )
        named = ", ".join(f"{name} {found.by_column[name]:.4g}" for name in found.above)
        return Finding(
            passed=not found.above,
            measured=found.highest,
            required=self.limit,
            observed={
                "highest": found.highest,
                "column": found.worst,
                "columns_above": len(found.above),
                "unique_sets": found.unique_sets,
                "rows": measured.rows,
            },
            sentence=f"the highest is {found.highest:.4g} ({found.worst}), {self.limit:g} allowed"
            + (f"; above it: {named}: generalise or drop these columns" if found.above else ""),
        )
