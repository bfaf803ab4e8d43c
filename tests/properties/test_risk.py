"""Prosecutor, journalist and marketer against a list of all rows and what each of them risks."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import nbinom

from anon_core.errors import InvalidInputError, UnknownColumnError
from anon_core.frequency import FrequencyTable
from anon_core.measures.risk.attackers import AttackRisk, expected_risk, risk
from tests.properties.sensitive import Question, counted, questions
from tests.properties.tables import Small, small_tables, table_of

SHARES = st.sampled_from([0.01, 0.09, 0.1, 0.2, 0.25, 0.33, 1 / 3, 0.5, 0.9, 1.0])


def sizes_by_person(question: Question) -> list[int]:
    """The smallest class of every person; without units every row is one."""
    smallest: dict[object, int] = {}
    for one in counted(question):
        for unit in one.units:
            smallest[unit] = min(len(one.units), smallest.get(unit, len(one.units)))
    return list(smallest.values())


def expected(size: int, fraction: float) -> float:
    """The expectation of 1/F by summing over the population's sizes, F being size plus a negative binomial number."""
    more = np.arange(200_000)
    return float((nbinom.pmf(more, size, fraction) / (size + more)).sum())


def assert_attack(found: AttackRisk, risks: list[float], limits: list[float], exact: bool) -> None:
    assert found.highest == pytest.approx(max(risks), rel=1e-9)
    assert found.average == pytest.approx(sum(risks) / len(risks), rel=1e-9)
    assert [one.limit for one in found.above] == limits
    for one in found.above:
        above = sum(Fraction(risk).limit_denominator(1000) > Fraction(str(one.limit)) for risk in risks)
        if exact:
            assert one.rows == above
        else:
            assert one.rows == sum(risk > one.limit for risk in risks)
        assert one.share == one.rows / len(risks)


@settings(max_examples=120, deadline=None)
@given(question=questions(), k=st.one_of(st.none(), st.integers(1, 9)), max_risk=st.one_of(st.none(), SHARES))
def test_the_prosecutor_risks_one_in_the_size_of_the_class(
    question: Question, k: int | None, max_risk: float | None
) -> None:
    found = risk(question.frequencies, question.quasi, k=k, max_risk=max_risk)
    sizes = sizes_by_person(question)
    limits = [0.09, 0.2, 0.33, *([] if max_risk is None else [max_risk])]
    assert_attack(found.prosecutor, [1 / size for size in sizes], limits, exact=True)
    assert found.rows == len(sizes)
    assert found.classes == len(counted(question))
    assert [one.limit for one in found.below] == sorted({2, 3, 5, *([] if k is None else [k])})
    for one in found.below:
        assert one.rows == sum(size < one.limit for size in sizes)
        assert one.share == one.rows / len(sizes)
    if max_risk is None:
        assert found.holds
    else:
        assert found.rows_failing == sum(Fraction(1, size) > Fraction(str(max_risk)) for size in sizes)
        too_small = [one for one in counted(question) if Fraction(1, len(one.units)) > Fraction(str(max_risk))]
        assert found.classes_failing == len(too_small)
        assert found.holds == (not too_small)


@settings(max_examples=60, deadline=None)
@given(question=questions())
def test_without_a_fraction_the_table_stands_for_its_population(question: Question) -> None:
    found = risk(question.frequencies, question.quasi)
    whole = risk(question.frequencies, question.quasi, sampling_fraction=1)
    assert found.journalist == found.prosecutor == whole.journalist
    assert found.marketer == found.prosecutor.average
    assert "no sampling fraction" in found.basis
    assert "is its population" in whole.basis


@settings(max_examples=40, deadline=None)
@given(question=questions(max_rows=8), fraction=st.sampled_from([0.01, 0.1, 0.5, 0.95]))
def test_the_journalist_looks_in_the_population(question: Question, fraction: float) -> None:
    found = risk(question.frequencies, question.quasi, sampling_fraction=fraction)
    by_size = {size: expected(size, fraction) for size in Counter(sizes_by_person(question))}
    risks = [by_size[size] for size in sizes_by_person(question)]
    assert_attack(found.journalist, risks, [0.09, 0.2, 0.33], exact=False)
    assert found.marketer == pytest.approx(sum(risks) / len(risks), rel=1e-9)
    assert found.journalist.highest < found.prosecutor.highest
    assert "Benedetti" in found.basis


@pytest.mark.parametrize("fraction", [1e-6, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_the_closed_form_is_the_integral(fraction: float) -> None:
    """E(1/F) is the integral of the generating function of F by s; with y = ps/(1-qs) it has no singularity."""
    sizes = [1, 2, 3, 10, 39, 40, 41, 100, 3000]
    found = expected_risk(np.array(sizes), fraction)
    for size, value in zip(sizes, found, strict=True):
        integral, _ = quad(
            lambda y, size=size: y ** (size - 1) * fraction / (fraction + (1 - fraction) * y),
            0,
            1,
            epsabs=1e-14,
            epsrel=1e-12,
            limit=500,
            points=[fraction] if size < 100 else [1 - 1 / size],
        )
        assert value == pytest.approx(integral, rel=1e-8)
    assert found[0] == pytest.approx(fraction / (1 - fraction) * log(1 / fraction))


def test_the_expectation_is_what_sampling_gives() -> None:
    """The average of 1/F over classes of which two were met, where sizes are as frequent as the model has them: 1/F."""
    rng = np.random.default_rng(11)
    fraction, size = 0.3, 2
    sizes = np.arange(1, 200)
    population = rng.choice(sizes, 2_000_000, p=1 / sizes / (1 / sizes).sum())
    sampled = rng.binomial(population, fraction)
    average = (1 / population[sampled == size]).mean()
    assert expected_risk(np.array([size]), fraction)[0] == pytest.approx(average, rel=0.01)


@settings(max_examples=40, deadline=None)
@given(small=small_tables(max_columns=4), data=st.data())
def test_knowing_one_more_column_never_lowers_a_risk(small: Small, data: st.DataObject) -> None:
    order = data.draw(st.permutations(small.names))
    frequencies = FrequencyTable.of(small.table)
    steps = [risk(frequencies, order[:size], k=4, sampling_fraction=0.5) for size in range(len(order) + 1)]
    for before, after in pairwise(steps):
        assert before.prosecutor.highest <= after.prosecutor.highest
        assert before.marketer <= after.marketer + 1e-12
        assert all(one.rows <= other.rows for one, other in zip(before.below, after.below, strict=True))


def test_thresholds_are_taken_literally() -> None:
    """One in three is 0.3333, above 0.33; one in five is 0.2, and not above it."""
    rows = [("three",)] * 3 + [("five",)] * 5 + [("eleven",)] * 11 + [("twelve",)] * 12
    found = risk(FrequencyTable.of(table_of(["q"], rows)), ["q"], max_risk=0.2)
    assert [(one.limit, one.rows) for one in found.prosecutor.above] == [(0.09, 19), (0.2, 3), (0.33, 3), (0.2, 3)]
    assert not found.holds
    assert risk(FrequencyTable.of(table_of(["q"], rows[3:])), ["q"], max_risk=0.2).holds


def test_a_table_without_rows_and_shares_that_are_none_are_refused() -> None:
    table = table_of(["q"], [("x",)])
    with pytest.raises(InvalidInputError, match="without rows is not defined"):
        risk(FrequencyTable.of(table.keep(np.array([False]))), ["q"])
    with pytest.raises(UnknownColumnError, match="'nobody'"):
        risk(FrequencyTable.of(table), ["nobody"])
    for wrong in (0.0, 1.5, float("nan"), -0.1):
        with pytest.raises(InvalidInputError, match="max_risk must be above 0"):
            risk(FrequencyTable.of(table), ["q"], max_risk=wrong)
        with pytest.raises(InvalidInputError, match="sampling_fraction must be above 0"):
            risk(FrequencyTable.of(table), ["q"], sampling_fraction=wrong)
