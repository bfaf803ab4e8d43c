"""How far counts by one or two columns, and the shares of each column's values, are off in the release.

The error of a count is relative to the true count, or to 0.1 % of the rows where that is more: two rows too many in a
group of three matter little. That bound is from Xiao, Wang, Gehrke: Differential privacy via wavelet transforms, 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import comb

import numpy as np

from anon_core import kernels
from anon_core.comparison import Comparison
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Floats, Integers
from anon_core.measures.utility.cells import covered

MAX_QUERIES = 1000
"""So many groups of one set of columns are compared; of more, a sample."""
MAX_PAIRS = 200
"""So many pairs of columns are compared; of more (a hundred columns have 4,950), a sample."""
MIN_BASE_SHARE = 0.001
"""Share of the rows that an error is at least relative to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryErrors:
    """
    The relative errors of the counts by so many columns: 0 is exact.

    The compared sets of columns have ``groups`` groups, and ``queries`` of them were compared.
    """

    groups: int
    queries: int
    mean: float
    median: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Queries:
    """
    Counts by every column and by every pair of columns. None where there is no group to compare.

    ``sampled``: not all pairs, or not all groups of a column or pair, were compared.
    """

    one_column: QueryErrors | None
    two_columns: QueryErrors | None
    sampled: bool
    seed: int | None


def queries(comparison: Comparison, *, seed: int = 0, most: int = MAX_QUERIES, most_pairs: int = MAX_PAIRS) -> Queries:
    """
    Compare how many rows each group has in the original and, as a reader estimates it, in the release.

    Groups are those of all sets of one and of two columns that occur in the original: up to ``most`` for each set, and
    up to ``most_pairs`` pairs of columns; of more, a sample. With the same ``seed`` both samples are the same for any
    order of rows and columns. Every group counts alike. The reader spreads labels evenly over the values that they
    cover, and does not know of removed rows. ``seed`` of the result is None if nothing was sampled.
    """
    generator = np.random.default_rng(seed)
    spreads = {ladder.column: Spread.of(ladder) for ladder in comparison.ladders}
    names = sorted(spreads)
    pairs = _pairs(names, generator, most_pairs)
    one, two = (
        [_ask(comparison, columns, spreads, generator, most) for columns in sets]
        for sets in ([(name,) for name in names], pairs)
    )
    sampled = len(pairs) < comb(len(names), 2) or any(len(asked.errors) < asked.groups for asked in (*one, *two))
    return Queries(one_column=_summary(one), two_columns=_summary(two), sampled=sampled, seed=seed if sampled else None)


def _pairs(names: Sequence[str], generator: np.random.Generator, most: int) -> list[tuple[str, str]]:
    """Return the pairs of names in their order, or a sample of them."""
    number = comb(len(names), 2)
    # There is no list of all pairs: a pair is found by its number. Each name has as many pairs as names follow it.
    chosen = np.sort(generator.choice(number, most, replace=False)) if number > most else np.arange(number)
    starts = np.concatenate([[0], np.cumsum(np.arange(len(names) - 1, 0, -1))])
    first = np.searchsorted(starts, chosen, side="right") - 1
    second = first + 1 + chosen - starts[first]
    return [(names[i], names[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SetErrors:
    groups: int
    errors: Floats


def _ask(
    comparison: Comparison,
    columns: Sequence[str],
    spreads: dict[str, Spread],
    generator: np.random.Generator,
    most: int,
) -> _SetErrors:
    original = counted(comparison.before, columns)
    groups = len(original.rows)
    # Groups are sorted by their codes, so a sample does not depend on the order of the rows.
    chosen = generator.choice(groups, most, replace=False) if groups > most else np.arange(groups)
    true = original.rows[chosen]
    values = [codes[chosen] for codes in original.codes]
    expected = estimates([spreads[name] for name in columns], values, counted(comparison.after, columns))
    errors = np.abs(expected - true) / np.maximum(true, MIN_BASE_SHARE * comparison.before.rows)
    return _SetErrors(groups=groups, errors=errors)


def _summary(asked: Sequence[_SetErrors]) -> QueryErrors | None:
    errors = np.concatenate([np.zeros(0), *(each.errors for each in asked)])
    if not len(errors):
        return None
    return QueryErrors(
        groups=sum(each.groups for each in asked),
        queries=len(errors),
        mean=float(errors.mean()),
        median=float(np.median(errors)),
        p95=float(np.quantile(errors, 0.95)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The groups of some columns in the order of their codes, and how many rows (units) each has."""

    codes: tuple[AnyCodes, ...]
    rows: Integers


def counted(frequencies: FrequencyTable, columns: Sequence[str]) -> Counted:
    """Count by some columns; where units are counted, a unit counts once in each group that it is in."""
    projected = frequencies.project(columns)
    if projected.units is None:
        return Counted(codes=projected.codes, rows=projected.weights)
    groups = kernels.group(projected.codes, [len(domain) for domain in projected.domains], projected.weights)
    return Counted(codes=tuple(codes[groups.first] for codes in projected.codes), rows=groups.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """For every level and value of a column: the label there, and the share of the label's rows that the value gets.

    A label that a value has on several levels counts only on the lowest.
    """

    labels: AnyCodes
    shares: Floats
    size: int

    @classmethod
    def of(cls, ladder: Ladder) -> Spread:
        levels = np.arange(ladder.height + 1)[:, None]
        shares = np.where(ladder.lowest[ladder.maps] == levels, 1 / np.maximum(covered(ladder), 1)[ladder.maps], 0.0)
        return cls(labels=ladder.maps, shares=shares, size=len(ladder.labels))


def estimates(spreads: Sequence[Spread], values: Sequence[AnyCodes], released: Counted) -> Floats:
    """
    Return how many rows a reader of the release expects in each group: ``values[i][q]`` is its value in column ``i``.

    Each label is spread evenly over the values that it may stand for, as Xiao, Tao: Anatomy: simple and effective
    privacy preservation, 2006 do. Only the labels above a value can stand for it, so each combination of levels takes
    one look-up in the released counts per group.
    """
    expected = np.zeros(len(values[0]))
    if not len(released.rows):
        return expected
    known = _keys(released.codes, spreads)
    for levels in product(*(range(len(spread.labels)) for spread in spreads)):
        wanted = _keys(
            [spread.labels[level, codes] for spread, level, codes in zip(spreads, levels, values, strict=True)], spreads
        )
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        part = np.where(known[at] == wanted, released.rows[at], 0).astype(np.float64)
        for spread, level, codes in zip(spreads, levels, values, strict=True):
            part *= spread.shares[level, codes]
        expected += part
    return expected


def _keys(codes: Sequence[AnyCodes], spreads: Sequence[Spread]) -> Integers:
    """Return one number for each tuple of labels, in the order of the tuples."""
    keys = np.zeros(len(codes[0]), np.int64)
    for column, spread in zip(codes, spreads, strict=True):
        keys = keys * spread.size + column
    return keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginals:
    """The total variation distance of every column: 0 if the shares of all values are right, 1 at worst."""

    by_column: dict[str, float]
    mean: float
    worst: float


def marginals(comparison: Comparison) -> Marginals:
    """
    Compare the shares of a column's values in the original with those that a reader estimates from the release.

    Labels are spread evenly over the values of the original that they cover. The distance is half the sum of all
    differences. Removed rows are in the original and not in the release. If the original has rows and the release has
    none, the distance is 1. A gap is a value.
    """
    by_column = {}
    for ladder in comparison.ladders:
        original = counted(comparison.before, [ladder.column])
        released = counted(comparison.after, [ladder.column])
        shares = np.zeros(ladder.maps.shape[1])
        shares[original.codes[0]] = original.rows / max(int(original.rows.sum()), 1)
        total = int(released.rows.sum())
        if not total:
            by_column[ladder.column] = 1.0 if len(original.rows) else 0.0
            continue
        expected = estimates([Spread.of(ladder)], [np.arange(len(shares))], released) / total
        by_column[ladder.column] = float(np.abs(shares - expected).sum() / 2)
    found = list(by_column.values())
    return Marginals(by_column=by_column, mean=sum(found) / max(len(found), 1), worst=max(found, default=0.0))
