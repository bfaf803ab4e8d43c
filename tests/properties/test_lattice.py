"""Global recoding, against every node of the lattice, in every measure and with every requirement."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.measures.utility.cells import RecodedCells
from anon_core.measures.utility.entropy import entropy
from anon_core.measures.utility.loss import loss
from anon_core.plan import RecodingPlan
from anon_core.policy import Policy
from anon_core.recoding.lattice import search as lattice
from anon_core.recoding.lattice.search import recode_globally
from anon_core.recoding.methods import recode
from anon_core.recoding.task import Candidate, Recoding, Task
from anon_core.spec import Recode, UtilityMeasure
from tests.properties.required import Problem, holds, problems
from tests.properties.tables import Cell, Row, spelled, table_of

Node = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One node, tried on the rows."""

    node: Node
    cost: float
    removed: int
    released: Counter[Row]


def safe_nodes(problem: Problem) -> list[Tried]:
    """
    Every node whose classes are safe when those below k, and rows that would say nothing, are within the limit.

    Where more than k is required, of those above the best node for k alone: each class that lacks something there is
    merged with one that does not, if there is one.
    """
    ladders = problem.task.ladders
    nodes = list(product(*(range(ladder.height + 1) for ladder in ladders)))
    large = [one for one in (_try(problem, node) for node in nodes) if one is not None]
    if not problem.required or not large:
        return large
    floor = best_of(large, problem.task).node
    inside, kept = classes_at(problem, floor)
    lack = {cells for cells in kept if not keeps_all(problem, inside[cells], kept_secrets(inside, kept))}
    above = [one for one in large if all(map(int.__ge__, one.node, floor))]
    return [one for one in above if _keeps_the_rest(problem, one.node, floor, lack, kept - lack)]


def classes_at(problem: Problem, node: Node) -> tuple[dict[Row, list[Cell]], set[Row]]:
    """The sensitive values of every class, and which classes have k rows."""
    inside: dict[Row, list[Cell]] = {}
    for cells, secret in zip(shown_at(problem, node), problem.secrets, strict=True):
        inside.setdefault(cells, []).append(secret)
    return inside, {cells for cells, secrets in inside.items() if len(secrets) >= problem.task.k}


def kept_secrets(inside: dict[Row, list[Cell]], kept: set[Row]) -> list[Cell]:
    return [secret for cells, secrets in inside.items() if cells in kept for secret in secrets]


def keeps_all(problem: Problem, secrets: list[Cell], whole: list[Cell]) -> bool:
    return all(holds(one, secrets, whole) for one in problem.required)


def _keeps_the_rest(problem: Problem, node: Node, floor: Node, lack: set[Row], whole: set[Row]) -> bool:
    inside, kept = classes_at(problem, node)
    if not all(keeps_all(problem, inside[cells], kept_secrets(inside, kept)) for cells in kept):
        return False
    pairs = list(zip(shown_at(problem, floor), shown_at(problem, node), strict=True))
    lacking = {after for before, after in pairs if before in lack}
    return not whole or lacking <= {after for before, after in pairs if before in whole}


def _try(problem: Problem, node: Node) -> Tried | None:
    task, small = problem.task, problem.small
    shown = shown_at(problem, node)
    inside, large = classes_at(problem, node)
    kept = {cells: inside[cells] for cells in large}
    removed = problem.rows - sum(map(len, kept.values()))
    roots = tuple(spelled(ladder)[-1][0] for ladder in task.ladders)
    allowed = Fraction(str(task.policy.suppression_limit)) * problem.rows
    if not kept or removed + len(kept.get(roots, [])) > allowed:
        return None
    gone = {row for row, cells in zip(small.rows, shown, strict=True) if cells not in kept}
    return Tried(
        node=node,
        cost=cost_of(task, node, gone),
        removed=removed,
        released=Counter({cells: len(secrets) for cells, secrets in kept.items()}),
    )


def shown_at(problem: Problem, node: Node) -> list[Row]:
    domains = [column.domain.to_pylist() for column in problem.small.table.columns]
    labels = [spelled(ladder) for ladder in problem.task.ladders]
    return [
        tuple(labels[i][node[i]][domains[i].index(cell)] for i, cell in enumerate(row)) for row in problem.small.rows
    ]


def cost_of(task: Task, node: Node, gone: set[Row]) -> float:
    """What the measures of utility, which know nothing of lattices, say about the plan."""
    frequencies = task.frequencies
    cells = zip(
        *(d.take(c).to_pylist() for d, c in zip(frequencies.domains, frequencies.codes, strict=True)), strict=True
    )
    plan = RecodingPlan(
        frequencies=frequencies,
        ladders=task.ladders,
        levels=np.repeat(np.array(node, np.int8)[:, None], frequencies.tuples, axis=1),
        removed=np.array([row in gone for row in cells]),
    )
    match task.settings.utility:
        case UtilityMeasure.ROWS:
            return (plan.rows_changed + plan.rows_removed) / frequencies.rows
        case UtilityMeasure.LOSS:
            return loss(RecodedCells.by(plan), task.by_name).weighted
        case UtilityMeasure.NUE:
            return 1 - entropy(RecodedCells.by(plan)).overall
        case _:
            return 1 - entropy(RecodedCells.by(plan), task.by_name).weighted


def best_of(safe: list[Tried], task: Task) -> Tried:
    """Least cost, then fewest rows removed, then low levels of the columns that weigh most."""
    by_weight = sorted(range(len(task.weights)), key=lambda i: -task.weights[i])
    least = min(tried.cost for tried in safe)
    equal = [tried for tried in safe if tried.cost <= least + 1e-11]
    return min(equal, key=lambda tried: (tried.removed, [tried.node[i] for i in by_weight]))


def figure(candidate: Candidate, task: Task) -> float:
    measure = task.settings.utility
    if measure is UtilityMeasure.ROWS:
        return (candidate.rows_changed + candidate.rows_removed) / task.frequencies.rows
    figures = {
        UtilityMeasure.LOSS: candidate.loss,
        UtilityMeasure.NUE: candidate.nue,
        UtilityMeasure.WNUE: candidate.wnue,
    }
    found = figures[measure]
    assert found is not None
    return found if measure is UtilityMeasure.LOSS else 1 - found


def assert_keeps_its_word(problem: Problem, recoding: Recoding) -> Node:
    """k is reached within the limit; return the node."""
    plan = recoding.plan
    node: Node = tuple(plan.levels[:, 0].tolist())
    assert (plan.levels == plan.levels[:, :1]).all(), "one level per column for the whole table"
    assert plan.released().weights.min() >= problem.task.k
    assert plan.rows_removed <= problem.task.allowed
    elected = [candidate for candidate in recoding.candidates if candidate.elected]
    assert elected == [recoding.candidates[0]]
    assert elected[0].rows_removed == plan.rows_removed
    assert elected[0].k == plan.released().weights.min()
    costs = [figure(candidate, problem.task) for candidate in recoding.candidates]
    assert costs == pytest.approx(sorted(costs))
    assert len({candidate.name for candidate in recoding.candidates}) == len(recoding.candidates)
    return node


def assert_optimal(problem: Problem) -> None:
    safe = safe_nodes(problem)
    if not safe:
        with pytest.raises(PolicyNotMetError) as caught:
            recode_globally(problem.task)
        assert (caught.value.rows, caught.value.advice != "") == (problem.rows, True)
        assert caught.value.rows_at_risk > 0
        return
    recoding = recode_globally(problem.task)
    best = best_of(safe, problem.task)
    assert assert_keeps_its_word(problem, recoding) == best.node
    assert recoding.optimal is True
    assert figure(recoding.candidates[0], problem.task) == pytest.approx(best.cost)
    assert sorted(recoding.plan.released().weights.tolist()) == sorted(best.released.values())


@settings(max_examples=250, deadline=None)
@given(problem=problems())
def test_no_node_of_the_lattice_is_better_than_the_elected_one(problem: Problem) -> None:
    assert_optimal(problem)


@settings(max_examples=250, deadline=None)
@given(problem=problems(diverse=True))
def test_no_node_that_keeps_diversity_too_is_better_than_the_elected_one(problem: Problem) -> None:
    assert_optimal(problem)


@settings(max_examples=100, deadline=None)
@given(problem=problems(), nodes=st.integers(0, 6))
def test_a_search_that_stops_early_says_so_and_still_keeps_its_word(problem: Problem, nodes: int) -> None:
    safe = safe_nodes(problem)
    with mock.patch.object(lattice, "MAX_NODES", nodes):
        try:
            recoding = recode_globally(problem.task)
        except PolicyNotMetError:
            tops = tuple(ladder.height for ladder in problem.task.ladders)
            assert tops not in {tried.node for tried in safe}, "the roots are safe and were not tried"
            return
    node = assert_keeps_its_word(problem, recoding)
    assert node in {tried.node for tried in safe}
    if recoding.optimal:
        assert node == best_of(safe, problem.task).node
    else:
        assert f"stopped at {nodes} combinations" in recoding.why


@settings(max_examples=80, deadline=None)
@given(problem=problems(diverse=True), data=st.data())
def test_the_order_of_the_rows_does_not_matter(problem: Problem, data: st.DataObject) -> None:
    again = problem.in_order(data.draw(st.permutations(range(problem.rows))))
    assert outcome(problem.task) == outcome(again.task)


def outcome(task: Task) -> object:
    """What a recoding comes to, or the words in which it is refused; every result is counted anew on the way."""
    try:
        recoding = recode(task)
    except PolicyNotMetError as error:
        return str(error)
    return recoding.candidates, recoding.plan.levels.tolist(), recoding.plan.removed.tolist()


def solve(
    rows: list[Row], *, k: int = 2, limit: float = 0.0, steps: list[tuple[str, int, int]] | None = None
) -> Recoding:
    """Recode columns whose values share a first letter at level 1 and nothing above it."""
    table = table_of(["p", "q"][: len(rows[0])], rows)
    ladders = [
        climb(c.name, c.domain, {v: [v[0]] for v in c.domain.to_pylist()}, ["first letter", "suppressed"])
        for c in table.columns
    ]
    return recode_globally(
        Task.of(
            FrequencyTable.of(table),
            ladders,
            Policy(k=k, suppression_limit=limit),
            settings=Recode(method="global"),
        ),
        progress=None if steps is None else lambda what, done, of: steps.append((what, done, of)),
    )


def test_fewer_rows_than_k_can_never_comply() -> None:
    with pytest.raises(PolicyNotMetError, match=r"k 5 not reached: best 3, 3 of 3 rows at risk.*lower privacy\.k"):
        solve([("a1",), ("b1",), ("b1",)], k=5, limit=1.0)


def test_a_table_that_would_say_nothing_at_all_is_not_a_release() -> None:
    rows: list[Row] = [("a1", "c1"), ("b1", "d1"), ("c1", "a1"), ("d1", "b1")]
    with pytest.raises(PolicyNotMetError, match="k 2 not reached: best 1, 4 of 4 rows at risk"):
        solve(rows)
    assert solve(rows, limit=1.0).plan.rows_blanked == 4


def test_when_only_saying_nothing_would_be_safe_the_limit_is_named() -> None:
    rows: list[Row] = [("a1",), ("a1",), ("b1",)]
    with pytest.raises(PolicyNotMetError, match="k 2 not reached: best 1, 1 of 3 rows at risk; 0 rows may be removed"):
        solve(rows)


def test_how_many_combinations_were_counted_is_never_more_than_there_are() -> None:
    steps: list[tuple[str, int, int]] = []
    recoding = solve([("a1", "c1"), ("a1", "c1"), ("a2", "c2"), ("a2", "c2")], steps=steps)
    assert recoding.plan.rows_changed == 0
    assert "Of 1 combination of levels" in recoding.why
    assert steps == [("level combinations", 1, 9)]
    steps.clear()
    assert "Of 3 combinations" in solve([("a1",), ("b1",)], limit=1.0, steps=steps).why
    assert steps == [("level combinations", done, 3) for done in (1, 2, 3)]
