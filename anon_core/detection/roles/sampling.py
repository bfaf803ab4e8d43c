"""The distinct values of a column and their rows; if there are very many, a sample that is always the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.kernels import Integers
from anon_core.table import Column
from anon_core.table.arrays import integers, numbers

MAX_DISTINCT = 50_000
"""With up to so many distinct values, all are read; with more, a sample of so many rows."""

MAX_VALUE_BYTES = 400
"""Longer values are not compared with forms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """
    Distinct values without the gap and without blanks around them, and how many rows have each.

    ``short`` are the values short enough to have a form, ``short_weights`` their rows; ``rows`` counts the rows of all.
    """

    values: pa.Array
    weights: Integers
    short: pa.Array
    short_weights: Integers
    whole: bool

    @property
    def rows(self) -> int:
        return int(self.weights.sum())

    @property
    def words(self) -> str:
        """Return what a reason adds about its figures: that they are from a sample; else nothing."""
        return "" if self.whole else f" (in a sample of {self.rows:,} rows)"


def sample_of(column: Column, largest: int = MAX_DISTINCT) -> Sample:
    """
    Return the values to read.

    A sample takes every n-th row in the order of the values, so that each value occurs in proportion to its rows, and
    the same table always gives the same sample.
    """
    weights = np.bincount(column.codes, minlength=len(column.domain)).astype(np.int64)
    if column.has_gaps:
        weights[-1] = 0
    values = np.flatnonzero(weights)
    weights = weights[values]
    whole = len(values) <= largest
    if not whole:
        ends = np.cumsum(weights)
        drawn = (2 * np.arange(largest, dtype=np.int64) + 1) * int(ends[-1]) // (2 * largest)
        at, weights = np.unique(np.searchsorted(ends, drawn, side="right"), return_counts=True)
        values = values[at]
    return sample_of_values(column.domain.take(integers(values)), weights.astype(np.int64), whole=whole)


def sample_of_values(values: pa.Array, weights: Integers, *, whole: bool) -> Sample:
    """Return distinct values and their rows as a sample; ``whole``: no value of the column is missing."""
    texts = pc.utf8_trim_whitespace(values.cast(pa.string()))
    # A cell of many kilobytes has no form, and would cost time.
    fits = np.flatnonzero(numbers(pc.binary_length(texts)) <= MAX_VALUE_BYTES)
    return Sample(
        values=texts, weights=weights, short=texts.take(integers(fits)), short_weights=weights[fits], whole=whole
    )
