"""The ``columns`` section of a publication file: what each column is, and how its values are generalised."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from anon_core.policy import NOT_EMPTY, Filled, Model, Names, Number, Text, Whole
from anon_core.role import Role

__all__ = ["Column", "DateLevel", "Decompose", "Hierarchy", "HierarchyKind", "Role", "Unmapped"]


class HierarchyKind(StrEnum):
    """The ways to give a hierarchy."""

    INTERVALS = "intervals"
    FILE = "file"
    ROOT = "root"
    PREFIX = "prefix"
    DATE = "date"


class DateLevel(StrEnum):
    """The levels of a date, from fine to coarse."""

    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


class Unmapped(StrEnum):
    """What happens to values that a hierarchy does not cover."""

    ERROR = "error"
    SUPPRESS = "suppress"


def _growing(widths: tuple[int | float, ...]) -> tuple[int | float, ...]:
    # Fractions of the decimal spelling: 0.3 is three times 0.1 to people, not to binary floats.
    exact = [Fraction(repr(width)) for width in widths]
    if min(exact) <= 0:
        raise ValueError("interval widths should be positive")
    for narrow, wide, text in zip(exact, exact[1:], widths[1:], strict=False):
        if wide <= narrow or (wide / narrow).denominator != 1:
            raise ValueError(
                f"every interval width should be a multiple of the one before, so that intervals nest; {text} is not"
            )
    return widths


def _shrinking(lengths: tuple[int, ...]) -> tuple[int, ...]:
    if any(later >= earlier for earlier, later in pairwise(lengths)):
        raise ValueError("prefix lengths should become shorter, such as [4, 3, 2]")
    return lengths


def _coarsening(levels: tuple[DateLevel, ...]) -> tuple[DateLevel, ...]:
    order = list(DateLevel)
    if any(order.index(later) <= order.index(earlier) for earlier, later in pairwise(levels)):
        raise ValueError(f"date levels should become coarser, in the order {', '.join(order)}")
    return levels


class Hierarchy(Model):
    """How the values of a column are generalised: exactly one kind is set."""

    intervals: Annotated[tuple[Number, ...], NOT_EMPTY, AfterValidator(_growing)] | None = None
    file: Filled | None = None
    root: Filled | None = None
    prefix: Annotated[tuple[Annotated[Whole, Field(ge=1)], ...], NOT_EMPTY, AfterValidator(_shrinking)] | None = None
    date: Annotated[tuple[DateLevel, ...], NOT_EMPTY, AfterValidator(_coarsening)] | None = None
    unmapped: Unmapped = Unmapped.ERROR

    @property
    def kind(self) -> HierarchyKind:
        """Which kind it is."""
        return next(kind for kind in HierarchyKind if getattr(self, kind) is not None)


class Decompose(Model):
    """How a coded column is split into parts."""

    widths: Annotated[tuple[Annotated[Whole, Field(ge=1)], ...], NOT_EMPTY]
    names: Names
    lookup: dict[str, Filled] = Field(default_factory=dict)
    publish: Names = ()

    @model_validator(mode="after")
    def _parts_have_names(self) -> Self:
        if len(self.names) != len(self.widths):
            raise ValueError("`names` should have one name for each of `widths`")
        if strangers := sorted({*self.lookup, *self.publish} - {*self.names}):
            raise ValueError(f"`lookup` and `publish` name parts that are not in `names`: {', '.join(strangers)}")
        return self


class Column(Model):
    """What is declared about one column."""

    role: Role
    priority: Annotated[Whole, Field(ge=1)] | None = None
    hierarchy: Hierarchy | None = None
    decompose: Decompose | None = None
    description: Text | None = None
