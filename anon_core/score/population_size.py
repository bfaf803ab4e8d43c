"""How many people the population has that a table is a sample of."""

from __future__ import annotations

from anon_core.errors import InvalidInputError

MOST_PEOPLE = 10**12
"""A hundred times as many as live: a fraction that implies more is a slip, and floats begin to miscount people."""


def population_size(rows: int, sampling_fraction: float) -> int:
    """
    Return the number of rows by the sampling fraction, rounded, and never fewer than the rows.

    >>> population_size(3, 0.1), population_size(4, 0.9), population_size(4, 1)
    (30, 4, 4)

    :raises InvalidInputError: a fraction that is not above 0 and at most 1, or that implies more than 10^12 people.
    """
    if not 0 < sampling_fraction <= 1:
        raise InvalidInputError(f"sampling_fraction must be above 0 and at most 1, not {sampling_fraction}")
    if rows / sampling_fraction > MOST_PEOPLE:
        raise InvalidInputError(
            f"a sampling_fraction of {sampling_fraction} makes {rows:,} rows a sample of more than {MOST_PEOPLE:,} "
            "people; give the share of the population that is in the table, or none"
        )
    return max(rows, round(rows / sampling_fraction))
