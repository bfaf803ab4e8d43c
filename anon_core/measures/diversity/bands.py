"""
Bands of numbers and of dates: what counts as one value where diversity is measured. 50,000 and 50,001 are not two.

A band is as wide as the largest power of two that is at most a tenth of the range, and begins at a multiple of its
width. So there are 10 to 20 bands, or one more if the ends of the range lie inside bands. Powers of two nest: a table
with fewer rows has the same bands or finer ones. So a class that is diverse enough while the table still has the rows
that recoding removes is diverse enough without them. And bands are computed from the table that is measured: a suite
needs no width, which would give away the smallest and the largest value collected.

Every number and every date counts, also in a column with other texts: one word among salaries does not turn bands off.
Texts that differ only in capitals, blanks or characters that cannot be seen are one value: hiv and HIV are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.frequency import FrequencyTable
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.diversity.amounts import amounts_in, days_in
from anon_core.policy import CountedValues
from anon_core.table import Mask
from anon_core.table.arrays import integers, nulls, numbers
from anon_core.table.plain_writing import plainly_written

MIN_BANDED = 10
"""With so many different numbers (or days), a column counts by bands; fewer are categories."""
MAX_COARSENED = 200
"""A coarsened column with more numbers than this is still fine, and counts by bands."""
MIN_BANDS = 10


def in_bands(frequencies: FrequencyTable, column: str, how: CountedValues) -> FrequencyTable:
    """
    Return a table counted with bands in the place of the values of one column.

    >>> pay = pa.array([str(50_000 + n) for n in range(10)] + ["90000"])
    >>> table = FrequencyTable.from_codes(["pay"], [np.arange(11)], [pay])
    >>> in_bands(table, "pay", CountedValues.BANDS).tuples, in_bands(table, "pay", CountedValues.EACH).tuples
    (2, 11)

    :raises UnknownColumnError: it is not a column of the table.
    """
    (at,) = frequencies.positions([column])
    domain = frequencies.domains[at]
    present = np.zeros(len(domain), np.bool_)
    present[frequencies.codes[at]] = True
    stands_for = bands(domain, present, how)
    return frequencies if stands_for is None else frequencies.lift(column, stands_for, domain)


def bands(domain: pa.Array, present: Mask, how: CountedValues) -> AnyCodes | None:
    """
    Return for each code of a domain the code of the value that stands for its band; None if each stands for itself.

    Only values that are ``present`` decide. Spellings of one number or day are one value, also where there are too few
    for bands. A gap is a value of its own, and so is any other text; spellings that differ in capitals or blanks are
    one.
    """
    if how is CountedValues.EACH:
        return None
    at = np.flatnonzero(present & ~nulls(domain))
    values = domain.take(integers(at))
    keys = _plain_keys(values, how)
    if keys is None:
        keys = _keys(values.to_pylist(), plainly_written(values).to_pylist(), how)
    _, first, band = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(keys):
        return None
    stands_for = np.arange(len(domain), dtype=np.int32)
    stands_for[at] = at[first][band]
    return stands_for


def _many(distinct: int, how: CountedValues) -> bool:
    """Whether so many different numbers are too many to count each."""
    return distinct >= MIN_BANDED if how is CountedValues.BANDS else distinct > MAX_COARSENED


def _plain_keys(values: pa.Array, how: CountedValues) -> Integers | None:
    """Return the band of each value, for all values at once; None where some are more than plain numbers."""
    if _all_match(values, r"^-?[0-9]{1,18}\z"):
        found, scale = numbers(values.cast(pa.int64())).astype(np.int64), 1
    elif _all_match(values, r"^-?[0-9]{1,12}(\.[0-9]{1,4})?\z"):
        whole = values.cast(pa.decimal128(16, 4)).buffers()[1]
        found, scale = np.frombuffer(whole, np.int64)[: 2 * len(values) : 2], 10_000  # The low half of each number.
    else:
        return None
    distinct = np.unique(found)
    if not _many(len(distinct), how):
        return found
    power = power_of(Fraction(int(distinct[-1]) - int(distinct[0]), MIN_BANDS * scale))
    if scale == 1 and power <= 0:
        return found
    if power < -9:  # For numbers so near to each other the products would not fit into 64 bits.
        return None
    return np.asarray(found // (scale << power) if power >= 0 else (found << -power) // scale)


def _all_match(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern), min_count=0).as_py())


def _keys(values: Sequence[str], plain: Sequence[str], how: CountedValues) -> Integers:
    """Return a number for the band of each value; ``plain`` are the same values, plainly written."""
    amounts, days = amounts_in(values), days_in(values)
    of_amounts = _banded(amounts, how)
    of_days = _banded({at: Decimal(day) for at, day in days.items()}, how)
    number: dict[tuple[str, object], int] = {}
    found = []
    for at, value in enumerate(plain):
        key: tuple[str, object] = ("value", value.casefold())
        if at in of_days:
            key = ("day", of_days[at])
        elif at in of_amounts:
            key = ("amount", of_amounts[at])
        found.append(number.setdefault(key, len(number)))
    return np.array(found, np.int64)


def _banded(read: Mapping[int, Decimal], how: CountedValues) -> Mapping[int, Decimal | int]:
    """Return the band of each number, or the number where these do not count by bands."""
    distinct = set(read.values())
    if not _many(len(distinct), how):
        return read
    power = power_of((Fraction(max(distinct)) - Fraction(min(distinct))) / MIN_BANDS)
    return {at: band_of(number, power) for at, number in read.items()}


def band_of(number: Decimal, power: int) -> int:
    """
    Return the number of the band of width 2 to a power, exactly; bands hold their lower end.

    >>> [band_of(Decimal(text), 3) for text in ("7.9", "8", "-0.1")], band_of(Decimal("0.3"), -2)
    ([0, 1, -1], 1)
    """
    above, below = number.as_integer_ratio()
    return above // (below << power) if power >= 0 else (above << -power) // below


def power_of(width: Fraction) -> int:
    """
    Return the largest power of two, by its exponent, that is at most a width above 0.

    >>> power_of(Fraction(8)), power_of(Fraction(9)), power_of(Fraction(1, 3))
    (3, 3, -2)
    """
    power = width.numerator.bit_length() - width.denominator.bit_length()
    return power if Fraction(2) ** power <= width else power - 1
