"""Exposure by Monte Carlo, for families of sets that are too many and too wide to sum over."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from anon_core.kernels import Words
from anon_core.score.family import Family, Probabilities

_WORK = 2_000_000_000  # Words looked at when no column is covered early; about two seconds.
_FEWEST, _MOST = 1 << 12, 1 << 18
_BLOCK = 256
_FULL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Estimated exposures; with 99 % confidence none of them is further off than ``error``."""

    probabilities: Probabilities
    error: float
    samples: int


def sample(family: Family, columns: list[int], generator: np.random.Generator) -> Sampled:
    """
    Estimate the exposure of some columns from random sets of known columns.

    What is sampled is P(the rest of some set is known | the column is known), and p(A) is multiplied in: that halves
    the error at p = 0.5. ``error`` is Hoeffding's bound for all columns together, so it assumes nothing about how large
    the probabilities are.
    """
    samples = _affordable(family)
    known = _draw(family.reveal, samples, generator)
    wanted = set(columns)
    covered = {
        column: _covered(own, column, known) for column, own in enumerate(family.each_column()) if column in wanted
    }
    shares = np.array([covered[column] / samples for column in columns])
    reach = sqrt(log(2 * len(columns) / 0.01) / (2 * samples))
    reveal = family.reveal[columns]
    return Sampled(probabilities=reveal * shares, error=float(reveal.max()) * reach, samples=samples)


def _affordable(family: Family) -> int:
    """Return how many samples, a power of two: fewer where there are more sets to look for."""
    per_word: int = sum(sets.size * max(sets.shape[1] - 1, 1) for sets in family.by_size)
    words = max(_WORK // max(per_word, 1), 1)
    return min(max(64 << (words.bit_length() - 1), _FEWEST), _MOST)


def _draw(reveal: Probabilities, samples: int, generator: np.random.Generator) -> Words:
    """Return for every column in which samples it is known, one bit each."""
    known = np.empty((len(reveal), samples // 64), np.uint64)
    for at, p in enumerate(reveal):
        known[at] = np.packbits(generator.random(samples) < p).view(np.uint64)
    return known


def _covered(own: Family, column: int, known: Words) -> int:
    """Return in how many samples the rest of some set is known, of the sets with this column."""
    found = np.zeros(known.shape[1], np.uint64)
    for sets in own.by_size:
        rest = sets[sets != column].reshape(len(sets), -1)
        # The likeliest sets first: where they cover all 64 samples of a word, no other set needs to be looked at.
        rest = rest[np.argsort(-own.reveal[rest].prod(axis=1), kind="stable")]
        for start in range(0, len(rest), _BLOCK):
            open_words = np.flatnonzero(found != _FULL)
            if not len(open_words):
                return 64 * len(found)
            block = rest[start : start + _BLOCK]
            both = np.full((len(block), len(open_words)), _FULL, np.uint64)
            some = known[:, open_words]
            for at in range(block.shape[1]):
                both &= some[block[:, at]]
            found[open_words] |= np.bitwise_or.reduce(both, axis=0)
    return int(np.bitwise_count(found).sum())
