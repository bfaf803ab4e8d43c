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
from anon_core.recode.outcome import Recoding
from anon_core.recode.task import Task
from anon_core.report.judgement import Judgement, judge_recoding
from anon_core.report.promises import unkept
from anon_core.report.question import Question
from anon_core.report.recoding import RecodedPublication
from anon_core.spec import Method, Mode, PartialPublication, Recode
from tests.properties.tables import table_of

NAMES = ("sex", "age", "country")
# The example of bampoulidis2019: the man from AT becomes (*, 20, *), which all five may be and only he is.
ROWS = [("f", "20", "AT"), ("f", "20", "AT"), ("m", "20", "GR"), ("m", "20", "GR"), ("m", "20", "AT")]
QUESTION = Question.of(
    PartialPublication.model_validate(
        {"columns": {name: {"role": "quasi"} for name in NAMES}, "privacy": {"k": 2, "suppression_limit": 0.2}}
    )
)


def judged(question: Question = QUESTION, *, removed: bool = False, starred: bool = False) -> Judgement:
    """The five people as they are, with the man from AT removed, or with stars in his row."""
    table = table_of(NAMES, ROWS)
    ladders = [climb(one.name, one.domain, {v: [] for v in one.domain.to_pylist()}, ["root"]) for one in table.columns]
    plan = RecodingPlan.unchanged(FrequencyTable.of(table), ladders)
    him = plan.frequencies.weights == 1
    levels = plan.levels.copy()
    levels[np.ix_([0, 2], np.flatnonzero(him))] = int(starred)
    plan = RecodingPlan(frequencies=plan.frequencies, ladders=plan.ladders, levels=levels, removed=him & removed)
    released = ArrowEngine(table=table).apply(plan, NAMES)
    assert question.publication is not None
    recoded = RecodedPublication(
        publication=question.publication,
        task=Task.of(plan.frequencies, plan.ladders, question.policy),
        recoding=Recoding(method="none", plan=plan, why="because", candidates=(), optimal=None),
        released=released,
        engine=ArrowEngine(table=released),
    )
    return judge_recoding(recoded, question, today=date(2026, 1, 1))


@pytest.mark.parametrize(
    ("settings", "broken"),
    [
        (Recode(method=Method.NONE), []),
        (Recode(method=Method.SINGLETONS), ["singletons"]),
        (Recode(method=Method.PRIORITISED, mode=Mode.PAPER), []),
        (Recode(method=Method.PRIORITISED, mode=Mode.LINK), ["link_k"]),
        (Recode(method=Method.PRIORITISED), ["k_anonymity"]),
        (Recode(method=Method.GLOBAL), ["k_anonymity"]),
        (Recode(method=Method.BEST), ["k_anonymity"]),
    ],
)
def test_a_row_of_stars_breaks_what_promises_more_than_source_k(settings: Recode, broken: list[str]) -> None:
    assert unkept(settings, QUESTION, judged(starred=True)) == broken


@pytest.mark.parametrize("method", [method for method in Method if method is not Method.FREEFORM])
def test_what_is_safe_breaks_no_promise(method: Method) -> None:
    for mode in Mode:
        assert unkept(Recode(method=method, mode=mode), QUESTION, judged(removed=True)) == []


def test_more_rows_removed_than_allowed_break_a_promise() -> None:
    strict = replace(QUESTION, policy=PartialPolicy(k=2))
    assert unkept(Recode(method=Method.GLOBAL), strict, judged(strict, removed=True)) == ["rows_suppressed_at_most"]
