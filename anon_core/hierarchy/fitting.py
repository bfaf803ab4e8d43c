"""What a column of texts is read as where hierarchies are built: dates, or numbers; all of it, or all but a few."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.hierarchy.kinds.dates import form_of
from anon_core.hierarchy.numbers import reading_of
from anon_core.kernels import Integers
from anon_core.table import Mask

MOST_CHECKED = 200_000
"""Distinct values; more are not looked at one by one."""
_NEARLY_ALL = 0.95
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+[.,]?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


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
    if not len(values) or len(values) > MOST_CHECKED:
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
    return bool(rows[~unfit].sum() >= _NEARLY_ALL * rows.sum() and rows.sum())
