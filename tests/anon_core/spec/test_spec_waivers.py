"""`privacy.waivers`: what can be waived, by whom and until when, and what the gate cannot be talked past."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_core.policy import PartialPolicy
from anon_core.waivers import ended, named_check, not_waivable, waiver_of, without_waived
from tests.anon_core.spec.spec_files import MINIMAL, changed, folder, load, problems

__all__ = ["folder"]

POLICY: dict[str, Any] = {
    "k": 5,
    "l_diversity": [{"column": "points", "l": 2}, {"column": "other", "l": 2}],
    "t_closeness": [{"column": "points", "t": 0.2}],
    "alpha": [{"column": "points", "alpha": 0.5}],
    "max_risk": 0.1,
}
STOCK = [
    {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "sex"}},
    {"type": "expect_table_row_count_to_equal", "kwargs": {"value": 9}},
]


def waiver(check: Any, **changes: Any) -> dict[str, Any]:
    return {"check": check, "reason": "the register is public", "by": "A. Rossi", "until": date(2027, 12, 31)} | changes


def waiving(*checks: Any, **policy: Any) -> str:
    columns = yaml.safe_load(MINIMAL)["columns"] | {"other": {"role": "other", "type": "integer"}}
    waivers = [one if isinstance(one, dict) else waiver(one) for one in checks]
    return changed(columns=columns, expectations=STOCK, privacy={**POLICY, **policy, "waivers": waivers})


def refusal(folder: Path, *checks: Any, **policy: Any) -> dict[str, str]:
    return {where: what for where, (_, what) in problems(folder, waiving(*checks, **policy), partial=True).items()}


@pytest.mark.parametrize(
    "check",
    [
        "l_diversity",
        "l_diversity(points)",
        "t_closeness",
        "t_closeness( points )",
        "alpha(points)",
        "max_risk",
        "rows_suppressed_at_most",
        "suppression_limit",
        "declared_types",
        "expect_column_values_to_not_be_null",
        "expect_column_values_to_not_be_null(sex)",
        "expect_table_row_count_to_equal",
    ],
)
def test_a_check_that_is_required_can_be_waived(folder: Path, check: str) -> None:
    (loaded,) = load(folder, waiving(check), partial=True).privacy.waivers
    assert (loaded.check, loaded.by, loaded.until) == (check, "A. Rossi", date(2027, 12, 31))


def test_freeform_can_be_waived_under_both_its_names(folder: Path) -> None:
    guards = {"sigma_o": 1, "sigma_t": 0.5, "columns": {"sex": {"guard": ["F"]}}}
    for name in ("freeform", "no_freeform_breach"):
        assert load(folder, waiving(name, freeform=guards), partial=True).privacy.waivers[0].check == name
    assert "is waived already" in refusal(folder, "freeform", "no_freeform_breach", freeform=guards)[
        "privacy.waivers[1].check"
    ]  # fmt: skip


@pytest.mark.parametrize("name", sorted(not_waivable()))
def test_the_gate_cannot_be_talked_past(folder: Path, name: str) -> None:
    for check in (name, f"{name}(points)", f"expect_{name}"):
        (what,) = refusal(folder, check).values()
        assert what == f"`{name}` cannot be waived: {not_waivable()[name]}"


@pytest.mark.parametrize("name", ["k_anonymity", "no_singletons", "published_uniqueness", "no_published_identifier",
                                  "no_undeclared_column", "link_k", "source_k", "same_content", "unchanged",
                                  "evaluated", "suite", "readable"])  # fmt: skip
def test_what_hides_people_and_what_shows_the_right_files_is_not_waivable(name: str) -> None:
    assert name in not_waivable()


def test_a_check_of_ours_listed_among_the_stock_ones_is_not_waivable_either(folder: Path) -> None:
    stock = [{"type": "expect_k_anonymity", "kwargs": {"columns": ["sex"], "k": 2, "weight_column": None}}]
    text = changed(expectations=stock, privacy={"k": 5, "waivers": [waiver("expect_k_anonymity")]})
    assert "cannot be waived" in problems(folder, text)["privacy.waivers[0].check"][1]


@pytest.mark.parametrize(
    ("check", "policy", "words"),
    [
        ("t_closeness", {"t_closeness": []}, "`privacy.t_closeness` is not required"),
        ("t_closeness(sex)", {}, "`privacy.t_closeness` of column `sex` is not required"),
        ("max_risk", {"max_risk": None}, "`privacy.max_risk` is not required"),
        ("max_sensitivity", {}, "`privacy.max_sensitivity` is not required"),
        ("freeform", {}, "`privacy.freeform` is not required"),
        ("max_risk(points)", {}, "is not about one column"),
        ("declared_types(points)", {}, "is not about one column"),
        ("t_closness", {}, "there is no check called `t_closness`; did you mean `t_closeness`?"),
        ("expect_t_closeness", {}, "did you mean `t_closeness`?"),
        ("expect_column_values_to_not_be_nul", {}, "did you mean `expect_column_values_to_not_be_null`?"),
        ("everything", {}, "what can be waived: declared_types, max_risk, l_diversity"),
        ("expect_column_values_to_not_be_null(points)", {}, "of column `points`; remove the waiver"),
        ("expect_column_values_to_be_unique", {}, "there is no check called"),
        ("(points)", {}, "there is no check called"),
    ],
)
def test_a_waiver_that_waives_nothing_is_refused(folder: Path, check: str, policy: Any, words: str) -> None:
    found = refusal(folder, check, **policy)
    assert found.keys() == {"privacy.waivers[0].check"}
    assert words in found["privacy.waivers[0].check"]


@pytest.mark.parametrize(
    "checks",
    [
        ("max_risk", "max_risk"),
        ("suppression_limit", "rows_suppressed_at_most"),
        ("l_diversity", "l_diversity(points)"),
        ("l_diversity(points)", "l_diversity"),
    ],
)
def test_a_check_is_waived_once(folder: Path, checks: tuple[str, str]) -> None:
    found = refusal(folder, *checks)
    assert found.keys() == {"privacy.waivers[1].check"}
    assert "is waived already" in found["privacy.waivers[1].check"]


def test_two_columns_can_have_a_waiver_each(folder: Path) -> None:
    assert len(load(folder, waiving("l_diversity(points)", "l_diversity(other)"), partial=True).privacy.waivers) == 2


@pytest.mark.parametrize(
    ("entry", "where"),
    [
        (waiver("max_risk", reason=" "), "reason"),
        (waiver("max_risk", reason="so " + "\u3164" * 12), "reason"),
        (waiver("max_risk", reason="so " + "\u200b\u115f" * 12), "reason"),
        (waiver("max_risk", by=""), "by"),
        (waiver("max_risk", until="soon"), "until"),
        (waiver("max_risk", until=20271231), "until"),
        (waiver("max_risk", approved="yes"), "approved"),
        ({"check": "max_risk", "by": "A", "until": "2027-12-31"}, "reason"),
        (waiver(["max_risk"]), "check"),
        (waiver(" "), "check"),
    ],
)
def test_a_waiver_needs_a_reason_a_person_and_a_day(folder: Path, entry: Any, where: str) -> None:
    assert refusal(folder, entry).keys() == {f"privacy.waivers[0].{where}"}


def test_everything_wrong_is_told_at_once_with_its_line(folder: Path) -> None:
    text = MINIMAL.replace("privacy: {k: 5}", """\
privacy:
  k: 5
  waivers:
    - {check: k_anonymity, reason: a reason for tests, by: b, until: 2027-12-31}
    - {check: t_closeness, reason: a reason for tests, by: b, until: 2027-12-31}
    - {check: nothing, reason: a reason for tests, by: b, until: 2027-12-31}""")  # fmt: skip
    found = problems(folder, text)
    assert {where: line for where, (line, _) in found.items()} == {
        f"privacy.waivers[{number}].check": 12 + number for number in range(3)
    }


def test_a_waiver_without_waivers_off_is_taken(folder: Path) -> None:
    for off in ("null", "[]"):
        assert load(folder, MINIMAL.replace("{k: 5}", f"{{k: 5, waivers: {off}}}")).privacy.waivers == ()


def policy_with(*checks: str) -> PartialPolicy:
    guards = {"sigma_o": 1, "sigma_t": 0.5, "columns": {"sex": {"guard": ["F"]}}}
    more = {"suppression_limit": 0.1, "max_sensitivity": 0.3, "freeform": guards}
    return PartialPolicy.model_validate({**POLICY, **more, "waivers": [waiver(check) for check in checks]})


def test_recoding_need_not_reach_what_is_waived() -> None:
    policy = policy_with("l_diversity(points)", "t_closeness", "max_risk", "max_sensitivity", "freeform")
    left = without_waived(policy)
    assert [one.column for one in left.l_diversity] == ["other"]
    assert left.t_closeness == () and left.max_risk is left.max_sensitivity is left.freeform is None
    assert left.alpha == policy.alpha and left.k == 5 and left.suppression_limit == 0.1
    assert without_waived(policy, keep_freeform=True).freeform == policy.freeform
    assert without_waived(policy_with("suppression_limit")).suppression_limit == 1.0


def test_without_waivers_recoding_has_to_reach_everything() -> None:
    assert without_waived(policy_with()) == policy_with()


def test_what_recoding_has_to_reach_does_not_depend_on_the_day() -> None:
    """The same file makes the same bytes; an ended waiver refuses the run before that."""
    policy = policy_with("max_risk")
    over = policy.model_copy(update={"waivers": (policy.waivers[0].model_copy(update={"until": date(2020, 1, 1)}),)})
    assert without_waived(over).max_risk is None


def test_a_waiver_counts_through_its_last_day() -> None:
    policy = policy_with("max_risk")
    assert list(ended(policy, date(2027, 12, 31))) == []
    (over,) = ended(policy, date(2028, 1, 1))
    assert over.kind == "waiver"
    assert "the waiver of max_risk given by A. Rossi expired on 2027-12-31" in over.sentence


def test_a_narrowed_waiver_covers_its_column_only() -> None:
    policy = policy_with("l_diversity(points)", "alpha")
    assert waiver_of(policy, "l_diversity(points, distinct)", "points")
    assert not waiver_of(policy, "l_diversity(other, distinct)", "other")
    assert waiver_of(policy, "alpha(points)", "points")
    assert named_check("t_closeness(a (b))").narrowed == "a (b)"
