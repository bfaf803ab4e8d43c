"""How many people are alone in the population that a table is a sample of: three estimators and a rule to choose one.

All are functions of how many classes of each size the sample has. A person who is alone in the population is alone in
the sample or not in it. So no estimate may be more than the uniques of the sample plus the people outside it.

- Zayatz: Estimation of the percent of unique population elements on a microdata file using the sample, 1991.
- Hoshino: Applying Pitman's sampling formula to microdata disclosure risk assessment, 2001.
- Chen, Keller-McNulty: Estimation of identification disclosure risk in microdata, 1998.
- Dankar, El Emam, Neisa, Roffey: Estimating the re-identification risk of clinical data sets, 2012: the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Floats, Integers

_BLOCK = 1 << 16
_NOTHING = -746.0
"""e to the power of this number, or of a lower one, is 0 in floating point."""
_MIN_ALPHA, _MAX_ALPHA = 1e-4, 1 - 1e-6
"""The search for alpha stays between these. At 1 every row is alone."""
_EVEN = 1e-3
"""An alpha below this is 0 or less, apart from rounding."""
_STEPS = 4096
_HALVINGS = 100
MAX_PEOPLE = 10**12
"""A hundred times as many people as live: a fraction that implies more is a mistake, and floats become inexact."""


def population_size(rows: int, sampling_fraction: float) -> int:
    """
    Return the number of rows by the sampling fraction, rounded, and never fewer than the rows.

    >>> population_size(3, 0.1), population_size(4, 0.9), population_size(4, 1)
    (30, 4, 4)

    :raises InvalidInputError: a fraction that is not above 0 and at most 1, or that implies more than 10^12 people.
    """
    if not 0 < sampling_fraction <= 1:
        raise InvalidInputError(f"sampling_fraction must be above 0 and at most 1, not {sampling_fraction}")
    if rows / sampling_fraction > MAX_PEOPLE:
        raise InvalidInputError(
            f"a sampling_fraction of {sampling_fraction} makes {rows:,} rows a sample of more than {MAX_PEOPLE:,} "
            "people; give the share of the population that is in the table, or none"
        )
    return max(rows, round(rows / sampling_fraction))


class Estimator(StrEnum):
    """How the number of people who are alone in the population is estimated."""

    COUNTED = "counted"
    ZAYATZ = "Zayatz 1991"
    PITMAN = "Pitman (Hoshino 2001)"
    SLIDE_NEGATIVE_BINOMIAL = "slide negative binomial (Chen and Keller-McNulty 1998)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """
    How many people are alone by one estimator, and their share of the population; None with the reason.

    An estimate above what is possible is replaced by what is possible, and has a reason too.
    """

    estimator: Estimator
    uniques: float | None
    share: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationUniqueness:
    """
    Estimates of how many people are alone in the population; ``elected`` is the one that the rule of Dankar chooses.

    A ``reason`` says why there are no estimates. ``population`` is the number of rows divided by the sampling fraction,
    rounded.
    """

    rows: int
    sample_uniques: int
    sampling_fraction: float | None
    population: int | None
    estimates: tuple[Estimate, ...] = ()
    elected: Estimate | None = None
    reason: str | None = None


def population_uniqueness(
    frequencies: FrequencyTable, quasi_identifiers: Sequence[str], *, sampling_fraction: float | None
) -> PopulationUniqueness:
    """
    Estimate how many people are alone in the population over the quasi-identifiers.

    The table is taken for a random sample without replacement. There is no estimate without a sampling fraction, or if
    a unit is in several classes, since the estimators are about people in one class. Where the population has no more
    people than the table, the uniques are counted: with a fraction of 1, or one so near 1 that the population rounds to
    the number of rows.

    :raises UnknownColumnError: a quasi-identifier is not in the table.
    :raises InvalidInputError: there are no rows; a fraction that is not above 0 and at most 1, or that implies more
        than 10^12 people.
    """
    projected = frequencies.project(quasi_identifiers)
    sizes = projected.class_sizes()
    if not len(sizes):
        raise InvalidInputError("the uniqueness of a table without rows is not defined")
    rows, uniques = projected.people, projected.singletons
    population = None if sampling_fraction is None else population_size(rows, sampling_fraction)
    if sampling_fraction is None or population is None or int(sizes.sum()) != rows:
        return PopulationUniqueness(
            rows=rows,
            sample_uniques=uniques,
            sampling_fraction=sampling_fraction,
            population=None,
            reason="not assessed: no sampling fraction is declared"
            if sampling_fraction is None
            else "not assessed: some units are in several classes, and the estimators are about people in one",
        )
    estimates = _estimates(sizes, population)
    return PopulationUniqueness(
        rows=rows,
        sample_uniques=uniques,
        sampling_fraction=sampling_fraction,
        population=population,
        estimates=estimates,
        elected=elected(estimates, sampling_fraction),
    )


def elected(estimates: Sequence[Estimate], sampling_fraction: float) -> Estimate | None:
    """
    Choose by the rule of Dankar 2012: Pitman up to a fraction of 0.1, above it the lower of the other two.

    Where a model does not fit, it is Zayatz, which always has an estimate. In small samples it is far too high, which
    is the safe side.
    """
    found = {one.estimator: one for one in estimates if one.uniques is not None}
    if sampling_fraction <= 0.1:
        chosen = [Estimator.PITMAN] if Estimator.PITMAN in found else [Estimator.ZAYATZ]
    else:
        chosen = [Estimator.ZAYATZ, Estimator.SLIDE_NEGATIVE_BINOMIAL]
    usable = [found[one] for one in (Estimator.COUNTED, *chosen) if one in found]
    return min(usable, key=lambda one: one.uniques or 0.0, default=None)


def zayatz_uniques(sizes: Integers, times: Integers, population: int) -> float:
    """
    Estimate by Bayes' rule which sample uniques are alone in the population, and divide by the sampling fraction.

    Classes are taken to be of size i in the population as often as in the sample; the chance that such a class has one
    row in the sample is hypergeometric, ``i n/N * prod over k < i-1 of (N-n-k) / (N-1-k)``.
    """
    rows = int((sizes * times).sum())
    alone = sizes * np.exp(_log_left_out(sizes - 1, rows, population)) * times
    return float(times[0] * alone[0] / alone.sum() * population / rows)


def _log_left_out(others: Integers, rows: int, population: int) -> Floats:
    """
    Return the logarithm of ``prod over k < others of (N-n-k) / (N-1-k)`` for ascending numbers of others.

    It multiplies a block of factors at a time, so that memory does not depend on the largest class, and stops when the
    product is 0 in floating point: after at most some ten million factors for 10^12 people.
    """
    found = np.full(len(others), -np.inf)
    done, reached = 0, 0.0
    most = min(int(others[-1]), population - rows)
    while True:
        left = np.arange(done, min(done + _BLOCK, most), dtype=np.float64)
        sums = reached + np.concatenate(
            [[0.0], np.cumsum(np.log((population - rows - left) / (population - 1 - left)))]
        )
        here = (others >= done) & (others <= done + len(left))
        found[here] = sums[others[here] - done]
        done, reached = done + len(left), float(sums[-1])
        if done == most or reached < _NOTHING:
            return found


def _estimates(classes: Integers, population: int) -> tuple[Estimate, ...]:
    sizes, times = np.unique(classes, return_counts=True)
    rows = int((sizes * times).sum())
    uniques = int(times[0]) if sizes[0] == 1 else 0
    if population == rows:
        return (Estimate(estimator=Estimator.COUNTED, uniques=uniques, share=uniques / population),)
    if not uniques or uniques == rows:
        reason = (
            "every row is alone in the sample, which says nothing about the size of classes"
            if uniques
            else "no row is alone in the sample, so none of them is alone in the population; of others nothing is known"
        )
        models = [one for one in Estimator if one is not Estimator.COUNTED]
        return tuple(Estimate(estimator=one, uniques=None, share=None, reason=reason) for one in models)
    found = {
        Estimator.ZAYATZ: zayatz_uniques(sizes, times, population),
        Estimator.PITMAN: pitman_uniques(sizes, times, population),
        Estimator.SLIDE_NEGATIVE_BINOMIAL: slide_negative_binomial_uniques(sizes, times, population),
    }
    most = uniques + population - rows
    return tuple(_estimate(one, guess, most, population) for one, guess in found.items())


def _estimate(estimator: Estimator, uniques: float | None, most: int, population: int) -> Estimate:
    reason = None
    if uniques is None:
        reason = "the model has no parameters that fit the class sizes"
        return Estimate(estimator=estimator, uniques=None, share=None, reason=reason)
    if uniques > most:
        reason = "the model has more: as many as are alone in the sample or not in it"
    return Estimate(
        estimator=estimator, uniques=min(uniques, most), share=min(uniques, most) / population, reason=reason
    )


def pitman_uniques(sizes: Integers, times: Integers, population: int) -> float | None:
    """
    Fit Pitman's formula to a sample by maximum likelihood, and return the uniques expected in the population.

    ``times`` classes have each of the ``sizes``. The expectation is exact, ``N * prod over i < N of (theta+alpha+i-1) /
    (theta+i)``; its limit for large N, which Hoshino uses, can be more than N. None where no alpha between 0 and 1
    fits: then the sizes of classes are more even than in the model, whose estimate at alpha = 0 is far too low for
    small samples. The sample must have classes of one row and larger ones.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import betaln

    fit = minimize_scalar(
        lambda alpha: -_likelihood(float(alpha), sizes, times),
        bounds=(_MIN_ALPHA, _MAX_ALPHA),
        method="bounded",
        options={"xatol": 1e-9},
    )
    alpha = float(fit.x)
    if not fit.success or not _EVEN < alpha < 1 - _EVEN:
        return None
    theta = _theta(alpha, sizes, times)
    expected = np.log(population) + betaln(population + theta + alpha - 1, 1 - alpha) - betaln(theta + alpha, 1 - alpha)
    return float(np.exp(expected))


def _likelihood(alpha: float, sizes: Integers, times: Integers) -> float:
    """Return the log likelihood of a sample with the best theta for an alpha, up to a constant."""
    from scipy.special import gammaln

    theta = _theta(alpha, sizes, times)
    classes, rows = int(times.sum()), int((sizes * times).sum())
    opened = (classes - 1) * np.log(alpha) + gammaln(theta / alpha + classes) - gammaln(theta / alpha + 1)
    grown = (times * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum()
    return float(opened + grown - gammaln(theta + rows) + gammaln(theta + 1))


def _theta(alpha: float, sizes: Integers, times: Integers) -> float:
    """Return the theta with the highest likelihood for an alpha: the slope falls from plus infinity to below 0."""
    from scipy.optimize import brentq
    from scipy.special import psi

    classes, rows = int(times.sum()), int((sizes * times).sum())

    def slope(log_shifted: Any) -> float:
        theta = np.exp(log_shifted) - alpha
        opened = (psi(theta / alpha + classes) - psi(theta / alpha + 1)) / alpha
        return float(opened - psi(theta + rows) + psi(theta + 1))

    lowest, highest = -30.0, np.log(10.0 * rows) + np.log(rows)
    if slope(highest) >= 0:
        return float(np.exp(highest) - alpha)
    return float(np.exp(brentq(slope, lowest, highest, xtol=1e-12)) - alpha)


def slide_negative_binomial_uniques(sizes: Integers, times: Integers, population: int) -> float | None:
    """
    Fit the model to a sample by moments, and return the uniques expected in the population.

    A class has ``1 + X`` rows, X negative binomial with shape a and probability b, each taken into the sample with
    probability p. Its three parameters (K classes, a, b) are those with which the rows of the population, the classes
    of the sample and its uniques are as many as expected::

        N = K (1 + a (1-b)/b),   u = K (1 - (1-p) w),   s = K p w (1 + a (1-p) (1-b)/z),
        where z = 1 - (1-p) (1-b) and w = (b/z)^a

    and K b^a are alone. None where there are no such parameters. Dankar 2012 estimates K separately, by Shlosser; we
    know the size of the population and do not need that.
    """
    rows, classes = int((sizes * times).sum()), int(times.sum())
    fraction = rows / population
    # There is no w with fewer classes than in the sample, or with more classes than the sample would show a share p of.
    lowest, highest = float(classes), min(classes / fraction, float(population))
    for _ in range(2):
        tried = np.linspace(lowest, highest, _STEPS + 1)[1:-1]
        shape, probability = _fitted(tried, classes, population, fraction)
        missing = _sample_uniques(tried, shape, probability, fraction) - times[0]
        usable = np.isfinite(missing)
        turns = np.flatnonzero(usable[1:] & usable[:-1] & (np.sign(missing[1:]) != np.sign(missing[:-1])))
        if not len(turns):
            return None
        lowest, highest = float(tried[turns[0]]), float(tried[turns[0] + 1])
    at = int(turns[0])
    return float(tried[at] * probability[at] ** shape[at])


def _fitted(tried: Floats, classes: int, population: int, fraction: float) -> tuple[Floats, Floats]:
    """
    Return shape and probability that give the population and the classes of the sample, for each number of classes.

    Both equations hold where ``b/(1-b) * log(z/b)``, which rises with b from 0 to p, is ``-log(w) / (N/K - 1)``.
    """
    log_met = np.log((1 - classes / tried) / (1 - fraction))
    wanted = -log_met / (population / tried - 1)
    fits = (wanted > 0) & (wanted < fraction)
    wanted = np.where(fits, wanted, fraction / 2)
    low, high = np.zeros_like(tried), np.ones_like(tried)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        reached = middle / (1 - middle) * np.log1p(fraction * (1 - middle) / middle)
        low, high = np.where(reached < wanted, middle, low), np.where(reached < wanted, high, middle)
    probability = (low + high) / 2
    shape = (population / tried - 1) * probability / (1 - probability)
    return np.where(fits, shape, np.nan), np.where(fits, probability, np.nan)


def _sample_uniques(classes: Floats, shape: Floats, probability: Floats, fraction: float) -> Floats:
    """Return how many classes are expected to have one row in the sample."""
    left = (1 - fraction) * (1 - probability)
    met = (probability / (1 - left)) ** shape
    return np.asarray(classes * fraction * met * (1 + shape * left / (1 - left)))
