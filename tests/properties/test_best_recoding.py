"""The best of all methods, against each method run alone; prioritised recoding has a stand-in."""

from __future__ import annotations

from collections.abc import Iterator
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
from anon_core.recode import best, methods
from anon_core.recode.best import cost_of, recode_best
from anon_core.recode.compliance import Promise, Subject, shortfalls
from anon_core.recode.methods import recode
from anon_core.recode.outcome import Candidate, Recoding
from anon_core.recode.progress import Progress
from anon_core.recode.task import Task
from anon_core.spec import Method, Mode, Recode, UtilityMeasure
from tests.properties.required import SENSITIVE, Problem, problems, with_secrets
from tests.properties.tables import Row, Small, table_of

quietly = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def cut_cells(task: Task, *, progress: Progress | None = None) -> Recoding:
    """A local recoding that is quickly written: the unsafe tuples lose the cells of the first column, or their rows."""
    frequencies = task.frequencies
    everything = np.arange(frequencies.tuples)
    levels = np.zeros((len(task.ladders), frequencies.tuples), np.int8)
    levels[0] = np.where(task.requirements.safe(everything, everything, frequencies.tuples), 0, task.ladders[0].height)
    plan = RecodingPlan(
        frequencies=frequencies,
        ladders=task.ladders,
        levels=levels,
        removed=np.zeros(frequencies.tuples, np.bool_),
    )
    found = shortfalls(task, plan, Promise.EXACT)
    if found:
        raise found[0].as_error(task, "this is a stand-in")
    own = Candidate.of(plan, method="prioritised", name="cells", weights=task.by_name, elected=True)
    return Recoding(method="prioritised", plan=plan, why="It was asked", candidates=(own,), optimal=None)


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(best, "recode_prioritised", cut_cells)
    return


def with_method(task: Task, method: Method, **others: object) -> Task:
    return replace(task, settings=task.settings.model_copy(update={"method": method, **others}))


@quietly
@given(problem=st.one_of(problems(), problems(diverse=True)))
def test_it_elects_the_cheapest_of_those_that_pass_and_never_returns_one_that_fails(problem: Problem) -> None:
    task = with_method(problem.task, Method.BEST)
    alone = []
    for run, own in ((best.recode_globally, Method.GLOBAL), (cut_cells, Method.PRIORITISED)):
        try:
            found = run(with_method(task, own))
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
            recoding = recode(with_method(one.task, Method.BEST))
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
        settings=Recode(method=Method.BEST),
    )


def unchanged(task: Task, *, progress: Progress | None = None) -> Recoding:
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
    def give_up(task: Task, *, progress: Progress | None = None) -> Recoding:
        raise PolicyNotMetError(measure="k", wanted=2, reached=1, rows_at_risk=1, rows=6, advice="try another")

    monkeypatch.setattr(best, "recode_prioritised", give_up)
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


@pytest.mark.parametrize("method", [Method.NONE, Method.SINGLETONS, Method.GLOBAL, Method.PRIORITISED, Method.BEST])
def test_k_above_the_number_of_rows_is_refused_with_the_numbers_whatever_the_method(method: Method) -> None:
    task = with_method(small_task(k=7), method)
    with pytest.raises(PolicyNotMetError, match=r"k 7 not reached: best 6, 6 of 6 rows at risk.*has 6 rows: lower"):
        recode(task)


def test_a_search_that_breaks_its_word_is_a_bug_and_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(methods._METHODS, Method.GLOBAL, unchanged)
    with pytest.raises(InternalError, match=r"recoding that does not keep the policy at recode\.global"):
        recode(with_method(small_task(), Method.GLOBAL))
    monkeypatch.setattr(best, "recode_globally", unchanged)
    with pytest.raises(InternalError, match="recoding that does not keep the policy"):
        recode(small_task())


def test_where_the_policy_means_the_link_k_classes_may_be_smaller() -> None:
    rows: list[Row] = [("a1", "x1"), ("a1", "x1"), ("a1", "x2"), ("a1", "x2"), ("b1", "x1"), ("b1", "x2")]
    task = small_task(rows, k_means=KMeans.LINK)
    levels = np.zeros((2, task.frequencies.tuples), np.int8)
    levels[0, task.frequencies.weights == 1] = 2
    unsafe = RecodingPlan.unchanged(task.frequencies, task.ladders)
    plan = replace(unsafe, levels=levels)
    assert [one.subject for one in shortfalls(task, plan, Promise.EXACT)] == [Subject.K, Subject.SINGLETONS]
    assert [one.measure for one in shortfalls(task, plan)] == ["link k"]
    assert shortfalls(task, plan, Promise.SOURCE) == []


def test_a_modest_mode_that_meets_its_k_but_not_the_diversity_is_told_to_be_safe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(methods._METHODS, Method.PRIORITISED, unchanged)
    rows: list[Row] = [("a1", "x1"), ("a1", "x1"), ("b1", "x2"), ("b1", "x2")]
    task = small_task(rows, secrets="mmmn", l_diversity=[{"column": SENSITIVE, "l": 2}])
    words = r"distinct l-diversity of column 'illness' 2 not reached: best 1, 2 of 4 rows at risk; .*: use safe"
    with pytest.raises(PolicyNotMetError, match=words):
        recode(with_method(task, Method.PRIORITISED, mode=Mode.LINK))
    with pytest.raises(InternalError, match="does not keep the policy"):
        recode(with_method(task, Method.PRIORITISED, mode=Mode.SAFE))


def test_a_plan_without_rows_complies_with_nothing() -> None:
    task = small_task(suppression_limit=1.0)
    nothing = replace(
        RecodingPlan.unchanged(task.frequencies, task.ladders), removed=np.ones(task.frequencies.tuples, np.bool_)
    )
    assert [one.subject for one in shortfalls(task, nothing)] == [Subject.ROWS]


def test_mode_paper_is_held_to_the_source_k_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_it_is(task: Task, *, progress: Progress | None = None) -> Recoding:
        plan = RecodingPlan.unchanged(task.frequencies, task.ladders)
        levels = np.zeros_like(plan.levels)
        levels[:, task.frequencies.weights == 1] = 1
        return Recoding(method="prioritised", plan=replace(plan, levels=levels), why="", candidates=(), optimal=None)

    monkeypatch.setitem(methods._METHODS, Method.PRIORITISED, as_it_is)
    rows: list[Row] = [*ROWS[:2], ("a2", "x1"), ("b1", "x2"), ("b1", "x2")]
    task = with_method(small_task(rows), Method.PRIORITISED, mode=Mode.PAPER)
    assert recode(task).plan.released().singletons == 1
    with pytest.raises(InternalError, match="does not keep the policy"):
        recode(with_method(small_task(rows), Method.PRIORITISED))
