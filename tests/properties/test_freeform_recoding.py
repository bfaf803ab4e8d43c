"""Freeform recoding: nothing can be inferred, everything finer gives something away, by trying everything."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from anon_core.errors import PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Integers
from anon_core.measures.freeform import Definition
from anon_core.plan import RecodingPlan
from anon_core.policy import Policy
from anon_core.recoding.best.election import cost_of
from anon_core.recoding.compliance import error_of, shortfalls
from anon_core.recoding.freeform.search import LevelCut, specialise
from anon_core.recoding.freeform_problem import FreeformProblem, places_of
from anon_core.recoding.method import FREEFORM
from anon_core.recoding.methods import recode
from anon_core.recoding.task import Recoding, Task
from anon_core.spec import Recode, UtilityMeasure
from tests.properties.freeform import Guarded, attacks, guarded_tables

quietly = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


def reduced(table: Guarded, weights: tuple[float, ...] = ()) -> FreeformProblem:
    columns = tuple(table.columns)
    return FreeformProblem(
        frequencies=FrequencyTable.of(table.small.table),
        ladders=table.ladders,
        columns=columns,
        places=tuple(places_of(ladder.labels, column) for ladder, column in zip(table.ladders, columns, strict=True)),
        weights=weights or (1.0,) * len(columns),
        sigma_t=table.sigma_t,
    )


def task_of(table: Guarded, quasi: tuple[str, ...], k: int, limit: float = 0.0, **recoding: object) -> Task:
    at = [table.small.names.index(name) for name in quasi]
    task = Task.of(
        FrequencyTable.of(table.small.table, quasi),
        [table.ladders[i] for i in at],
        Policy(k=k, suppression_limit=limit),
        settings=Recode.model_validate({"method": "freeform", "improve": 0, **recoding}),
    )
    return replace(task, freeform=reduced(table))


def breached(table: Guarded, published: FrequencyTable) -> bool:
    """By trying every valueset and every target."""
    every = attacks(table, published, Definition.EXTENDED)
    return any(float(threat) > table.sigma_t + 1e-12 for _, threat in every)


def all_roots(table: Guarded) -> list[list[int]]:
    return [[ladder.height] * ladder.maps.shape[1] for ladder in table.ladders]


def listed(levels: tuple[Integers, ...]) -> list[list[int]]:
    return [own.tolist() for own in levels]


def finer(table: Guarded, cut: LevelCut) -> list[list[list[int]]]:
    """Every cut with one label replaced by those right below it, everywhere."""
    found = []
    for at, ladder in enumerate(table.ladders):
        levels = cut.levels[at].tolist()
        labels = [int(ladder.maps[level, code]) for code, level in enumerate(levels)]
        for label in sorted(set(labels)):
            lower = list(levels)
            for code in (code for code, own in enumerate(labels) if own == label):
                while lower[code] and int(ladder.maps[lower[code], code]) == label:
                    lower[code] -= 1
            if [int(ladder.maps[level, code]) for code, level in enumerate(lower)] != labels:
                found.append([lower if i == at else own.tolist() for i, own in enumerate(cut.levels)])
    return found


def smallest_class(table: Guarded, levels: list[list[int]], quasi: tuple[str, ...]) -> int:
    return int(table.published(levels).project(quasi).weights.min())


def quasi_of(table: Guarded, data: st.DataObject) -> tuple[str, ...]:
    names = table.small.names
    chosen = data.draw(st.sets(st.sampled_from(names), min_size=1))
    return tuple(name for name in names if name in chosen)


@quietly
@given(table=guarded_tables())
def test_nothing_is_breached_and_every_further_specialisation_breaches(table: Guarded) -> None:
    assume(not breached(table, table.published(all_roots(table))))
    cut = specialise(reduced(table))
    assert not breached(table, table.published(listed(cut.levels)))
    for lower in finer(table, cut):
        assert breached(table, table.published(lower))


@quietly
@given(table=guarded_tables(), data=st.data())
def test_with_k_too_it_is_minimal(table: Guarded, data: st.DataObject) -> None:
    quasi, rows = quasi_of(table, data), len(table.small.rows)
    k = data.draw(st.integers(2, 4))
    assume(k <= rows and not breached(table, table.published(all_roots(table))))
    cut = specialise(reduced(table), quasi=quasi, k=k)
    levels = listed(cut.levels)
    assert not breached(table, table.published(levels))
    assert smallest_class(table, levels, quasi) >= k
    for lower in finer(table, cut):
        assert breached(table, table.published(lower)) or smallest_class(table, lower, quasi) < k


@quietly
@given(table=guarded_tables())
def test_it_is_infeasible_iff_the_table_of_all_roots_breaches(table: Guarded) -> None:
    assume(len(table.small.rows) > 1)
    infeasible = breached(table, table.published(all_roots(table)))
    try:
        found = recode(task_of(table, table.small.names, 2))
    except PolicyNotMetError as error:
        assert infeasible and "infeasible" in str(error)
        return
    assert not infeasible
    assert not breached(table, found.plan.released())


@quietly
@given(table=guarded_tables(), data=st.data())
def test_the_order_of_rows_does_not_matter(table: Guarded, data: st.DataObject) -> None:
    assume(not breached(table, table.published(all_roots(table))))
    again = replace(table, small=replace(table.small, rows=tuple(data.draw(st.permutations(table.small.rows)))))
    orders = []
    for one, other in zip(table.small.table.columns, again.small.table.columns, strict=True):
        values = one.domain.to_pylist()
        orders.append([values.index(value) for value in other.domain.to_pylist()])
    ladders = tuple(
        replace(ladder, maps=ladder.maps[:, order], unmapped=ladder.unmapped[order])
        for ladder, order in zip(table.ladders, orders, strict=True)
    )
    found = specialise(reduced(table))
    shuffled = specialise(reduced(replace(again, ladders=ladders)))
    assert [own[order].tolist() for own, order in zip(found.levels, orders, strict=True)] == listed(shuffled.levels)
    assert (found.tried, found.kept) == (shuffled.tried, shuffled.kept)


@quietly
@given(table=guarded_tables(), data=st.data())
def test_then_prioritised_reaches_k_without_a_breach_or_refuses(table: Guarded, data: st.DataObject) -> None:
    quasi = quasi_of(table, data)
    k, limit = data.draw(st.integers(2, 4)), data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    task = task_of(table, quasi, k, limit, then="prioritised")
    try:
        found = recode(task)
    except PolicyNotMetError as error:
        assert error.rows == len(table.small.rows)
        return
    published = found.plan.released()
    assert not breached(table, published)
    assert int(published.project(quasi).weights.min()) >= k
    assert shortfalls(task, found.plan) == []


@quietly
@given(table=guarded_tables(), data=st.data(), method=st.sampled_from(["global", "prioritised", "best"]))
def test_no_method_that_promises_the_policy_leaves_a_breach(table: Guarded, data: st.DataObject, method: str) -> None:
    quasi = quasi_of(table, data)
    task = task_of(table, quasi, 2, data.draw(st.sampled_from([0.0, 0.5])), method=method)
    try:
        found = recode(task)
    except PolicyNotMetError as error:
        assert error.rows == len(table.small.rows)
        return
    assert not breached(table, reduced(table).whole(found.plan).released())
    assert shortfalls(task, found.plan) == []


@quietly
@given(table=guarded_tables(), data=st.data())
def test_a_method_that_promises_no_k_leaves_breaches_to_the_gate(table: Guarded, data: st.DataObject) -> None:
    assume(len(table.small.rows) > 1)
    task = task_of(table, quasi_of(table, data), 2, method="none")
    assert recode(task).plan.rows_changed == 0


@quietly
@given(table=guarded_tables(), data=st.data())
def test_best_finds_what_freeform_finds(table: Guarded, data: st.DataObject) -> None:
    quasi = quasi_of(table, data)
    both: list[Recoding | None] = []
    for chosen in ({"then": "prioritised"}, {"method": "best"}):
        try:
            both.append(recode(task_of(table, quasi, 2, **chosen)))
        except PolicyNotMetError:
            both.append(None)
    alone, best = both
    assert best is not None or alone is None
    if best is not None:
        (elected,) = [one for one in best.candidates if one.elected]
        assert elected.reason is None
        if alone is not None:
            own = next(one for one in alone.candidates if one.elected)
            assert cost_of(elected, UtilityMeasure.WNUE) <= cost_of(own, UtilityMeasure.WNUE) + 1e-9


@quietly
@given(table=guarded_tables(), data=st.data())
def test_a_breach_is_told_as_one_shortfall_with_its_numbers(table: Guarded, data: st.DataObject) -> None:
    quasi = quasi_of(table, data)
    task = task_of(table, quasi, 2)
    plan = RecodingPlan.unchanged(task.frequencies, task.ladders)
    told = [one for one in shortfalls(task, plan) if one.model == FREEFORM]
    as_collected = table.published([[0] * ladder.maps.shape[1] for ladder in table.ladders])
    assert bool(told) == breached(table, as_collected)
    if told:
        worst = max(float(threat) for _, threat in attacks(table, as_collected, Definition.EXTENDED))
        assert told[0].reached.startswith(f"{worst:g} ")
        assert 0 < told[0].rows_at_risk <= len(table.small.rows)
        assert "recode.method: freeform" in str(error_of(task, told[0], "something else"))


@quietly
@given(table=guarded_tables())
def test_without_quasi_identifiers_guarded_columns_are_generalised_all_the_same(table: Guarded) -> None:
    assume(len(table.small.rows) > 1 and not breached(table, table.published(all_roots(table))))
    found = recode(task_of(table, (), 2))
    assert found.plan.frequencies.names == table.small.names
    assert not breached(table, found.plan.released())
