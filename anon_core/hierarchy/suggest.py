"""A first hierarchy for a column, by what it is and what its values look like; a person improves on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.hierarchy.kinds.dates import form_of
from anon_core.hierarchy.numbers import number_in, reading_of
from anon_core.kernels import Integers
from anon_core.spec import DateLevel, Hierarchy, Unmapped
from anon_core.table import Column, Mask
from anon_core.table.arrays import flags, integers, numbers

_ROOT_ONLY = Hierarchy(root="*")
_STEPS = {1: (1, 5, 10), 2: (2, 10, 20), 5: (5, 10, 20)}
"""Interval widths by the first digit of the narrowest; each is a multiple of the one before."""
_MIN_NUMBERS = 6
"""Fewer distinct numbers are left as they are or taken away: they are codes as often as amounts."""
_MAX_LIFETIMES_YEARS = 200
"""Years that ages and years of birth lie apart at most; else they are counted in months, or are no years."""
_OTHER_DATE = r"^\d{1,2}[./-]\d{1,2}[./-]\d{4}($|[T ])"
_WITH_COMMA = r"^[+-]?\d+(,\d+)?$"
MAX_CHECKED_VALUES = 200_000
"""Distinct values; more are not looked at one by one."""
_MIN_FITTING_SHARE = 0.95
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+[.,]?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def suggested(column: Column, *, kind: str | None, type_of_values: str) -> Hierarchy:
    """
    Return a hierarchy that covers every value of the column; where none fits, the root only.

    If at least 95 % of the filled rows are dates of one form, or numbers, it is made for these, and suppresses the
    others. ``kind`` is the proposed kind of the column, such as `postcode`; ``type_of_values`` is the type of its
    profile. A number written with leading zeros is a code and loses its last digits, in a column of any name.

    >>> column = Column(name="zip", codes=np.arange(2, dtype=np.int32), domain=pa.array(["01069", "80331"]))
    >>> suggested(column, kind="postcode", type_of_values="integer").prefix
    (4, 3, 2, 1)
    """
    found = _covering(column, kind=kind, type_of_values=type_of_values)
    if found.root is None or type_of_values not in ("text", "date", "timestamp"):
        return found
    fit = read_as(column.domain.drop_null().to_pylist(), _weights(column))
    if fit is None or not fit.unfit.any():
        return found
    fitting = _only(column, ~fit.unfit)
    commas = pc.any(pc.match_substring(fitting.domain, ",")).as_py()
    found = _covering(fitting, kind=kind, type_of_values="text" if commas else fit.type)
    suppresses = found.root is None and found.prefix is None  # A prefix covers every text.
    return found.model_copy(update={"unmapped": Unmapped.SUPPRESS}) if suppresses else found


def _only(column: Column, kept: Mask) -> Column:
    """Return the rows of a column that have certain of its values."""
    known = np.append(kept, False) if column.has_gaps else kept
    codes = (np.cumsum(known, dtype=np.int32) - 1).astype(np.int32)[column.codes[known[column.codes]]]
    return Column(name=column.name, codes=codes, domain=column.domain.take(integers(np.flatnonzero(known))))


def _covering(column: Column, *, kind: str | None, type_of_values: str) -> Hierarchy:
    """Return a hierarchy that covers every value, the root only where none does."""
    values = column.domain.drop_null()
    if not len(values):
        return _ROOT_ONLY
    if kind == "date of birth" and _are_compact_dates(values):
        return Hierarchy(prefix=(6, 4, 3))  # month, year, decade
    if kind == "postcode" or (type_of_values == "integer" and _are_codes(values)):
        return _prefixes(column)
    if type_of_values in ("date", "timestamp") or _are_like(values, _OTHER_DATE):
        return _dates(values, kind)
    if type_of_values in ("integer", "decimal") and _are_numbers(values):
        return _intervals(column, values, kind, whole=type_of_values == "integer")
    if _are_like(values, _WITH_COMMA) and reading_of(values.to_pylist()) is not number_in:
        return _intervals(column, pc.replace_substring(values, ",", "."), kind, whole=False)
    return _ROOT_ONLY


def _are_like(values: pa.Array, form: str) -> bool:
    """Whether all have a form; one value rules out most, then all are looked at."""
    few = len(values) <= MAX_CHECKED_VALUES
    return few and re.search(form, values[0].as_py()) is not None and _match(values, form)


def _match(values: pa.Array, form: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, form)).as_py())


def _are_codes(values: pa.Array) -> bool:
    """Whether numbers all have one length and some begin with 0."""
    lengths = pc.min_max(pc.utf8_length(values))
    zeros = pc.any(pc.match_substring_regex(values, r"^0[0-9]")).as_py()
    return bool(zeros and lengths["min"].as_py() == lengths["max"].as_py())


def _are_compact_dates(values: pa.Array) -> bool:
    """Whether all are dates such as 19570412."""
    form = r"^(18|19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"
    return _match(values, form)


def _prefixes(column: Column) -> Hierarchy:
    """Return prefixes that become shorter, beginning below the length that most filled rows have."""
    lengths = numbers(pc.utf8_length(column.domain.drop_null()))
    usual = int(np.bincount(lengths, _weights(column)).argmax())
    longest = min(usual - 1, 4 if usual <= 8 else 5)
    return Hierarchy(prefix=tuple(range(longest, 0, -1))) if longest > 0 else _ROOT_ONLY


def _dates(values: pa.Array, kind: str | None) -> Hierarchy:
    """Return the parts of dates; of dates that do not exist, such as 30 February, there are none."""
    days = values
    if _match(values, r"(?s)^\d{4}-\d{2}-\d{2}([T ].*)?$"):
        days = pc.unique(pc.utf8_slice_codeunits(values, 0, 10))
    texts = days.to_pylist()
    form = form_of(texts)
    years = [date.year for text in texts if (date := form.date_in(text))]
    if len(years) < len(texts):
        return _ROOT_ONLY
    long = kind == "date of birth" or max(years) - min(years) > 20
    return Hierarchy(date=(DateLevel.MONTH, DateLevel.YEAR if long else DateLevel.QUARTER,
                           DateLevel.DECADE if long else DateLevel.YEAR))  # fmt: skip


def _are_numbers(values: pa.Array) -> bool:
    """Whether the builder of intervals reads them all: numbers beyond reason it does not."""
    long = numbers(pc.binary_length(values)) > 100
    unusual = values.take(integers(np.flatnonzero(long | flags(pc.match_substring_regex(values, "[eE]")))))
    return len(unusual) <= MAX_CHECKED_VALUES and all(number_in(text) is not None for text in unusual.to_pylist())


def _intervals(column: Column, values: pa.Array, kind: str | None, *, whole: bool) -> Hierarchy:
    """Return intervals that fit the range in which nine of ten rows lie; ``values`` are written with points."""
    if kind == "coordinate" and not whole:
        return Hierarchy(intervals=(0.01, 0.1, 1))
    spans = _spans(column, values)
    if len(values) < _MIN_NUMBERS or not np.isfinite(spans.whole) or spans.whole <= 0:
        return _ROOT_ONLY
    if kind in ("age", "year of birth", "date of birth") and spans.whole <= _MAX_LIFETIMES_YEARS:
        return Hierarchy(intervals=(5, 10, 20))
    widths = _widths(spans.usual or spans.whole, whole=whole)
    useful = [width for width in widths if width < spans.whole]
    return Hierarchy(intervals=tuple(map(_number, useful))) if useful else _ROOT_ONLY


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spans:
    """How far numbers lie apart: all of them, and ``usual`` without the lowest and highest twentieth of the rows."""

    usual: float
    whole: float


def _spans(column: Column, values: pa.Array) -> _Spans:
    amounts = numbers(values.cast(pa.float64()))
    order = np.argsort(amounts, kind="stable")
    ends = np.cumsum(_weights(column)[order])
    low, high = (float(amounts[order][np.searchsorted(ends, ends[-1] * share)]) for share in (0.05, 0.95))
    return _Spans(usual=high - low, whole=float(amounts[order[-1]]) - float(amounts[order[0]]))


def _weights(column: Column) -> Integers:
    """Return how many rows have each value; the gap, which is the last entry of a domain, is left out."""
    weights: Integers = np.bincount(column.codes, minlength=len(column.domain))
    return weights[: len(column.domain) - column.has_gaps]


def _widths(span: float, *, whole: bool) -> list[Decimal]:
    """
    Return round widths of which the narrowest cuts a span into about a dozen; whole numbers need 2 at least.

    >>> [str(width) for width in _widths(100_000, whole=True)], [str(width) for width in _widths(1.5, whole=False)]
    (['10000', '50000', '100000'], ['0.1', '0.5', '1.0'])
    """
    twelfth = Decimal(repr(span)) / 12
    power = Decimal(10) ** twelfth.adjusted()
    first = min((1, 2, 5, 10), key=lambda digit: abs((twelfth / power / digit).ln()))
    if first == 10:
        first, power = 1, power * 10
    if whole and first * power < 2:
        first, power = 2, Decimal(1)
    return [Decimal(f"{step * power:f}") for step in _STEPS[first]]


def _number(width: Decimal) -> int | float:
    return int(width) if width == width.to_integral_value() else float(width)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What values are read as, `date`, `integer` or `decimal`, and which of them are not."""

    type: str
    unfit: Mask


def read_as(values: Sequence[str], rows: Integers) -> Fit | None:
    """
    Return what at least 95 % of the filled rows of a column are read as, or None where that is text.

    ``rows`` says how many rows have each value. One form of dates, and one decimal sign, is read in a column.

    >>> found = read_as(["12,5", "3,25", "n.a."], np.array([60, 39, 1]))
    >>> found.type, found.unfit.tolist()
    ('decimal', [False, False, True])
    >>> read_as(["12,5", "n.a."], np.array([90, 10])) is None
    True
    """
    if not len(values) or len(values) > MAX_CHECKED_VALUES:
        return None
    form = form_of(values)
    unfit = np.array([form.date_in(value) is None for value in values])
    if _are_few(unfit, rows):
        return Fit(type="date", unfit=unfit)
    read = reading_of(values)
    unfit = np.array([not _NUMBER.fullmatch(value) or read(value) is None for value in values])
    if not _are_few(unfit, rows):
        return None
    whole = all(_WHOLE.fullmatch(value) for value, other in zip(values, unfit, strict=True) if not other)
    return Fit(type="integer" if whole else "decimal", unfit=unfit)


def _are_few(unfit: Mask, rows: Integers) -> bool:
    return bool(rows[~unfit].sum() >= _MIN_FITTING_SHARE * rows.sum() and rows.sum())
