"""The distinct values of a column and their rows; of very many values a sample, always the same one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.kernels import Integers
from anon_core.table import Column
from anon_core.table.arrays import integers, numbers

MAX_DISTINCT = 50_000
"""Distinct values that are all looked at; of more, as many rows are."""

MAX_VALUE_BYTES = 400
"""Bytes of the longest value that is held against a form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """
    Distinct values without the gap, blanks around them cut off, and how many rows have each.

    ``short`` are those that can have a form at all, ``short_weights`` their rows; ``rows`` counts those of all.
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
        """Return what a reason has to say about where its figures come from."""
        return "" if self.whole else f" (in a sample of {self.rows:,} rows)"


def sample_of(column: Column, largest: int = MAX_DISTINCT) -> Sample:
    """
    Return the values to look at.

    A sample takes every n-th row in the order of the values, so that each value comes up as often as its rows ask for,
    and twice the same table gives twice the same sample.
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
    """Return distinct values and their rows as a sample; ``whole`` says that no value of the column is missing."""
    texts = pc.utf8_trim_whitespace(values.cast(pa.string()))
    # A cell of many kilobytes has no form; it would only cost time.
    fits = np.flatnonzero(numbers(pc.binary_length(texts)) <= MAX_VALUE_BYTES)
    return Sample(
        values=texts, weights=weights, short=texts.take(integers(fits)), short_weights=weights[fits], whole=whole
    )
