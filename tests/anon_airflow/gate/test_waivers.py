"""The gate lets a waived check fail, says who waived it, and lets nothing else through."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from anon_airflow.gate import measurement
from anon_airflow.gate.verdict import MeasuredFile, Verdict
from anon_airflow.gate.waivers import exceptions_note
from anon_core.models import Measurement
from tests.anon_airflow.gate.gate_publications import (
    COLUMNS,
    ROWS,
    TODAY,
    failed,
    publication_of,
    witness_of,
    write,
)

LAST_DAY = TODAY
OVER = date(2026, 11, 15)
ONLY_F = {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F"]}}
ONLY_1980 = {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "year", "value_set": ["1980"]}}


REASON = {"reason": "a small register", "by": "R. Rossi"}


def waived(*checks: str, until: date = LAST_DAY) -> dict[str, Any]:
    return {"waivers": [{"check": check, **REASON, "until": until} for check in checks]}


def excused(verdict: Verdict) -> set[tuple[str, str | None, str | None]]:
    return {(check.name, check.waiver, check.waived_by) for check in verdict.checks if check.waived_by}


def test_too_many_suppressed_rows_can_be_waived(publish):
    verdict = publish(before=20, **waived("suppression_limit"))
    assert verdict.passed and verdict.reasons == ()
    assert excused(verdict) == {("rows_suppressed_at_most", "suppression_limit", "R. Rossi")}
    assert {check.passed for check in verdict.checks if check.waived_by} == {False}
    assert verdict.evaluated == verdict.expected


def test_a_waiver_that_was_not_needed_excuses_nothing(publish):
    verdict = publish(**waived("rows_suppressed_at_most"))
    assert verdict.passed and excused(verdict) == set()


@pytest.mark.parametrize("check", ["expect_column_values_to_be_in_set", "expect_column_values_to_be_in_set(sex)"])
def test_a_stock_expectation_can_be_waived_by_its_type_and_by_column(publish, check):
    assert not publish(expectations=[ONLY_F]).passed
    verdict = publish(expectations=[ONLY_F], **waived(check))
    assert verdict.passed
    assert excused(verdict) == {("expect_column_values_to_be_in_set", check, "R. Rossi")}


def test_a_narrowed_waiver_leaves_other_columns_alone(publish):
    verdict = publish(expectations=[ONLY_F, ONLY_1980], **waived("expect_column_values_to_be_in_set(sex)"))
    assert failed(verdict) == {"expect_column_values_to_be_in_set"}
    assert all("(year)" in reason for reason in verdict.reasons) and len(verdict.reasons) == 1


def test_a_waiver_excuses_its_own_check_only(publish):
    small = [*ROWS[:-4], ("1990", "F", "A", "3")]
    verdict = publish(small, before=20, **waived("suppression_limit"))
    assert {"k_anonymity", "no_singletons"} <= failed(verdict)
    assert excused(verdict) == {("rows_suppressed_at_most", "suppression_limit", "R. Rossi")}


GUARDED = {**COLUMNS, "category": {"role": "sensitive", "hierarchy": {"file": "categories.csv"}},
           "year": {"role": "quasi", "hierarchy": {"file": "years.csv"}}}  # fmt: skip
GUARDS = {"sigma_o": 1, "sigma_t": 0.5, "columns": {"category": {"guard": ["B"]}}}


@pytest.fixture
def hierarchies(tmp_path):
    (tmp_path / "categories.csv").write_text("A;any\nB;any\n")
    (tmp_path / "years.csv").write_text("1980;80s\n1990;90s\n")


@pytest.mark.parametrize("name", ["freeform", "no_freeform_breach"])
def test_a_freeform_breach_can_be_waived(publish, hierarchies, name):
    assert failed(publish(columns=GUARDED, freeform=GUARDS)) == {"no_freeform_breach"}
    verdict = publish(columns=GUARDED, freeform=GUARDS, **waived(name))
    assert verdict.passed and excused(verdict) == {("no_freeform_breach", name, "R. Rossi")}


def test_what_could_not_be_measured_is_not_excused(publish, hierarchies, tmp_path):
    """A label that no hierarchy knows: whether it is a breach nobody can tell."""
    rows = [*ROWS, *[("1980", "F", "C", "3")] * 3]
    verdict = publish(rows, before=13, columns=GUARDED, freeform=GUARDS, **waived("freeform"))
    assert failed(verdict) == {"no_freeform_breach"} and excused(verdict) == set()
    assert "not measured" in verdict.reasons[0]


def test_rows_that_somebody_added_are_not_excused(publish):
    verdict = publish(before=9, **waived("rows_suppressed_at_most"))
    assert failed(verdict) == {"rows_suppressed_at_most"} and excused(verdict) == set()
    assert "1 row more than the source" in verdict.reasons[0]


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "nowhere"}},
        {"type": "expect_column_values_to_not_be_null", "kwargs": {}},
        {"type": "expect_something_unheard_of", "kwargs": {}},
        {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "sex", "result_format": "COMPLETE"}},
    ],
)
def test_a_stock_expectation_that_could_not_be_evaluated_is_not_excused(publish, entry):
    verdict = publish(expectations=[entry], **waived(entry["type"]))
    assert entry["type"] in failed(verdict) and excused(verdict) == set()


def test_an_expectation_whose_class_is_gone_is_not_excused(publish, monkeypatch):
    from great_expectations.expectations import registry

    from anon_airflow import expectations

    assert expectations.OURS
    monkeypatch.delitem(registry._registered_expectations, "expect_rows_suppressed_at_most")
    verdict = publish(before=20, **waived("suppression_limit"))
    assert {"rows_suppressed_at_most", "evaluated"} == failed(verdict) and excused(verdict) == set()


def test_a_waiver_counts_up_to_its_last_day_and_not_after(publish):
    verdict = publish(before=20, **waived("suppression_limit", until=OVER))
    assert failed(verdict) == {"waiver", "rows_suppressed_at_most"} and excused(verdict) == set()
    assert "the waiver of suppression_limit given by R. Rossi expired on 2026-11-15" in verdict.reasons[0]
    assert failed(publish(**waived("suppression_limit", until=OVER))) == {"waiver"}


def test_a_waiver_of_a_check_that_the_suite_does_not_have_shuts_it(publish, monkeypatch):
    """Whoever waives something counts on its being measured."""
    publication = publish(before=20, **waived("suppression_limit")).suite
    without = [e for e in publication["expectations"] if e["type"] != "expect_rows_suppressed_at_most"]
    monkeypatch.setattr(measurement, "render_suite", lambda *_, **__: {**publication, "expectations": without})
    assert {"suite", "waiver"} == failed(publish(before=20, **waived("suppression_limit")))


def test_the_suite_carries_the_waiver_so_that_its_digest_covers_it(tmp_path):
    def suite(**policy: Any) -> dict[str, Any]:
        return measurement.render_suite(publication_of(tmp_path, **policy), rows_before=10, today=TODAY)

    plain, eased = suite(), suite(**waived("suppression_limit"))
    (entry,) = [entry for entry in eased["expectations"] if "waiver" in entry["meta"]]
    assert entry["type"] == "expect_rows_suppressed_at_most"
    assert entry["meta"]["waiver"] == {
        "check": "suppression_limit", "reason": "a small register", "by": "R. Rossi", "until": "2026-11-16",
    }  # fmt: skip
    assert measurement.suite_digest(plain) != measurement.suite_digest(eased)
    assert suite(**waived("suppression_limit", until=OVER)) == plain


def test_a_stock_expectation_is_not_excused_by_the_waiver_of_a_policy_check(publish):
    """The same class, listed by hand, is a requirement of its own."""
    kwargs = {"columns": ["sex"], "roots": [["*"]], "rows_before": 20, "limit": 0.1, "weight_column": None}
    own = {"type": "expect_rows_suppressed_at_most", "kwargs": kwargs}
    verdict = publish(before=20, expectations=[own], **waived("suppression_limit"))
    assert not verdict.passed
    assert len([check for check in verdict.checks if check.waived_by]) == 1


def test_a_verdict_is_not_passed_by_half_a_waiver():
    file = MeasuredFile(name="a", sha256="0", bytes=1, rows=1)
    for waiver, by, passes in (("x", "R. Rossi", True), ("x", None, False), (None, "R. Rossi", False), ("", "", False)):
        check = Measurement(model="x", name="x", columns=(), distribution="a", passed=False, observed=1, required=5,
                            sentence="m", waiver=waiver, waived_by=by)  # fmt: skip
        verdict = Verdict(checks=(check,), distributions=(file,), suite={}, suite_digest="", evaluated=1, expected=1)
        assert verdict.passed is passes
        assert verdict.reasons == (() if passes else ("a: m",))


def accept(*sets: tuple[str, ...]) -> dict[str, Any]:
    listed = [{"columns": list(columns), **REASON, "until": LAST_DAY} for columns in sets]
    return {"published_uniqueness": {"accept": listed}}


def test_reports_tell_whether_an_acceptance_and_a_waiver_were_needed(publish, tmp_path):
    rows = [(*row[:3], str(number)) for number, row in enumerate(ROWS)]
    policy = accept(("points",), ("category",)) | waived("suppression_limit", "expect_column_values_to_be_in_set")
    verdict = publish(rows, before=20, expectations=[{**ONLY_F, "kwargs": {"column": "sex", "value_set": ["F", "M"]}}],
                      **policy)  # fmt: skip
    assert verdict.passed
    publication = publication_of(tmp_path, expectations=[ONLY_F], **policy)
    listed = exceptions_note(publication, verdict, TODAY)
    assert [(one["columns"], one["needed"]) for one in listed["accepted"]] == [
        (["points"], True),
        (["category"], False),
    ]
    assert [(one["check"], one["needed"]) for one in listed["waivers"]] == [
        ("suppression_limit", True), ("expect_column_values_to_be_in_set", False),
    ]  # fmt: skip
    unknown = exceptions_note(publication, None, TODAY)
    assert {one["needed"] for one in (*unknown["accepted"], *unknown["waivers"])} == {None}


def test_an_accepted_sensitive_column_is_needed_where_it_names_people(publish):
    rows = [(*row[:2], f"name {number}", "3") for number, row in enumerate(ROWS)]
    verdict = publish(rows, **accept(("category",)))
    assert verdict.passed and verdict.singled_out == {("category",)}
    assert publish(**accept(("category",))).singled_out == set()


HOUSEHOLDS = {**COLUMNS, "category": {"role": "other"}}


@pytest.mark.parametrize("means", ["exact", "link"])
def test_an_acceptance_is_needed_where_k_would_fail_with_its_columns_though_nobody_is_alone(publish, means):
    """Two rows of each household, k = 3: nobody is alone, and without the acceptance the gate refuses."""
    rows = [("1980", "F", "A", str(number // 2)) for number in range(12)]
    assert not publish(rows, before=12, columns=HOUSEHOLDS).passed
    accepted = accept(("points",), ("category",))
    verdict = publish(rows, before=12, columns=HOUSEHOLDS, k_means=means, **accepted)
    assert verdict.singled_out == {("points",)}
    assert means == "link" or verdict.passed  # Link k needs the originals, which are not there.


def test_of_two_acceptances_of_one_column_neither_is_called_needless(publish):
    rows = [("1980", "F", "A", str(number // 2)) for number in range(12)]
    verdict = publish(rows, before=12, columns=HOUSEHOLDS, **accept(("points",), ("points", "year")))
    assert verdict.passed and verdict.singled_out == {("points",), ("points", "year")}


def test_whether_an_acceptance_is_needed_is_counted_in_people_where_they_have_several_rows(tmp_path):
    """Three rows of each person, all with the person's own points: counted in rows nobody is alone."""
    rows = [("1980", "F", "A", str(number // 3)) for number in range(12)]
    publication = publication_of(tmp_path, columns=HOUSEHOLDS, unit="id", **accept(("points",)))
    paths = write(tmp_path, rows, ("year", "sex", "category", "points"))
    witness = witness_of(tmp_path, rows, ("year", "sex", "category", "points"), [str(at // 3) for at in range(12)])
    verdict = measurement.measure(publication, paths, rows_before=12, today=TODAY, witness=witness)
    assert verdict.singled_out == {("points",)}
