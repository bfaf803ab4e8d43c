"""How far counts by any one or two columns are off when they are made from the release.

The error of a count is relative to the true one, or to 0.1 % of the rows where that is more: being off by two of three
is no news. That bound is from Xiao, Wang, Gehrke: Differential privacy via wavelet transforms, 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from anon_core.comparison import Comparison
from anon_core.kernels import Floats
from anon_core.score.utility.spreading import Spread, counted, estimates

MOST_QUERIES = 1000
"""Of the groups of one set of columns, so many are asked for; of more, a sample."""
MOST_PAIRS = 200
"""Of the pairs of columns, so many are asked about; of more (there are 4,950 of a hundred columns), a sample."""
BOUND = 0.001
"""Share of the rows that an error is at least relative to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryErrors:
    """
    The relative errors of the counts by so many columns: 0 is exact.

    ``groups`` occur in the sets of columns that were asked about, for ``queries`` of them.
    """

    groups: int
    queries: int
    mean: float
    median: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Queries:
    """
    Counts by every column and by every pair of columns. None where there is no group to ask for.

    ``sampled`` tells that not all pairs, or not all groups of a column or pair, were asked for.
    """

    one_column: QueryErrors | None
    two_columns: QueryErrors | None
    sampled: bool
    seed: int | None


def queries(
    comparison: Comparison, *, seed: int = 0, most: int = MOST_QUERIES, most_pairs: int = MOST_PAIRS
) -> Queries:
    """
    Ask the release how many rows each group of the original has, for all sets of one and of two columns.

    Only groups that occur are asked for, all of a set of columns or a sample of ``most``; of more than ``most_pairs``
    pairs of columns a sample. The ``seed`` repeats both, whatever the order of rows and columns; every query counts
    alike. A reader spreads labels evenly over the values that they cover and does not know of removed rows. ``seed`` of
    the result is None if nothing was sampled.
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
    # Without a list of all pairs: a pair is found by its number, of which each name has those after its own.
    chosen = np.sort(generator.choice(number, most, replace=False)) if number > most else np.arange(number)
    starts = np.concatenate([[0], np.cumsum(np.arange(len(names) - 1, 0, -1))])
    first = np.searchsorted(starts, chosen, side="right") - 1
    second = first + 1 + chosen - starts[first]
    return [(names[i], names[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    groups: int
    errors: Floats


def _ask(
    comparison: Comparison,
    columns: Sequence[str],
    spreads: dict[str, Spread],
    generator: np.random.Generator,
    most: int,
) -> _Asked:
    original = counted(comparison.before, columns)
    groups = len(original.rows)
    # Groups come in the order of their codes, so a sample does not depend on the order of the rows.
    chosen = generator.choice(groups, most, replace=False) if groups > most else np.arange(groups)
    true = original.rows[chosen]
    values = [codes[chosen] for codes in original.codes]
    expected = estimates([spreads[name] for name in columns], values, counted(comparison.after, columns))
    errors = np.abs(expected - true) / np.maximum(true, BOUND * comparison.before.rows)
    return _Asked(groups=groups, errors=errors)


def _summary(asked: Sequence[_Asked]) -> QueryErrors | None:
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
