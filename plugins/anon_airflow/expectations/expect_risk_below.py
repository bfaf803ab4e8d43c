"""Nobody is too likely to be found in their class."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.measured_expectation import AnyColumnNames, Finding, MeasuredExpectation, PositiveShare
from anon_core.frequency import FrequencyTable
from anon_core.score.risk import risk
from anon_core.wording import clause


class ExpectRiskBelow(MeasuredExpectation):
    """Expect nobody's risk over ``columns``, one by the size of their class, to be above ``max_risk`` (prosecutor)."""

    columns: AnyColumnNames
    max_risk: PositiveShare

    title: ClassVar[str] = "risk"
    promise: ClassVar[str] = "the risk of every row over {columns} is at most {max_risk}"
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "max_risk", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        found = risk(measured, self.columns, max_risk=self.max_risk)
        highest, over = found.prosecutor.highest, ", ".join(self.columns) or "no column"
        return Finding(
            passed=found.holds,
            measured=highest,
            required=self.max_risk,
            observed={
                "highest": highest,
                "average": found.prosecutor.average,
                "classes": found.classes,
                "classes_failing": found.classes_failing,
                "rows": found.rows,
                "rows_failing": found.rows_failing,
            },
            sentence=f"the highest is {highest:.4g}, {self.max_risk:g} allowed over {over}"
            + (
                ""
                if found.holds
                else f"; {clause(found.rows_failing, 'row')} above it: generalise these columns further"
            ),
        )
