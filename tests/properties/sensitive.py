"""Classes and their sensitive values by plain counting: what the measures of diversity are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

from hypothesis import strategies as st

from anon_core.frequency import FrequencyTable
from anon_core.measures.classes import SensitiveClasses, sensitive_classes
from tests.properties.persons import PERSON, entries, members, persons, projected
from tests.properties.tables import Cell, Small, small_tables

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
    """Who is in a class, which values each of them has, and how many of them have each value."""

    units: frozenset[Hashable]
    counts: Counter[Cell]
    values: tuple[frozenset[Cell], ...]

    @classmethod
    def of(cls, pairs: set[tuple[Hashable, Cell]]) -> Class:
        units = frozenset(unit for unit, _ in pairs)
        return cls(
            units=units,
            counts=Counter(value for _, value in pairs),
            values=tuple(frozenset(value for unit, value in pairs if unit == one) for one in units),
        )

    @property
    def smallest_cover(self) -> int:
        """How many values it takes so that everybody has one of them, by trying all sets of values."""
        sizes = range(1, len(self.counts) + 1)
        return next(
            size for size in sizes for chosen in combinations(self.counts, size)
            if all(own & set(chosen) for own in self.values)
        )  # fmt: skip

    @property
    def shares(self) -> dict[Cell, float]:
        return {value: times / self.counts.total() for value, times in self.counts.items()}


@st.composite
def questions(
    draw: st.DrawFn,
    *,
    values: Sequence[Cell] = VALUES,
    units: bool = True,
    always: bool = False,
    max_columns: int = 4,
    max_rows: int = 14,
) -> Question:
    """Any question; with ``units`` some tell people apart, or ``always`` do."""
    small = draw(small_tables(max_columns=max_columns, max_rows=max_rows, values=values))
    sensitive, *others = draw(st.permutations(small.names))
    if not always and (not units or draw(st.booleans())):
        return Question(small=small, quasi=tuple(others), sensitive=sensitive, unit=None)
    whose = draw(persons(len(small.rows)))
    with_people = Small(names=(*small.names, PERSON), rows=tuple(projected(small.rows, whose)))
    return Question(small=with_people, quasi=tuple(others), sensitive=sensitive, unit=PERSON)


def counted(question: Question) -> list[Class]:
    """The classes; without a unit every row is one of its own."""
    keys, values = question.small.project(question.quasi), _values(question)
    return [Class.of(pairs) for pairs in entries(keys, values, people_of(question)).values()]


def whole(question: Question) -> Class:
    """Who has each value in the whole table: each value is a class."""
    values = _values(question)
    by_value = members(values, people_of(question))
    return Class.of({(unit, value) for value, some in by_value.items() for unit in some})  # type: ignore[misc]


def failing(classes: Sequence[Class]) -> dict[str, int]:
    """How many classes fail, and how many people are in one of them."""
    return {
        "classes_failing": len(classes),
        "rows_failing": len(frozenset().union(*(one.units for one in classes))),
    }


def people_of(question: Question) -> list[Hashable | None]:
    """Whose each row is; without a unit each is another person's."""
    if question.unit is None:
        return list(range(len(question.small.rows)))
    return [row[0] for row in question.small.project([question.unit])]


def _values(question: Question) -> list[Cell]:
    return [row[0] for row in question.small.project([question.sensitive])]
