"""What our expectations have in common: metrics, one finding, and only counts and column names in the result."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from great_expectations.compatibility import pydantic

from anon_airflow.expectations.described_expectation import DescribedExpectation
from anon_airflow.expectations.metrics.refusal import NotMeasurableError, Refusal, refuse_instead_of_raising


def _finite_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("it must be a finite number")
    return value


if TYPE_CHECKING:
    ColumnNames = list[str]
    AnyColumnNames = list[str]
    Accepted = list[list[str]]
    Labels = list[list[str]]
    Count = int
    PositiveCount = int
    Share = float
    AnyNumber = float
    ColumnName = str
    Hierarchies = dict[str, dict[str, Any]]
    Guards = dict[str, dict[str, Any]]
    HierarchyOrNone = dict[str, Any] | None
    Probabilities = dict[str, float]
    StrictFlag = bool
    PositiveShare = float
    PositiveNumber = float
    PositiveNumberOrNone = float | None
    DiversityKind = str
    DistanceKind = str
    KMeaning = str
else:  # Strict, because pydantic would read 4.9 as the whole number 4 and True as 1.

    class AnyNumber(pydantic.ConstrainedFloat):
        """A limit that is no number, or an infinite one, would be none."""

        ge = 0

        @classmethod
        def __get_validators__(cls):
            yield _finite_number
            yield from super().__get_validators__()

    class Share(AnyNumber):
        le = 1

    class PositiveShare(Share):
        gt, ge = 0, None

    class PositiveNumber(AnyNumber):
        gt, ge = 0, None

    ColumnNames = pydantic.conlist(pydantic.StrictStr, min_items=1)
    AnyColumnNames = pydantic.conlist(pydantic.StrictStr)
    Accepted = pydantic.conlist(ColumnNames)
    Labels = pydantic.conlist(ColumnNames)
    Count = pydantic.conint(strict=True, ge=0)
    PositiveCount = pydantic.conint(strict=True, ge=1)
    ColumnName = pydantic.constr(strict=True, min_length=1)
    Hierarchies = dict[pydantic.StrictStr, dict[pydantic.StrictStr, Any]]
    Guards = dict[pydantic.StrictStr, dict[pydantic.StrictStr, Any]]
    HierarchyOrNone = dict[pydantic.StrictStr, Any] | None
    Probabilities = dict[pydantic.StrictStr, Share]
    StrictFlag = pydantic.StrictBool
    PositiveNumberOrNone = PositiveNumber | None
    DiversityKind = Literal["distinct", "entropy", "recursive"]
    DistanceKind = Literal["equal", "ordered", "hierarchical"]
    KMeaning = Literal["link", "source", "concealment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A verdict with its numbers: ``measured`` against ``required``, all of them in ``observed``, and a sentence."""

    passed: bool
    measured: float | None
    required: float
    observed: Mapping[str, Any]
    sentence: str


class MeasuredExpectation(DescribedExpectation, ABC):
    """
    An expectation that judges what its metrics measured, the table's own first.

    It works on rows (``weight_column`` null, each row counts 1) and on a frequency table (``weight_column`` holds the
    rows of each distinct tuple). Every field that carries a requirement is required: Great Expectations does not write
    a field that equals its default into the JSON, and a changed default would then change a stored suite.

    A metric that refused, and an exception here, are a failure with a reason and no values.
    """

    weight_column: pydantic.StrictStr | None = pydantic.Field(...)

    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)
    metric_dependencies: ClassVar[tuple[str, ...]] = ("anon.frequencies",)
    title: ClassVar[str]

    @abstractmethod
    def _judge(self, *measured: Any) -> Finding:
        """Judge what the metrics gave."""

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        measured = [metrics.get(metric, Refusal("its metric was not computed")) for metric in self.metric_dependencies]
        refused = [one for one in measured if isinstance(one, Refusal)]
        found = refused[0] if refused else refuse_instead_of_raising(self._judge)(*measured)
        if isinstance(found, Refusal):
            sentence = f"{self.title}: not measured, {found.reason}"
            return {"success": False, "result": {"observed_value": None, "sentence": sentence}}
        return {
            "success": bool(found.passed),
            "result": {
                "observed_value": dict(found.observed),
                "measured": found.measured,
                "required": found.required,
                "sentence": f"{self.title}: {found.sentence}",
            },
        }


__all__ = ["Finding", "MeasuredExpectation", "NotMeasurableError"]
