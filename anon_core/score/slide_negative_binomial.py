"""The slide negative binomial: a class of the population has one row and a negative binomial number of others.

Chen and Keller-McNulty 1998.
"""

from __future__ import annotations

import numpy as np

from anon_core.kernels import Floats, Integers

_STEPS = 4096
_HALVINGS = 100


def slide_negative_binomial_uniques(sizes: Integers, times: Integers, population: int) -> float | None:
    """
    Fit the model to a sample by moments, and return the uniques expected in the population.

    A class has ``1 + X`` rows, X negative binomial with shape a and probability b, each taken into the sample with
    probability p. Its three parameters (K classes, a, b) are those with which the rows of the population, the classes
    of the sample and its uniques are as many as expected::

        N = K (1 + a (1-b)/b),   u = K (1 - (1-p) w),   s = K p w (1 + a (1-p) (1-b)/z),
        where z = 1 - (1-p) (1-b) and w = (b/z)^a

    and K b^a are alone. None where there are no such parameters. Dankar 2012 estimates K apart, by Shlosser; with the
    size of the population known there is no need to.
    """
    rows, classes = int((sizes * times).sum()), int(times.sum())
    fraction = rows / population
    # With fewer classes than in the sample, or more than all of which a share p was met, there is no w.
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
