"""A few items put into classes in the best way, beside plain trying of every way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition
from anon_core.recoding.prioritised.every_way import cheapest
from anon_core.recoding.prioritised.orders import Found
from anon_core.recoding.prioritised.polish import polished
from anon_core.recoding.prioritised.prices import Objective
from tests.properties.people import Crowded, crowded
from tests.properties.slow_search import partitions

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)


def opened(problem: Crowded) -> tuple[Encoded, Objective]:
    encoded = Encoded.of(problem.task.by_k_alone).all_open
    return encoded, Objective.of(encoded, 0.24)


def safe(encoded: Encoded, partition: TuplePartition) -> bool:
    members = partition.members
    return bool(encoded.task.requirements.safe(members, partition.classes[members], partition.count).all())


@settings(max_examples=80, deadline=None, phases=QUICK)
@given(problem=crowded(max_rows=16), data=st.data())
def test_some_classes_are_put_together_as_well_as_by_trying_everything(problem: Crowded, data: st.DataObject) -> None:
    if problem.task.people is None:
        return
    encoded, objective = opened(problem)
    tuples = len(encoded.weights)
    drawn = data.draw(st.lists(st.integers(-1, 3), min_size=tuples, max_size=tuples))
    before = TuplePartition.numbered(np.array(drawn))
    chosen = data.draw(st.lists(st.booleans(), min_size=before.count, max_size=before.count))
    items = []
    for number in [number for number, taken in enumerate(chosen) if taken]:
        own = np.flatnonzero(before.classes == number)
        together = data.draw(st.integers(1, len(own)))  # The first of them stay together.
        items += [own[:together], *(np.array([one]) for one in own[together:].tolist())]
    if not 1 <= len(items) <= 5:
        return
    may_go = np.array(data.draw(st.lists(st.booleans(), min_size=tuples, max_size=tuples)))
    costs = []
    for numbers in partitions(len(items) + 1):  # The class of the first stands for the removed ones.
        classes = before.classes.copy()
        for item, number in zip(items, numbers[1:], strict=True):
            classes[item] = before.count + number if number else -1
        gone = [item for item, number in zip(items, numbers[1:], strict=True) if not number]
        new = TuplePartition.numbered(np.where(classes >= before.count, classes, -1))
        plan = TuplePartition.numbered(classes).plan(encoded)
        if (
            all(may_go[item].all() for item in gone)
            and safe(encoded, new)
            and plan.rows_removed + plan.rows_blanked <= encoded.task.allowed
        ):
            costs.append(objective.cost(encoded, plan))
    found = cheapest(encoded, objective, before, items, may_go)
    assert (found is None) == (not costs)
    if found is not None:
        assert objective.cost(encoded, found.plan(encoded)) == pytest.approx(min(costs), abs=1e-9)


@settings(max_examples=25, deadline=None, phases=QUICK)
@given(problem=crowded(max_rows=40))
def test_what_is_polished_is_never_worse_and_removes_nobody_who_is_not_alone(problem: Crowded) -> None:
    if problem.task.people is None:
        return
    encoded, objective = opened(problem)
    every = np.arange(len(encoded.weights))
    one = Found.measured(encoded, objective, TuplePartition(classes=0 * every, count=1))
    better = polished(encoded, objective, one)
    assert not one.is_better_than(better)
    assert better.breaks or safe(encoded, better.partition)
    own = encoded.task.requirements.sizes(every, every, len(every))
    assert (own[better.partition.classes < 0] < encoded.task.k).all()
    again = polished(replace(encoded), objective, one)
    assert (again.partition.classes == better.partition.classes).all()
