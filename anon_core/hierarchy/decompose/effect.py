"""What decomposing a column does to the rows that stand out [Omer2016]_, Table 4 and Figures 7 to 9.

The paper's *outliers* are the rows that are alone in their class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.decompose.columns import Split
from anon_core.hierarchy.ladder import ROOT
from anon_core.table import Column, Table

MOST_OTHERS = 10
"""Every subset of the other columns is counted; of ten there are a thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Distinct tuples, rows alone in their class, and their share of all rows."""

    distinct: int
    outliers: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPart:
    """One part by itself. ``distinct`` counts what it says: neither a gap, nor the ``*`` of what was suppressed."""

    name: str
    distinct: int
    outliers: int
    published: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """
    Some columns before and after one of them was decomposed.

    ``after`` has all published parts jointly in the place of the column, ``by_part`` each part alone in its place. Sets
    without the column do not change.
    """

    columns: tuple[str, ...]
    before: Counts
    after: Counts
    by_part: dict[str, Counts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decomposition:
    """
    A column, its parts, and the effect on every set of columns that was asked for.

    ``suppressed_values`` of the column, in ``suppressed_rows``, were not split, or have a part without a name.
    """

    column: str
    rows: int
    suppressed_values: int
    suppressed_rows: int
    parts: tuple[MeasuredPart, ...]
    effect: tuple[Effect, ...]


def measure_effect(
    table: Table, split: Split, others: Sequence[str] = (), *, count: Callable[[Table], FrequencyTable]
) -> Decomposition:
    """
    Count the column alone and with every subset of some other columns, before and after; last, these without it.

    ``count`` counts the distinct tuples over all columns once; every set is counted from these.

    :raises InvalidInputError: there are no rows, or more other columns than subsets of them can be listed.
    """
    if not table.rows:
        raise InvalidInputError("there are no rows to measure")
    if len(others) > MOST_OTHERS:
        raise InvalidInputError(f"{len(others)} other columns have too many subsets; name at most {MOST_OTHERS}")
    name = split.column.name
    # A part may be called like another column of the table, such as sex: not here.
    parts = [replace(part, name=_own(split, part.name)) for part in split.parts]
    frequencies = count(Table(columns=(*table.select([name, *others]).columns, *parts), rows=table.rows))
    alone = {part.name: _counts(frequencies, [_own(split, part.name)]) for part in split.parts}
    refused = split.refused
    sets = [chosen for size in range(len(others) + 1) for chosen in combinations(others, size)]
    return Decomposition(
        column=name,
        rows=table.rows,
        suppressed_values=int(refused.sum()),
        suppressed_rows=int(refused[split.column.codes].sum()),
        parts=tuple(
            MeasuredPart(
                name=part.name,
                distinct=_said(part),
                outliers=alone[part.name].outliers,
                published=part.name in split.rule.published,
            )
            for part in split.parts
        ),
        effect=(
            *(_effect(frequencies, split, chosen) for chosen in sets),
            *([_unchanged(frequencies, others)] if others else []),
        ),
    )


def _said(part: Column) -> int:
    """Return how many distinct values a part has, without gaps and what was suppressed."""
    return len({*part.domain.to_pylist()} - {None, ROOT})


def _own(split: Split, part: str) -> str:
    """Return a name of a part that no column has."""
    return f"{split.column.name}\0{part}"


def _effect(frequencies: FrequencyTable, split: Split, chosen: Sequence[str]) -> Effect:
    name = split.column.name
    return Effect(
        columns=(name, *chosen),
        before=_counts(frequencies, [name, *chosen]),
        after=_counts(frequencies, [*(_own(split, part) for part in split.rule.published), *chosen]),
        by_part={part.name: _counts(frequencies, [_own(split, part.name), *chosen]) for part in split.parts},
    )


def _unchanged(frequencies: FrequencyTable, others: Sequence[str]) -> Effect:
    found = _counts(frequencies, others)
    return Effect(columns=tuple(others), before=found, after=found, by_part={})


def _counts(frequencies: FrequencyTable, columns: Sequence[str]) -> Counts:
    found = frequencies.project(list(columns))
    return Counts(distinct=found.tuples, outliers=found.singletons, share=found.singletons / found.rows)
