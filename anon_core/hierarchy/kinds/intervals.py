"""Groups of a numeric column made from its own values: at least so many rows each, or so many distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from anon_core.errors import NotNumbersError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.hierarchy.numbers import number_in, written
from anon_core.kernels import AnyCodes, Integers
from anon_core.spec import Intervals, Replace, Years
from anon_core.table import Mask

MEAN = "~"
"""Marks a mean, for no such value was collected."""


def group_numbers(frequencies: FrequencyTable, years: Years, kept: Mask | None = None) -> Ladder:
    """
    Build a ladder whose first level is groups of neighbouring values [Pastore2020]_.

    ``rows``: values are taken in order until a group has at least ``size`` rows; equal values are never split; what is
    left at the end joins the last group. ``distinct``: chunks of ``size`` distinct values, as the authors' program
    does. A range is closed: ``1950-1953``. A mean is marked with ``~``.

    With ``kept`` the same groups are named after the values of those tuples only. Its ends are still real values.

    :raises NotNumbersError: some values are not numbers.
    """
    (at,) = frequencies.positions([years.column])
    domain = frequencies.domains[at].to_pylist()
    rows = np.zeros(len(domain), np.int64)
    np.add.at(rows, frequencies.codes[at], frequencies.weights)
    used = [code for code, text in enumerate(domain) if text is not None and rows[code]]
    missing = [code for code in used if number_in(domain[code]) is None]
    if missing:
        raise NotNumbersError(years.column, len(missing), int(rows[missing].sum()))
    counts = _counted(domain, frequencies.codes[at], frequencies.weights)
    texts: dict[Decimal, list[str]] = {}
    for code in used:
        texts.setdefault(number_in(domain[code]) or Decimal(0), []).append(domain[code])
    chunks = _chunks(sorted(counts), counts, years)
    named, weights = chunks, counts
    if kept is not None:
        weights = _counted(domain, frequencies.codes[at][kept], frequencies.weights[kept])
        # A group whose rows are all removed has no row to show its name.
        named = [[value for value in chunk if value in weights] or chunk for chunk in chunks]
        weights = counts | weights
    labels = _means(named, weights) if years.replace is Replace.MEAN else [_range(chunk) for chunk in named]
    paths: dict[str | None, Sequence[str]] = {
        text: [label] for chunk, label in zip(chunks, labels, strict=True) for number in chunk for text in texts[number]
    }
    return climb(years.column, frequencies.domains[at], paths, [_described(years), "suppressed"])


def _counted(domain: Sequence[str | None], codes: AnyCodes, weights: Integers) -> dict[Decimal, int]:
    """Return how many rows have each number."""
    rows = np.zeros(len(domain), np.int64)
    np.add.at(rows, codes, weights)
    counts: dict[Decimal, int] = {}
    for code in np.flatnonzero(rows).tolist():
        number = number_in(domain[code])
        if number is not None:
            counts[number] = counts.get(number, 0) + int(rows[code])
    return counts


def _described(years: Years) -> str:
    groups = (
        f"groups of at least {years.size} rows" if years.intervals is Intervals.ROWS else f"{years.size} values each"
    )
    return groups if years.replace is Replace.RANGE else f"{groups}, replaced by their mean (an invented value)"


def _chunks(values: list[Decimal], counts: dict[Decimal, int], years: Years) -> list[list[Decimal]]:
    """Return the values in groups, all in order."""
    if years.intervals is Intervals.DISTINCT:
        return [values[at : at + years.size] for at in range(0, len(values), years.size)]
    chunks: list[list[Decimal]] = []
    filled = 0
    for value in values:
        if not chunks or filled >= years.size:
            chunks.append([])
            filled = 0
        chunks[-1].append(value)
        filled += counts[value]
    if len(chunks) > 1 and filled < years.size:
        last = chunks.pop()
        chunks[-1] += last
    return chunks


def _range(chunk: list[Decimal]) -> str:
    low, high = chunk[0], chunk[-1]
    return f"{low:f}-{high:f}" if low >= 0 else f"[{low:f}, {high:f}]"


def _means(chunks: list[list[Decimal]], counts: dict[Decimal, int]) -> list[str]:
    """Return the mean of every group with as many decimals, at least one, as keep all groups apart."""
    means = [
        sum((Fraction(value) * counts[value] for value in chunk), Fraction(0)) / sum(counts[value] for value in chunk)
        for chunk in chunks
    ]
    decimals = 1
    while len({round(mean, decimals) for mean in means}) < len(means):
        decimals += 1
    return [f"{MEAN}{written(round(mean * 10**decimals), decimals)}" for mean in means]
