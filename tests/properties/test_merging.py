"""Classes that lack what is required of sensitive columns are merged, each with one that lacks nothing."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.engines.arrow import ArrowEngine
from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition
from anon_core.recoding.prioritised.leftovers import merged
from anon_core.recoding.prioritised.orders import Found
from anon_core.recoding.prioritised.prices import Objective
from anon_core.report.recoding import recode_publication
from anon_core.spec import PartialPublication
from tests.properties.required import Problem, problems
from tests.properties.tables import table_of


def safe_classes(encoded: Encoded, partition: TuplePartition) -> list[bool]:
    members = partition.members
    return encoded.task.requirements.safe(members, partition.classes[members], partition.count).tolist()


@settings(max_examples=150, deadline=None)
@given(problem=problems(diverse=True), data=st.data())
def test_every_class_is_safe_at_the_end_and_a_union_with_a_safe_one(problem: Problem, data: st.DataObject) -> None:
    encoded = Encoded.of(problem.task).all_open
    tuples = len(encoded.weights)
    before = TuplePartition.numbered(
        np.array(data.draw(st.lists(st.integers(-1, 6), min_size=tuples, max_size=tuples)))
    )
    if not before.count:
        return
    costs = Found.measured(encoded, Objective.of(encoded, 0.24), before).costs
    after = merged(encoded, costs, before, encoded.task.requirements)
    assert ((after.classes < 0) == (before.classes < 0)).all(), "nothing is removed, and nothing comes back"
    was_safe, is_safe = safe_classes(encoded, before), safe_classes(encoded, after)
    assert all(is_safe) or after.count == 1
    for number in range(after.count):
        parts = np.unique(before.classes[after.classes == number]).tolist()
        assert all((after.classes[before.classes == part] == number).all() for part in parts), "whole classes only"
        assert len(parts) == 1 or not any(was_safe) or any(was_safe[part] for part in parts)
        assert len(parts) > 1 or after.count == 1 or was_safe[parts[0]]


@settings(max_examples=50, deadline=None)
@given(problem=problems(diverse=True))
def test_safe_classes_stay_as_they_are(problem: Problem) -> None:
    encoded = Encoded.of(problem.task).all_open
    one = TuplePartition(classes=np.zeros(len(encoded.weights), np.int64), count=1)
    if not all(safe_classes(encoded, one)):
        return
    costs = Found.measured(encoded, Objective.of(encoded, 0.24), one).costs
    assert merged(encoded, costs, one, encoded.task.requirements).count == 1


def test_closeness_does_not_draw_all_classes_into_one() -> None:
    """Four people in five have B; of classes of five many have too few, and each needs a neighbour of its own."""
    draw = np.random.default_rng(3)
    rows = [
        (str(1940 + born), f"{'ABCD'[town // 9]}{town % 9}", "FM"[sex])
        for born, town, sex in zip(*(draw.integers(0, most, 2_000).tolist() for most in (60, 36, 2)), strict=True)
    ]
    category = np.where(draw.random(2_000) < 0.8, "B", draw.choice(["A", "C", "D", "E"], 2_000)).tolist()
    spec = PartialPublication.model_validate(
        {
            "columns": {
                "born": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
                "town": {"role": "quasi", "hierarchy": {"prefix": [1]}},
                "sex": {"role": "quasi"},
                "category": {"role": "sensitive"},
            },
            "privacy": {"k": 5, "t_closeness": [{"column": "category", "t": 0.3}]},
            "recode": {"method": "prioritised", "improve": 0},
        }
    )
    table = table_of(
        ("born", "town", "sex", "category"), [(*row, own) for row, own in zip(rows, category, strict=True)]
    )
    found = recode_publication(spec, ArrowEngine(table=table)).recoding
    assert found.plan.released().tuples > 100, found.plan.released().tuples
