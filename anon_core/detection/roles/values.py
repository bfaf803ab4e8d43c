"""What the values of a column look like: forms, dates of birth, free text."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.detection.roles.patterns import FULL_NAME, PATTERNS, Pattern
from anon_core.detection.roles.sampling import Sample
from anon_core.kernels import Integers
from anon_core.role import Role
from anon_core.table.arrays import flags, numbers

_MIN_SHARE = (9, 10)
"""At least this share of the rows must have a form for the column to have it."""
_FEW_ROWS = 5
_FEW_PERCENT = 1
_DATES = (
    r"^(?P<year>\d{4})$",
    r"^(?P<year>\d{4})-\d{2}-\d{2}(?:[T ].*)?$",
    r"^\d{1,2}[./-]\d{1,2}[./-](?P<year>\d{4})$",
    r"^(?P<year>\d{4})(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])$",
)
_MIN_SPREAD_YEARS = 30
"""At least so many years lie between the 20th youngest and the 20th oldest of a hundred people."""
_CURRENCY = r"(€|\$|£|EUR|CHF|USD|GBP)?"
_AMOUNT = rf"^{_CURRENCY}\s?[+-]?\d{{1,3}}([.,'’  ]?\d{{3}})*([.,]\d{{1,4}})?\s?{_CURRENCY}$"
_CLOCK = r"\d{1,2}[:.]\d{2}([:.]\d{2})?(\.\d+)?( ?[AaPp][Mm])?( ?(Uhr|Z|UTC|[+-]\d{2}:?\d{2}))?"
_TIME = rf"^(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[./-]\d{{1,2}}[./-](\d{{4}}|\d{{2}}))((T|,? ){_CLOCK})?$"
_EXACT = r"\d[.,]\d{4,}|^[+-]?\d{6,}([.,]\d+)?$"
"""Four decimals of a degree are about ten metres; a grid in metres has six digits and more."""
_ANSWERS = (
    *({"yes", "no"}, {"y", "n"}, {"ja", "nein"}, {"j", "n"}, {"si", "no"}, {"sì", "no"}, {"sí", "no"}, {"s", "n"}),
    *({"oui", "non"}, {"o", "n"}, {"true", "false"}, {"vero", "falso"}, {"vrai", "faux"}, {"wahr", "falsch"}, {"x"}),
    {"0", "1"},
)
_MAX_ANSWERS = 7
"""A column with fewer values than this may hold yes and no, each in three ways of capitals."""
_MAX_COUNT_DIGITS = 4
_CODE = r"^\p{L}{1,6}[-/. ]?\d[\dA-Za-z./-]{2,}$"
_DIGITS = r"^\d{5,}$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What values look like: a kind, its role and the reason; ``most``: most rows look like it, not only some."""

    kind: str
    role: Role
    reason: str
    most: bool


def findings(sample: Sample, type_of_values: str, *, persons: bool = True) -> Iterator[Finding]:
    """
    Yield what the values look like, first the form of most values.

    Whole numbers are compared only with forms that numbers can have, decimals and dates with none. Without ``persons``
    capitalised words do not count as names of people.
    """
    if type_of_values not in ("text", "integer") or not sample.rows:
        return
    patterns = [one for one in PATTERNS if type_of_values == "text" or one.numbers]
    patterns = [one for one in patterns if persons or one.kind != "personal name"]
    measured = [(pattern, *rows_with(pattern, sample)) for pattern in patterns]
    for pattern, rows, formed in measured:
        if rows * _MIN_SHARE[1] >= sample.rows * _MIN_SHARE[0]:
            yield _finding(pattern, rows, sample, most=True)
        elif pattern.form_counts and formed * _MIN_SHARE[1] >= sample.rows * _MIN_SHARE[0]:
            form, _, check = pattern.looks.partition(" with the ")
            told = f"{percent(formed, sample.rows)} of its values {form}, though not all with the {check}"
            yield Finding(kind=pattern.kind, role=pattern.role, reason=told + sample.words, most=True)
    for pattern, rows, formed in measured:
        # Few numbers that have the form by chance pass the check; if half of them do, it is no chance.
        few = rows >= _FEW_ROWS or rows * 100 >= sample.rows * _FEW_PERCENT
        if pattern.telling and rows and few and rows * 2 >= formed:
            yield _finding(pattern, rows, sample, most=False)


def _finding(pattern: Pattern, rows: int, sample: Sample, *, most: bool) -> Finding:
    share = percent(rows, sample.rows)
    told = f"{share} of its values {pattern.looks}" if most else f"some of its values ({share}) {pattern.looks}"
    return Finding(kind=pattern.kind, role=pattern.role, reason=told + sample.words, most=most)


def rows_with(pattern: Pattern, sample: Sample) -> tuple[int, int]:
    """Return how many rows pass, and how many have the form."""
    if not len(sample.short):
        return 0, 0
    formed = pc.match_substring_regex(sample.short, pattern.form)
    weights = sample.short_weights[flags(formed)]
    if pattern.check is None or not len(weights):
        return int(weights.sum()), int(weights.sum())
    passed = np.fromiter(map(pattern.check, sample.short.filter(formed).to_pylist()), np.bool_, len(weights))
    return int(weights[passed].sum()), int(weights.sum())


def percent(rows: int, of: int) -> str:
    """
    Return a share in whole percent, rounded down so that only all is 100 %.

    >>> percent(999, 1000), percent(3, 1000), percent(7, 7)
    ('99 %', 'less than 1 %', '100 %')
    """
    return f"{rows * 100 // of} %" if rows * 100 >= of else "less than 1 %"


def births(sample: Sample, type_of_values: str, today: datetime.date) -> Finding | None:
    """
    Return a finding where nearly all values are dates or years from 1900 to this year, spread as ages of people are.

    If a single one is before 1900 or after this year, the dates are of something else. Only years are compared, since
    3/4/2026 does not show which number is the month.
    """
    if type_of_values not in ("integer", "date", "timestamp", "text"):
        return None
    kind, (years, weights) = _dated(sample)
    if not len(years):
        return None
    order = np.argsort(years, kind="stable")
    ends = np.cumsum(weights[order])
    old, middle, young = (years[order][np.searchsorted(ends, ends[-1] * share)] for share in (0.2, 0.5, 0.8))
    if (
        years.min() < 1900
        or years.max() > today.year
        or young - old < _MIN_SPREAD_YEARS
        or not 10 <= today.year - middle <= 90
    ):
        return None
    share, what = percent(int(ends[-1]), sample.rows), f"{kind.split()[0]}s"
    reason = f"{share} of its values are {what} from 1900 to this year, spread like people's {what} of birth"
    return Finding(kind=kind, role=Role.QUASI, reason=reason + sample.words, most=True)


def _dated(sample: Sample) -> tuple[str, tuple[Integers, Integers]]:
    """Return the kind of dates that the values are, and their years with their rows; empty if they are no dates."""
    for form in _DATES:
        if (found := _years(sample, form)) is not None:
            return ("year of birth" if form is _DATES[0] else "date of birth"), found
    return "", (np.zeros(0, np.int64), np.zeros(0, np.int64))


def _years(sample: Sample, form: str) -> tuple[Integers, Integers] | None:
    """Return the years of the values that have the form with their rows, or None where too few have it."""
    if not len(sample.short):
        return None
    years = pc.struct_field(pc.extract_regex(sample.short, form), 0)
    weights = sample.short_weights[flags(pc.is_valid(years))]
    if not len(weights) or int(weights.sum()) * _MIN_SHARE[1] < sample.rows * _MIN_SHARE[0]:
        return None
    return numbers(years.drop_null().cast(pa.int64())), weights


def five_digit_codes(sample: Sample) -> Finding | None:
    """Return a finding for numbers of five digits of which some begin with 0: codes such as postcodes, not amounts."""
    rows, _ = rows_with(Pattern(kind="postcode", looks="", form=r"^\d{5}$"), sample)
    zeros, _ = rows_with(Pattern(kind="postcode", looks="", form=r"^0\d{4}$"), sample)
    if not rows or rows * _MIN_SHARE[1] < sample.rows * _MIN_SHARE[0] or zeros * 100 < sample.rows:
        return None
    reason = f"{percent(rows, sample.rows)} of its values have five digits, some with a leading 0, as postcodes do"
    return Finding(kind="postcode", role=Role.QUASI, reason=reason + sample.words, most=True)


def free_text(sample: Sample, distinct: int, filled: int) -> Finding | None:
    """Return a finding where most values are sentences that hardly repeat."""
    if distinct * 2 < filled or not sample.rows:
        return None
    spaces, lengths = numbers(pc.count_substring(sample.values, " ")), numbers(pc.utf8_length(sample.values))
    rows = int(sample.weights[(spaces >= 4) & (lengths >= 30)].sum())
    if rows * 2 < sample.rows:
        return None
    share = percent(rows, sample.rows)
    reason = f"{share} of its values are sentences that hardly repeat, and no check finds all that free text tells"
    return Finding(kind="free text", role=Role.DROP, reason=reason + sample.words, most=True)


def are_codes(sample: Sample) -> bool:
    """
    Whether nine of ten rows have a code: letters followed by digits, or numbers with equally many digits.

    A number that begins with 0 is no amount, and one of four digits may be a year.
    """
    mixed, digits = _rows(sample, _CODE), _rows(sample, _DIGITS)
    if mixed * _MIN_SHARE[1] >= sample.rows * _MIN_SHARE[0]:
        return True
    as_long = len(pc.unique(pc.utf8_length(sample.short))) == 1 if len(sample.short) else False
    return digits * _MIN_SHARE[1] >= sample.rows * _MIN_SHARE[0] and as_long


def have_form_of_names(sample: Sample) -> bool:
    """Whether nine of ten rows have two or more capitalised words, as full names of persons do."""
    return _rows(sample, FULL_NAME) * _MIN_SHARE[1] >= sample.rows * _MIN_SHARE[0]


def are_amounts(sample: Sample) -> bool:
    """Whether nine of ten rows have a number, with or without a decimal comma, points or a currency."""
    return _rows(sample, _AMOUNT) * 10 >= sample.rows * 9


def points_in_time(sample: Sample) -> Finding | None:
    """Return a finding where nine of ten rows have a date, with or without a time of day; 20190515 is a number."""
    rows = _rows(sample, _TIME)
    if not rows or rows * 10 < sample.rows * 9:
        return None
    reason = f"{percent(rows, sample.rows)} of its values are points in time, which can be made coarser"
    return Finding(kind="date of an event", role=Role.QUASI, reason=reason + sample.words, most=True)


def are_exact(sample: Sample) -> bool:
    """Whether half of the rows have coordinates as exact as a house; zeros at the end are often not written."""
    return _rows(sample, _EXACT) * 2 >= sample.rows


def counts_or_answers(sample: Sample, type_of_values: str) -> str:
    """Return in words that values are small whole numbers, or only yes or no; an empty text if they are neither."""
    told = {value.lower() for value in sample.values[:_MAX_ANSWERS].to_pylist()}
    if type_of_values == "boolean" or (len(sample.values) < _MAX_ANSWERS and any(told <= pair for pair in _ANSWERS)):
        return "its values only say yes or no"
    if type_of_values == "integer" and numbers(pc.utf8_length(sample.values)).max(initial=0) <= _MAX_COUNT_DIGITS:
        return "its values are small numbers, as counts are"
    return ""


def _rows(sample: Sample, form: str) -> int:
    if not len(sample.short):
        return 0
    return int(np.sum(sample.short_weights[flags(pc.match_substring_regex(sample.short, form))]))
