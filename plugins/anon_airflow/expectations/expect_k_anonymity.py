"""Every row shares its quasi-identifiers with enough others."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.measured_expectation import ColumnNames, Finding, MeasuredExpectation, PositiveCount
from anon_core.frequency import FrequencyTable
from anon_core.wording import clause, counted


class ExpectKAnonymity(MeasuredExpectation):
    """
    Expect the smallest class over ``columns`` to have at least ``k`` rows (exact k, Sweeney 2002).

    A gap is a category of its own. No columns at all is a wrong call: a dataset without quasi-identifiers has no k,
    and its suite leaves this expectation out.
    """

    columns: ColumnNames
    k: PositiveCount

    title: ClassVar[str] = "k-anonymity"
    promise: ClassVar[str] = "every class over {columns} has at least {k} rows"
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "k", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        sizes = measured.class_sizes()
        smallest, below = int(sizes.min()), int(sizes[sizes < self.k].sum())
        said = f"smallest class has {counted(smallest, 'row')}, {self.k:,} required over {', '.join(self.columns)}"
        passed, lying = smallest >= self.k, clause(below, "row", "lies", "lie")
        return Finding(
            passed=passed,
            measured=smallest,
            required=self.k,
            observed={"k": smallest, "classes": len(sizes), "rows": measured.rows, "rows_below_k": below},
            sentence=said
            + ("" if passed else f"; {lying} in classes below {self.k:,}: generalise these columns further"),
        )
