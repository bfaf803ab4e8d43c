"""A column of a table split into columns for its parts, on its distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from anon_core.errors import DecomposeError, HierarchyError
from anon_core.hierarchy.decompose.splitting import split_values
from anon_core.hierarchy.files.cells import Row, cut
from anon_core.hierarchy.files.faults import told
from anon_core.hierarchy.files.texts import text_in, zeros_in
from anon_core.hierarchy.ladder import ROOT
from anon_core.spec import Decompose, PartialPublication, Unmapped
from anon_core.table import Column, Mask, Table
from anon_core.table.arrays import integers, texts
from anon_core.table.assembling import Piece, assemble
from anon_core.wording import counted

Labels = list[str | None]


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
        raise HierarchyError(str(path), told(problems))
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
