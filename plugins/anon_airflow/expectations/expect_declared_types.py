"""Every cell reads as the declared type of its column."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.measured_expectation import (
    AnyColumnNames,
    ColumnNames,
    Finding,
    MeasuredExpectation,
    NotMeasurableError,
)
from anon_core.frequency import FrequencyTable
from anon_core.score.declared_types import cells_of_another_type
from anon_core.value_type import ValueType
from anon_core.wording import counted


class ExpectDeclaredTypes(MeasuredExpectation):
    """
    Expect every cell of ``columns`` to be a gap or to read as the type at its place in ``types``.

    The types are integer, decimal, date, timestamp, boolean and text. A column that is declared a number and holds a
    remark about somebody does not keep its schema.
    """

    columns: ColumnNames
    types: AnyColumnNames

    title: ClassVar[str] = "types"
    promise: ClassVar[str] = "{columns} hold {types}"
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "types", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        known = [kind.value for kind in ValueType]
        if len(self.types) != len(self.columns) or not set(self.types) <= set(known):
            raise NotMeasurableError(f"every column needs one type of {', '.join(known)}")
        types = {name: ValueType(kind) for name, kind in zip(self.columns, self.types, strict=True)}
        wrong = cells_of_another_type(measured, types)
        cells = sum(wrong.values())
        named = "; ".join(
            f"{counted(count, 'cell')} of {name} {'is' if count == 1 else 'are'} no {types[name].value}"
            for name, count in wrong.items()
        )
        return Finding(
            passed=not wrong,
            measured=cells,
            required=0,
            observed={"columns": len(self.columns), "columns_wrong": list(wrong), "cells_wrong": cells},
            sentence=f"{named}: clean them at the source, or declare another `type`"
            if wrong
            else f"the cells of {counted(len(self.columns), 'column')} are as declared",
        )
