"""Splits a column of a table into columns for its parts, and measures the effect on rows that stand out [Omer2016]_."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa

from anon_core.decompose.splitting import split_values
from anon_core.errors import DecomposeError, HierarchyError, InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.files.cells import Row, cut
from anon_core.hierarchy.files.faults import problems_to_list
from anon_core.hierarchy.files.texts import text_in, zeros_in
from anon_core.hierarchy.ladder import ROOT
from anon_core.spec import Decompose, PartialPublication, Unmapped
from anon_core.table import Column, Mask, Table
from anon_core.table.arrays import integers, texts
from anon_core.table.assembling import Piece, assemble
from anon_core.wording import counted

Labels = list[str | None]
MAX_OTHERS = 10
"""Every subset of the other columns is counted; of ten there are a thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unnamed:
    """How many codes of a part its lookup does not name, and which values of the whole column have one."""

    codes: int
    values: Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    labels: Labels
    unnamed: Unnamed


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """
    A column and its parts. ``unfit`` marks the values of its domain that the rule does not split.

    ``unnamed`` tells of every part with a lookup what that does not name.
    """

    column: Column
    rule: Decompose
    parts: tuple[Column, ...]
    unfit: Mask
    unnamed: dict[str, Unnamed]

    @property
    def published(self) -> tuple[Column, ...]:
        """The columns of the parts that are published."""
        return tuple(part for part in self.parts if part.name in self.rule.published)

    @property
    def refused(self) -> Mask:
        """The values of the domain that the rule does not split, or of which a part has no name."""
        refused = self.unfit.copy()
        for missing in self.unnamed.values():
            refused |= missing.values
        return refused

    @property
    def refused_values(self) -> list[str]:
        """These values themselves: for a terminal, not for a log."""
        return list(self.column.domain.filter(self.refused).to_pylist())

    def check(self) -> None:
        """:raises DecomposeError: some values cannot be split or named, and the rule does not suppress them."""
        _check([self])


def decompose(table: Table, publication: PartialPublication) -> Table:
    """
    Return the table with the published parts of every decomposed column in its place, in the order of its columns.

    Parts that are not published are in no column of it.

    :raises DecomposeError: values that a rule does not split, or codes that a lookup does not name; all columns.
    :raises HierarchyError: a lookup file is wrong.
    """
    rules = {name: column.decompose for name, column in publication.columns.items() if column.decompose}
    splits = {name: split_column(table.column(name), rule, publication.root) for name, rule in rules.items()}
    _check(list(splits.values()))
    columns: list[Column] = []
    for column in table.columns:
        columns += splits[column.name].published if column.name in splits else [column]
    return Table(columns=tuple(columns), rows=table.rows)


def split_column(column: Column, rule: Decompose, folder: Path) -> Split:
    """
    Split a column into its parts, published or not, named by their lookups.

    A gap is a gap in every part, and a part with nothing in it is a gap. A value that does not fit is ``*`` in every
    part, a code without a name ``*`` in its own: whether that is allowed is for :meth:`Split.check` to say.

    :raises HierarchyError: a lookup file is wrong.
    :raises InvalidInputError: the pattern or the region cannot be used.
    """
    domain = column.domain.to_pylist()
    values = [value for value in domain if value is not None]  # A gap is the last of its domain.
    found = split_values(values, rule)
    unfit = np.zeros(len(domain), np.bool_)
    unfit[: len(values)] = [parts is None for parts in found]
    columns: list[Column] = []
    unnamed: dict[str, Unnamed] = {}
    for at, name in enumerate(rule.parts):
        labels: Labels = [ROOT if parts is None else parts[at] or None for parts in found]
        if name in rule.lookup:
            named = _named(labels, unfit, read_lookup(folder / rule.lookup[name]))
            labels, unnamed[name] = named.labels, named.unnamed
        columns.append(_column(name, column, [*labels, *[None] * (len(domain) - len(values))]))
    return Split(column=column, rule=rule, parts=tuple(columns), unfit=unfit, unnamed=unnamed)


def _named(labels: Labels, unfit: Mask, names: dict[str, str]) -> _Named:
    """Look up the names of codes; one without is ``*``. What does not fit and what is a gap has no code."""
    missing = np.zeros(len(unfit), np.bool_)
    named, codes = list(labels), set()
    for at, code in enumerate(labels):
        if code is not None and not unfit[at]:
            named[at] = names.get(code, ROOT)
            if code not in names:
                missing[at] = True
                codes.add(code)
    return _Named(labels=named, unnamed=Unnamed(codes=len(codes), values=missing))


def _column(name: str, whole: Column, labels: Labels) -> Column:
    """Return the column of a part from its label for each value of the whole; equal labels become one value."""
    words = list(dict.fromkeys(label for label in labels if label is not None))
    index: dict[str | None, int] = {word: at for at, word in enumerate(words)}
    places = np.array([index.get(label, len(words)) for label in labels], np.int32)
    with_gap = pa.concat_arrays([texts(words), pa.nulls(1, pa.string())])
    return assemble(name, [Piece(codes=whole.codes, words=with_gap.take(integers(places)))])


def _check(splits: Sequence[Split]) -> None:
    unfit: dict[str, tuple[int, int]] = {}
    unnamed: dict[tuple[str, str], tuple[int, int]] = {}
    for split in splits:
        if split.rule.unmapped is Unmapped.SUPPRESS:
            continue
        name, rows = split.column.name, np.bincount(split.column.codes, minlength=len(split.column.domain))
        if split.unfit.any():
            unfit[name] = (int(split.unfit.sum()), int(rows[split.unfit].sum()))
        for part, missing in split.unnamed.items():
            if missing.codes:
                unnamed[name, part] = (missing.codes, int(rows[missing.values].sum()))
    if unfit or unnamed:
        raise DecomposeError(unfit, unnamed, {split.column.name: split.rule.way for split in splits})


def read_lookup(path: Path) -> dict[str, str]:
    """
    Read a lookup file: the name of every code. Several codes may have one name.

    :raises HierarchyError: listing everything wrong by line number.
    """
    text = text_in(path, "lookup file")
    found = cut(text)
    problems = [*zeros_in(text), *found.problems, *_problems(found.rows)]
    if problems:
        raise HierarchyError(str(path), problems_to_list(problems))
    return {row.cells[0]: row.cells[1] for row in found.rows}


def _problems(rows: Sequence[Row]) -> list[str]:
    """Return everything that keeps these lines from being a lookup."""
    if not rows:
        return ["is empty; write one line per code: code;name"]
    problems = []
    seen: dict[str, int] = {}
    for row in rows:
        if len(row.cells) != 2:
            problems.append(f"line {row.line} has {counted(len(row.cells), 'cell')}, not 2: code;name")
            continue
        code, name = row.cells
        problems += [f"line {row.line} has no {what}" for what, cell in (("code", code), ("name", name)) if not cell]
        if code in seen:
            problems.append(f"line {row.line} repeats the code of line {seen[code]}")
        seen.setdefault(code, row.line)
    return problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Distinct tuples, rows alone in their class (the paper's *outliers*), and their share of all rows."""

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
    A column, its parts, and the effect on every set of columns that the call names.

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
    if len(others) > MAX_OTHERS:
        raise InvalidInputError(f"{len(others)} other columns have too many subsets; name at most {MAX_OTHERS}")
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
                distinct=_distinct_values(part),
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


def _distinct_values(part: Column) -> int:
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
