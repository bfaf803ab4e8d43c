"""The best of all methods, against each method run alone; and what every method is held to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_core.errors import InternalError, PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.plan import RecodingPlan
from anon_core.policy import KMeans, Policy
from anon_core.recoding.best.election import cost_of, recode_best
from anon_core.recoding.compliance import shortfalls
from anon_core.recoding.lattice import GlobalRecoding
from anon_core.recoding.method import Promise
from anon_core.recoding.methods import recode
from anon_core.recoding.prioritised import PrioritisedRecoding
from anon_core.recoding.singletons import SingletonRecoding
from anon_core.recoding.task import Candidate, Recoding, Task
from anon_core.spec import Mode, Recode, UtilityMeasure
from tests.properties.required import SENSITIVE, Problem, problems, with_secrets
from tests.properties.tables import Row, Small, table_of

quietly = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def with_method(task: Task, method: str, **others: object) -> Task:
    return replace(task, settings=task.settings.model_copy(update={"method": method, **others}))


@quietly
@given(problem=st.one_of(problems(), problems(diverse=True)), means=st.sampled_from(KMeans))
def test_it_elects_the_cheapest_of_those_that_pass_and_never_returns_one_that_fails(
    problem: Problem, means: KMeans
) -> None:
    task = with_method(problem.task, "best", improve=0)
    task = replace(task, policy=task.policy.model_copy(update={"k_means": means}))
    alone = []
    for own in ("global", "prioritised"):
        try:
            found = recode(with_method(task, own))
        except PolicyNotMetError:
            continue
        alone.append(Candidate.of(found.plan, method="", name="", weights=task.by_name, elected=False))
    try:
        recoding = recode_best(task)
    except PolicyNotMetError as error:
        assert not alone
        assert error.rows == problem.rows
        assert "the closest of" in str(error)
        return
    assert shortfalls(task, recoding.plan) == []
    (elected,) = [candidate for candidate in recoding.candidates if candidate.elected]
    assert elected.reason is None
    assert elected.rows_removed == recoding.plan.rows_removed
    measure = task.settings.utility
    assert all(cost_of(elected, measure) <= cost_of(one, measure) + 1e-9 for one in alone)
    assert all(candidate.reason for candidate in recoding.candidates if not candidate.elected)
    assert {"global", "prioritised"} <= {candidate.method for candidate in recoding.candidates}


@quietly
@given(problem=problems(), data=st.data())
def test_the_order_of_the_rows_does_not_matter(problem: Problem, data: st.DataObject) -> None:
    again = problem.in_order(data.draw(st.permutations(range(problem.rows))))
    outcomes = []
    for one in (problem, again):
        try:
            recoding = recode(with_method(one.task, "best", improve=2))
            outcomes.append((recoding.candidates, recoding.plan.levels.tolist(), recoding.why))
        except PolicyNotMetError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


ROWS: list[Row] = [("a1", "x1"), ("a1", "x1"), ("a2", "x1"), ("a2", "x2"), ("b1", "x2"), ("b1", "x2")]


def small_task(rows: list[Row] = ROWS, secrets: str = "", **policy: object) -> Task:
    """A task over two columns whose values share first letters; each letter of ``secrets`` is somebody's illness."""
    table = table_of(["p", "q"], rows)
    ladders = [
        climb(c.name, c.domain, {v: [v[0]] for v in c.domain.to_pylist()}, ["first letter", "suppressed"])
        for c in table.columns
    ]
    wanted = Policy.model_validate({"k": 2, **policy})
    sensitive = with_secrets(Small(names=("p", "q"), rows=tuple(rows)), secrets) if secrets else None
    return Task.of(
        FrequencyTable.of(table),
        ladders,
        wanted,
        sensitive={SENSITIVE: sensitive} if sensitive else {},
        settings=Recode(method="best", improve=0),
    )


def unchanged(self: object, task: Task, **others: object) -> Recoding:
    """A search that does nothing."""
    plan = RecodingPlan.unchanged(task.frequencies, task.ladders)
    return Recoding(method="global", plan=plan, why="", candidates=(), optimal=None)


def test_at_least_three_methods_are_tried_and_the_reasons_of_the_others_told() -> None:
    recoding = recode(small_task())
    results = recoding.candidates[:3]
    assert [candidate.method for candidate in results] == ["singletons", "global", "prioritised"]
    assert sum(candidate.elected for candidate in recoding.candidates) == 1
    assert recoding.method == "best"
    assert "of what keeps the policy" in recoding.why


def test_a_method_that_finds_nothing_is_reported_with_the_numbers_of_the_table_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def give_up(self: object, task: Task, **others: object) -> Recoding:
        raise PolicyNotMetError(goal="k 2", reached=1, rows_at_risk=1, rows=6, advice="try another")

    monkeypatch.setattr(PrioritisedRecoding, "recode", give_up)
    failed = recode(small_task()).candidates[2]
    assert (failed.method, failed.name, failed.wnue, failed.elected) == ("prioritised", "nothing found", None, False)
    assert failed.reason == "k 2 not reached: best 1, 1 of 6 rows at risk; try another"


def test_the_measure_of_the_publication_file_elects() -> None:
    candidate = Candidate.of(
        RecodingPlan.unchanged(small_task().frequencies, small_task().ladders),
        method="none",
        name="",
        weights={},
        elected=False,
    )
    changed = replace(candidate, rows_changed=3, rows_removed=1, loss=0.25, nue=0.5, wnue=0.125)
    assert {measure.value: cost_of(changed, measure) for measure in UtilityMeasure} == {
        "wnue": 0.875,
        "nue": 0.5,
        "loss": 0.25,
        "rows": 4.0,
    }


@pytest.mark.parametrize("method", ["none", "singletons", "global", "prioritised", "best"])
def test_k_above_the_number_of_rows_is_refused_with_the_numbers_whatever_the_method(method: str) -> None:
    task = with_method(small_task(k=7), method)
    with pytest.raises(PolicyNotMetError, match=r"k 7 not reached: best 6, 6 of 6 rows at risk.*has 6 rows: lower"):
        recode(task)


def test_a_search_that_breaks_its_word_is_a_bug_and_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GlobalRecoding, "recode", unchanged)
    with pytest.raises(InternalError, match=r"recoding \(k 2 not reached: 1; .*\) at recode\.global"):
        recode(with_method(small_task(), "global"))
    with pytest.raises(InternalError, match=r"recoding \(k 2 not reached: 1"):
        recode(small_task())


def test_where_the_policy_means_the_link_k_classes_may_be_smaller() -> None:
    rows: list[Row] = [("a1", "x1"), ("a1", "x1"), ("a1", "x2"), ("a1", "x2"), ("b1", "x1"), ("b1", "x2")]
    task = small_task(rows, k_means=KMeans.LINK)
    levels = np.zeros((2, task.frequencies.tuples), np.int8)
    levels[0, task.frequencies.weights == 1] = 2
    unsafe = RecodingPlan.unchanged(task.frequencies, task.ladders)
    plan = replace(unsafe, levels=levels)
    assert {one.model for one in shortfalls(task, plan, Promise.EXACT)} == {"k_anonymity", "no_singletons"}
    assert [one.name for one in shortfalls(task, plan)] == ["link_k"]
    assert shortfalls(task, plan, Promise.SOURCE) == []


def test_a_modest_mode_is_not_held_to_what_it_does_not_promise() -> None:
    rows: list[Row] = [("a1", "x1"), ("a1", "x1"), ("a2", "x1"), ("b1", "x2"), ("b1", "x2")]
    task = with_method(small_task(rows, singletons=0, suppression_limit=0.2), "prioritised", mode=Mode.PAPER)
    assert recode(replace(task, settings=task.settings.model_copy(update={"improve": "auto"}))).plan.rows_removed == 0


def test_where_the_link_k_is_meant_diversity_is_reached_by_the_modes_that_can() -> None:
    policy = {"k_means": KMeans.LINK, "l_diversity": [{"column": SENSITIVE, "l": 2}]}
    recoding = recode(small_task(ROWS, secrets="mnmnmn", **policy))
    assert "prioritised (mode link)" not in {candidate.method for candidate in recoding.candidates}


def test_a_highest_risk_is_reached_by_larger_classes() -> None:
    for method in ("global", "prioritised", "best"):
        plan = recode(with_method(small_task(max_risk=0.34), method)).plan
        assert int(plan.released().weights.min()) >= 3


def test_the_measure_elects_among_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """One changes few cells that say something, the other many that say nothing: each is best by a measure."""

    def at_levels(levels: list[list[int]]) -> Callable[..., Recoding]:
        def method(self: object, task: Task, **others: object) -> Recoding:
            plan = RecodingPlan.unchanged(task.frequencies, task.ladders)
            own = replace(plan, levels=np.array(levels, np.int8))
            return Recoding(method="", plan=own, why="", candidates=(), optimal=None)

        return method

    monkeypatch.setattr(SingletonRecoding, "recode", at_levels([[2, 2], [2, 2]]))
    monkeypatch.setattr(GlobalRecoding, "recode", at_levels([[1, 0], [0, 0]]))
    monkeypatch.setattr(PrioritisedRecoding, "recode", at_levels([[0, 0], [2, 2]]))
    task = small_task([("a1", "x1")] * 3 + [("a2", "x1")] * 3)
    elected = {}
    for measure in UtilityMeasure:
        own = replace(task, settings=task.settings.model_copy(update={"utility": measure}))
        (elected[measure.value],) = [one.method for one in recode_best(own).candidates if one.elected]
    assert elected == {"rows": "global", "loss": "prioritised", "nue": "global", "wnue": "global"}


def test_a_plan_without_rows_complies_with_nothing() -> None:
    task = small_task(suppression_limit=1.0)
    nothing = replace(
        RecodingPlan.unchanged(task.frequencies, task.ladders), removed=np.ones(task.frequencies.tuples, np.bool_)
    )
    assert [one.model for one in shortfalls(task, nothing)] == ["rows"]


def test_mode_paper_is_held_to_the_source_k_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_it_is(self: object, task: Task, **others: object) -> Recoding:
        plan = RecodingPlan.unchanged(task.frequencies, task.ladders)
        levels = np.zeros_like(plan.levels)
        levels[:, task.frequencies.weights == 1] = 1
        return Recoding(method="prioritised", plan=replace(plan, levels=levels), why="", candidates=(), optimal=None)

    monkeypatch.setattr(PrioritisedRecoding, "recode", as_it_is)
    rows: list[Row] = [*ROWS[:2], ("a2", "x1"), ("b1", "x2"), ("b1", "x2")]
    task = with_method(small_task(rows), "prioritised", mode=Mode.PAPER)
    assert recode(task).plan.released().singletons == 1
    with pytest.raises(InternalError, match=r"recoding \("):
        recode(with_method(small_task(rows), "prioritised"))
