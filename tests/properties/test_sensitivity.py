"""What holds for every family of unique sets, every table and every reveal probability."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise, product
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anon_core.detection.unique_columns import UniqueColumns
from anon_core.engines.arrow import ArrowEngine
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.measures.sensitivity import exposure as module
from anon_core.measures.sensitivity.exposure import Exposure, exposure, sample
from anon_core.measures.sensitivity.scores import ranks, score_columns
from anon_core.measures.sensitivity.sensitivity import sensitivities
from anon_core.measures.sensitivity.sweeps import sweep_adversary, sweep_rows
from anon_core.measures.sensitivity.unique_sets import Family
from anon_core.table.masking import mask
from tests.properties.tables import Small, singletons, small_tables, subsets, table_of
from tests.properties.unique_sets import brute_search

COLUMNS = "abcdef"
Sets = list[tuple[str, ...]]


def brute_exposure(unique_sets: Sequence[Sequence[str]], reveal: Mapping[str, float]) -> dict[str, float]:
    """Sum over everything that an adversary may know."""
    names = list(reveal)
    found = dict.fromkeys(names, 0.0)
    for knows in product([False, True], repeat=len(names)):
        known = {name for name, yes in zip(names, knows, strict=True) if yes}
        chance = math.prod(reveal[name] if name in known else 1 - reveal[name] for name in names)
        for name in {name for one in unique_sets if set(one) <= known for name in one}:
            found[name] += chance
    return found


def plain_formula(unique_sets: Sequence[Sequence[str]], reveal: Mapping[str, float]) -> dict[str, float]:
    """The paper's equations, letter by letter."""
    return {
        name: p
        * (1 - math.prod(1 - math.prod(reveal[b] for b in one if b != name) for one in unique_sets if name in one))
        for name, p in reveal.items()
    }


def minimal(sets: list[frozenset[str]]) -> Sets:
    return [tuple(sorted(one)) for one in sorted(set(sets), key=sorted) if not any(other < one for other in sets)]


families = st.lists(st.frozensets(st.sampled_from(COLUMNS), min_size=1), min_size=1, max_size=7).map(minimal)
probabilities = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
reveals = st.fixed_dictionaries(dict.fromkeys(COLUMNS, probabilities))


def exposed(columns: Sequence[str], unique_sets: Sequence[Sequence[str]], reveal: Mapping[str, float]):
    return exposure(columns, unique_sets, reveal, generator=np.random.default_rng(0))


def found_by(method: str, unique_sets: Sets, reveal: Mapping[str, float]) -> Exposure:
    """The exposure with every other method switched off."""
    limits = {
        "enumeration": (22, 0, 0),
        "enumeration one by one": (-1, 22, -1),
        "inclusion-exclusion": (-1, -1, 12),
        "monte carlo": (-1, -1, -1),
    }[method]
    names = ("MAX_ENUMERATED_COLUMNS", "MAX_ENUMERATED_BESIDE_ONE", "MAX_INCLUDED_SETS")
    with mock.patch.multiple(module, **dict(zip(names, limits, strict=True))):
        found = exposure(COLUMNS, unique_sets, reveal, generator=np.random.default_rng(7))
    assert found is not None
    return found


@settings(max_examples=150, deadline=None)
@given(families, reveals)
def test_the_formula_is_the_papers_in_whatever_order_sets_come(sets: Sets, reveal: dict[str, float]) -> None:
    found = sensitivities(COLUMNS, sets, reveal)
    assert found == pytest.approx(plain_formula(sets, reveal), abs=1e-12)
    shuffled = [one[::-1] for one in reversed(sets)]
    assert sensitivities(COLUMNS, [*shuffled, sets[0]], reveal) == found


@pytest.mark.parametrize("method", ["enumeration", "enumeration one by one", "inclusion-exclusion"])
@settings(max_examples=100, deadline=None)
@given(sets=families, reveal=reveals)
@example(sets=[("a", "b"), ("a", "c"), ("b", "c", "d")], reveal=dict.fromkeys(COLUMNS, 0.5))
def test_the_exact_probability_is_that_of_brute_force(method: str, sets: Sets, reveal: dict[str, float]) -> None:
    found = found_by(method, sets, reveal)
    assert found.probabilities == pytest.approx(brute_exposure(sets, reveal), abs=1e-12)
    assert found.method == method.removesuffix(" one by one")
    assert (found.error, found.samples) == (0.0, None)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(families, reveals)
def test_monte_carlo_stays_within_the_error_that_it_states(sets: Sets, reveal: dict[str, float]) -> None:
    truth = brute_exposure(sets, reveal)
    family = Family.of(COLUMNS, sets, reveal)
    raw = sample(family, list(range(len(COLUMNS))), np.random.default_rng(7))
    assert np.abs(raw.probabilities - [truth[name] for name in COLUMNS]).max() <= raw.error + 1e-12
    assert raw.error < 0.01
    found = found_by("monte carlo", sets, reveal)
    assert max(abs(found.probabilities[name] - truth[name]) for name in COLUMNS) <= found.error + 1e-12
    assert found.method == "monte carlo"
    assert found == found_by("monte carlo", sets, reveal)


@pytest.mark.parametrize("method", ["enumeration", "inclusion-exclusion", "monte carlo"])
@settings(max_examples=50, deadline=None)
@given(sets=families, reveal=reveals)
def test_sensitivity_is_never_below_the_exact_probability(method: str, sets: Sets, reveal: dict[str, float]) -> None:
    bound = sensitivities(COLUMNS, sets, reveal)
    assert bound is not None
    for name, exact in found_by(method, sets, reveal).probabilities.items():
        assert 0 <= exact <= bound[name] + 1e-15
        assert bound[name] <= reveal[name]


@settings(max_examples=100, deadline=None)
@given(families, reveals, st.sampled_from(COLUMNS), st.floats(0, 1))
def test_knowing_a_column_more_often_lowers_no_score(
    sets: Sets, reveal: dict[str, float], column: str, more: float
) -> None:
    raised = {**reveal, column: max(reveal[column], more)}
    for measure in (sensitivities, lambda *a: exposed(*a).probabilities):
        low, high = measure(COLUMNS, sets, reveal), measure(COLUMNS, sets, raised)
        assert all(low[name] <= high[name] + 1e-12 for name in COLUMNS)


@settings(max_examples=60, deadline=None)
@given(families, reveals)
def test_a_column_in_no_set_has_zero_while_others_have_some(sets: Sets, reveal: dict[str, float]) -> None:
    names, reveal = [*COLUMNS, "z"], {**reveal, "z": 1.0}
    assert sensitivities(names, sets, reveal)["z"] == 0.0
    assert exposed(names, sets, reveal).probabilities["z"] == 0.0


def test_no_set_at_all_is_none_and_not_zero() -> None:
    assert sensitivities("ab", [], {"a": 0.5, "b": 0.5}) is None
    assert exposed("ab", [], {"a": 0.5, "b": 0.5}) is None


@pytest.mark.parametrize("measure", [sensitivities, exposed])
def test_probabilities_that_are_none_are_refused_with_all_columns(measure) -> None:
    with pytest.raises(InvalidInputError, match=r"between 0 and 1: b, c, d$"):
        measure("abcd", [], {"a": 1.0, "b": 1.1, "c": -0.1, "d": math.nan})
    with pytest.raises(InvalidInputError, match=r"missing for: b, d$"):
        measure("abc", ["ad"], {"a": 1.0, "c": 1.0})


def test_a_column_of_a_large_set_of_unlikely_columns_is_not_taken_for_harmless() -> None:
    """In 1 - (1 - x) an x of 1e-18 is lost."""
    names = [f"c{n}" for n in range(10)]
    found = sensitivities(names, [names], dict.fromkeys(names, 0.01))
    assert found == pytest.approx(dict.fromkeys(names, 1e-20), rel=1e-9, abs=0)


def test_a_hundred_columns_in_few_sets_each_are_exact() -> None:
    """A chain: every column is in two sets, which share nothing but it."""
    names = [f"c{n:03}" for n in range(100)]
    chain = list(pairwise(names))
    found = exposed(names, chain, dict.fromkeys(names, 0.3))
    assert (found.method, found.error) == ("inclusion-exclusion", 0.0)
    assert found.probabilities["c000"] == pytest.approx(0.3 * 0.3)
    assert found.probabilities["c050"] == pytest.approx(0.3 * (1 - 0.7**2))


def test_only_the_columns_in_many_wide_sets_are_sampled() -> None:
    """A hub with 40 leaves: the leaves are in one set each, the hub is in all of them."""
    leaves = [f"l{n:02}" for n in range(40)]
    names = ["hub", *leaves]
    found = exposed(names, [("hub", leaf) for leaf in leaves], dict.fromkeys(names, 0.05))
    assert found.method == "monte carlo"
    assert 0 < found.error < 1e-3
    assert found.samples > 0
    assert found.probabilities["l07"] == pytest.approx(0.05 * 0.05, abs=1e-15)
    assert found.probabilities["hub"] == pytest.approx(0.05 * (1 - 0.95**40), abs=found.error)


def test_the_seed_repeats_a_sampled_result_and_another_one_does_not() -> None:
    leaves = [f"l{n:02}" for n in range(40)]
    sets = [("hub", *pair) for pair in combinations(leaves, 2)]
    reveal = dict.fromkeys(["hub", *leaves], 0.05)
    first, again, other = (
        exposure(["hub", *leaves], sets, reveal, generator=np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    assert first == again
    assert first.probabilities != other.probabilities


def test_a_score_names_its_seed_only_where_something_was_sampled() -> None:
    leaves = [f"l{n:02}" for n in range(40)]
    names = ["hub", *leaves]
    table = table_of(names, [tuple("x" for _ in names), tuple("y" for _ in names)])
    few, many = (
        UniqueColumns(rows=2, duplicate_rows=0, max_size=None, approximate=0.0, sets=sets, exists=True)
        for sets in ((("hub",),), tuple(("hub", *pair) for pair in combinations(leaves, 2)))
    )
    exact, sampled = (
        score_columns(ArrowEngine(table=table), unique, dict.fromkeys(names, 0.05), seed=3) for unique in (few, many)
    )
    assert (exact.seed, exact.samples) == (None, None)
    assert sampled.seed == 3
    assert sampled.samples
    assert sampled == score_columns(ArrowEngine(table=table), many, dict.fromkeys(names, 0.05), seed=3)
    assert sampled.columns != score_columns(ArrowEngine(table=table), many, dict.fromkeys(names, 0.05), seed=4).columns


@settings(max_examples=80, deadline=None)
@given(small_tables(values=("aa", "ab", "b", "", None)), st.integers(1, 3), st.data())
def test_masking_never_makes_a_set_of_columns_more_unique(small: Small, count: int, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.sampled_from(small.names), min_size=1))
    before, after = (
        FrequencyTable.of(table) for table in (small.table, mask(small.table, dict.fromkeys(chosen, count)))
    )
    for columns in subsets(small.names, len(small.names)):
        assert after.project(columns).singletons <= before.project(columns).singletons
        assert after.project(columns).tuples <= before.project(columns).tuples


@settings(max_examples=60, deadline=None)
@given(small_tables())
def test_a_stronger_adversary_lowers_no_sensitivity(small: Small) -> None:
    reveal = dict.fromkeys(small.names, 0.5)
    unique = brute_search(FrequencyTable.of(small.table))
    sweep = sweep_adversary(small.names, unique, reveal)
    for weaker, stronger in pairwise(sweep.points):
        assert weaker.sensitivities is None or stronger.sensitivities is not None
        for name, value in (weaker.sensitivities or {}).items():
            assert value <= stronger.sensitivities[name] + 1e-15
    for point in sweep.points:
        alone = brute_search(FrequencyTable.of(small.table), max_size=point.at)
        assert point.sensitivities == sensitivities(small.names, alone.sets, reveal, larger_exist=alone.exists)


def test_the_adversary_cannot_be_given_more_columns_than_were_searched() -> None:
    unique = UniqueColumns(rows=2, duplicate_rows=0, max_size=2, approximate=0.0, sets=(("a", "b"),), exists=True)
    for limit in (0, 3):
        with pytest.raises(InvalidInputError, match=r"between 1 and the limit of the search"):
            sweep_adversary("ab", unique, {"a": 0.5, "b": 0.5}, max_size=limit)


@settings(max_examples=40, deadline=None)
@given(small_tables(max_rows=12), st.integers(0, 3), st.randoms(use_true_random=False))
def test_a_sweep_over_rows_does_not_depend_on_their_order_nor_on_that_of_the_columns(
    small: Small, seed: int, shuffler
) -> None:
    rows = list(small.rows)
    shuffler.shuffle(rows)
    names = sorted(small.names)
    moved = table_of(names, Small(names=small.names, rows=tuple(rows)).project(names))
    reveal = dict.fromkeys(small.names, 0.5)
    steps = sorted({1, (len(rows) + 1) // 2, len(rows)})
    first, second = (
        sweep_rows(ArrowEngine(table=table), reveal, search=brute_search, steps=steps, seed=seed)
        for table in (small.table, moved)
    )
    assert first.points == second.points
    assert first.seed == seed


def test_the_samples_of_a_sweep_are_random_and_nested_and_end_with_everything() -> None:
    rows = [(str(n), str(n % 3)) for n in range(40)]
    table = table_of(["id", "digit"], [*rows, *rows[:5]])
    samples: dict[int, list[Counter]] = {}
    for seed in (0, 1):
        seen = samples.setdefault(seed, [])

        def search(frequencies: FrequencyTable, /, *, seen=seen, **options):
            at = frequencies.codes[frequencies.names.index("id")]
            seen.append(Counter(dict(zip(at.tolist(), frequencies.weights.tolist(), strict=True))))
            return brute_search(frequencies, **options)

        told: list[int] = []
        sweep = sweep_rows(
            ArrowEngine(table=table), {"id": 0.5, "digit": 0.5}, search=search, steps=4, seed=seed, progress=told.append
        )
        assert told == [1, 2, 3, 4]
        assert [point.at for point in sweep.points] == [sum(one.values()) for one in seen]
        assert (sweep.points[0].at, sweep.points[-1].at) == (10, 45)
        assert sweep.points[-1].sensitivities is None
        for smaller, larger in pairwise(seen):
            assert smaller <= larger
    assert samples[0][0] != samples[1][0]
    assert samples[0][-1] == samples[1][-1]


@pytest.mark.parametrize("steps", [0, -1, [], [0, 2], [1, 4]])
def test_steps_that_cannot_be_sampled_are_refused(steps) -> None:
    table = table_of(["a"], [("x",), ("y",), ("z",)])
    with pytest.raises(InvalidInputError, match=r"at least 1 step|between 1 and the 3 rows"):
        sweep_rows(ArrowEngine(table=table), {"a": 0.5}, search=brute_search, steps=steps)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.1 + 0.2, 0.3, 1.0]), max_size=8))
def test_a_rank_is_one_more_than_the_number_of_larger_figures(figures: list[float]) -> None:
    expected = [1 + sum(other > one + 1e-9 for other in figures) for one in figures]
    assert ranks(figures) == expected


@settings(max_examples=60, deadline=None)
@given(small_tables(max_rows=8))
def test_baselines_are_those_of_plain_counting(small: Small) -> None:
    unique = brute_search(FrequencyTable.of(small.table))
    scores = score_columns(ArrowEngine(table=small.table), unique, dict.fromkeys(small.names, 0.5))
    assert (scores.average is None) == (scores.reason is not None) == (not unique.sets)
    for one in scores.columns:
        cells = small.project([one.name])
        shares = [times / len(cells) for times in Counter(cells).values()]
        larger = sum(len(set(small.project([name]))) > len(shares) for name in small.names)
        assert (one.cardinality, one.ranks["cardinality"]) == (len(shares), 1 + larger)
        assert (one.missing, one.distinct) == (cells.count((None,)), len(set(cells) - {(None,)}))
        assert one.unique_share == pytest.approx(singletons(cells) / len(cells))
        assert one.entropy == pytest.approx(-sum(share * math.log2(share) for share in shares), abs=1e-12)
