"""What checks are called, and which of them a waiver means."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml

from anon_core.models import PolicyContext, Requirement, required
from anon_core.policy import PartialPolicy
from anon_core.waivers import named_check, waiver_of
from tests.anon_core.spec.spec_files import MINIMAL, changed, folder, load, problems

__all__ = ["folder"]

DIVERSE = [
    {"column": "ill", "l": 2},
    {"column": "ill", "l": 3},
    {"column": "ill", "kind": "recursive", "l": 2, "c": 3},
    {"column": "ill, distinct", "l": 2},
]
CLOSE = [{"column": "ill", "t": 0.2}, {"column": "ill", "t": 0.3, "distance": "ordered"}]
NAMES = [
    "l_diversity(ill, distinct, l=2)",
    "l_diversity(ill, distinct, l=3)",
    "l_diversity(ill, recursive)",
    "l_diversity(ill, distinct, distinct)",
    "t_closeness(ill, equal)",
    "t_closeness(ill, ordered)",
    "alpha(ill)",
]


def policy(*waived: str) -> PartialPolicy:
    waivers = [{"check": one, "reason": "a reason for tests", "by": "b", "until": "2030-01-01"} for one in waived]
    asked = {"l_diversity": DIVERSE, "t_closeness": CLOSE, "alpha": [{"column": "ill", "alpha": 0.5}]}
    return PartialPolicy.model_validate({**asked, "waivers": waivers})


def requirements(policy: PartialPolicy) -> list[Requirement]:
    context = PolicyContext(policy=policy, quasi_identifiers=(), k=1, today=date.min)
    return list(required(context))


def test_requirements_that_would_share_a_name_are_told_apart_by_their_limits() -> None:
    assert [one.name for one in requirements(policy())] == NAMES


@pytest.mark.parametrize(
    ("waived", "meant"),
    [
        ("l_diversity", NAMES[:4]),
        ("l_diversity(ill)", NAMES[:3]),
        ("l_diversity( ill,recursive )", NAMES[2:3]),
        ("l_diversity(ill, distinct, l=3)", NAMES[1:2]),
        ("t_closeness(ill)", NAMES[4:6]),
        ("t_closeness(ill, equal)", NAMES[4:5]),
        ("alpha(ill)", NAMES[6:]),
        ("alpha(il)", []),
        ("t_closeness(ill, eq)", []),
    ],
)
def test_a_waiver_covers_all_that_it_names_and_nothing_else(waived: str, meant: list[str]) -> None:
    asked = policy(waived)
    assert [one.name for one in requirements(asked) if waiver_of(asked, one.name, one.model.column)] == meant


def test_a_column_with_a_comma_is_not_taken_for_another_one() -> None:
    assert not named_check("t_closeness(a)").covers("t_closeness(a, b, equal)", "a, b")
    assert named_check("t_closeness(a, b)").covers("t_closeness(a, b, equal)", "a, b")


def waiving(*checks: str, **privacy: object) -> str:
    columns = yaml.safe_load(MINIMAL)["columns"] | {"ill": {"role": "sensitive"}}
    waivers = [{"check": one, "reason": "a reason for tests", "by": "b", "until": "2030-01-01"} for one in checks]
    stated = {"published_uniqueness": {"max_share_with_sensitive": 0.5}}
    return changed(columns=columns, privacy={"k": 5, **stated, **privacy, "waivers": waivers})


def test_a_kind_that_is_not_required_cannot_be_waived(folder: Path) -> None:
    text = waiving("t_closeness(ill, ordered)", t_closeness=[{"column": "ill", "t": 0.2}])
    assert "is not required" in problems(folder, text)["privacy.waivers[0].check"][1]


def test_two_kinds_of_one_column_are_waived_apart_and_each_once(folder: Path) -> None:
    both = [{"column": "ill", "l": 2}, {"column": "ill", "l": 2, "kind": "entropy"}]
    apart = waiving("l_diversity(ill, distinct)", "l_diversity(ill, entropy)", l_diversity=both)
    assert len(load(folder, apart).privacy.waivers) == 2
    twice = waiving("l_diversity(ill, distinct)", "l_diversity(ill)", l_diversity=both)
    assert "is waived already" in problems(folder, twice)["privacy.waivers[1].check"][1]


def test_types_that_no_column_has_cannot_be_waived(folder: Path) -> None:
    line, what = problems(folder, waiving("declared_types"))["privacy.waivers[0].check"]
    assert "no column has a `type`" in what and line > 1


def test_a_limit_of_nothing_is_a_requirement(folder: Path) -> None:
    assert load(folder, waiving("max_sensitivity", max_sensitivity=0)).privacy.max_sensitivity == 0
    found = problems(folder, waiving("max_risk", max_risk=0))
    assert found.keys() == {"privacy.max_risk"} and "should be more than 0" in found["privacy.max_risk"][1]


@pytest.mark.parametrize("unseen", ["\u2060", "\u200b \u200d", "\ufeff", "\u3164", "\u2800", "\u00ad", "\u034f"])
@pytest.mark.parametrize("key", ["by", "reason"])
def test_what_nobody_can_see_is_no_name_and_no_reason(folder: Path, key: str, unseen: str) -> None:
    one = {"check": "suppression_limit", "reason": "a reason for tests", "by": "b", "until": "2030-01-01", key: unseen}
    found = problems(folder, changed(privacy={"k": 5, "waivers": [one]}))
    assert found[f"privacy.waivers[0].{key}"][1] == "should not be empty"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), [1, float("-inf")], {"a": [float("nan")]}])
def test_an_argument_of_an_expectation_that_is_no_finite_number_is_an_error_of_the_file(
    folder: Path, number: object
) -> None:
    stock = [{"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1, "max_value": number}}]
    (where,) = found = problems(folder, changed(expectations=stock))
    assert where == "expectations[0].kwargs" and "`max_value` is or holds `.nan` or `.inf`" in found[where][1]


@pytest.mark.parametrize("method", ["singletons", "best"])
def test_means_cannot_be_compared_with_the_originals(folder: Path, method: str) -> None:
    years = {"column": "birth_year", "size": 5, "replace": "mean"}
    recode = {"method": method, "singletons": {"years": years}}
    assert load(folder, changed(recode=recode)).recode.singletons
    found = problems(folder, changed(recode=recode, privacy={"k": 5, "k_means": "link"}))
    assert found.keys() == {"recode.singletons.years.replace"}
