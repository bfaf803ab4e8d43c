"""No row is alone with its quasi-identifiers."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.measured_expectation import ColumnNames, Count, Finding, MeasuredExpectation
from anon_core.frequency import FrequencyTable
from anon_core.wording import clause


class ExpectNoSingletons(MeasuredExpectation):
    """
    Expect at most ``max_singletons`` rows to be alone in their class over ``columns`` (Pastore 2020).

    A gap is a category of its own, so a row that is alone in having one is alone.
    """

    columns: ColumnNames
    max_singletons: Count

    title: ClassVar[str] = "singletons"
    promise: ClassVar[str] = "at most {max_singletons} rows are alone over {columns}"
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "max_singletons", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        sizes = measured.class_sizes()
        singletons = int((sizes == 1).sum())
        passed = singletons <= self.max_singletons
        return Finding(
            passed=passed,
            measured=singletons,
            required=self.max_singletons,
            observed={"singletons": singletons, "classes": len(sizes), "rows": measured.rows},
            sentence=f"{singletons:,} of {clause(measured.rows, 'row')} alone over {', '.join(self.columns)}, "
            f"{self.max_singletons:,} allowed" + ("" if passed else ": generalise these columns or remove the rows"),
        )
