"""Estimators of population uniqueness: against slow implementations of their formulas, and on populations we know."""

from __future__ import annotations

import re
import tracemalloc
from collections import Counter
from collections.abc import Callable
from math import comb, exp, log, prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, root
from scipy.stats import nbinom

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.measures.risk.attackers import risk
from anon_core.measures.risk.population import (
    Estimate,
    Estimator,
    elected,
    pitman_uniques,
    population_uniqueness,
    slide_negative_binomial_uniques,
    zayatz_uniques,
)
from anon_core.table import read
from tests.properties.tables import table_of

Sizes = np.ndarray[Any, np.dtype[np.int64]]


def table_with(classes: Sizes) -> FrequencyTable:
    """A table whose classes have these sizes."""
    names = pa.array([f"{at:07}" for at in range(len(classes))])
    return FrequencyTable.from_codes(["q"], [np.arange(len(classes), dtype=np.int32)], [names], classes)


def sample(population: Sizes, fraction: float, rng: np.random.Generator) -> Sizes:
    """The class sizes of a random sample without replacement."""
    people = np.repeat(np.arange(len(population)), population)
    drawn = rng.choice(people, round(len(people) * fraction), replace=False)
    return np.unique(drawn, return_counts=True)[1]


def histogram(classes: Sizes) -> tuple[Sizes, Sizes]:
    sizes, times = np.unique(classes, return_counts=True)
    return sizes, times


SAMPLES = [
    np.array([1, 1, 1, 2, 2, 3, 5, 9]),
    np.array([1, 2, 4, 8, 16]),
    np.array([1] * 30 + [2] * 9 + [3] * 4 + [4, 4, 7, 11, 30]),
    np.array([1] * 200 + [2] * 20 + [3]),
]


@pytest.mark.parametrize("classes", SAMPLES, ids=["few", "doubling", "tail", "even"])
@pytest.mark.parametrize("times", [2, 7, 100])
def test_zayatz_is_bayes_rule_with_hypergeometric_chances(classes: Sizes, times: int) -> None:
    rows = int(classes.sum())
    population = rows * times
    frequency = Counter(classes.tolist())

    def chance(size: int) -> float:
        """That of a class of this size in the population one row is in the sample."""
        return size * comb(population - size, rows - 1) / comb(population, rows)

    alone = frequency[1] * chance(1) / sum(count * chance(size) for size, count in frequency.items())
    assert zayatz_uniques(*histogram(classes), population) == pytest.approx(frequency[1] * alone * times, rel=1e-9)


def test_zayatz_knows_that_a_class_too_large_to_be_met_once_is_not() -> None:
    # Of 12 people 11 are in the sample: a class of five cannot have one row in it.
    assert zayatz_uniques(*histogram(np.array([1, 1, 1, 1, 1, 1, 5])), 12) == pytest.approx(6 * 12 / 11)


def test_zayatz_of_a_class_of_a_thousand_million_takes_no_memory() -> None:
    tracemalloc.start()
    found = zayatz_uniques(np.array([1, 2, 10**9]), np.array([2, 1, 1]), 2 * 10**9)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A class of so many is not met once: two of one row against one of two, and half of the people are in the sample.
    assert found == pytest.approx(2 * 2 / 3 * 2, rel=1e-6)
    assert most < 10_000_000


def test_zayatz_multiplies_as_many_factors_as_matter() -> None:
    """Some 700,000 factors, ten blocks of them, after which a class of this size may still be met once."""
    size, population = 700_000, 36 * 10**9
    rows = 2 + size
    factors = np.arange(size - 1, dtype=np.float64)
    met_once = size * np.exp(np.log1p(-(rows - 1) / (population - 1 - factors)).sum())
    found = zayatz_uniques(np.array([1, size]), np.array([2, 1]), population)
    assert found == pytest.approx(2 * 2 / (2 + met_once) * population / rows, rel=1e-9)
    assert 2 + met_once > 2.5, "the large class matters"


@pytest.mark.parametrize("classes", SAMPLES, ids=["few", "doubling", "tail", "even"])
def test_pitman_is_the_most_likely_partition_model(classes: Sizes) -> None:
    """The likelihood written out factor by factor, and a search that knows nothing of its shape."""
    rows, population = int(classes.sum()), int(classes.sum()) * 20

    def loss(at: Any) -> float:
        alpha = 1 / (1 + exp(-at[0]))
        theta = exp(at[1]) - alpha
        opened = sum(log(theta + n * alpha) for n in range(1, len(classes)))
        grown = sum(log(n - alpha) for size in classes.tolist() for n in range(1, size))
        return -(opened + grown - sum(log(theta + n) for n in range(1, rows)))

    starts = [(a, t) for a in (-3.0, 0.0, 3.0) for t in (-1.0, 2.0, 6.0)]
    best = min(
        (minimize(loss, at, method="Nelder-Mead", options={"maxiter": 4000}) for at in starts), key=lambda f: f.fun
    )
    alpha = 1 / (1 + exp(-best.x[0]))
    theta = exp(best.x[1]) - alpha
    found = pitman_uniques(*histogram(classes), population)
    if alpha < 1e-3:
        assert found is None
        return
    expected = population * prod((theta + alpha + n - 1) / (theta + n) for n in range(1, population))
    assert found == pytest.approx(expected, rel=1e-2)


def test_classes_that_are_too_even_have_no_pitman_model() -> None:
    assert pitman_uniques(*histogram(np.array([1, 1] + [40] * 300)), 100_000) is None


def test_the_expectation_is_used_and_not_its_limit_for_large_populations() -> None:
    """Of nearly all uniques in a sample of half a population the limit makes more people alone than there are."""
    sizes, times = np.array([1, 2]), np.array([4000, 3])
    found = pitman_uniques(sizes, times, 8012)
    assert found is not None
    assert 4000 < found < 8012


def test_the_slide_negative_binomial_meets_its_three_moments() -> None:
    """Expected moments by summing over class sizes; the estimate from a sample that has exactly them is the truth."""
    classes, shape, probability, fraction = 50_000.0, 0.7, 0.2, 0.15
    more = np.arange(2000)
    of_size = nbinom.pmf(more, shape, probability)

    def moments(k: float, a: float, b: float) -> list[float]:
        weight = nbinom.pmf(more, a, b)
        none = (1 - fraction) ** (more + 1)
        one = (more + 1) * fraction * (1 - fraction) ** more
        return [k * (weight * (more + 1)).sum(), k * (1 - (weight * none).sum()), k * (weight * one).sum()]

    population, met, uniques = moments(classes, shape, probability)
    rows = round(population * fraction)
    # Any sizes will do that add up: the estimator looks at rows, classes and uniques only.
    others = round(met) - round(uniques)
    left = rows - round(uniques)
    sizes = np.array([1, left // others, left // others + 1])
    times = np.array([round(uniques), others - left % others, left % others])
    found = slide_negative_binomial_uniques(sizes, times, round(population))
    assert found == pytest.approx(classes * of_size[0], rel=2e-3)
    solved = root(
        lambda at: (
            np.array(moments(exp(at[0]), exp(at[1]), 1 / (1 + exp(-at[2]))))
            / np.array([round(population), round(met), round(uniques)])
            - 1
        ),
        [log(classes) + 0.05, log(shape) + 0.05, log(probability / (1 - probability)) + 0.05],
    )
    assert solved.success
    at = solved.x
    assert found == pytest.approx(exp(at[0]) * (1 / (1 + exp(-at[2]))) ** exp(at[1]), rel=1e-3)


def restaurant(people: int, alpha: float, theta: float, rng: np.random.Generator) -> Sizes:
    """A population grown by Pitman's rule: one joins a class in proportion to its size less alpha, or opens one."""
    sizes = [1]
    member = [0]
    for count in range(1, people):
        if rng.random() < (theta + alpha * len(sizes)) / (theta + count):
            member.append(len(sizes))
            sizes.append(1)
            continue
        while True:
            chosen = member[int(rng.integers(count))]
            if rng.random() < (sizes[chosen] - alpha) / sizes[chosen]:
                break
        member.append(chosen)
        sizes[chosen] += 1
    return np.array(sizes)


def heavy_tailed(rng: np.random.Generator) -> Sizes:
    return rng.zipf(1.6, 20_000).clip(max=2000)


def pitman_grown(rng: np.random.Generator) -> Sizes:
    return restaurant(60_000, 0.6, 30.0, rng)


def slide_negative_binomial(rng: np.random.Generator) -> Sizes:
    return 1 + rng.negative_binomial(0.8, 0.15, 20_000)


# By how much an estimate may be off, as a factor, at 5, 10, 20 and 50 %. Zayatz takes the sizes of the sample for those
# of the population, which is far too high in small samples of even classes: known since Dankar 2012.
FRACTIONS = (0.05, 0.1, 0.2, 0.5)
POPULATIONS: list[tuple[Callable[[np.random.Generator], Sizes], Estimator, tuple[float, ...]]] = [
    (heavy_tailed, Estimator.ZAYATZ, (1.6, 1.4, 1.25, 1.1)),
    (heavy_tailed, Estimator.PITMAN, (1.5, 1.4, 1.35, 1.25)),
    (pitman_grown, Estimator.PITMAN, (1.1, 1.1, 1.1, 1.1)),
    (pitman_grown, Estimator.ZAYATZ, (1.6, 1.4, 1.25, 1.1)),
    (slide_negative_binomial, Estimator.SLIDE_NEGATIVE_BINOMIAL, (1.6, 1.25, 1.1, 1.05)),
]


@pytest.mark.parametrize(
    ("make", "estimator", "factors"), POPULATIONS, ids=[f"{make.__name__}-{one.name}" for make, one, _ in POPULATIONS]
)
def test_a_population_that_we_know_is_estimated_within_a_factor(
    make: Callable[[np.random.Generator], Sizes], estimator: Estimator, factors: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(20)
    population = make(rng)
    truth = int((population == 1).sum())
    for fraction, factor in zip(FRACTIONS, factors, strict=True):
        found = population_uniqueness(table_with(sample(population, fraction, rng)), ["q"], sampling_fraction=fraction)
        (one,) = [one for one in found.estimates if one.estimator is estimator]
        assert one.uniques is not None
        assert truth / factor < one.uniques < truth * factor, (fraction, one.uniques / truth)
        assert one.share == pytest.approx(one.uniques / population.sum(), rel=1e-3)


@pytest.mark.reference
def test_half_of_a_real_register_tells_how_many_are_alone_in_it(reference_data: Path) -> None:
    table = read(reference_data / "driver_licences_valle_aosta.csv.gz")
    register = FrequencyTable.of(table, ["anno_nascita", "sesso", "comune_residenza"])
    rng = np.random.default_rng(4)
    half = sample(register.class_sizes(), 0.5, rng)
    found = population_uniqueness(table_with(half), ["q"], sampling_fraction=0.5)
    assert found.population == pytest.approx(register.rows, abs=1)
    assert found.elected is not None and found.elected.uniques is not None
    assert register.singletons / 1.2 < found.elected.uniques < register.singletons * 1.2
    # A twentieth says much less, and every estimator errs on the safe side.
    little = population_uniqueness(table_with(sample(register.class_sizes(), 0.05, rng)), ["q"], sampling_fraction=0.05)
    assert all(one.uniques is None or one.uniques > register.singletons for one in little.estimates)


def test_nobody_is_estimated_who_is_neither_alone_in_the_sample_nor_outside_of_it() -> None:
    found = population_uniqueness(table_with(np.array([1, 1, 2, 10**7])), ["q"], sampling_fraction=0.999999)
    assert found.population == 10**7 + 4 + 10
    by_model = {one.estimator: one for one in found.estimates}
    pitman = by_model[Estimator.PITMAN]
    assert pitman_uniques(np.array([1, 2, 10**7]), np.array([2, 1, 1]), found.population) > 1000  # type: ignore[operator]
    assert (pitman.uniques, pitman.share) == (12, 12 / found.population)
    assert pitman.reason == "the model has more: as many as are alone in the sample or not in it"
    assert by_model[Estimator.ZAYATZ].uniques == pytest.approx(2)
    assert by_model[Estimator.ZAYATZ].reason is None


@settings(max_examples=60, deadline=None)
@given(
    classes=st.lists(st.integers(1, 30) | st.integers(1, 80_000), min_size=1, max_size=12),
    fraction=st.sampled_from([1e-6, 0.01, 0.1, 0.5, 0.9, 0.999, 0.999999]),
)
def test_no_estimate_is_more_than_possible(classes: list[int], fraction: float) -> None:
    found = population_uniqueness(table_with(np.array(classes)), ["q"], sampling_fraction=fraction)
    assert found.population is not None
    most = classes.count(1) + found.population - sum(classes)
    for one in found.estimates:
        assert one.uniques is None or 0 <= one.uniques <= most
        assert one.uniques is None or one.share == one.uniques / found.population


def test_the_rule_is_pitman_for_small_samples_and_the_lower_of_the_others_for_large_ones() -> None:
    def estimates(zayatz: float, pitman: float | None, slide: float | None) -> list[Estimate]:
        models = (Estimator.ZAYATZ, Estimator.PITMAN, Estimator.SLIDE_NEGATIVE_BINOMIAL)
        return [
            Estimate(estimator=model, uniques=found, share=None)
            for model, found in zip(models, (zayatz, pitman, slide), strict=True)
        ]

    def rule(fraction: float, zayatz: float, pitman: float | None, slide: float | None) -> Estimator:
        chosen = elected(estimates(zayatz, pitman, slide), fraction)
        assert chosen is not None
        return chosen.estimator

    assert rule(0.1, 9.0, 20.0, 1.0) is Estimator.PITMAN
    assert rule(0.1, 9.0, None, 1.0) is Estimator.ZAYATZ
    assert rule(0.11, 9.0, 2.0, 3.0) is Estimator.SLIDE_NEGATIVE_BINOMIAL
    assert rule(0.11, 9.0, 2.0, 30.0) is Estimator.ZAYATZ
    assert rule(0.11, 9.0, 2.0, None) is Estimator.ZAYATZ


def test_without_a_fraction_nothing_is_assessed() -> None:
    found = population_uniqueness(table_with(np.array([1, 2])), ["q"], sampling_fraction=None)
    assert (found.estimates, found.elected, found.population) == ((), None, None)
    assert found.reason == "not assessed: no sampling fraction is declared"
    assert (found.rows, found.sample_uniques) == (3, 1)


def test_a_sample_of_everybody_is_counted() -> None:
    found = population_uniqueness(table_with(np.array([1, 1, 2])), ["q"], sampling_fraction=1)
    assert found.elected == Estimate(estimator=Estimator.COUNTED, uniques=2, share=0.5)
    assert found.estimates == (found.elected,)


def test_a_fraction_that_leaves_nobody_else_is_counted_too() -> None:
    found = population_uniqueness(table_with(np.array([1, 3])), ["q"], sampling_fraction=0.9)
    assert found.population == found.rows == 4
    assert found.estimates == (Estimate(estimator=Estimator.COUNTED, uniques=1, share=0.25),)


@pytest.mark.parametrize("fraction", [1e-308, 5e-324, 3.9e-12])
def test_a_fraction_of_more_people_than_there_can_be_is_refused(fraction: float) -> None:
    table = table_with(np.array([1, 3]))
    said = f"a sampling_fraction of {fraction} makes 4 rows a sample of more than 1,000,000,000,000 people; give"
    for measure in (population_uniqueness, risk):
        with pytest.raises(InvalidInputError, match=re.escape(said)):
            measure(table, ["q"], sampling_fraction=fraction)
    assert population_uniqueness(table, ["q"], sampling_fraction=4e-12).population == 10**12


@pytest.mark.parametrize(
    ("classes", "reason"), [([2, 2, 5], "no row is alone in the sample"), ([1, 1, 1], "every row is alone")]
)
def test_a_sample_that_says_nothing_gives_a_reason_and_no_number(classes: list[int], reason: str) -> None:
    found = population_uniqueness(table_with(np.array(classes)), ["q"], sampling_fraction=0.1)
    assert len(found.estimates) == 3
    assert found.elected is None
    assert all(one.uniques is None and one.share is None for one in found.estimates)
    assert all(one.reason is not None and one.reason.startswith(reason) for one in found.estimates)


def test_people_in_several_classes_are_not_assessed_and_people_in_one_are() -> None:
    several = table_of(["q", "person"], [("x", "1"), ("y", "1"), ("y", "2")])
    found = population_uniqueness(FrequencyTable.of(several, unit="person"), ["q"], sampling_fraction=0.5)
    assert found.reason is not None and "several classes" in found.reason
    once = table_of(["q", "person"], [("x", "1"), ("x", "1"), ("y", "2"), ("y", "3")])
    assert population_uniqueness(FrequencyTable.of(once, unit="person"), ["q"], sampling_fraction=0.5).reason is None


def test_a_table_without_rows_and_a_fraction_that_is_none_are_refused() -> None:
    table = table_of(["q"], [("x",)])
    with pytest.raises(InvalidInputError, match="without rows is not defined"):
        population_uniqueness(FrequencyTable.of(table.keep(np.array([False]))), ["q"], sampling_fraction=0.5)
    for wrong in (0.0, 1.01, float("nan")):
        with pytest.raises(InvalidInputError, match="sampling_fraction must be above 0"):
            population_uniqueness(FrequencyTable.of(table), ["q"], sampling_fraction=wrong)
