"""The file has the declared columns and no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from anon_airflow.expectations.measured_expectation import (
    ColumnNames,
    Finding,
    MeasuredExpectation,
    NotMeasurableError,
)


class ExpectNoUndeclaredColumn(MeasuredExpectation):
    """
    Expect the columns of the table to be exactly ``columns``, each once, in any order.

    Undeclared columns are told by their place: in a file that lost its header, names are cells.
    """

    columns: ColumnNames

    title: ClassVar[str] = "columns"
    promise: ClassVar[str] = "the columns are exactly {columns}"
    metric_dependencies: ClassVar[tuple[str, ...]] = ("anon.column_names",)
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: Sequence[str]) -> Finding:
        if self.weight_column in self.columns:
            raise NotMeasurableError(f"{self.weight_column} cannot be a weight and a declared column at once")
        names = list(measured)
        seen: Counter[str] = Counter()
        undeclared = []
        for place, name in enumerate(names, 1):
            seen[name] += 1
            if name not in self.columns or seen[name] > 1:
                undeclared.append(place)
        missing = [name for name in self.columns if name not in seen]
        return Finding(
            passed=not undeclared and not missing,
            measured=len(undeclared) + len(missing),
            required=0,
            observed={"columns": len(names), "undeclared_at": undeclared, "missing": missing},
            sentence=self._sentence(undeclared, missing),
        )

    def _sentence(self, undeclared: list[int], missing: list[str]) -> str:
        parts = []
        if undeclared:
            parts.append(
                f"{len(undeclared)} undeclared or doubled, at place {', '.join(map(str, undeclared))}: drop them or "
                "declare them in the publication file"
            )
        if missing:
            parts.append(f"{len(missing)} declared but missing ({', '.join(missing)}): write the file again")
        return "; ".join(parts) or f"exactly the {len(self.columns)} declared ones"
