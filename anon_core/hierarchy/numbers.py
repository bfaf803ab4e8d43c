"""Numbers as they stand in cells, exactly: binary floats would move a value across the edge of its interval."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

_MAX_DIGITS = 300
"""Digits before or after the point; `1E999999999` is a short text and a number that fills the memory."""

_COMMA = re.compile(r"\s*[+-]?([0-9]*),([0-9]+)\s*")
_GROUPED = re.compile(r"\s*[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?\s*")

_THOUSANDS = re.compile(r"\s*[+-]?[1-9][0-9]{0,2}([.,])[0-9]{3}\s*")

Reading = Callable[[str], Decimal | None]


def number_in(text: str | None) -> Decimal | None:
    """
    Return the number that a cell holds, or None for a gap, for what is not a number and for what is beyond reason.

    >>> number_in(" 1957 "), number_in("1E3") == 1000, number_in("nan"), number_in("1E999999999"), number_in(None)
    (Decimal('1957'), True, None, None, None)
    """
    try:
        number = Decimal((text or "").strip())
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    if not number:
        return Decimal(0)
    return number if abs(number.adjusted()) < _MAX_DIGITS and int(number.as_tuple().exponent) > -_MAX_DIGITS else None


def reading_of(values: Sequence[str]) -> Reading:
    """
    Return how the numbers of a column are read: with a decimal point, or all of them with a decimal comma.

    A column decides once. The comma is a decimal one if some number cannot be meant otherwise (``3,5`` can only be
    three and a half, ``1,234`` may be a thousand), none has a decimal point and none is grouped by commas. As long as
    every comma may divide thousands, what has one is not read as a number.

    >>> reading_of(["3,5", "1,234"])("1,234"), reading_of(["12", "1,234"])("1,234"), reading_of(["2.5", "3,5"])("3,5")
    (Decimal('1.234'), None, None)
    """
    with_comma = [value for value in values if "," in value]
    if not any(map(_is_decimal_comma, with_comma)) or any(map(_is_grouped, with_comma)):
        return number_in
    if any("." in value and number_in(value) is not None for value in values):
        return number_in
    return _number_with_comma


def _is_decimal_comma(text: str) -> bool:
    """Whether the one comma cannot divide thousands: other than 3 digits follow, or 0, nothing or too many precede."""
    match = _COMMA.fullmatch(text)
    return match is not None and not (len(match[2]) == 3 and 1 <= len(match[1]) <= 3 and match[1][0] != "0")


def _is_grouped(text: str) -> bool:
    return _GROUPED.fullmatch(text) is not None and ("." in text or text.count(",") > 1)


def _number_with_comma(text: str) -> Decimal | None:
    if "," not in text:
        return number_in(text)
    return number_in(text.replace(",", ".")) if _COMMA.fullmatch(text) else None


def may_be_thousands(values: Sequence[str], sign: str) -> int:
    """
    Count the numbers of a column in which a point (or a comma) may divide thousands, as far as the column tells.

    One number of which the point can only begin decimals, and all do.

    >>> may_be_thousands(["15.000", "7.500", "12"], "."), may_be_thousands(["15.000", "7.5"], ".")
    (2, 0)
    >>> may_be_thousands(["15,000"], ","), may_be_thousands(["0.125"], "."), may_be_thousands(["1.5", "15,000"], ",")
    (1, 0, 1)
    """
    with_sign = [value for value in values if sign in value]
    unsure = sum((match := _THOUSANDS.fullmatch(value)) is not None and match[1] == sign for value in with_sign)
    read = number_in if sign == "." else _number_with_comma
    return unsure if unsure == sum(read(value) is not None for value in with_sign) else 0


def is_whole(number: Decimal) -> bool:
    """
    Whether a number has no fraction.

    >>> is_whole(Decimal("12.0")), is_whole(Decimal("12.5"))
    (True, False)
    """
    return number == number.to_integral_value()


def written(units: int, places: int) -> str:
    """
    Write a number given in units of its last decimal place, with all its places.

    >>> written(-50, 2), written(1957, 0)
    ('-0.50', '1957')
    """
    return f"{Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -places)):f}"
