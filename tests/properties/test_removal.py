"""What became of the classes of an original: as the gate, a comparison and a plan tell it, and counted row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anon_core.engines.arrow import ArrowEngine
from anon_core.measures.removal import RemovalFigures as Told
from anon_core.measures.removal import kept_of, removal
from anon_core.models.removal import Removal
from anon_core.plan import RecodingPlan
from anon_core.recoding.compliance import PlanMeasurements
from anon_core.recoding.method import Promise
from anon_core.recoding.pairing import pairing_of_plan, pairing_of_witness
from tests.properties.people import PERSON, Crowded, crowded
from tests.properties.persons import members
from tests.properties.releases import UNIT, Released, releases
from tests.properties.required import SENSITIVE
from tests.properties.tables import Cell, Row, table_of

OTHER = "as is"
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)


def counted(
    rows: Sequence[Row], shown: Sequence[Row | None], bare: Sequence[Row], persons: Sequence[Cell] | None, k: int
) -> Told:
    """Count by definition; ``bare`` are the labels that rows have as collected."""
    people = members(rows, list(range(len(rows))) if persons is None else persons)
    large = {key for key, some in people.items() if len(some) >= k}
    gone = [row for row, own in zip(rows, shown, strict=True) if own is None and row in large]
    changed = {row for row, own, was in zip(rows, shown, bare, strict=True) if own is not None and own != was}
    return Told(
        classes=len(large),
        missing=len(set(gone)),
        coarser=len((large & changed) - set(gone)),
        rows=len(gone),
        exact=True,
    )


def bare(released: Released) -> list[Row]:
    """Return the labels that each row has on level 0."""
    names = [column.domain.to_pylist() for column in released.small.table.columns]
    labels = [ladder.labels.to_pylist() for ladder in released.ladders]
    return [
        tuple(
            labels[i][ladder.maps[0, names[i].index(cell)]]
            for i, (ladder, cell) in enumerate(zip(released.ladders, row, strict=True))
        )
        for row in released.small.rows
    ]


@settings(max_examples=200, deadline=None, phases=QUICK)
@given(released=releases(max_rows=12), several=st.booleans(), beside=st.booleans(), k=st.integers(1, 4))
def test_what_the_gate_measures_from_a_witness_is_what_is_counted_row_by_row(
    released: Released, several: bool, beside: bool, k: int
) -> None:
    names = released.small.names
    persons = released.units if several else None
    whose = [UNIT] if several else []
    others = ["x" if at % 2 else "y" for at in range(len(released.small.rows))]
    own = [[unit] if several else [] for unit in released.units]
    collected = [(*row, other, *unit) for row, other, unit in zip(released.small.rows, others, own, strict=True)]
    said = [
        (*shown, other, *unit, *row)
        for row, shown, other, unit in zip(released.small.rows, released.published, others, own, strict=True)
        if shown is not None
    ]
    was = {name: f"{name} as collected" for name in names}
    unit = UNIT if several else None
    pairing = pairing_of_witness(
        ArrowEngine(table=table_of([*names, OTHER, *whose], collected), unit=unit),
        ArrowEngine(table=table_of([*names, OTHER, *whose, *was.values()], said), unit=unit),
        released.ladders,
        beside=was,
        published=[*names, OTHER],
    )
    assert pairing.kept is not None
    found = removal(pairing.kept((*names, OTHER) if beside else names), k)
    rows, shown, before = list(released.small.rows), list(released.published), bare(released)
    if beside:
        rows = [(*row, other) for row, other in zip(rows, others, strict=True)]
        shown = [None if one is None else (*one, other) for one, other in zip(shown, others, strict=True)]
        before = [(*one, other) for one, other in zip(before, others, strict=True)]
    assert found == counted(rows, shown, before, persons, k)


@settings(max_examples=200, deadline=None, phases=QUICK)
@given(released=releases(max_rows=12), several=st.booleans(), k=st.integers(1, 4))
def test_what_a_comparison_tells_is_what_is_counted_row_by_row(released: Released, several: bool, k: int) -> None:
    found = removal(kept_of(released.compared(paired=True, unit=several)), k)
    persons = released.units if several else None
    rows = list(released.small.rows)
    assert found == counted(rows, released.published, bare(released), persons, k)
    if not several:
        least = removal(kept_of(released.compared(paired=False)), k)
        assert least.rows <= found.rows and least.missing <= found.missing and not least.exact


@settings(max_examples=100, deadline=None, phases=QUICK)
@given(problem=crowded(), data=st.data(), k=st.integers(2, 4))
def test_what_a_plan_tells_is_what_is_counted_row_by_row(problem: Crowded, data: st.DataObject, k: int) -> None:
    frequencies, ladders, names = problem.task.frequencies, problem.task.ladders, problem.small.names
    tuples = len(frequencies.weights)
    levels = [
        data.draw(st.lists(st.integers(0, ladder.height), min_size=tuples, max_size=tuples)) for ladder in ladders
    ]
    removed = data.draw(st.lists(st.booleans(), min_size=tuples, max_size=tuples))
    plan = RecodingPlan(
        frequencies=frequencies, ladders=ladders, levels=np.array(levels, np.int8), removed=np.array(removed)
    )
    some = tuple(data.draw(st.lists(st.sampled_from([*names, SENSITIVE]), min_size=1, unique=True)))
    cells = [(*row, secret) for row, secret in zip(problem.small.rows, problem.secrets, strict=True)]
    at = [[*names, SENSITIVE].index(name) for name in some]

    def of(rows: Sequence[Row | None]) -> list[Row | None]:
        whole = [row and (*row, secret) for row, secret in zip(rows, problem.secrets, strict=True)]
        return [None if row is None else tuple(row[i] for i in at) for row in whole]

    bare = [one or () for one in of(problem.published(RecodingPlan.unchanged(frequencies, ladders)))]
    rows = [tuple(row[i] for i in at) for row in cells]
    engine = ArrowEngine(table=problem.table(), unit=PERSON)
    pairing = pairing_of_plan(plan, engine, (*names, SENSITIVE))
    assert pairing.kept is not None
    assert removal(pairing.kept(some), k) == counted(rows, of(problem.published(plan)), bare, problem.persons, k)
    if any(removed) and all(removed):
        return
    model = Removal(columns=names, k=k)
    task = replace(problem.task, requirements=replace(problem.task.requirements, k=k))
    (own,) = PlanMeasurements(task, plan).of(Promise.EXACT, lambda key: key == model.key)
    told = counted(list(problem.small.rows), problem.published(plan), bare_of(problem), problem.persons, k)
    assert (own.observed, own.counts["missing"], own.counts["coarser"]) == (told.rows, told.missing, told.coarser)


def bare_of(problem: Crowded) -> list[Row]:
    """Return the labels that each row has on level 0."""
    unchanged = RecodingPlan.unchanged(problem.task.frequencies, problem.task.ladders)
    return [one or () for one in problem.published(unchanged)]
