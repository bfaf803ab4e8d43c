"""
Numbers and dates in cells, read as tolerantly as a reader of a release would read them.

Values that become labels of a hierarchy, or are published rounded, are read strictly
(:mod:`anon_core.hierarchy.numbers`): there a wrong reading would publish something false. Here a value that is not read
counts as a value of its own, and would show diversity where there is none. So ``1,000.00``, ``1.000,00``, ``1 000`` and
``€ 1000`` are all 1000.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal

from anon_core.hierarchy.kinds.dates import DateForm, form_of, is_like_a_date
from anon_core.hierarchy.numbers import number_in

_SPACES = "\u0020\u00a0\u2007\u2009\u202f'\u2019"
_BY_SPACES = re.compile(rf"[+-]?[0-9]{{1,3}}(?:[{_SPACES}][0-9]{{3}})+(?:[.,][0-9]*)?")
_BY_COMMAS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_BY_POINTS = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]*)?")
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_POINT = re.compile(r"[+-]?[0-9]*\.[0-9]+")
_SLASHES = re.compile(r"\d{1,2}[/-]")
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
"""One sign that may divide thousands or begin decimals."""


def amounts_in(values: Sequence[str]) -> dict[int, Decimal]:
    """
    Return the numbers among the values of a column, by their positions.

    Where a sign may divide thousands or begin decimals, the other numbers of the column decide. If none of them shows
    it, a comma divides thousands and a point begins decimals.

    >>> amounts_in(["1,000.00", "1000", "n/a", "1'000", "€ 1000"]) == {0: 1000, 1: 1000, 3: 1000, 4: 1000}
    True
    >>> amounts_in(["1.234,50", "1.234"])[1], amounts_in(["0,5", "1,234"])[1], amounts_in(["1,234"])[0]
    (Decimal('1234'), Decimal('1.234'), Decimal('1234'))
    """
    plain = [_plain(value) for value in values]
    surely = [text for text in plain if not _EITHER.fullmatch(text)]
    comma_divides = not any(map(_COMMA.fullmatch, surely)) or any(_is_divided(text, ",") for text in surely)
    point_divides = any(_is_divided(text, ".") for text in surely) and not any(map(_POINT.fullmatch, surely))
    found = ((at, _amount(text, comma=comma_divides, point=point_divides)) for at, text in enumerate(plain))
    return {at: number for at, number in found if number is not None}


def _is_divided(text: str, sign: str) -> bool:
    """Whether signs can only divide thousands: there are several, or the other sign begins decimals."""
    pattern, other = (_BY_COMMAS, ".") if sign == "," else (_BY_POINTS, ",")
    return pattern.fullmatch(text) is not None and (text.count(sign) > 1 or other in text)


def _amount(text: str, *, comma: bool, point: bool) -> Decimal | None:
    either = _EITHER.fullmatch(text) is not None
    if _is_divided(text, ",") or (either and comma and "," in text):
        return number_in(text.replace(",", ""))
    if _is_divided(text, ".") or (either and point and "." in text):
        return number_in(text.replace(".", "").replace(",", "."))
    if _BY_SPACES.fullmatch(text):
        return number_in(re.sub(f"[{_SPACES}]", "", text).replace(",", "."))
    return number_in(text.replace(",", ".") if _COMMA.fullmatch(text) else text)


def _plain(text: str) -> str:
    """Return a text without spaces and currency signs around it, and with digits of other scripts as 0 to 9."""
    if text.isascii():
        return text.strip(" $%\t\r\n")
    spelled = (
        str(unicodedata.decimal(sign)) if sign.isdecimal() else "-" if sign == "\u2212" else sign for sign in text
    )
    kept = "".join(spelled)
    first, last = 0, len(kept)
    while first < last and _dresses(kept[first]):
        first += 1
    while last > first and _dresses(kept[last - 1]):
        last -= 1
    return kept[first:last]


def _dresses(sign: str) -> bool:
    return sign.isspace() or sign == "%" or unicodedata.category(sign) == "Sc"


def days_in(values: Sequence[str]) -> dict[int, int]:
    """
    Return the days among the values of a column as numbers, by their positions; a time of day is ignored.

    Each value is read in its own form. Where day and month could be swapped, the column decides. If it does not decide,
    or if the result is no day, the day is taken to come first; if that is no day either, the month.

    >>> days_in(["2019-05-15", "15.05.2019 10:00", "05/15/2019", "x"])
    {0: 737194, 1: 737194, 2: 737194}
    """
    likely = {at: value for at, value in enumerate(values) if is_like_a_date(value)}
    month_first = form_of(filter(_SLASHES.match, likely.values())) is DateForm.MONTH_FIRST
    slashed = (DateForm.DAY_FIRST, DateForm.MONTH_FIRST)
    forms = (DateForm.ISO, DateForm.DOTS, *(reversed(slashed) if month_first else slashed))
    days = ((at, next(filter(None, (form.date_in(value) for form in forms)), None)) for at, value in likely.items())
    return {at: day.toordinal() for at, day in days if day is not None}
