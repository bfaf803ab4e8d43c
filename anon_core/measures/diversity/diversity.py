"""The diversity of a sensitive column in each class: l-diversity [Machanavajjhala2007]_, (alpha,k) [Wong2006]_.

Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-diversity: privacy beyond k-anonymity, 2007.
Wong, Li, Fu, Wang: (alpha, k)-anonymity: an enhanced k-anonymity model for privacy-preserving data publishing, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.kernels import Integers
from anon_core.measures.classes import ClassMeasure, SensitiveClasses, exact, share_above
from anon_core.measures.diversity.covers import smallest_covers
from anon_core.policy import Diversity

RELATIVE_ROUNDING = 1e-9
"""By which share an entropy may fall short of the required l: logarithms of counts are not exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveDiversity(ClassMeasure):
    """
    Recursive (c,l)-diversity: ``required`` is c, and every c above ``observed`` would hold in every class.

    ``observed`` is None where some class has fewer than ``l`` values, so that no c would hold. ``largest_l`` is the
    largest l that holds with the required c, 0 where not even 1 does.
    """

    l: int  # noqa: E741 - the name in the literature
    largest_l: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaFigures(ClassMeasure):
    """(alpha,k)-anonymity: ``observed`` is the largest share of one value in a class, ``k`` the smallest class."""

    k: int
    required_k: int


def l_diversity(
    classes: SensitiveClasses,
    *,
    kind: Diversity = Diversity.DISTINCT,
    l: float,  # noqa: E741
    c: float | None = None,
) -> ClassMeasure:
    """
    Measure one kind of l-diversity; only the recursive kind has a ``c``, and its l is a whole number.

    :raises InvalidInputError: c is missing, or given for another kind; the kind cannot have this l.
    """
    if (kind is Diversity.RECURSIVE) != (c is not None):
        raise InvalidInputError("c belongs to recursive l-diversity, and only to it")
    if c is None:
        return distinct_diversity(classes, l=l) if kind is Diversity.DISTINCT else entropy_diversity(classes, l=l)
    if l != int(l):
        raise InvalidInputError(f"the l of recursive l-diversity must be a whole number, not {l}")
    return recursive_diversity(classes, c=c, l=int(l))


def distinct_diversity(classes: SensitiveClasses, *, l: float) -> ClassMeasure:  # noqa: E741
    """
    Measure how many different values the class with the fewest values has; a gap is a value.

    Where people are counted, it is the size of the smallest set of values such that every person of the class has one
    of them; that is the number of values if each person has one. It is counted up to ``l``: a larger number is "at
    least". It is not monotone: if two people have a and b in one class, and b and a in another, both have a in the
    union.
    """
    need = ceil(l)
    covers = smallest_covers(classes, need)
    lowest = int(covers.min())
    more = classes.units is not None and lowest == need and bool((covers != classes.distinct)[covers == need].any())
    return ClassMeasure(observed=lowest, required=l, at_least=more, **ClassMeasure.counts(classes, covers < l))


def entropy_diversity(classes: SensitiveClasses, *, l: float) -> ClassMeasure:  # noqa: E741
    """
    Measure e to the power of the entropy of the values of each class, and return the smallest.

    A class in which l values are equally frequent has exactly l; every other class has less than its number of values.
    A figure within a billionth of the required l, or of a whole number, is taken for that number. Where people are
    counted, who may have several values, it is not monotone: the union of two classes that keep it may break it.
    """
    shares = classes.shares()
    entropy = -np.add.reduceat(shares * np.log(shares), classes.starts)
    observed = np.exp(entropy)
    lowest = float(observed.min())
    if abs(lowest - round(lowest)) <= RELATIVE_ROUNDING * lowest:
        lowest = float(round(lowest))
    return ClassMeasure(
        observed=lowest, required=l, **ClassMeasure.counts(classes, observed < l * (1 - RELATIVE_ROUNDING))
    )


def recursive_diversity(classes: SensitiveClasses, *, c: float, l: int) -> RecursiveDiversity:  # noqa: E741
    """
    Measure recursive (c,l)-diversity: in every class ``r_1 < c * (r_l + ... + r_m)``, strictly.

    Where ``r_1 >= ... >= r_m`` are the counts of the values of the class. A class with fewer than l values fails for
    every c. Comparisons are exact. Where people are counted, who may have several values, it is not monotone.

    :raises InvalidInputError: l below 1, or c not above 0.
    """
    if l < 1 or c <= 0:
        raise InvalidInputError(f"recursive l-diversity needs an l of at least 1 and a c above 0, not {l} and {c}")
    counts, starts = _descending(classes), classes.starts
    most = counts[starts]
    before = np.cumsum(counts) - counts
    # The rest of the class from this value on: r_i + ... + r_m.
    left = np.repeat(before[starts] + classes.totals, classes.distinct) - before
    # r_1 < c * left; the rest falls from one value to the next, so the values that hold come first.
    good = share_above(left, np.repeat(most, classes.distinct), 1 / exact(c))
    reached = np.add.reduceat(good.astype(np.int64), starts)
    enough = classes.distinct >= l
    tails = left[starts + np.where(enough, l - 1, 0)]
    return RecursiveDiversity(
        observed=float((most / tails).max()) if enough.all() else None,
        required=c,
        l=l,
        largest_l=int(reached.min()),
        **ClassMeasure.counts(classes, reached < l),
    )


def alpha_anonymity(classes: SensitiveClasses, *, alpha: float, k: int = 1) -> AlphaFigures:
    """
    Measure the largest share that one value has in a class: a person of the class has that value with this probability.

    A class fails with a share above ``alpha`` (compared exactly), or with fewer rows than ``k``. The share is that of
    the rows of the class. Where people are counted, it is the share of the people who have the value, alone or among
    others; then it is not monotone: a person of two classes who has the value in one of them has it in their union.
    """
    most = np.maximum.reduceat(classes.counts, classes.starts)
    failing = share_above(most, classes.sizes, alpha) | (classes.sizes < k)
    return AlphaFigures(
        observed=float((most / classes.sizes).max()),
        required=alpha,
        k=int(classes.sizes.min()),
        required_k=k,
        **ClassMeasure.counts(classes, failing),
    )


def _descending(classes: SensitiveClasses) -> Integers:
    """Return the counts of every class, class by class, the largest first."""
    largest = int(classes.counts.max()) + 1
    # Class and count as one number: sorting numbers is many times faster than sorting pairs.
    keys = classes.member * largest + (largest - 1 - classes.counts)
    keys.sort()
    return np.asarray(largest - 1 - keys % largest)
