"""The ``columns`` section of a publication file: what each column is, and how its values are generalised."""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from anon_core.files.yaml_lines import as_text
from anon_core.policy import CountedValues
from anon_core.role import Role
from anon_core.settings import NOT_EMPTY, Filled, Names, Number, Settings, Text, Whole, distinct, quoted
from anon_core.spec.coarsen import Coarsen
from anon_core.spec.parts import WAYS, Preset, part_names
from anon_core.spec.paths import FilePath
from anon_core.value_type import ValueType

AS_COLLECTED = "as collected"
"""The words for cells that are published without a change."""

SUPPRESSED = "suppressed"
"""The name of the root in reports and on pages, where a hierarchy gives it no label of its own."""


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


MAX_LEVELS = 100
"""As in hierarchy files: readers cannot tell more levels apart."""


def _not_too_many(levels: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(levels) > MAX_LEVELS:
        raise ValueError(f"should have at most {MAX_LEVELS} levels, not {len(levels)}")
    return levels


def _growing(widths: tuple[int | float, ...]) -> tuple[int | float, ...]:
    # Fractions of the decimal spelling: 0.3 is three times 0.1 as written, but not as binary floats.
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


def _no_reserved_name(names: tuple[str, ...]) -> tuple[str, ...]:
    if SUPPRESSED in names:
        raise ValueError(f"should not have a level named `{SUPPRESSED}`: pages call the root so")
    return names


class Hierarchy(Settings):
    """How the values of a column are generalised: exactly one kind is set; ``levels`` names the levels of a file."""

    intervals: (
        Annotated[tuple[Number, ...], NOT_EMPTY, AfterValidator(_not_too_many), AfterValidator(_growing)] | None
    ) = None
    file: FilePath | None = None
    root: Filled | None = None
    prefix: (
        Annotated[
            tuple[Annotated[Whole, Field(ge=1)], ...],
            NOT_EMPTY,
            AfterValidator(_not_too_many),
            AfterValidator(_shrinking),
        ]
        | None
    ) = None
    date: Annotated[tuple[DateLevel, ...], NOT_EMPTY, AfterValidator(_coarsening)] | None = None
    levels: (
        Annotated[tuple[Filled, ...], NOT_EMPTY, AfterValidator(distinct), AfterValidator(_no_reserved_name)] | None
    ) = None
    unmapped: Unmapped = Unmapped.ERROR

    @property
    def kind(self) -> HierarchyKind:
        """Which kind it is."""
        return next(kind for kind in HierarchyKind if getattr(self, kind) is not None)


def _separators(value: Any) -> str | tuple[str, ...]:
    several = [as_text(one) for one in value] if isinstance(value, list | tuple) else [as_text(value)]
    if not several or not all(isinstance(one, str) and one for one in several):
        raise ValueError("should be a text or a list of texts, none of them empty")
    return tuple(several) if isinstance(value, list | tuple) else str(several[0])


def _region(value: str) -> str:
    if not re.fullmatch("[A-Z]{2}", value):
        raise ValueError(f"should be a country as two capitals, such as `IT`, not {quoted(value)}")
    return value


class Decompose(Settings):
    """
    How a coded column is split into parts: exactly one of ``widths``, ``separator``, ``pattern`` and ``preset`` is set.

    :mod:`anon_core.spec.parts` finds what is wrong between its keys; it reads the file and not this model.
    """

    widths: Annotated[tuple[Annotated[Whole, Field(ge=1)], ...], NOT_EMPTY] | None = None
    separator: Annotated[str | tuple[str, ...], BeforeValidator(_separators)] | None = None
    pattern: Filled | None = None
    preset: Preset | None = None
    region: Annotated[Text, AfterValidator(_region)] | None = None
    names: Names = ()
    lookup: dict[str, FilePath] = Field(default_factory=dict)
    hierarchies: dict[str, Hierarchy] = Field(default_factory=dict)
    publish: Names | None = None
    unmapped: Unmapped = Unmapped.ERROR

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of all parts, in their order within a value."""
        return part_names(names=self.names, pattern=self.pattern, preset=self.preset)

    @property
    def published(self) -> tuple[str, ...]:
        """The names of the parts that are published, in their order within a value."""
        return tuple(part for part in self.parts if self.publish is None or part in self.publish)

    @property
    def way(self) -> str:
        """How values are split, as the file says it, and a hint at a key that may be missing."""
        key = next(way for way in WAYS if getattr(self, way) is not None)
        written = getattr(self, key)
        text = f"[{', '.join(map(str, written))}]" if isinstance(written, tuple) else quoted(written)[1:-1]
        needed = self.preset is Preset.TELEPHONE and self.region is None
        return f"`{key}: {text}`" + (
            " (numbers that do not begin with + and their country need `region`, such as `region: IT`)"
            if needed
            else ""
        )


class DeclaredColumn(Settings):
    """What a publication file declares about one column."""

    role: Role
    priority: Annotated[Whole, Field(ge=1)] | None = None
    hierarchy: Hierarchy | None = None
    decompose: Decompose | None = None
    coarsen: Coarsen | None = None
    type: ValueType | None = None
    description: Text | None = None

    @property
    def labels_ends(self) -> bool:
        """Whether `top` and `bottom` become labels such as ``150000 or more``; a column of numbers has no labels."""
        return self.type not in (ValueType.INTEGER, ValueType.DECIMAL)

    @property
    def published_without_recoding(self) -> str:
        """How its cells are published where no recoding changes them, in words."""
        if self.coarsen is None:
            return AS_COLLECTED
        level, names = self.coarsen.level, self.hierarchy.levels if self.hierarchy else None
        if names and isinstance(level, int) and level < len(names):
            return f"grouped by {names[level]}"
        return self.coarsen.described(labelled=self.labels_ends)

    @property
    def counted_values(self) -> CountedValues:
        """
        What counts as one value of it where diversity is measured.

        With `coarsen` it is the published value; `type: text` says that numbers in it are codes.
        """
        if self.coarsen is not None:
            return CountedValues.COARSENED
        return CountedValues.EACH if self.type is ValueType.TEXT else CountedValues.BANDS

    @property
    def withheld(self) -> str | None:
        """The label of cells that were suppressed before recoding, if there can be any."""
        return None

    def published_as(self, name: str) -> dict[str, DeclaredColumn]:
        """Return the columns of a release that a column of this name becomes: itself, or its published parts."""
        rule = self.decompose
        if rule is None:
            return {name: self}
        about = f"part of {name}" + (f": {self.description}" if self.description else "")
        return {
            part: Part(
                role=Role.QUASI,
                priority=self.priority,
                hierarchy=rule.hierarchies.get(part, None if part in rule.lookup else self.hierarchy),
                description=about,
                part_of=name,
                suppresses=rule.unmapped is Unmapped.SUPPRESS,
            )
            for part in rule.published
        }


class Part(DeclaredColumn):
    """
    A published part of a decomposed column: a column of its own in a release, which the file does not declare itself.

    With ``suppresses`` a cell that reads ``*`` is one that could not be split or named.
    """

    part_of: str
    suppresses: bool

    @property
    def withheld(self) -> str | None:
        return "*" if self.suppresses else None
