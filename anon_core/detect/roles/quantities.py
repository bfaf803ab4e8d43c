"""Values that can be rounded: amounts and points in time; and those that cannot, such as the coordinate of a house."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from anon_core.detect.roles.sampling import Sample
from anon_core.detect.roles.values import Finding, percent
from anon_core.role import Role
from anon_core.table.arrays import flags, numbers

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
_MOST_ANSWERS = 7
"""Each of two answers can be written in three cases."""
_LONGEST_COUNT = 4


def are_amounts(sample: Sample) -> bool:
    """Whether nine of ten rows hold a number, written with a decimal comma, points or a currency or not."""
    return _rows(sample, _AMOUNT) * 10 >= sample.rows * 9


def points_in_time(sample: Sample) -> Finding | None:
    """Return a finding where nine of ten rows hold a date, with the time of day or without; 20190515 is a number."""
    rows = _rows(sample, _TIME)
    if not rows or rows * 10 < sample.rows * 9:
        return None
    reason = f"{percent(rows, sample.rows)} of its values are points in time, which can be made coarser"
    return Finding(kind="date of an event", role=Role.QUASI, reason=reason + sample.words, most=True)


def are_exact(sample: Sample) -> bool:
    """Whether half of the rows hold coordinates as exact as a house; zeros at the end are often not written."""
    return _rows(sample, _EXACT) * 2 >= sample.rows


def counts_or_answers(sample: Sample, type_of_values: str) -> str:
    """Return in words that values are small whole numbers or only say yes or no; nothing where they are not."""
    told = {value.lower() for value in sample.values[:_MOST_ANSWERS].to_pylist()}
    if type_of_values == "boolean" or (len(sample.values) < _MOST_ANSWERS and any(told <= pair for pair in _ANSWERS)):
        return "its values only say yes or no"
    if type_of_values == "integer" and numbers(pc.utf8_length(sample.values)).max(initial=0) <= _LONGEST_COUNT:
        return "its values are small numbers, as counts are"
    return ""


def _rows(sample: Sample, form: str) -> int:
    if not len(sample.short):
        return 0
    return int(np.sum(sample.short_weights[flags(pc.match_substring_regex(sample.short, form))]))
