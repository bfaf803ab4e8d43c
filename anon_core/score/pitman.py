"""Pitman's sampling formula: classes grow in proportion to their size, and new ones appear [Hoshino2001]_."""

from __future__ import annotations

from typing import Any

import numpy as np

from anon_core.kernels import Integers

_LOWEST, _HIGHEST = 1e-4, 1 - 1e-6
"""Between which alpha is searched. At 1 every row is alone."""
_EVEN = 1e-3
"""Below this alpha would be 0 or less, but for rounding."""


def pitman_uniques(sizes: Integers, times: Integers, population: int) -> float | None:
    """
    Fit Pitman's formula to a sample by maximum likelihood, and return the uniques expected in the population.

    ``times`` classes have each of the ``sizes``. The expectation is exact, ``N * prod over i < N of (theta+alpha+i-1) /
    (theta+i)``; its limit for large N, which Hoshino uses, can be more than N. None where no alpha between 0 and 1
    fits: classes are more even than the formula has them, and what it says at alpha = 0 is far too low where a sample
    is small. There must be classes of one row and larger ones.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import betaln

    fit = minimize_scalar(
        lambda alpha: -_likelihood(float(alpha), sizes, times),
        bounds=(_LOWEST, _HIGHEST),
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
    """Return the logarithm of the likelihood of a sample with the best theta for an alpha, but for a constant."""
    from scipy.special import gammaln

    theta = _theta(alpha, sizes, times)
    classes, rows = int(times.sum()), int((sizes * times).sum())
    opened = (classes - 1) * np.log(alpha) + gammaln(theta / alpha + classes) - gammaln(theta / alpha + 1)
    grown = (times * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum()
    return float(opened + grown - gammaln(theta + rows) + gammaln(theta + 1))


def _theta(alpha: float, sizes: Integers, times: Integers) -> float:
    """Return where the likelihood is highest for an alpha: its slope falls from plus infinity to below 0."""
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
