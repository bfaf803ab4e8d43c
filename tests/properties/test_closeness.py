"""t-closeness against the definition of the earth mover's distance: a linear programme over all ways to move shares."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.measures.classes import SensitiveClasses, sensitive_classes
from anon_core.measures.diversity.closeness import class_distances, t_closeness
from anon_core.policy import Distance
from tests.properties.sensitive import Class, Question, counted, failing, questions, whole
from tests.properties.tables import Cell, Small, ladders_for, small_tables, spelled, table_of

NUMBERS: tuple[Cell, ...] = ("10", "9", "-2", "9.0", " 1e1", "0.5", None)
Ground = dict[tuple[Cell, Cell], float]


def work(one: Class, other: Class, ground: Ground) -> float:
    """The least work to turn one distribution into the other."""
    have, want = list(one.shares.items()), list(other.shares.items())
    cost = [ground[a, b] for a, _ in have for b, _ in want]
    moved_from = np.kron(np.eye(len(have)), np.ones(len(want)))
    moved_to = np.kron(np.ones(len(have)), np.eye(len(want)))
    solved = linprog(
        cost, A_eq=np.vstack([moved_from, moved_to]), b_eq=[share for _, share in have + want], bounds=(0, None)
    )
    assert solved.success
    return float(solved.fun)


def equal(values: list[Cell]) -> Ground:
    return {(a, b): float(a != b) for a in values for b in values}


def ordered(values: list[Cell]) -> Ground:
    known = [value for value in values if value is not None]
    try:
        keys: dict[Cell, object] = {value: Decimal(value.strip()) for value in known}
    except ArithmeticError:
        keys = {value: value for value in known}
    row = sorted(set(keys.values()))  # type: ignore[type-var]
    place = {value: row.index(keys[value]) for value in known} | {None: len(row)}
    last = max(place[value] for value in values)
    return {(a, b): abs(place[a] - place[b]) / max(last, 1) for a in values for b in values}


def hierarchical(ladder: Ladder, domain: list[Cell], values: list[Cell]) -> Ground:
    labels = spelled(ladder)
    code = {value: at for at, value in enumerate(domain)}

    def apart(a: Cell, b: Cell) -> float:
        if a == b:
            return 0.0
        strange = ladder.unmapped[code[a]] or ladder.unmapped[code[b]]
        levels = [level for level in range(ladder.height + 1) if labels[level][code[a]] == labels[level][code[b]]]
        return 1.0 if strange else min(levels) / ladder.height

    return {(a, b): apart(a, b) for a in values for b in values}


def inner_nodes(one: Class, other: Class, ladder: Ladder, domain: list[Cell]) -> float:
    """The paper's own formula: over all inner nodes, level/height times what has to move between the children."""
    extra = {(0, code): one.shares.get(value, 0.0) - other.shares.get(value, 0.0) for code, value in enumerate(domain)}
    total = 0.0
    labels = spelled(ladder)
    below = list(range(len(domain)))
    for level in range(1, ladder.height + 1):
        nodes = [labels[level][code] for code in range(len(domain))]
        children: dict[Cell, set[tuple[int, object]]] = {}
        for code, node in enumerate(nodes):
            children.setdefault(node, set()).add((level - 1, below[code]))
        for node, inside in children.items():
            given_, taken = (sum(max(sign * extra[child], 0.0) for child in inside) for sign in (1, -1))  # type: ignore[index]
            total += level / ladder.height * min(given_, taken)
            extra[level, node] = sum(extra[child] for child in inside)  # type: ignore[index]
        below = nodes  # type: ignore[assignment]
    return total


def held_against(question: Question, ground: Ground, t: float, **how: object) -> None:
    classes, everyone = counted(question), whole(question)
    away = [work(one, everyone, ground) for one in classes]
    found = t_closeness(question.classes, t=t, **how)  # type: ignore[arg-type]
    assert found.observed == pytest.approx(max(away), abs=1e-9)
    near = any(abs(one - t) < 1e-7 for one in away)
    if not near:
        bad = [one for one, distance in zip(classes, away, strict=True) if distance > t]
        assert {"classes_failing": found.classes_failing, "rows_failing": found.rows_failing} == failing(bad)
    assert (found.classes, found.rows) == (len(classes), len(frozenset().union(*(one.units for one in classes))))


@settings(max_examples=80, deadline=None)
@given(question=questions(max_rows=9), t=st.sampled_from([0.0, 0.15, 0.3, 0.5]))
def test_equal_distance_is_the_least_work(question: Question, t: float) -> None:
    held_against(question, equal(list(whole(question).counts)), t, distance=Distance.EQUAL)


@settings(max_examples=120, deadline=None)
@given(
    question=st.one_of(questions(max_rows=9, values=NUMBERS), questions(max_rows=9)),
    t=st.sampled_from([0.0, 0.15, 0.3, 0.5]),
)
def test_ordered_distance_is_the_least_work(question: Question, t: float) -> None:
    held_against(question, ordered(list(whole(question).counts)), t, distance=Distance.ORDERED)


@settings(max_examples=100, deadline=None)
@given(question=questions(max_rows=9, max_columns=3), t=st.sampled_from([0.0, 0.15, 0.3, 0.5]), data=st.data())
def test_hierarchical_distance_is_the_least_work(question: Question, t: float, data: st.DataObject) -> None:
    (ladder,) = data.draw(ladders_for(Small(names=(question.sensitive,), rows=question_column(question))))
    domain = question.small.table.column(question.sensitive).domain.to_pylist()
    ground = hierarchical(ladder, domain, list(whole(question).counts))
    held_against(question, ground, t, distance=Distance.HIERARCHICAL, ladder=ladder)


@settings(max_examples=100, deadline=None)
@given(question=questions(units=False, max_columns=3), data=st.data())
def test_hierarchical_distance_is_the_formula_of_the_paper(question: Question, data: st.DataObject) -> None:
    column = Small(names=(question.sensitive,), rows=question_column(question))
    (ladder,) = data.draw(ladders_for(column, unmapped=False))
    domain = question.small.table.column(question.sensitive).domain.to_pylist()
    found = class_distances(question.classes, distance=Distance.HIERARCHICAL, ladder=ladder)
    expected = [inner_nodes(one, whole(question), ladder, domain) for one in counted(question)]
    assert sorted(found) == pytest.approx(sorted(expected), abs=1e-12)


def question_column(question: Question) -> tuple[tuple[Cell, ...], ...]:
    return tuple(question.small.project([question.sensitive]))


@settings(max_examples=60, deadline=None)
@given(small=small_tables(max_columns=5), data=st.data(), distance=st.sampled_from([Distance.EQUAL, Distance.ORDERED]))
def test_knowing_one_more_column_never_brings_classes_closer(
    small: Small, data: st.DataObject, distance: Distance
) -> None:
    sensitive, *order = data.draw(st.permutations(small.names))
    frequencies = FrequencyTable.of(small.table)
    steps = [sensitive_classes(frequencies, order[:size], sensitive) for size in range(len(order) + 1)]
    away = [float(class_distances(step, distance=distance).max()) for step in steps]
    assert away[0] == pytest.approx(0, abs=1e-12)
    assert all(0 <= one <= 1 for one in away)
    assert all(before <= after + 1e-12 for before, after in pairwise(away))


def test_the_worked_example_of_the_paper() -> None:
    """Li 2007, section 4: nine incomes, three to a class."""
    incomes = {"1": (3, 4, 5), "2": (6, 11, 8), "3": (7, 9, 10)}
    rows = [(who, str(1000 * income)) for who, all_of in incomes.items() for income in all_of]
    away = class_distances(classes_of(rows), distance=Distance.ORDERED)
    assert away[:2].round(3).tolist() == [0.375, 0.167]


def test_numbers_stand_by_their_size_and_texts_by_their_letters() -> None:
    numbers = [("x", "9"), ("x", "10"), ("y", "100")]
    texts = [("x", "9"), ("x", "10"), ("y", "100"), ("y", "ten")]
    assert class_distances(classes_of(numbers), distance=Distance.ORDERED).round(3).tolist() == [0.25, 0.5]
    # 10, 100, 9, ten
    assert class_distances(classes_of(texts), distance=Distance.ORDERED).round(3).tolist() == [0.167, 0.167]


def test_many_values_in_many_classes_agree_with_whole_distributions() -> None:
    rng = np.random.default_rng(3)
    rows = [(str(q), str(s)) for q, s in zip(rng.integers(0, 40, 5000), rng.zipf(1.3, 5000) % 700, strict=True)]
    shares: dict[str, np.ndarray] = {q: np.zeros(700) for q, _ in rows}
    for q, s in rows:
        shares[q][int(s)] += 1
    present = sum(shares.values()) > 0
    everyone = sum(shares.values())[present] / len(rows)
    expected = [
        np.abs(np.cumsum(counts[present] / counts.sum() - everyone)).sum() / (present.sum() - 1)
        for _, counts in sorted(shares.items())
    ]
    assert class_distances(classes_of(rows), distance=Distance.ORDERED) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("distance", [Distance.EQUAL, Distance.ORDERED])
def test_a_single_value_is_nowhere_else(distance: Distance) -> None:
    found = t_closeness(classes_of([("x", None), ("y", None)]), t=0.0, distance=distance)
    assert found.observed == 0
    assert found.holds


def test_a_distance_equal_to_t_holds_in_spite_of_rounding() -> None:
    rows = [("x", "a")] * 7 + [("x", "b")] * 3 + [("y", "a")] * 1 + [("y", "b")] * 9
    away = t_closeness(classes_of(rows), t=0.3)
    assert away.holds
    assert away.observed == pytest.approx(0.3)
    assert not t_closeness(classes_of(rows), t=0.29999).holds


def test_values_that_the_hierarchy_does_not_know_are_far_from_each_other_too() -> None:
    classes = classes_of([("x", "a"), ("x", "b"), ("y", "strange"), ("y", "stranger")])
    ladder = climb("s", classes.domain, {"a": ["ab"], "b": ["ab"]}, ["pairs", "root"])
    split = classes_of([("x", "strange"), ("y", "stranger")])
    unknown = climb("s", split.domain, {"a": ["ab"]}, ["pairs", "root"])
    assert class_distances(classes, distance=Distance.HIERARCHICAL, ladder=ladder).tolist() == [0.5, 0.5]
    # Half of either class has to go all the way to the root.
    assert class_distances(split, distance=Distance.HIERARCHICAL, ladder=unknown).tolist() == [0.5, 0.5]


def test_hierarchical_distance_asks_for_the_hierarchy_of_this_very_column() -> None:
    classes = classes_of([("x", "a"), ("y", "b")])
    for ladder in (
        None,
        climb("q", classes.domain, {"a": [], "b": []}, ["root"]),
        climb("s", classes.domain.slice(0, 1), {"a": []}, ["root"]),
        climb("s", table_of(["s"], [("c",), ("d",)]).column("s").domain, {"c": [], "d": []}, ["root"]),
    ):
        with pytest.raises(InvalidInputError, match="hierarchy"):
            t_closeness(classes, t=0.1, distance=Distance.HIERARCHICAL, ladder=ladder)


def classes_of(rows: list[tuple[Cell, ...]]) -> SensitiveClasses:
    return sensitive_classes(FrequencyTable.of(table_of(["q", "s"], rows)), ["q"], "s")
