"""Not too much of the source was left out to make the rest safe."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.measured_expectation import (
    AnyColumnNames,
    Finding,
    MeasuredExpectation,
    NotMeasurableError,
    PositiveCount,
    Share,
)
from anon_airflow.expectations.metrics.row_counts import Rows


class ExpectRowsSuppressedAtMost(MeasuredExpectation):
    """
    Expect at most the share ``limit`` of ``rows_before`` rows to have been suppressed.

    Suppressed are rows that were removed and rows that say nothing in any of ``columns`` (the quasi-identifiers; none
    of them, and only removed rows count): each cell is ``*`` or the column's label in ``roots``. More rows than
    before are refused: somebody added them, and no waiver excuses that.
    """

    columns: AnyColumnNames
    roots: AnyColumnNames
    rows_before: PositiveCount
    limit: Share

    title: ClassVar[str] = "rows suppressed"
    metric_dependencies: ClassVar[tuple[str, ...]] = ("anon.row_counts",)
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "roots", "rows_before", "limit", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = ("columns", "roots", "rows_before", "limit", "weight_column")

    def _judge(self, measured: Rows) -> Finding:
        removed = self.rows_before - measured.rows
        if removed < 0:
            raise NotMeasurableError(f"the file has {-removed:,} rows more than the source; write it again")
        suppressed = removed + measured.blanked
        share = suppressed / self.rows_before
        passed = share <= self.limit
        advice = "" if passed else "; raise privacy.suppression_limit, or generalise so that fewer rows stand out"
        return Finding(
            passed=passed,
            measured=share,
            required=self.limit,
            observed={"rows": measured.rows, "removed": removed, "blanked": measured.blanked, "share": share},
            sentence=f"{suppressed:,} of {self.rows_before:,} rows ({share:.2%}; {removed:,} removed, "
            f"{measured.blanked:,} say nothing any more), {self.limit:.2%} allowed{advice}",
        )
