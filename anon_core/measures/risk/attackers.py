"""How likely it is that a row is linked to its person: prosecutor, journalist and marketer [ElEmam2013]_.

El Emam: Guide to the De-Identification of Personal Health Information, 2013. The prosecutor knows that the person is in
the table; the journalist does not, and looks in the population that the table is a sample of; the marketer wants many
people, not one. Franconi and Polettini: Individual risk estimation in mu-Argus: a review, 2004, for the journalist's
estimate, which is Benedetti's and Franconi's of 1998.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Floats, Integers
from anon_core.measures.classes import share_above
from anon_core.measures.risk.population import population_size
from anon_core.measures.risk.rows_by_size import RowsBySize, rows_by_size
from anon_core.table import Mask

THRESHOLDS = (0.09, 0.2, 0.33)
"""The usual thresholds, as exact decimals: one in three is above 0.33, one in eleven above 0.09."""
SERIES_TERMS = 64
"""For classes above RECURRENCE_SIZES, or fractions of at least a half, so many terms are exact to the last digit."""
RECURRENCE_SIZES = 40
"""Up to this size, for fractions below a half, the expectation of a size is computed from that of the next one."""
SMALL_CLASSES = (2, 3, 5)
"""Rows are counted in classes below each of these sizes, and below k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsAt:
    """How many rows are above a risk, or in classes below a size, and what share of all rows that is."""

    limit: float
    rows: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackRisk:
    """How likely a row is linked to its person: the highest risk, the average, and how many rows are above limits."""

    highest: float
    average: float
    above: tuple[RowsAt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """
    The risk by three attackers, and the rows in small classes.

    ``marketer`` is the share of rows that are expected to be linked correctly. ``basis`` says what journalist and
    marketer are computed from. ``required`` is the highest risk that is allowed for the prosecutor, and
    ``rows_failing`` rows are above it. Where units are counted, rows are units; a unit in several classes has the risk
    of the smallest one.
    """

    rows: int
    classes: int
    prosecutor: AttackRisk
    journalist: AttackRisk
    marketer: float
    basis: str
    below: tuple[RowsAt, ...]
    required: float | None
    classes_failing: int
    rows_failing: int

    @property
    def holds(self) -> bool:
        """Whether no row has more than the highest risk allowed."""
        return not self.rows_failing


def risk(
    frequencies: FrequencyTable,
    quasi_identifiers: Sequence[str],
    *,
    k: int | None = None,
    max_risk: float | None = None,
    sampling_fraction: float | None = None,
) -> Risk:
    """
    Measure the risk of every row from the size of its class; a gap is a value like any other.

    Without a sampling fraction the table is taken for its population: the journalist has the prosecutor's risk, and the
    marketer the average of that.

    :raises UnknownColumnError: a quasi-identifier is not in the table.
    :raises InvalidInputError: there are no rows; a fraction or a highest risk that is not above 0 and at most 1; a
        fraction that implies more than 10^12 people.
    """
    if max_risk is not None and not 0 < max_risk <= 1:
        raise InvalidInputError(f"max_risk must be above 0 and at most 1, not {max_risk}")
    projected = frequencies.project(quasi_identifiers)
    classes = projected.class_sizes()
    if not len(classes):
        raise InvalidInputError("the risk of a table without rows is not defined")
    exposed = rows_by_size(projected)
    if sampling_fraction is not None:
        population_size(exposed.total, sampling_fraction)  # It refuses a fraction that is no share of a population.
    limits = THRESHOLDS if max_risk is None else (*THRESHOLDS, max_risk)
    prosecutor = _attack(exposed, 1 / exposed.sizes, [_above(exposed.sizes, limit) for limit in limits], limits)
    journalist = prosecutor
    if sampling_fraction is not None and sampling_fraction < 1:
        expected = expected_risk(exposed.sizes, sampling_fraction)
        journalist = _attack(exposed, expected, [expected > limit for limit in limits], limits)
    return Risk(
        rows=exposed.total,
        classes=len(classes),
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=journalist.average,
        basis=_basis(sampling_fraction),
        below=tuple(
            _rows_at(exposed, size, exposed.sizes < size)
            for size in sorted({*SMALL_CLASSES, *([] if k is None else [k])})
        ),
        required=max_risk,
        classes_failing=0 if max_risk is None else int(np.count_nonzero(_above(classes, max_risk))),
        rows_failing=0 if max_risk is None else prosecutor.above[-1].rows,
    )


def expected_risk(sizes: Integers, fraction: float) -> Floats:
    """
    Return the expectation of 1/F for classes of ``sizes`` in a sample, F the size of the class in the population.

    Benedetti and Franconi 1998: given f, F is negative binomial, the number of draws until f of them were taken into
    the sample, each with the probability p that is the sampling fraction. Then E(1/F) = p/f * 2F1(1, 1; f+1; 1-p), for
    a row alone in the sample p/(1-p) * log(1/p).

    >>> expected_risk(np.array([1, 2]), 0.5).round(4).tolist()
    [0.6931, 0.3069]
    """
    # scipy's 2F1 is infinite for a class of 100 at a fraction of 0.001, so we add the series up: term n is the one
    # before it times (1-p) n / (f+n), which becomes small soon unless both f and p are small.
    term, summed = np.ones(len(sizes)), np.ones(len(sizes))
    for n in range(1, SERIES_TERMS):
        term = term * (1 - fraction) * n / (sizes + n)
        summed += term
    found = fraction / sizes * summed
    if fraction < 0.5:
        # There the recurrence from one size to the next reduces its own rounding errors.
        known = [fraction / (1 - fraction) * log(1 / fraction)]
        for size in range(1, RECURRENCE_SIZES):
            known.append(fraction / (1 - fraction) * (1 / size - known[-1]))
        found = np.where(sizes <= RECURRENCE_SIZES, np.array(known)[np.minimum(sizes, RECURRENCE_SIZES) - 1], found)
    return np.asarray(found)


def _rows_at(exposed: RowsBySize, limit: float, chosen: Mask) -> RowsAt:
    rows = int(exposed.rows[chosen].sum())
    return RowsAt(limit=limit, rows=rows, share=rows / exposed.total)


def _attack(exposed: RowsBySize, risks: Floats, above: Sequence[Mask], limits: Sequence[float]) -> AttackRisk:
    return AttackRisk(
        highest=float(risks.max()),
        average=float((risks * exposed.rows).sum() / exposed.total),
        above=tuple(_rows_at(exposed, limit, chosen) for limit, chosen in zip(limits, above, strict=True)),
    )


def _above(sizes: Integers, limit: float) -> Mask:
    """Return where 1 / size is above a limit, compared exactly: one in five is not above 0.2."""
    return share_above(np.ones(len(sizes), np.int64), sizes, limit)


def _basis(sampling_fraction: float | None) -> str:
    if sampling_fraction is None:
        return "no sampling fraction is declared: the table stands for its population"
    if sampling_fraction == 1:
        return "the sampling fraction is 1: the table is its population"
    return (
        f"sampling fraction {sampling_fraction}: expected 1/F of the class in the population, negative binomial "
        "(Benedetti and Franconi 1998)"
    )
