"""Recoding where people have several rows: every plan of every method, counted by plain sets of people."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_core.comparison import Comparison
from anon_core.errors import InvalidInputError, PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.measures.linkage.four_ks import four_k
from anon_core.models import Subject
from anon_core.plan import RecodingPlan
from anon_core.recoding.compliance import models_of_classes, shortfalls
from anon_core.recoding.lattice.search import recode_globally
from anon_core.recoding.method import Promise
from anon_core.recoding.methods import recode
from anon_core.recoding.task import Task
from anon_core.spec import Mode, Recode, UtilityMeasure
from tests.properties.people import PERSON, SENSITIVE, Crowded, crowded, is_filled, people_in, rows_of, whole
from tests.properties.required import solved
from tests.properties.test_lattice import cost_of

quietly = settings(max_examples=80, deadline=None)
SAFE = [
    {"method": "global"},
    {"method": "prioritised", "improve": 0},
    {"method": "prioritised", "improve": 4},
    {"method": "best", "improve": 2},
]
OTHERS = [
    {"method": "prioritised", "mode": Mode.LINK, "improve": 2},
    {"method": "prioritised", "mode": Mode.PAPER},
    {"method": "none"},
]


def by(problem: Crowded, **words: object) -> Task:
    return replace(problem.task, settings=problem.task.settings.model_copy(update=words))


@quietly
@given(problem=crowded(max_rows=24), words=st.sampled_from(SAFE))
def test_every_published_class_has_k_people(problem: Crowded, words: dict[str, object]) -> None:
    found = solved(by(problem, **words))
    if found is None:
        return
    assert all(people_in(persons) >= problem.task.k for persons in problem.classes(found.plan).values())
    assert not any(map(is_filled, problem.rows_of_classes(found.plan).values()))
    assert found.plan.rows_removed + found.plan.rows_blanked <= problem.task.allowed


@quietly
@given(problem=crowded(diverse=True, max_rows=24), words=st.sampled_from(SAFE))
def test_every_published_class_keeps_what_is_required_of_people_counted_from_rows(
    problem: Crowded, words: dict[str, object]
) -> None:
    found = solved(by(problem, **words))
    if found is None:
        return
    shown = problem.published(found.plan)
    kept = [at for at, cells in enumerate(shown) if cells is not None]
    table = whole(
        problem.small.names,
        [cells for cells in shown if cells is not None],
        [problem.secrets[at] for at in kept],
        [problem.persons[at] for at in kept],
    )
    subject = Subject(
        names=(*problem.small.names, SENSITIVE),
        rows=lambda names: FrequencyTable.of(table, names),
        people=lambda names: FrequencyTable.of(table, names, unit=PERSON),
    )
    models = models_of_classes(problem.task.policy, problem.small.names, problem.task.k, Promise.EXACT)
    for model in models:
        assert model.measured(subject).passed, model
    assert shortfalls(problem.task, found.plan, Promise.EXACT) == []


@quietly
@given(problem=crowded(max_rows=10), mode=st.sampled_from([Mode.LINK, Mode.PAPER]))
def test_the_other_modes_reach_their_k_in_people(problem: Crowded, mode: Mode) -> None:
    found = solved(by(problem, method="prioritised", mode=mode, improve="auto" if mode is Mode.PAPER else 2))
    if found is None:
        return
    k = problem.task.k
    crowd = problem.task.people
    plan = found.plan if crowd is None else crowd.plan(found.plan)
    four = four_k(Comparison.of_plan(plan), k=k)
    assert four.source is not None and four.source >= k
    assert mode is Mode.PAPER or (four.link is not None and four.link >= k)
    assert covering_people(problem, found.plan) >= k or mode is Mode.PAPER


def covering_people(problem: Crowded, plan: RecodingPlan) -> int:
    """The fewest people behind published rows that cover one original that is published, by plain comparison."""
    ladders = plan.ladders
    shown, rows = problem.published(plan), problem.small.rows
    names = [column.domain.to_pylist() for column in problem.small.table.columns]
    labels = [ladder.labels.to_pylist() for ladder in ladders]

    def covers(cells: tuple[str | None, ...], row: tuple[str | None, ...]) -> bool:
        return all(
            cell in {labels[i][code] for code in ladders[i].maps[:, names[i].index(row[i])].tolist()}
            for i, cell in enumerate(cells)
        )

    fewest = len(rows)
    for row, own in zip(rows, shown, strict=True):
        if own is not None:
            met = {
                p for cells, p in zip(shown, problem.persons, strict=True) if cells is not None and covers(cells, row)
            }
            fewest = min(fewest, people_in(met))
    return fewest


@quietly
@given(problem=crowded())
def test_nobody_stands_alone_in_what_best_elects(problem: Crowded) -> None:
    task = by(problem, method="best", improve=0)
    found = [one for one in (solved(task),) if one]
    for one in found:
        assert not [persons for persons in problem.classes(one.plan).values() if people_in(persons) == 1]


@settings(max_examples=150, deadline=None)
@given(problem=crowded())
def test_global_recoding_by_people_is_optimal(problem: Crowded) -> None:
    task = problem.task
    nodes = large_nodes(problem)
    found = solved(by(problem, method="global"))
    assert (found is None) == (not nodes)
    if found is not None:
        assert found.optimal is True
        assert cost_of(task, node_of(found.plan), gone(found.plan)) == pytest.approx(min(nodes.values()))


Node = tuple[int, ...]


def node_of(plan: RecodingPlan) -> Node:
    return tuple(plan.levels[:, 0].tolist())


def gone(plan: RecodingPlan) -> set[tuple[str | None, ...]]:
    return {row for row, removed in zip(rows_of(plan.frequencies), plan.removed.tolist(), strict=True) if removed}


def plan_at(problem: Crowded, node: Node) -> RecodingPlan:
    """The plan of a node, in which classes below k people are removed."""
    task = problem.task
    levels = np.repeat(np.array(node, np.int8)[:, None], len(task.frequencies.weights), axis=1)
    plan = replace(RecodingPlan.unchanged(task.frequencies, task.ladders), levels=levels)
    small = {cells for cells, persons in problem.classes(plan).items() if people_in(persons) < task.k}
    removed = {row for row, own in zip(problem.small.rows, problem.published(plan), strict=True) if own in small}
    return replace(plan, removed=np.array([row in removed for row in rows_of(task.frequencies)]))


def large_nodes(problem: Crowded) -> dict[Node, float]:
    """What every node costs whose classes below k people may be removed, and whose others no person fills."""
    task, found = problem.task, {}
    for node in product(*(range(ladder.height + 1) for ladder in task.ladders)):
        plan = plan_at(problem, node)
        filled = task.people is not None and any(map(is_filled, problem.rows_of_classes(plan).values()))
        if not filled and not plan.removed.all() and plan.rows_removed + plan.rows_blanked <= task.allowed:
            found[node] = cost_of(task, node, gone(plan))
    return found


@quietly
@given(problem=st.one_of(crowded(), crowded(diverse=True)), words=st.sampled_from([*SAFE, *OTHERS]), data=st.data())
def test_neither_the_order_of_rows_nor_the_numbers_of_people_matter(
    problem: Crowded, words: dict[str, object], data: st.DataObject
) -> None:
    assume(not problem.required or "mode" not in words)
    order = data.draw(st.permutations(range(len(problem.persons))))
    known = sorted({person for person in problem.persons if person is not None})
    renamed: dict[str | None, str | None] = dict(zip(known, data.draw(st.permutations(known)), strict=True))
    rows = [problem.small.rows[at] for at in order]
    persons = [renamed.get(problem.persons[at]) for at in order]
    table = whole(problem.small.names, rows, [problem.secrets[at] for at in order], persons)
    names = problem.small.names
    again = Task.of(
        FrequencyTable.of(table, names),
        problem.task.ladders,
        problem.task.policy,
        weights=problem.task.by_name,
        sensitive={SENSITIVE: FrequencyTable.of(table, [*names, SENSITIVE])},
        settings=by(problem, **words).settings,
        people=FrequencyTable.of(table, names, unit=PERSON),
        sensitive_people={SENSITIVE: FrequencyTable.of(table, [*names, SENSITIVE], unit=PERSON)},
    )
    one, other = solved(by(problem, **words)), solved(again)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.plan.levels == other.plan.levels).all() and (one.plan.removed == other.plan.removed).all()


@quietly
@given(
    problem=st.one_of(crowded(most=1, unknown=False), crowded(most=1, unknown=False, diverse=True)),
    words=st.sampled_from([*SAFE, {"method": "prioritised", "mode": Mode.LINK}]),
)
def test_with_one_row_per_person_everything_is_as_with_rows(problem: Crowded, words: dict[str, object]) -> None:
    assume(not (problem.required and words.get("mode") is Mode.LINK))
    task = by(problem, **words)
    names = problem.small.names
    table = problem.table()
    plain = Task.of(
        FrequencyTable.of(table, names),
        task.ladders,
        task.policy,
        weights=task.by_name,
        sensitive={SENSITIVE: FrequencyTable.of(table, [*names, SENSITIVE])},
        settings=task.settings,
    )
    one, other = solved(task), solved(plain)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.why, one.candidates, one.optimal) == (other.why, other.candidates, other.optimal)
        assert (one.plan.levels == other.plan.levels).all() and (one.plan.removed == other.plan.removed).all()


@settings(max_examples=300, deadline=None)
@given(problem=crowded(max_rows=20), data=st.data())
def test_homes_never_overstate_the_people_of_a_union_and_sizes_are_exact(problem: Crowded, data: st.DataObject) -> None:
    people = problem.task.people
    if people is None:
        return
    k = data.draw(st.integers(2, 6))
    tuples = rows_of(problem.task.frequencies)
    homes = people.homes(k)
    own = [{p for row, p in zip(problem.small.rows, problem.persons, strict=True) if row == one} for one in tuples]
    for _ in range(40):
        chosen = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=len(tuples), max_size=len(tuples))))
        if len(chosen):
            exact = people_in(set().union(*(own[at] for at in chosen)))
            assert people.sizes(chosen, 0 * chosen, 1).tolist() == [exact]
            assert min(int(homes[chosen].sum()), k) <= exact
            if max(people_in(own[at]) for at in chosen) < k:
                assert int(homes[chosen].sum()) <= exact


def test_freeform_is_refused_where_a_person_has_several_rows() -> None:
    from hypothesis import find

    problem = find(crowded(unknown=False), lambda one: one.task.people is not None and one.task.counted >= one.task.k)
    with pytest.raises(InvalidInputError, match="one person has several rows"):
        recode(by(problem, method="freeform"))


def test_fewer_people_than_k_are_refused_and_counted_as_people() -> None:
    rows = [("a",)] * 9
    table = whole(["p"], rows, ["x"] * 9, ["1", "2", "3"] * 3)
    from anon_core.hierarchy.ladder import climb
    from anon_core.policy import Policy

    ladders = [climb("p", table.column("p").domain, {"a": []}, ["root"])]
    task = Task.of(
        FrequencyTable.of(table, ["p"]),
        ladders,
        Policy(k=4),
        people=FrequencyTable.of(table, ["p"], unit=PERSON),
        settings=Recode(utility=UtilityMeasure.NUE),
    )
    with pytest.raises(PolicyNotMetError, match="which has 3 people"):
        recode(task)
    assert recode_globally(replace(task, requirements=replace(task.requirements, k=3))).plan.rows_changed == 0


def test_more_rows_of_a_person_than_allowed_are_refused_with_their_number() -> None:
    from anon_core.hierarchy.ladder import climb
    from anon_core.policy import Policy

    rows = [("a",)] * 12
    table = whole(["p"], rows, ["x"] * 12, ["1", "1", "1", "1", "2", "2", "2", "3", "4", "5", None, None])
    ladders = [climb("p", table.column("p").domain, {"a": []}, ["root"])]

    def task(most: int) -> Task:
        return Task.of(
            FrequencyTable.of(table, ["p"]),
            ladders,
            Policy(k=2, max_rows_per_person=most),
            people=FrequencyTable.of(table, ["p"], unit=PERSON),
            settings=Recode(method="global"),
        )

    with pytest.raises(
        PolicyNotMetError, match=r"at most 2 rows per person not reached: best 4, 7 of 12 rows.*2 people"
    ):
        recode(task(2))
    assert recode(task(4)).plan.rows_changed == 0
