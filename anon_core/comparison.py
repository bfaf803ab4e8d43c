"""A table before and after recoding, on distinct tuples: the input of the four k's and of utility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.errors import InvalidInputError, UnknownLabelsError
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable, different, people_weights, unit_codes
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers
from anon_core.plan import RecodingPlan
from anon_core.table import Column, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Which original became which published tuple: indices into the entries of both sides, and the rows of a pair."""

    before: Integers
    after: Integers
    weights: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """
    The quasi-identifiers of a table before and after recoding.

    ``before`` has the values as collected, with the removed rows; ``after`` has the published labels, as codes into the
    labels of the ladders. ``pairs`` is None if it is not known which row became which, as with a sorted release. Where
    people are counted, both sides have one entry for each pair of tuple and unit; an entry of unknown people has the
    weight 0 if its tuple has known people.
    """

    ladders: tuple[Ladder, ...]
    before: FrequencyTable
    after: FrequencyTable
    pairs: Pairs | None

    @classmethod
    def of_plan(cls, plan: RecodingPlan, columns: Sequence[str] | None = None) -> Comparison:
        """
        Compare a table before and after a plan, over some of the columns of the plan, by default all.

        What becomes of a row may depend on the other columns.
        """
        if columns is not None and tuple(columns) != plan.frequencies.names:
            return cls._over(plan, columns)
        before, kept = plan.frequencies, np.flatnonzero(~plan.removed)
        side = _Side.of(
            [plan.released_codes(i)[kept] for i in range(len(plan.ladders))],
            [len(ladder.labels) for ladder in plan.ladders],
            rows_of_entries(before)[kept],
            None if before.units is None else before.units[kept],
        )
        return cls(
            ladders=plan.ladders,
            before=before,
            after=side.table(before.names, plan.ladders),
            pairs=Pairs(before=kept, after=side.member, weights=rows_of_entries(before)[kept]),
        )

    @classmethod
    def _over(cls, plan: RecodingPlan, columns: Sequence[str]) -> Comparison:
        whole, rows = plan.frequencies, rows_of_entries(plan.frequencies)
        at, kept = whole.positions(columns), np.flatnonzero(~plan.removed)
        ladders = tuple(plan.ladders[i] for i in at)
        before = _Side.of([whole.codes[i] for i in at], [len(whole.domains[i]) for i in at], rows, whole.units)
        labels, sizes = [plan.released_codes(i)[kept] for i in at], [len(ladder.labels) for ladder in ladders]
        after = _Side.of(labels, sizes, rows[kept], None if whole.units is None else whole.units[kept])
        found = kernels.group(
            [before.member[kept], after.member], [len(before.weights), len(after.weights)], rows[kept]
        )
        return cls(
            ladders=ladders,
            before=FrequencyTable(
                names=tuple(columns),
                codes=before.codes,
                domains=tuple(whole.domains[i] for i in at),
                weights=before.weights,
                units=before.units,
                unit_rows=before.unit_rows,
            ),
            after=after.table(columns, ladders),
            pairs=Pairs(
                before=before.member[kept][found.first], after=after.member[found.first], weights=found.weights
            ),
        )

    @property
    def published(self) -> Integers:
        """
        How many rows of each original entry are published; all of them where the pairing is not known.

        Where people are counted, it is 1 if a row of the entry is published, for entries of any weight.
        """
        if self.pairs is None:
            return self.before.weights if self.before.units is None else np.ones_like(self.before.weights)
        rows = np.zeros(len(self.before.weights), np.int64)
        np.add.at(rows, self.pairs.before, self.pairs.weights)
        # Two rows of one unit with one tuple are one entry, published or not.
        return rows if self.before.units is None else np.minimum(rows, 1)

    @property
    def rows_removed(self) -> int:
        """How many rows (units) are not published; never below 0, even if a file has too many rows."""
        return max(self.before.rows - self.after.rows, 0)

    @property
    def rows_blanked(self) -> int:
        """How many published rows (people) say nothing in any column."""
        blank = np.full(len(self.after.weights), bool(self.ladders), np.bool_)
        for ladder, codes in zip(self.ladders, self.after.codes, strict=True):
            blank &= ladder.empty[codes]
        if self.after.units is None:
            return int(self.after.weights[blank].sum())
        return how_many(self.after.units[blank], self.after.weights[blank])


def rows_of_entries(frequencies: FrequencyTable) -> Integers:
    """Return how many rows each entry of a table stands for."""
    return frequencies.weights if frequencies.unit_rows is None else frequencies.unit_rows


def how_many(units: AnyCodes, weights: Integers) -> int:
    """Return how many people some entries have: known people once each, unknown ones by entry with a weight."""
    return different(units) + int(weights[units == UNKNOWN_PERSON].sum())


def compare(
    original: Table,
    released: Table,
    ladders: Sequence[Ladder],
    *,
    same_order: bool = False,
    key: str | None = None,
    unit: str | None = None,
) -> Comparison:
    """
    Compare two tables over the columns of the ladders, which are those of the original's values.

    Rows are paired by their position (``same_order``, which needs as many rows on both sides) or by a ``key`` column
    that both tables have; otherwise the pairing is not known. ``unit`` is a column of the original.

    :raises UnknownColumnError: a column is not in one of the tables.
    :raises UnknownLabelsError: the released table has cells that are neither values of the original nor labels above.
    :raises InvalidInputError: the rows cannot be paired in this way, or units are counted without a pairing.
    """
    names = [ladder.column for ladder in ladders]
    values = [original.column(name).codes for name in names]
    labels = _label_codes([released.column(name) for name in names], ladders)
    at = original_rows(original, released, same_order=same_order, key=key)
    if unit is not None and at is None:
        raise InvalidInputError(
            "people cannot be counted without knowing which row became which; "
            "pair the rows with same_order=True or key=COLUMN, which a table that you recoded yourself allows"
        )
    units = None if unit is None else unit_codes(original.column(unit))
    before = _Side.of(values, [len(original.column(name).domain) for name in names], None, units, original.rows)
    after = _Side.of(
        labels,
        [len(ladder.labels) for ladder in ladders],
        None,
        None if units is None or at is None else units[at],
        released.rows,
    )
    domains = tuple(original.column(name).domain for name in names)
    return Comparison(
        ladders=tuple(ladders),
        before=FrequencyTable(
            names=tuple(names),
            codes=before.codes,
            domains=domains,
            weights=before.weights,
            units=before.units,
            unit_rows=before.unit_rows,
        ),
        after=after.table(names, ladders),
        pairs=None if at is None else _pairs(before.member[at], after.member),
    )


def compare_frequencies(original: FrequencyTable, released: FrequencyTable, ladders: Sequence[Ladder]) -> Comparison:
    """
    Compare two counted tables over the columns of the ladders; which row became which is not known.

    Both may count people: it need not be known which people of one side are which of the other.

    :raises UnknownColumnError: a column is not in one of the tables.
    :raises UnknownLabelsError: the released table has cells that are neither values of the original nor labels above.
    """
    names = [ladder.column for ladder in ladders]
    after = released.project(names)
    columns = [
        Column(name=name, codes=codes, domain=domain)
        for name, codes, domain in zip(names, after.codes, after.domains, strict=True)
    ]
    labels = _label_codes(columns, ladders, after.weights)
    return Comparison(
        ladders=tuple(ladders),
        before=original.project(names),
        after=FrequencyTable.from_codes(
            names, labels, [ladder.labels for ladder in ladders], rows_of_entries(after), after.units
        ),
        pairs=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """The distinct entries of one side, and the entry of each row (or entry of the input)."""

    codes: tuple[AnyCodes, ...]
    weights: Integers
    units: AnyCodes | None
    unit_rows: Integers | None
    member: Integers

    @classmethod
    def of(
        cls,
        codes: Sequence[AnyCodes],
        cardinalities: Sequence[int],
        weights: Integers | None,
        units: AnyCodes | None,
        rows: int | None = None,
    ) -> _Side:
        if weights is None:
            weights = np.ones(rows if rows is not None else 0, np.int64)
        counted = [] if units is None else [units]
        sizes = [] if units is None else [int(units.max(initial=0)) + 1]
        found = kernels.group([*codes, *counted], [*cardinalities, *sizes], weights)
        entries = tuple(column[found.first] for column in codes)
        whose = None if units is None else units[found.first]
        return cls(
            codes=entries,
            weights=found.weights if whose is None else people_weights(entries, cardinalities, whose),
            units=whose,
            unit_rows=None if whose is None else found.weights,
            member=found.member,
        )

    def table(self, names: Sequence[str], ladders: Sequence[Ladder]) -> FrequencyTable:
        return FrequencyTable(
            names=tuple(names),
            codes=self.codes,
            domains=tuple(ladder.labels for ladder in ladders),
            weights=self.weights,
            units=self.units,
            unit_rows=self.unit_rows,
        )


def _pairs(before: Integers, after: Integers) -> Pairs:
    sizes = [int(side.max(initial=0)) + 1 for side in (before, after)]
    found = kernels.group([before, after], sizes)
    return Pairs(before=before[found.first], after=after[found.first], weights=found.weights)


def _label_codes(
    released: Sequence[Column], ladders: Sequence[Ladder], weights: Integers | None = None
) -> list[AnyCodes]:
    """Return the code of every cell among the labels of its ladder; ``weights`` are the rows of each cell, else 1."""
    coded, unknown = [], {}
    for column, ladder in zip(released, ladders, strict=True):
        index = {label: code for code, label in enumerate(ladder.labels.to_pylist())}
        found = np.array([index.get(label, -1) for label in column.domain.to_pylist()], np.int64)
        codes = found[column.codes]
        if (found < 0).any():
            rows = np.count_nonzero(codes < 0) if weights is None else weights[codes < 0].sum()
            unknown[ladder.column] = (int((found < 0).sum()), int(rows))
        coded.append(codes)
    if unknown:
        raise UnknownLabelsError(unknown)
    return coded


def original_rows(original: Table, released: Table, *, same_order: bool, key: str | None) -> Integers | None:
    """
    Return for every released row the original row that it was made from, or None if that is not known.

    :raises InvalidInputError: the rows cannot be paired in this way.
    """
    if key is not None:
        return _by_key(original, released, key)
    if not same_order:
        return None
    if original.rows != released.rows:
        raise InvalidInputError(
            f"rows cannot be paired by their order: {original.rows} before, {released.rows} after; "
            "name a key column that both tables have with key=, or leave the pairing open"
        )
    return np.arange(original.rows, dtype=np.int64)


def _by_key(original: Table, released: Table, key: str) -> Integers:
    lacking = [side for side, table in (("original", original), ("released", released)) if key not in table.names]
    if lacking:
        raise InvalidInputError(
            f"rows cannot be paired by column {key!r}: the {' and the '.join(lacking)} table does not have it. "
            "A published file has no key: leave the pairing open for it"
        )
    before, after = original.column(key), released.column(key)
    twice = [
        side
        for side, column in (("before", before), ("after", after))
        if column.has_gaps or len(column.domain) < len(column.codes)
    ]
    index = {value: code for code, value in enumerate(before.domain.to_pylist())}
    keys = [index.get(value, -1) for value in after.domain.to_pylist()]
    strangers = keys.count(-1)
    if twice or strangers:
        raise InvalidInputError(
            f"rows cannot be paired by column {key!r}: "
            + "; ".join(
                [f"it has gaps or the same value twice {side}" for side in twice]
                + ([f"{strangers} of its values occur only after"] if strangers else [])
            )
        )
    row_of = np.zeros(original.rows, np.int64)
    row_of[before.codes] = np.arange(original.rows)
    return np.asarray(row_of[np.array(keys, np.int64)[after.codes]])
