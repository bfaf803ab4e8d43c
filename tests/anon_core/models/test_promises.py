"""What a recoding method promises is held against the rows that it left."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from anon_core.engines.arrow import ArrowEngine
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.plan import RecodingPlan
from anon_core.policy import PartialPolicy
from anon_core.recoding.task import Recoding, Task
from anon_core.registry import METHODS
from anon_core.report.criteria import Criteria
from anon_core.report.judgement import judge_recoding, unkept
from anon_core.report.recoding import RecodedPublication
from anon_core.spec import Mode, PartialPublication, Recode
from tests.properties.tables import table_of

NAMES = ("sex", "age", "country")
# The example of bampoulidis2019: the man from AT becomes (*, 20, *), which all five may be and only he is.
ROWS = [("f", "20", "AT"), ("f", "20", "AT"), ("m", "20", "GR"), ("m", "20", "GR"), ("m", "20", "AT")]
CRITERIA = Criteria.of(
    PartialPublication.model_validate(
        {"columns": {name: {"role": "quasi"} for name in NAMES}, "privacy": {"k": 2, "suppression_limit": 0.2}}
    )
)


def unkept_by(
    settings: Recode, criteria: Criteria = CRITERIA, *, removed: bool = False, starred: bool = False
) -> object:
    """What a method breaks that leaves the five as they are but for the man from AT: removed, or starred."""
    table = table_of(NAMES, ROWS)
    ladders = [climb(one.name, one.domain, {v: [] for v in one.domain.to_pylist()}, ["root"]) for one in table.columns]
    plan = RecodingPlan.unchanged(FrequencyTable.of(table), ladders)
    him = plan.frequencies.weights == 1
    levels = plan.levels.copy()
    levels[np.ix_([0, 2], np.flatnonzero(him))] = int(starred)
    plan = RecodingPlan(frequencies=plan.frequencies, ladders=plan.ladders, levels=levels, removed=him & removed)
    released = ArrowEngine(table=table).apply(plan, NAMES)
    assert criteria.publication is not None
    recoded = RecodedPublication(
        publication=criteria.publication,
        task=Task.of(plan.frequencies, plan.ladders, criteria.policy, settings=settings),
        recoding=Recoding(method="none", plan=plan, why="because", candidates=(), optimal=None),
        released=released,
        engine=ArrowEngine(table=released),
    )
    return unkept(recoded.task, criteria, judge_recoding(recoded, criteria, today=date(2026, 1, 1)))


@pytest.mark.parametrize(
    ("settings", "broken"),
    [
        (Recode(method="none"), []),
        (Recode(method="singletons"), ["no_singletons"]),
        (Recode(method="prioritised", mode=Mode.PAPER), []),
        (Recode(method="prioritised", mode=Mode.LINK), ["link_k"]),
        (Recode(method="prioritised"), ["no_singletons", "k_anonymity"]),
        (Recode(method="global"), ["no_singletons", "k_anonymity"]),
        (Recode(method="best"), ["no_singletons", "k_anonymity"]),
    ],
)
def test_a_row_of_stars_breaks_what_promises_more_than_source_k(settings: Recode, broken: list[str]) -> None:
    assert unkept_by(settings, starred=True) == broken


@pytest.mark.parametrize("method", sorted({*METHODS.keys()} - {"freeform"}))
def test_what_is_safe_breaks_no_promise(method: str) -> None:
    for mode in Mode:
        assert unkept_by(Recode(method=method, mode=mode), removed=True) == []


def test_more_rows_removed_than_allowed_break_a_promise() -> None:
    strict = replace(CRITERIA, policy=PartialPolicy(k=2))
    assert unkept_by(Recode(method="global"), strict, removed=True) == ["rows_suppressed_at_most"]
