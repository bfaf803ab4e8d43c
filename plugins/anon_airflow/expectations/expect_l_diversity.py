"""No class gives the sensitive value of its people away for want of others."""

from __future__ import annotations

from typing import ClassVar

from great_expectations.compatibility import pydantic

from anon_airflow.expectations.class_finding import class_finding
from anon_airflow.expectations.measured_expectation import (
    AnyColumnNames,
    ColumnName,
    DiversityKind,
    Finding,
    MeasuredExpectation,
    PositiveNumber,
    PositiveNumberOrNone,
)
from anon_core.frequency import FrequencyTable
from anon_core.policy import Diversity
from anon_core.score.classes import sensitive_classes
from anon_core.score.diversity import l_diversity


class ExpectLDiversity(MeasuredExpectation):
    """
    Expect in every class over ``columns`` at least ``l`` well represented values of ``sensitive``.

    ``kind`` is distinct, entropy or recursive (Machanavajjhala 2007); ``c`` goes with the last and is null otherwise. A
    gap is a value. Without columns all rows are one class.
    """

    columns: AnyColumnNames
    sensitive: ColumnName
    kind: DiversityKind
    l: PositiveNumber  # noqa: E741 - the name in the literature
    c: PositiveNumberOrNone = pydantic.Field(...)

    title: ClassVar[str] = "l-diversity"
    promise: ClassVar[str] = "every class over {columns} has {kind} l-diversity of at least {l} in {sensitive}"
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "sensitive", "kind", "l", "c", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        classes = sensitive_classes(measured, self.columns, self.sensitive)
        found = l_diversity(classes, kind=Diversity(self.kind), l=self.l, c=self.c)
        advice = "generalise further, or merge rare values of it at the source"
        if self.c is None:
            return class_finding(found, f"{self.kind} l of {self.sensitive} in the worst class", advice)
        needed = "has too few values for any c" if found.observed is None else f"needs c above {found.observed:.4g}"
        what = f"recursive l-diversity of {self.sensitive} with l={self.l:g}"
        return class_finding(found, what, advice, said=f"the worst class {needed}, {self.c:g} given")
