"""Numbers as they stand in cells, exactly: binary floats would move a value across the edge of its interval."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

_LARGEST = 300
"""Digits before or after the point; `1E999999999` is a short text and a number that fills the memory."""


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
    return number if abs(number.adjusted()) < _LARGEST and int(number.as_tuple().exponent) > -_LARGEST else None


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
