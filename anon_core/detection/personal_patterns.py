"""Personal data in the texts of a published column: which patterns, in how many distinct values and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core import kernels
from anon_core.detection.roles.personal import IBAN, Digits, Personal
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Integers
from anon_core.policy import PersonalPattern
from anon_core.table import Mask
from anon_core.table.arrays import flags, integers, numbers
from anon_core.table.plain_writing import plainly_written

_NUMBER = r"^-?\d+(?:[.,]\d+)?$"
_AMOUNT_OR_DATE = r"^-?[1-9]\d{0,2}(?:[.,'’ ]\d{3})+(?:[.,]\d+)?$|^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:[T ].*)?$"
MIN_DEVIATIONS = 5
"""More values than by chance have the right check digit if they exceed it by so many standard deviations."""
_CANDIDATES_AT_ONCE = 1 << 16
"""So many candidates are checked at a time; then the search ends if there are enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalData:
    """
    A pattern in a column: ``values`` of its ``distinct`` values have the pattern, in ``rows`` rows.

    With ``open`` there are at least so many: the other values were not checked, because these are enough.
    """

    column: str
    pattern: PersonalPattern
    noun: str
    values: int
    rows: int
    distinct: int
    open: bool = False


def personal_data(table: FrequencyTable, columns: Sequence[str], forms: Sequence[Personal]) -> tuple[PersonalData, ...]:
    """
    Return every pattern of every column, in the order of the columns.

    Only distinct values are searched. A pattern may be anywhere within a longer text. Of numbers that have a form by
    chance, few have the right check digit. So a pattern with check digits is recognised if they are right for at least
    half of the values of that form, or for clearly more than chance would give (five standard deviations).
    """
    found = []
    for name, at in zip(columns, table.positions(columns), strict=True):
        weights = kernels.weigh(table.codes[at].astype(np.int64), len(table.domains[at]), table.weights)
        column = _Column.of(table.domains[at], weights, forms)
        found += [one for form in forms if (one := column.having(name, form)) is not None]
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """
    The distinct values of a column without the gap, plainly written.

    ``texts`` are the values that are no numbers, by hint; ``codes`` are those of digits only, and ``lengths`` says how
    many digits each has.
    """

    values: pa.Array
    weights: Integers
    texts: Mapping[str, Integers]
    codes: Integers
    lengths: Integers

    @classmethod
    def of(cls, domain: pa.Array, weights: Integers, forms: Sequence[Personal]) -> _Column:
        there = np.flatnonzero((weights > 0) & flags(domain.is_valid()))
        values = domain.cast(pa.string())
        values = plainly_written(values if len(there) == len(values) else values.take(integers(there)))
        numeric = flags(pc.match_substring_regex(values, _NUMBER))
        codes = np.flatnonzero(numeric & flags(pc.match_substring_regex(values, r"^\d{8,}$")))
        no_numbers = np.flatnonzero(~numeric)
        texts = {hint: _those(values, no_numbers, hint) for hint in sorted({one.hint for one in forms})}
        lengths = numbers(pc.binary_length(values.take(integers(codes))))
        return cls(values=values, weights=weights[there], texts=texts, codes=codes, lengths=lengths.astype(np.int64))

    def having(self, name: str, form: Personal) -> PersonalData | None:
        """Return how many values and rows have a form; None where it is not recognised."""
        found = _Found(form, len(self.values))
        for length, judge in form.numbers.items():
            found.add_numbers(self.codes[self.lengths == length], self.values, judge)
        formed = _those(self.values, self.texts[form.hint], form.form)
        if form.plain:
            formed = _without(self.values, formed, f"{_AMOUNT_OR_DATE}|{IBAN}")
            codes = _those(self.values, self.codes, form.form)
            # A code of ten digits may begin with 0, as a telephone number does: half of the codes must look like it.
            formed = np.concatenate([formed, codes]) if 2 * len(codes) >= len(self.codes) else formed
        found.add_texts(formed, self.values)
        values = found.values
        if not found.recognised:
            return None
        return PersonalData(
            column=name,
            pattern=form.pattern,
            noun=form.noun,
            values=len(values),
            rows=int(self.weights[values].sum()),
            distinct=len(self.values),
            open=found.open,
        )


class _Found:
    """The values that have a form, as far as values were checked."""

    def __init__(self, form: Personal, distinct: int) -> None:
        self.form = form
        self.least = max(form.limit * distinct, form.least)
        self.parts: list[Integers] = []
        self.right = self.candidates = 0
        self.open = False

    @property
    def values(self) -> Integers:
        return np.concatenate(self.parts) if self.parts else np.zeros(0, np.int64)

    @property
    def recognised(self) -> bool:
        return self.right >= self.least and _no_chance(self.right, self.candidates, self.form.chance)

    def add(self, values: Integers, candidates: int) -> None:
        self.parts.append(values)
        self.right += len(values)
        self.candidates += candidates

    def add_numbers(self, at: Integers, values: pa.Array, judge: Callable[[Digits], tuple[Mask, Mask]]) -> None:
        """Add numbers of one length."""
        for start in range(0, len(at), _CANDIDATES_AT_ONCE):
            part = at[start : start + _CANDIDATES_AT_ONCE]
            formed, right = judge(_digits(values.take(integers(part)), len(part)))
            self.add(part[right], int(formed.sum()))

    def add_texts(self, at: Integers, values: pa.Array) -> None:
        """Add texts that have the form; with check digits, stop when there are enough."""
        form = self.form
        if form.check is None or form.candidates is None:
            self.add(at, len(at))
            return
        for start in range(0, len(at), _CANDIDATES_AT_ONCE):
            if self.recognised and start:
                self.open = True
                return
            part = at[start : start + _CANDIDATES_AT_ONCE]
            tried = [list(map(form.check, form.candidates(text))) for text in values.take(integers(part)).to_pylist()]
            self.add(part[[any(one) for one in tried]], sum(map(bool, tried)))


def _digits(texts: pa.Array, rows: int) -> Digits:
    """Return the digits of numbers that are all of one length."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + rows + 1]
    signs = np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    return signs.reshape(rows, -1).astype(np.int64) - ord("0")


def _those(values: pa.Array, at: Integers, form: str) -> Integers:
    """Return the positions of the values that have a form."""
    if not len(at):
        return at
    some = values if len(at) == len(values) else values.take(integers(at))
    formed: Mask = flags(pc.match_substring_regex(some, form))
    return at[formed]


def _without(values: pa.Array, at: Integers, form: str) -> Integers:
    others: Integers = np.setdiff1d(at, _those(values, at, form), assume_unique=True)
    return others


def _no_chance(right: int, candidates: int, chance: float) -> bool:
    """
    Whether so many right check digits are more than chance would give.

    >>> _no_chance(1, 1, 1 / 10), _no_chance(110, 1000, 1 / 10), _no_chance(300, 1000, 1 / 10), _no_chance(1, 99, 0.0)
    (True, False, True, True)
    """
    expected = candidates * chance
    return 2 * right >= candidates or right > expected + MIN_DEVIATIONS * sqrt(expected * (1 - chance))


def once_per_pattern(found: Sequence[PersonalData]) -> Iterator[tuple[str, PersonalPattern]]:
    """Yield each column with each of its patterns once."""
    yield from dict.fromkeys((one.column, one.pattern) for one in found)
