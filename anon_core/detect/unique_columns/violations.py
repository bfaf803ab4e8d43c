"""Rows that some columns leave indistinguishable, and what their pairs differ in; vectorised, for small tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.detect.unique_columns.question import Question
from anon_core.kernels import AnyCodes, Integers

DENSE = 8
"""Keys up to so many times their number are counted by address, larger ones sorted."""


@dataclass(frozen=True, slots=True)
class Classes:
    """Rows that are not alone, in their order, and the number (from 0, below ``count``) of the class each is in."""

    rows: Integers
    numbers: Integers
    count: int

    def refine(self, codes: AnyCodes, cardinality: int) -> Classes:
        """Split every class by one more column, and leave out the rows that are now alone."""
        if not self.count:
            return self
        keys = self.numbers * cardinality + codes[self.rows]
        if self.count * cardinality > DENSE * len(keys) + 1024:
            keys = np.unique(keys, return_inverse=True)[1]
        several = np.bincount(keys) > 1
        stay = several[keys]
        number = several.cumsum()
        return Classes(self.rows[stay], number[keys[stay]] - 1, int(number[-1]))

    def crowd(self, light: AnyCodes) -> int:
        """Return how many light rows are not alone; none are heavy if ``light`` is empty."""
        return int(light[self.rows].sum()) if len(light) else len(self.rows)

    def pairs(self, limit: int) -> AnyCodes:
        """Return neighbours in the classes, two lines of rows; of more than the limit, some at equal steps."""
        order = self.numbers.argsort(kind="stable")
        rows, numbers = self.rows[order], self.numbers[order]
        left = np.flatnonzero(numbers[1:] == numbers[:-1])
        left = left[:: max(1, -(-len(left) // limit))]
        return np.stack([rows[left], rows[left + 1]])


def everybody(question: Question) -> Classes:
    """Return the one class that no column at all makes."""
    rows = question.codes.shape[1]
    return Classes(np.arange(rows), np.zeros(rows, np.int64), 1)


def pairs_by_column(question: Question, limit: int) -> AnyCodes:
    """Return pairs of rows that agree on some column, the same number for every column."""
    share = max(1, limit // len(question.columns))
    whole = everybody(question)
    refined = [whole.refine(codes, size) for codes, size in zip(question.codes, question.cardinalities, strict=True)]
    return np.concatenate([classes.pairs(share) for classes in refined], axis=1)


def differences(question: Question, pairs: AnyCodes) -> list[int]:
    """Return the columns in which each pair of rows differs, as bit sets."""
    differ = question.codes[:, pairs[0]] != question.codes[:, pairs[1]]
    packed = np.packbits(differ, axis=0, bitorder="little").T
    return [int.from_bytes(line.tobytes(), "little") for line in np.unique(packed, axis=0)]


def minimal(sets: list[int]) -> list[int]:
    """
    Return the bit sets that contain no other, smallest first.

    >>> minimal([0b110, 0b010, 0b101, 0b010])
    [2, 5]
    """
    kept: list[int] = []
    for one in sorted(set(sets), key=lambda bits: (bits.bit_count(), bits)):
        if not any(other & one == other for other in kept):
            kept.append(one)
    return kept
