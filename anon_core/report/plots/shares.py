"""Shares as they are written in pictures of risk, where one row in a million must not read as none."""

from __future__ import annotations


def percent(part: int, whole: int) -> str:
    """
    Return a share in percent with one decimal; hardly any is not none, and nearly all is not all.

    >>> percent(1, 8), percent(1, 10**6), percent(10**6 - 1, 10**6), percent(5, 5), percent(0, 0)
    ('12.5%', '<0.1%', '>99.9%', '100%', '0%')
    """
    if part in (0, whole):
        return "100%" if part else "0%"
    tenths = round(1000 * part / whole)
    if not 0 < tenths < 1000:
        return ">99.9%" if tenths else "<0.1%"
    return f"{tenths / 10:.1f}%"
