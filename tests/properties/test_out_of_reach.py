"""What not even the whole table as one class keeps is refused before any search, with the number that is missing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_core.errors import PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.policy import AlphaEntry, Diversity, LDiversityEntry
from anon_core.recoding.lattice import GlobalRecoding
from anon_core.recoding.lattice.search import recode_globally
from anon_core.recoding.methods import recode
from anon_core.recoding.prioritised import PrioritisedRecoding
from anon_core.recoding.task import Recoding, Task
from anon_core.registry import METHODS
from anon_core.spec import Recode
from tests.properties.required import SENSITIVE, ModelEntry, Problem, policy_of, problems, with_secrets
from tests.properties.tables import Row, Small, table_of
from tests.seams.mondrian import Mondrian

TOWNS = ("a1", "a2", "b1", "b2", "c1", "c2")
SECRETS = ("x", "x", "x", "y", "z", None)


def task_of(
    *required: ModelEntry,
    limit: str = "0",
    k: int = 2,
    method: str = "global",
    height: int = 1,
    many: int = 1,
    ill: Sequence[str | None] = SECRETS,
) -> Task:
    """Six people of one town each, or of three, whose illness has four values; or fewer."""
    rows: list[Row] = [(name,) for name in TOWNS[: len(ill)]] * many
    table, secrets = table_of(["town"], rows), [*ill] * many
    upwards = {value: [value[0], "any"][:height] for value in table.columns[0].domain.to_pylist()}
    return Task.of(
        FrequencyTable.of(table),
        [climb("town", table.columns[0].domain, upwards, [*["letter", "any"][:height], "suppressed"])],
        policy_of(k, limit, required),
        sensitive={SENSITIVE: with_secrets(Small(names=("town",), rows=tuple(rows)), secrets)},
        settings=Recode(method=method, improve=0),
    )


TOO_MUCH = [
    (LDiversityEntry(column=SENSITIVE, l=9), "illness has 4 values in the whole table, l is 9: lower l"),
    (
        LDiversityEntry(column=SENSITIVE, kind=Diversity.ENTROPY, l=4),
        "illness has as much entropy as 3.464 equally frequent values in the whole table, l is 4: lower l",
    ),
    (
        LDiversityEntry(column=SENSITIVE, kind=Diversity.RECURSIVE, l=2, c=1),
        "in the whole table illness needs c above 1, c is 1: raise c or lower l",
    ),
    (
        LDiversityEntry(column=SENSITIVE, kind=Diversity.RECURSIVE, l=5, c=1),
        "illness has 4 values in the whole table, l is 5: lower l",
    ),
    (
        AlphaEntry(column=SENSITIVE, alpha=0.4),
        "one value of illness has the share 0.5 of the whole table: raise alpha",
    ),
]


@pytest.mark.parametrize("method", ["global", "prioritised", "best", "mondrian"])
@pytest.mark.parametrize(("required", "words"), TOO_MUCH)
def test_it_is_refused_before_any_search_whatever_method_would_search(
    method: str, required: ModelEntry, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object, **__: object) -> Recoding:
        raise AssertionError("there was nothing to search for")

    for one in (GlobalRecoding, PrioritisedRecoding, Mondrian):
        monkeypatch.setattr(one, "recode", search)
    with METHODS.registered("mondrian", Mondrian), pytest.raises(PolicyNotMetError) as refused:
        recode(task_of(required, method=method))
    assert refused.value.advice == words
    assert (refused.value.rows_at_risk, refused.value.rows) == (6, 6)
    assert SENSITIVE in refused.value.goal and "k 2" not in str(refused.value)


def test_all_that_is_out_of_reach_is_named_at_once() -> None:
    required = LDiversityEntry(column=SENSITIVE, l=9), AlphaEntry(column=SENSITIVE, alpha=0.4)
    with pytest.raises(PolicyNotMetError, match=r"\(l=9\) and alpha of .*: lower l; one value .*: raise alpha"):
        recode(task_of(*required))


@pytest.mark.parametrize("method", ["none", "singletons"])
def test_a_method_that_promises_no_diversity_is_left_to_the_gate(method: str) -> None:
    task = task_of(LDiversityEntry(column=SENSITIVE, l=9), method="none")
    sections = {"singletons": {"columns": ["town"]}} if method == "singletons" else {}
    recoding = recode(task.with_settings(**dict(Recode(method=method, **sections))))
    assert recoding.plan.frequencies is task.frequencies


def test_what_the_table_would_keep_without_some_rows_is_searched_for_where_rows_may_be_removed() -> None:
    share = AlphaEntry(column=SENSITIVE, alpha=0.5)
    with pytest.raises(PolicyNotMetError, match=r"one value of illness has the share 0\.6667 of the whole table"):
        recode(task_of(share, ill=("x", "y", "x")))
    found = recode(task_of(share, ill=("x", "y", "x"), limit="0.5"))
    assert found.plan.rows_removed == 1, "of town b, which is below k; without it half of them have x"
    with pytest.raises(PolicyNotMetError, match="illness has 4 values in the whole table, l is 9"):
        recode(task_of(LDiversityEntry(column=SENSITIVE, l=9), limit="0.5"))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(problem=problems(diverse=True), method=st.sampled_from(["global", "prioritised"]))
def test_what_is_refused_without_a_search_no_search_could_reach(problem: Problem, method: str) -> None:
    task = problem.task.with_settings(method=method, improve=0)
    try:
        recode(task)
    except PolicyNotMetError as error:
        if "whole table" not in error.advice:
            return
        with pytest.raises(PolicyNotMetError):
            recode_globally(task)


def test_a_search_that_ends_in_vain_names_the_requirement_that_fails_and_its_key() -> None:
    required = LDiversityEntry(column=SENSITIVE, l=4)
    with pytest.raises(PolicyNotMetError) as refused:
        recode(task_of(required, height=1))
    assert str(refused.value).startswith(
        "distinct l-diversity of column 'illness' (l=4) with k 2 and suppression of at most 0 rows not reached"
    )
    assert "or require less in privacy.l_diversity" in refused.value.advice
    assert "privacy.k" not in refused.value.advice
