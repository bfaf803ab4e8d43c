"""Global recoding, against every node of the lattice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.recode import lattice
from anon_core.recode.lattice import recode_globally
from anon_core.recode.outcome import Recoding
from tests.properties.tables import Row, Small, ladders_for, small_tables, spelled, table_of

Node = tuple[int, ...]

LIMITS = ["0", "0", "0.1", "0.29", "0.5", "1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Everything that global recoding is given."""

    small: Small
    ladders: tuple[Ladder, ...]
    k: int
    limit: str
    weights: tuple[int, ...]

    def solve(self) -> Recoding:
        return recode_globally(
            FrequencyTable.of(self.small.table),
            self.ladders,
            k=self.k,
            suppression_limit=float(self.limit),
            weights=self.weights,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One node, tried on the rows."""

    node: Node
    cost: Fraction
    removed: int
    released: Counter[Row]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    small = draw(small_tables(max_columns=3, max_rows=10))
    width = len(small.names)
    return Problem(
        small=small,
        ladders=draw(ladders_for(small)),
        k=draw(st.integers(2, 4)),
        limit=draw(st.sampled_from(LIMITS)),
        weights=tuple(draw(st.lists(st.integers(1, 3), min_size=width, max_size=width))),
    )


def safe_nodes(problem: Problem) -> list[Tried]:
    """Every node whose small classes, and rows that would say nothing, are within the limit."""
    allowed = Fraction(problem.limit) * len(problem.small.rows)
    domains = [column.domain.to_pylist() for column in problem.small.table.columns]
    codes = [[domains[i].index(cell) for i, cell in enumerate(row)] for row in problem.small.rows]
    labels = [spelled(ladder) for ladder in problem.ladders]
    losses = [_losses(ladder) for ladder in problem.ladders]
    tried = []
    for node in product(*(range(ladder.height + 1) for ladder in problem.ladders)):
        shown = [tuple(labels[i][node[i]][code] for i, code in enumerate(row)) for row in codes]
        sizes = Counter(shown)
        lost = Fraction(0)
        for row, cells in zip(codes, shown, strict=True):
            for i, weight in enumerate(problem.weights):
                lost += weight * (1 if sizes[cells] < problem.k else losses[i][node[i]][row[i]])
        tried.append(
            Tried(
                node=node,
                cost=lost / sum(problem.weights) / len(codes),
                removed=sum(size for size in sizes.values() if size < problem.k),
                released=Counter({cells: size for cells, size in sizes.items() if size >= problem.k}),
            )
        )
    roots = tuple(column[-1][0] for column in labels)
    return [one for one in tried if one.released and one.removed + one.released[roots] <= allowed]


def _losses(ladder: Ladder) -> list[list[Fraction]]:
    """Per level and code the share of the other values that its label covers; all of them if it is unknown."""
    others = ladder.maps.shape[1] - 1
    return [
        [
            Fraction(others if unknown else level.count(name) - 1, max(others, 1))
            for name, unknown in zip(level, ladder.unmapped.tolist(), strict=True)
        ]
        for level in spelled(ladder)
    ]


def rank(tried: Tried, weights: Sequence[int]) -> tuple[Fraction, int, list[int]]:
    """Least cost, then fewest rows removed, then low levels of the columns that weigh most."""
    by_weight = sorted(range(len(weights)), key=lambda i: -weights[i])
    return tried.cost, tried.removed, [tried.node[i] for i in by_weight]


def assert_keeps_its_word(problem: Problem, recoding: Recoding) -> Node:
    """k is reached within the limit; return the node."""
    plan = recoding.plan
    node: Node = tuple(plan.levels[:, 0].tolist())
    assert (plan.levels == plan.levels[:, :1]).all(), "one level per column for the whole table"
    assert plan.released().weights.min() >= problem.k
    assert plan.rows_removed <= Fraction(problem.limit) * len(problem.small.rows)
    elected = [candidate for candidate in recoding.candidates if candidate.elected]
    assert elected == [recoding.candidates[0]]
    assert elected[0].rows_removed == plan.rows_removed
    assert elected[0].k == plan.released().weights.min()
    assert [c.loss for c in recoding.candidates] == pytest.approx(sorted(c.loss for c in recoding.candidates))
    assert len({candidate.name for candidate in recoding.candidates}) == len(recoding.candidates)
    return node


@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_no_node_of_the_lattice_is_better_than_the_elected_one(problem: Problem) -> None:
    safe = safe_nodes(problem)
    if not safe:
        with pytest.raises(PolicyNotMetError) as caught:
            problem.solve()
        assert (caught.value.rows, caught.value.advice != "") == (len(problem.small.rows), True)
        assert caught.value.rows_at_risk > 0
        return
    recoding = problem.solve()
    node = assert_keeps_its_word(problem, recoding)
    best = min(safe, key=lambda tried: rank(tried, problem.weights))
    assert node == best.node
    assert recoding.optimal is True
    assert recoding.candidates[0].loss == pytest.approx(float(best.cost))
    assert recoding.plan.released().tuples == len(best.released)
    assert sorted(recoding.plan.released().weights.tolist()) == sorted(best.released.values())


@settings(max_examples=100, deadline=None)
@given(problem=problems(), nodes=st.integers(0, 6))
def test_a_search_that_stops_early_says_so_and_still_keeps_its_word(problem: Problem, nodes: int) -> None:
    safe = safe_nodes(problem)
    with mock.patch.object(lattice, "NODE_LIMIT", nodes):
        try:
            recoding = problem.solve()
        except PolicyNotMetError:
            tops = tuple(ladder.height for ladder in problem.ladders)
            assert tops not in {tried.node for tried in safe}, "the roots are safe and were not tried"
            return
    node = assert_keeps_its_word(problem, recoding)
    assert node in {tried.node for tried in safe}
    if recoding.optimal:
        assert node == min(safe, key=lambda tried: rank(tried, problem.weights)).node
    else:
        assert f"stopped at {nodes} combinations" in recoding.why


def solve(rows: list[Row], *, k: int = 2, limit: float = 0.0, steps: list[tuple[int, int]] | None = None) -> Recoding:
    """Recode columns whose values share a first letter at level 1 and nothing above it."""
    table = table_of(["p", "q"][: len(rows[0])], rows)
    ladders = [
        climb(c.name, c.domain, {v: [v[0]] for v in c.domain.to_pylist()}, ["first letter", "suppressed"])
        for c in table.columns
    ]
    return recode_globally(
        FrequencyTable.of(table),
        ladders,
        k=k,
        suppression_limit=limit,
        weights=[1.0] * len(ladders),
        progress=None if steps is None else lambda done, of: steps.append((done, of)),
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
    steps: list[tuple[int, int]] = []
    recoding = solve([("a1", "c1"), ("a1", "c1"), ("a2", "c2"), ("a2", "c2")], steps=steps)
    assert recoding.plan.rows_changed == 0
    assert "Of 1 combinations" in recoding.why
    assert steps == [(1, 9)]
    steps.clear()
    assert "Of 3 combinations" in solve([("a1",), ("b1",)], limit=1.0, steps=steps).why
    assert steps == [(1, 3), (2, 3), (3, 3)]
