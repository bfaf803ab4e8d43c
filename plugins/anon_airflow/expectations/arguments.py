"""The types of the arguments of our expectations. They are strict: a limit that is read wrongly would not limit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from great_expectations.compatibility import pydantic


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
    ShareOrNone = float | None
    PositiveNumber = float
    PositiveNumberOrNone = float | None
    DiversityKind = str
    CountedValuesKind = str
    DistanceKind = str
    KMeaning = str
else:  # Strict, because pydantic would read 4.9 as the whole number 4 and True as 1.

    class AnyNumber(pydantic.ConstrainedFloat):
        """A finite number: a limit that is infinite, or no number, would not limit anything."""

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
    ShareOrNone = Share | None
    DiversityKind = Literal["distinct", "entropy", "recursive"]
    CountedValuesKind = Literal["bands", "coarsened", "each"]
    DistanceKind = Literal["equal", "ordered", "hierarchical"]
    KMeaning = Literal["link", "source", "concealment"]
