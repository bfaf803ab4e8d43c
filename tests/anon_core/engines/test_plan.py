"""A plan says what becomes of every distinct tuple; its counts are those of the rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.engines.arrow import ArrowEngine
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.plan import RecodingPlan
from anon_core.recoding.task import Recoding, Task
from anon_core.report.recoding import RecodedPublication, recoding_note
from anon_core.spec import load_spec
from tests.properties.plans import expected, plans
from tests.properties.tables import Cell, Row, Small, ladders_for, small_tables, spelled, table_of


@settings(max_examples=80, deadline=None)
@given(planned=plans())
def test_the_counts_of_a_plan_are_those_of_the_rows(planned: tuple[Small, RecodingPlan]) -> None:
    small, plan = planned
    rows = expected(small, plan)
    published = [(old, new) for old, new in rows if new is not None]
    unknown = [
        {v for v, u in zip(c.domain.to_pylist(), ladder.unmapped, strict=True) if u}
        for c, ladder in zip(small.table.columns, plan.ladders, strict=True)
    ]

    def changed(i: int, old: Row, new: Row) -> bool:
        return old[i] != new[i] or old[i] in unknown[i]

    width = range(len(small.names))
    assert plan.rows_removed == len(rows) - len(published)
    assert plan.rows_changed == sum(any(changed(i, old, new) for i in width) for old, new in published)
    assert plan.cells_changed == {
        name: sum(changed(i, old, new) for old, new in published) for i, name in enumerate(small.names)
    }
    released = plan.released()
    labels = [d.take(pa.array(c)).to_pylist() for d, c in zip(released.domains, released.codes, strict=True)]
    counted = Counter(dict(zip(zip(*labels, strict=True), released.weights.tolist(), strict=True)))
    assert counted == Counter(new for _, new in published)
    assert released.tuples == len(counted)
    roots = tuple(spelled(ladder)[-1][0] for ladder in plan.ladders)
    assert plan.rows_blanked == sum(new == roots for _, new in published)
    for i in width:
        assert sum(plan.rows_by_level(i).values()) == len(published)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_an_unchanged_plan_changes_only_values_the_hierarchy_does_not_know(data: st.DataObject) -> None:
    small = data.draw(small_tables())
    ladders = data.draw(ladders_for(small, unmapped=False))
    plan = RecodingPlan.unchanged(FrequencyTable.of(small.table), ladders)
    assert (plan.rows_changed, plan.rows_removed) == (0, 0)
    assert [new for _, new in expected(small, plan)] == list(small.rows)


def test_an_unknown_value_stands_at_the_root_in_every_count() -> None:
    table = table_of(["town"], [("COGNE",), ("x",), ("y",), ("y",)])
    paths: dict[Cell, list[str]] = {"COGNE": ["AO"]}
    ladder = climb("town", table.column("town").domain, dict(paths), ["province", "suppressed"])
    plan = RecodingPlan.unchanged(FrequencyTable.of(table), [ladder])
    assert plan.rows_by_level(0) == {0: 1, 2: 3}
    assert plan.cells_changed == {"town": 3}
    assert sorted(plan.released().weights.tolist()) == [1, 3]


def test_the_report_shows_levels_by_name_and_counts_of_published_rows(tmp_path: Path) -> None:
    spec = tmp_path / "towns.yaml"
    spec.write_text(
        "dataset: towns\ntitle: Towns\n"
        'unit: row\nreviewed: {by: Ada, "on": 2026-01-02}\n'
        "source: {file: t.csv}\nprivacy: {k: 2}\nportal: {folder: p}\n"
        "recode: {method: none}\ncolumns: {town: {role: quasi}, points: {role: other}, id: {role: identifier}}\n"
    )
    table = table_of(["town"], [("COGNE",), ("COGNE",), ("SARRE",), ("CANARY",)])
    paths: dict[Cell, list[str]] = {"CANARY": ["AO"], "COGNE": ["AO"], "SARRE": ["AO"]}
    frequencies = FrequencyTable.of(table)
    plan = RecodingPlan(
        frequencies=frequencies,
        ladders=(climb("town", table.column("town").domain, dict(paths), ["province", "suppressed"]),),
        levels=np.array([[0, 0, 1]], np.int8),
        removed=np.array([True, False, False]),
    )
    recoding = Recoding(method="none", plan=plan, why="because", candidates=(), optimal=None)
    released = ArrowEngine(table=table).apply(plan, ["town"])
    publication = load_spec(spec)
    recoded = RecodedPublication(
        publication=publication,
        task=Task.of(frequencies, plan.ladders, publication.privacy),
        recoding=recoding,
        released=released,
        engine=ArrowEngine(table=released),
        witness=released,
    )
    types = {"town": "text", "points": "integer"}
    note = recoding_note(recoded, types)
    town, points = note["recoding"]["columns"]
    assert town["levels"] == [
        {"level": 0, "name": "as collected", "rows": 2},
        {"level": 1, "name": "province", "rows": 1},
    ]
    assert (town["cells_changed"], points["cells_changed"]) == (1, 0)
    assert points["levels"] == [{"level": 0, "name": "as collected", "rows": 3}]
    assert (note["rows_removed"], note["after"]["singletons"]) == (1, 1)
    # COGNE is published as itself, SARRE as its province, which covers COGNE too: but all know whose row is whose.
    assert note["after"]["k"] == {"exact": 1, "link": 1, "source": 2, "concealment": 1}
    assert "CANARY" not in str(note)
