"""The probability of knowing a column and the rest of some unique set; sensitivity [Gong2020]_ is an upper bound of it.

Equation 1 of the paper multiplies over overlapping sets as if they were independent. Here K is a random set of columns,
which contains each column with its reveal probability. The exposure of A is P(A is in K, and K contains a unique set
with A in it).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log, sqrt

import numpy as np

from anon_core.kernels import Words
from anon_core.measures.sensitivity.sensitivity import formula
from anon_core.measures.sensitivity.unique_sets import Family, Probabilities

MAX_ENUMERATED_COLUMNS = 22
"""Up to so many columns all subsets are enumerated at once: four million, a third of a second."""
MAX_ENUMERATED_BESIDE_ONE = 16
"""The same, where the subsets are enumerated for one column at a time."""
MAX_INCLUDED_SETS = 12
"""Up to so many sets with a column in them, inclusion-exclusion is a sum of a few thousand terms."""
_MAX_WORDS_READ = 2_000_000_000  # Words read when no column is covered early; about two seconds.
_MIN_SAMPLES, _MAX_SAMPLES = 1 << 12, 1 << 18
_BLOCK = 256
_FULL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Method(StrEnum):
    """How the exposure of a column is computed; the first two are exact."""

    INCLUSION_EXCLUSION = "inclusion-exclusion"
    ENUMERATION = "enumeration"
    MONTE_CARLO = "monte carlo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """
    The exposure of every column and how it was computed.

    ``method`` is the least exact one that a column needed. ``error`` is 0 if all are exact (up to rounding, 1e-10);
    else, with 99 % confidence, no column is further off than this. ``samples`` is None unless some column was sampled.
    """

    probabilities: dict[str, float]
    method: Method
    error: float
    samples: int | None


def exposure(
    columns: Sequence[str],
    unique_sets: Sequence[Sequence[str]],
    reveal: Mapping[str, float],
    *,
    generator: np.random.Generator,
    larger_exist: bool = False,
) -> Exposure | None:
    """
    Return the exposure of every column, or None when there is no unique set at all.

    It is exact by enumeration if few columns are in sets. Else each column is computed by inclusion-exclusion over its
    sets, or by enumeration of the columns beside it, if one of these is small. Only the other columns are sampled, and
    only for them numbers are drawn from the generator.

    >>> reveal = {"a": 0.5, "b": 0.5, "c": 0.5}
    >>> exposure("abc", ["ab", "bc"], reveal, generator=np.random.default_rng(0)).probabilities
    {'a': 0.25, 'b': 0.375, 'c': 0.25}

    :raises InvalidInputError: reveal probabilities that are missing or outside 0 to 1, all columns named.
    """
    whole = Family.of(columns, unique_sets, reveal)
    if not unique_sets:
        no_exposure = Exposure(
            probabilities=dict.fromkeys(columns, 0.0), method=Method.ENUMERATION, error=0.0, samples=None
        )
        return no_exposure if larger_exist else None
    family = whole.possible()
    summed = _summed(family, len(columns))
    found, method, error, samples = summed.probabilities, summed.method, 0.0, None
    if summed.left:
        sampled = sample(family, summed.left, generator)
        found[summed.left] = sampled.probabilities
        method, error, samples = Method.MONTE_CARLO, sampled.error, sampled.samples
    found = np.clip(found, _floor(family), formula(family))  # Both bounds are proved, so clipping only removes errors.
    return Exposure(
        probabilities={name: float(found[at]) for at, name in enumerate(columns)},
        method=method,
        error=error,
        samples=samples,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summed:
    """The exact exposures, the least exact method among them, and the columns that are ``left`` to sample."""

    probabilities: Probabilities
    method: Method
    left: list[int]


def _summed(family: Family, columns: int) -> _Summed:
    """Compute the exposures exactly: of all columns at once where they are few, else one column after the other."""
    if len(family.members) <= MAX_ENUMERATED_COLUMNS:
        return _Summed(probabilities=enumerate_all(family), method=Method.ENUMERATION, left=[])
    found, method = np.zeros(len(family.names)), Method.INCLUSION_EXCLUSION
    left: list[int] = []
    for column, own in zip(range(columns), family.each_column(), strict=False):
        if own.sets <= MAX_INCLUDED_SETS:
            found[column] = include_exclude(own, column)
        elif len(own.members) <= MAX_ENUMERATED_BESIDE_ONE:
            found[column] = enumerate_all(own)[column]
            method = Method.ENUMERATION
        else:
            left.append(column)
    return _Summed(probabilities=found, method=method, left=left)


def enumerate_all(family: Family) -> Probabilities:
    """
    Return the exposure of every column by enumerating all subsets of the columns that are in sets.

    ``covered[K]`` is the union of the sets inside K, as bits. It starts with the sets themselves, and one pass for each
    column adds what is covered without that column. Then ``union`` is the probability of each union, summed column by
    column.
    """
    members = family.members
    bit = np.zeros(len(family.names), np.int64)
    bit[members] = 1 << np.arange(len(members))
    covered = np.zeros(1 << len(members), np.int32)
    chance = np.ones(1)
    for sets in family.by_size:
        keys = bit[sets].sum(axis=1)
        covered[keys] = keys
    for at, column in enumerate(members):
        pairs = covered.reshape(-1, 2, 1 << at)
        pairs[:, 1] |= pairs[:, 0]
        p = family.reveal[column]
        chance = np.concatenate([chance * (1 - p), chance * p])
    found = np.zeros(len(family.names))
    union = np.bincount(covered, weights=chance, minlength=len(chance))
    for column in members[::-1]:
        without, having = union.reshape(2, -1)
        found[column] = having.sum()
        union = without + having
    return found


def include_exclude(own: Family, column: int) -> float:
    """
    Return the exposure of a column from the sets that contain it, by inclusion-exclusion.

    P(no set is known) is the sum over all choices of sets of +-P(all columns of the choice are known). The list of
    choices is doubled for each set: each choice so far is repeated with the set added.
    """
    count = own.sets
    if not count:
        return 0.0
    terms = np.ones(1 << count)
    known = np.zeros((len(own.names), 1 << count), np.bool_)
    half = 1
    for one in (row for sets in own.by_size for row in sets):
        rest = one[one != column]
        factors = np.where(known[rest, :half], 1.0, own.reveal[rest, None])
        terms[half : 2 * half] = -terms[:half] * factors.prod(axis=0)
        known[:, half : 2 * half] = known[:, :half]
        known[rest, half : 2 * half] = True
        half *= 2
    return float(own.reveal[column] * -terms[1:].sum())


def _floor(family: Family) -> Probabilities:
    """Return a lower bound of the exposure of each column: the probability of its likeliest set."""
    floor = np.zeros(len(family.names))
    for sets in family.by_size:
        likely = family.reveal[sets].prod(axis=1)
        for at in range(sets.shape[1]):
            np.maximum.at(floor, sets[:, at], likely)
    return floor


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Estimated exposures; with 99 % confidence none is further off than ``error``."""

    probabilities: Probabilities
    error: float
    samples: int


def sample(family: Family, columns: list[int], generator: np.random.Generator) -> Sampled:
    """
    Estimate the exposure of some columns from random sets of known columns.

    We sample P(the rest of some set is known | the column is known), and multiply by p(A): that halves the error at
    p = 0.5. ``error`` is Hoeffding's bound for all columns together, which holds for probabilities of any size.
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
    """Return how many samples to draw, a power of two: fewer where there are more sets to check."""
    per_word: int = sum(sets.size * max(sets.shape[1] - 1, 1) for sets in family.by_size)
    words = max(_MAX_WORDS_READ // max(per_word, 1), 1)
    return min(max(64 << (words.bit_length() - 1), _MIN_SAMPLES), _MAX_SAMPLES)


def _draw(reveal: Probabilities, samples: int, generator: np.random.Generator) -> Words:
    """Return for every column in which samples it is known, one bit per sample."""
    known = np.empty((len(reveal), samples // 64), np.uint64)
    for at, p in enumerate(reveal):
        known[at] = np.packbits(generator.random(samples) < p).view(np.uint64)
    return known


def _covered(own: Family, column: int, known: Words) -> int:
    """Return in how many samples the rest of some set with this column is known."""
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
