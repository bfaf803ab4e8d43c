"""No value of a sensitive column holds too much of a class."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.class_finding import class_finding
from anon_airflow.expectations.measured_expectation import (
    AnyColumnNames,
    ColumnName,
    Finding,
    MeasuredExpectation,
    PositiveCount,
    Share,
)
from anon_core.frequency import FrequencyTable
from anon_core.score.classes import sensitive_classes
from anon_core.score.diversity import alpha_anonymity
from anon_core.wording import counted


class ExpectAlphaAnonymity(MeasuredExpectation):
    """Expect in every class over ``columns`` no value of ``sensitive`` above ``alpha``, and ``k`` rows (Wong 2006)."""

    columns: AnyColumnNames
    sensitive: ColumnName
    alpha: Share
    k: PositiveCount

    title: ClassVar[str] = "(alpha,k)-anonymity"
    promise: ClassVar[str] = (
        "every class over {columns} has at least {k} rows, and no value of {sensitive} above {alpha}"
    )
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "sensitive", "alpha", "k", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        classes = sensitive_classes(measured, self.columns, self.sensitive)
        found = alpha_anonymity(classes, alpha=self.alpha, k=self.k)
        small = (
            f", with {counted(self.k, 'row')} required and {found.k:,} in the smallest class"
            if found.k < self.k
            else ""
        )
        return class_finding(
            found, f"largest share of a value of {self.sensitive} in a class{small}", "generalise further", at_most=True
        )
