"""Classes and their sensitive values by plain counting: what the measures of diversity are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from anon_core.frequency import FrequencyTable
from anon_core.score.classes import SensitiveClasses, sensitive_classes
from tests.properties.tables import Cell, Row, Small, small_tables

VALUES: tuple[Cell, ...] = ("a", "é", "日本", " ", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A table, which of its columns an outsider knows, which one is sensitive, and perhaps which one is the unit."""

    small: Small
    quasi: tuple[str, ...]
    sensitive: str
    unit: str | None

    @property
    def frequencies(self) -> FrequencyTable:
        return FrequencyTable.of(self.small.table, [*self.quasi, self.sensitive], unit=self.unit)

    @property
    def classes(self) -> SensitiveClasses:
        return sensitive_classes(self.frequencies, self.quasi, self.sensitive)


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """Who is in a class, and how many of them have each value."""

    units: frozenset[Hashable]
    counts: Counter[Cell]

    @property
    def shares(self) -> dict[Cell, float]:
        return {value: times / self.counts.total() for value, times in self.counts.items()}


@st.composite
def questions(
    draw: st.DrawFn, *, values: Sequence[Cell] = VALUES, units: bool = True, max_columns: int = 4, max_rows: int = 14
) -> Question:
    small = draw(small_tables(max_columns=max_columns, max_rows=max_rows, values=values))
    sensitive, *others = draw(st.permutations(small.names))
    unit = others.pop() if units and others and draw(st.booleans()) else None
    return Question(small=small, quasi=tuple(others), sensitive=sensitive, unit=unit)


def counted(question: Question) -> list[Class]:
    """The classes; without a unit every row is one of its own."""
    found: dict[Row, set[tuple[Hashable, Cell]]] = {}
    for key, pair in zip(question.small.project(question.quasi), _pairs(question), strict=True):
        found.setdefault(key, set()).add(pair)
    return [
        Class(units=frozenset(unit for unit, _ in pairs), counts=Counter(value for _, value in pairs))
        for pairs in found.values()
    ]


def whole(question: Question) -> Class:
    """The whole table as one class."""
    pairs = set(_pairs(question))
    return Class(units=frozenset(unit for unit, _ in pairs), counts=Counter(value for _, value in pairs))


def failing(classes: Sequence[Class]) -> dict[str, int]:
    """How many classes fail, and how many people are in one of them."""
    return {
        "classes_failing": len(classes),
        "rows_failing": len(frozenset().union(*(one.units for one in classes))),
    }


def _pairs(question: Question) -> list[tuple[Hashable, Cell]]:
    values = [row[0] for row in question.small.project([question.sensitive])]
    if question.unit is None:
        return list(enumerate(values))
    return [(row[0], value) for row, value in zip(question.small.project([question.unit]), values, strict=True)]
