"""Prioritised recoding: what its modes promise, against plain counting; the paper's listing, against plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import InvalidInputError, PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.plan import RecodingPlan
from anon_core.policy import Policy
from anon_core.recoding.compliance import shortfalls
from anon_core.recoding.lattice.search import recode_globally
from anon_core.recoding.method import Promise
from anon_core.recoding.methods import recode
from anon_core.recoding.prioritised.encoding import Encoded
from anon_core.recoding.prioritised.prices import Objective
from anon_core.recoding.prioritised.safe import search_safe
from anon_core.recoding.prioritised.search import recode_prioritised
from anon_core.recoding.task import Task
from anon_core.spec import Mode, Recode
from tests.properties.listing import recode_by_the_listing
from tests.properties.required import Problem, holds, problems, solved
from tests.properties.tables import Row, spelled, table_of

quietly = settings(max_examples=80, deadline=None)
PROMISES = {Mode.SAFE: Promise.EXACT, Mode.LINK: Promise.LINK, Mode.PAPER: Promise.SOURCE}


def in_mode(task: Task, mode: Mode, improve: int = 4) -> Task:
    wanted = {"method": "prioritised", "mode": mode, "improve": "auto" if mode is Mode.PAPER else improve}
    return replace(task, settings=task.settings.model_copy(update=wanted))


def published(problem: Problem, plan: RecodingPlan) -> list[tuple[Row, Row | None]]:
    """Every row and what it is published as, None where it is removed."""
    names = [domain.to_pylist() for domain in plan.frequencies.domains]
    tuples = list(zip(*(codes.tolist() for codes in plan.frequencies.codes), strict=True))
    at = {tuple(names[i][code] for i, code in enumerate(own)): number for number, own in enumerate(tuples)}
    labels = [ladder.labels.to_pylist() for ladder in plan.ladders]
    shown: list[tuple[Row, Row | None]] = []
    for row in problem.small.rows:
        number = at[row]
        cells = tuple(labels[i][plan.released_codes(i)[number]] for i in range(len(labels)))
        shown.append((row, None if plan.removed[number] else cells))
    return shown


@quietly
@given(problem=st.one_of(problems(), problems(diverse=True)))
def test_mode_safe_publishes_nothing_but_safe_classes(problem: Problem) -> None:
    task = in_mode(problem.task, Mode.SAFE)
    found = solved(task)
    if found is None:
        return
    shown = published(problem, found.plan)
    inside: dict[Row, list[str | None]] = {}
    for (_, cells), secret in zip(shown, problem.secrets, strict=True):
        if cells is not None:
            inside.setdefault(cells, []).append(secret)
    whole = [secret for secrets in inside.values() for secret in secrets]
    for secrets in inside.values():
        assert len(secrets) >= task.k
        assert all(holds(required, secrets, whole) for required in problem.required)
    assert shortfalls(task, found.plan, Promise.EXACT) == []


@quietly
@given(problem=st.one_of(problems(), problems(diverse=True)))
def test_mode_safe_finds_something_wherever_global_recoding_does(problem: Problem) -> None:
    try:
        recode_globally(problem.task)
    except PolicyNotMetError:
        return
    assert solved(in_mode(problem.task, Mode.SAFE)) is not None


@quietly
@given(problem=st.one_of(problems(), problems(diverse=True)))
def test_mode_safe_loses_no_more_than_global_recoding_of_a_small_table(problem: Problem) -> None:
    task = in_mode(problem.task, Mode.SAFE, 0)
    try:
        everywhere = recode_globally(task).plan
    except PolicyNotMetError:
        return
    encoded = Encoded.of(task)
    objective = Objective.of(encoded, task.settings.nue_weight)
    assert objective.cost(encoded, recode(task).plan) <= objective.cost(encoded, everywhere) + 1e-9


@quietly
@given(problem=problems(), mode=st.sampled_from(Mode))
def test_every_mode_reaches_the_k_that_it_promises(problem: Problem, mode: Mode) -> None:
    task = in_mode(problem.task, mode)
    found = solved(task)
    if found is not None:
        assert shortfalls(task, found.plan, PROMISES[mode]) == []


@quietly
@given(problem=problems(), mode=st.sampled_from(Mode))
def test_a_released_value_equals_or_generalises_the_original(problem: Problem, mode: Mode) -> None:
    before = [codes.copy() for codes in problem.task.frequencies.codes]
    found = solved(in_mode(problem.task, mode))
    if found is None:
        return
    above = []
    for column, ladder in zip(problem.small.table.columns, found.plan.ladders, strict=True):
        climbed = zip(*spelled(ladder), strict=True)
        above.append(dict(zip(column.domain.to_pylist(), map(set, climbed), strict=True)))
    for row, cells in published(problem, found.plan):
        assert cells is None or all(cell in own[value] for own, value, cell in zip(above, row, cells, strict=True))
    assert all((one == other).all() for one, other in zip(before, problem.task.frequencies.codes, strict=True))


@quietly
@given(problem=problems(), mode=st.sampled_from(Mode), data=st.data())
def test_the_order_of_rows_does_not_matter(problem: Problem, mode: Mode, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(problem.rows)))
    one = solved(in_mode(problem.task, mode))
    other = solved(in_mode(problem.in_order(order).task, mode))
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.plan.levels == other.plan.levels).all() and (one.plan.removed == other.plan.removed).all()


@quietly
@given(problem=problems(), improve=st.integers(1, 9), seed=st.integers(0, 99))
def test_improving_never_breaks_the_policy_nor_costs_more(problem: Problem, improve: int, seed: int) -> None:
    task = in_mode(problem.task, Mode.SAFE, 0)
    encoded = Encoded.of(task)
    objective = Objective.of(encoded, task.settings.nue_weight)
    first = search_safe(encoded, objective).plan
    if shortfalls(task, first, Promise.EXACT):
        return
    settings = task.settings.model_copy(update={"improve": improve, "seed": seed})
    better = search_safe(replace(encoded, task=replace(task, settings=settings)), objective).plan
    assert shortfalls(task, better, Promise.EXACT) == []
    assert objective.cost(encoded, better) <= objective.cost(encoded, first) + 1e-9


@quietly
@given(problem=problems())
def test_mode_paper_does_what_the_listing_says(problem: Problem) -> None:
    task = in_mode(problem.task, Mode.PAPER)
    found = recode_prioritised(replace(task, policy=Policy(k=task.k, suppression_limit=1.0)))
    assert found.plan.levels.T.tolist() == recode_by_the_listing(task)


# The paper's example: {f, 20, AT} and {m, 20, GR} twice each, {m, 20, AT} once.
EXAMPLE = [("f", "20", "AT")] * 2 + [("m", "20", "GR")] * 2 + [("m", "20", "AT")]


def example_task(mode: Mode, k: int = 2, limit: float = 0.0) -> Task:
    table = table_of(["gender", "age", "country"], EXAMPLE)
    ladders: list[Ladder] = [
        climb(column.name, column.domain, {value: [] for value in column.domain.to_pylist()}, ["suppressed"])
        for column in table.columns
    ]
    settings = Recode(method="prioritised", mode=mode)
    weights = {"gender": 1.0, "age": 2 / 3, "country": 1 / 3}
    return Task.of(
        FrequencyTable.of(table), ladders, Policy(k=k, suppression_limit=limit), weights=weights, settings=settings
    )


def test_the_papers_example_is_solved_as_in_the_paper() -> None:
    """{m, 20, AT} becomes {*, 20, *}: with the country or the gender alone suppressed the other one is inferred."""
    plan = recode_prioritised(example_task(Mode.PAPER)).plan
    changed = plan.levels.T[plan.levels.any(axis=0)].tolist()
    assert changed == [[1, 0, 1]]


def test_the_papers_example_is_no_class_of_two_and_mode_safe_makes_it_one() -> None:
    task = example_task(Mode.SAFE)
    assert shortfalls(task, recode_prioritised(example_task(Mode.PAPER)).plan, Promise.EXACT) != []
    plan = recode_prioritised(task).plan
    assert int(plan.released().weights.min()) >= 2 and plan.rows_removed == 0


def test_fewer_rows_to_recode_than_k_join_a_class_that_was_safe() -> None:
    rows = [("a", "x")] * 5 + [("a", "y")]
    table = table_of(["p", "q"], rows)
    ladders = [climb(c.name, c.domain, {v: [] for v in c.domain.to_pylist()}, ["suppressed"]) for c in table.columns]
    task = Task.of(FrequencyTable.of(table), ladders, Policy(k=3), settings=Recode(method="prioritised"))
    plan = recode_prioritised(task).plan
    assert plan.rows_removed == 0 and plan.released().weights.tolist() == [6]
    assert plan.levels.tolist() == [[0, 0], [1, 1]]


def test_rows_that_would_say_nothing_are_refused_beyond_the_limit() -> None:
    rows = [("a", "x"), ("b", "y"), ("c", "z")]
    table = table_of(["p", "q"], rows)
    ladders = [climb(c.name, c.domain, {v: [] for v in c.domain.to_pylist()}, ["suppressed"]) for c in table.columns]
    frequencies = FrequencyTable.of(table)
    for mode in Mode:
        settings = Recode(method="prioritised", mode=mode)
        with pytest.raises(PolicyNotMetError, match="suppression of at most 0 rows not reached: best 3"):
            recode(Task.of(frequencies, ladders, Policy(k=2), settings=settings))
        allowed = Task.of(frequencies, ladders, Policy(k=2, suppression_limit=1.0), settings=settings)
        assert recode_prioritised(allowed).plan.rows_blanked == 3


def test_a_mode_that_reaches_k_only_is_refused_where_diversity_is_required() -> None:
    policy = Policy.model_validate({"k": 2, "l_diversity": [{"column": "age", "l": 2}]})
    task = example_task(Mode.LINK)
    sensitive = {
        "age": FrequencyTable.of(table_of(["gender", "age", "country", "s"], [(*row, "s") for row in EXAMPLE]))
    }
    own = Task.of(task.frequencies, task.ladders, policy, sensitive=sensitive, settings=task.settings)
    with pytest.raises(InvalidInputError, match="mode: link` reaches k only"):
        recode_prioritised(own)


def test_the_papers_method_has_no_improvement_search() -> None:
    task = example_task(Mode.PAPER)
    own = replace(task, settings=task.settings.model_copy(update={"improve": 5}))
    with pytest.raises(InvalidInputError, match="without an improvement search"):
        recode_prioritised(own)


def test_a_lattice_that_is_too_large_is_sampled_and_says_so() -> None:
    draw = np.random.default_rng(1)
    names = [f"c{i:02}" for i in range(15)]
    rows = [tuple(f"{value:02}" for value in draw.integers(0, 16, 15)) for _ in range(300)]
    table = table_of(names, rows)
    ladders = []
    for column in table.columns:
        paths = {value: [f"{int(value) // w}/{w}" for w in (2, 4, 8)] for value in column.domain.to_pylist()}
        ladders.append(climb(column.name, column.domain, paths, ["2", "4", "8", "suppressed"]))
    settings = Recode(method="prioritised", improve=2)
    task = Task.of(FrequencyTable.of(table), ladders, Policy(k=3, suppression_limit=0.1), settings=settings)
    found = recode_prioritised(task)
    assert "a sample of" in found.why and f"of {5**15:,} level combinations" in found.why
    assert shortfalls(task, found.plan, Promise.EXACT) == []
