"""The gate on data, shut as often as open."""

from __future__ import annotations

import json
from datetime import date

import pytest

from anon_airflow.gate import measurement
from tests.anon_airflow.gate.gate_publications import (
    CANARY,
    COLUMNS,
    ROWS,
    TODAY,
    failed,
    publication_of,
    text_of,
)

IN_F = {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F"]}}


def test_a_safe_release_passes(publish):
    verdict = publish()
    assert verdict.passed and verdict.reasons == ()
    assert verdict.evaluated == verdict.expected == 12
    assert [(d.name, d.rows) for d in verdict.distributions] == [("licences.csv", 10), ("licences.parquet", 10)]
    assert all(len(d.sha256) == 64 and d.bytes > 0 for d in verdict.distributions)
    assert verdict.suite_digest == measurement.suite_digest(verdict.suite)
    names = {"no_undeclared_column", "no_singletons", "k_anonymity", "published_uniqueness", "rows_suppressed_at_most"}
    names |= {
        "no_published_identifier",
        "personal_patterns",
        "personal_names",
        "same_content",
        "unchanged",
        "evaluated",
        "site_policy",
        "smallest_table",
        "joint_classes",
        "sensitive_alone",
        "unique_with_sensitive",
        "homogeneity(category)",
    }
    assert {c.name for c in verdict.checks} == names


def test_one_class_too_small_shuts_it_with_the_numbers(publish):
    verdict = publish(k=4)
    assert failed(verdict) == {"k_anonymity", "joint_classes"}
    (found,) = [check for check in verdict.checks if check.name == "k_anonymity"]
    assert (found.observed, found.required, found.distribution) == (3, 4, "all")
    assert verdict.reasons[0] == (
        "k-anonymity: smallest class has 3 rows, 4 required over year, sex; "
        "6 rows lie in classes below 4: generalise these columns further"
    )


def test_a_file_is_named_once_though_two_checks_fail_in_the_same_words(publish):
    verdict = publish(k=4, expectations=[IN_F, {**IN_F, "kwargs": {**IN_F["kwargs"], "value_set": ["G"]}}])
    assert len([check for check in verdict.checks if not check.passed and "in_set" in check.name]) == 2
    assert len(verdict.reasons) == 3  # Classes are too small with the column declared other, too.


def test_a_singleton_shuts_it(publish):
    assert "no_singletons" in failed(publish([*ROWS[:-1], ("1990", "M", "A", "3")]))


def test_a_column_declared_other_that_singles_out_shuts_it(publish):
    rows = [(*row[:3], str(number)) for number, row in enumerate(ROWS)]
    verdict = publish(rows)
    assert failed(verdict) == {"joint_classes", "published_uniqueness", "no_published_identifier"}
    assert "points: 10 rows" in " ".join(verdict.reasons)


def test_a_sensitive_column_is_not_searched(publish):
    rows = [(*row[:2], str(max(number, 2)), row[3]) for number, row in enumerate(ROWS)]
    assert publish(rows).passed


def test_a_name_does_not_become_harmless_by_being_declared_sensitive(publish):
    rows = [(*row[:2], f"Somebody {number}", row[3]) for number, row in enumerate(ROWS)]
    verdict = publish(rows)
    assert failed(verdict) == {"no_published_identifier"}
    assert "100.0% of the values of category occur once" in verdict.reasons[0]
    assert "Somebody" not in str(verdict.to_dict())


def test_where_every_column_is_sensitive_they_are_searched(publish):
    columns = {"category": {"role": "sensitive"}}
    rows = [(str(number),) for number in range(10)]
    assert failed(publish(rows, names=["category"], columns=columns)) == {
        "published_uniqueness",
        "no_published_identifier",
    }


def accept(until):
    given = {"columns": ["points"], "reason": "people were asked", "by": "R. Rossi", "until": until}
    return {"max_size": 1, "accept": [given]}


def test_an_acceptance_counts_up_to_its_last_day_and_not_after(publish):
    rows = [(*row[:3], str(number)) for number, row in enumerate(ROWS)]
    assert publish(rows, published_uniqueness=accept(TODAY)).passed
    verdict = publish(rows, published_uniqueness=accept(date(2026, 11, 15)))
    assert failed(verdict) == {"acceptance", "joint_classes", "published_uniqueness", "no_published_identifier"}
    assert "given by R. Rossi expired on 2026-11-15" in verdict.reasons[0]
    assert failed(publish(published_uniqueness=accept(date(2026, 11, 15)))) == {"acceptance"}


def test_undeclared_and_missing_columns_shut_it(publish):
    rows = [(*row, "x") for row in ROWS]
    verdict = publish(rows, names=["year", "sex", "category", "points", CANARY])
    assert "no_undeclared_column" in failed(verdict) and CANARY not in text_of(verdict)
    lost = publish([row[:3] for row in ROWS], names=["year", "sex", "category"])
    of_all_columns = {"published_uniqueness", "no_published_identifier", "personal_patterns", "personal_names"}
    of_all_columns |= {"unique_with_sensitive", "joint_classes"}
    assert {"no_undeclared_column", *of_all_columns} == failed(lost)


def test_too_many_rows_suppressed_or_added_shut_it(publish):
    assert publish(before=11, suppression_limit=0.1).passed
    assert failed(publish(before=12, suppression_limit=0.1)) == {"rows_suppressed_at_most"}
    assert failed(publish(before=9, suppression_limit=1.0)) == {"rows_suppressed_at_most"}
    starred = [("*", "*", "A", "3")] * 3 + ROWS[3:]
    assert failed(publish(starred)) == {"rows_suppressed_at_most"}


@pytest.mark.parametrize(
    ("one", "other"), [("01", "1"), ("NA", None), ("", None), ("\u00e9", "e\u0301"), ("nan", None)]
)
def test_cells_that_differ_stay_apart(publish, one, other):
    rows = [("1980", one, "A", "3")] * 5 + [("1980", other, "A", "3")] * 2
    verdict = publish(rows, before=7)
    assert "k_anonymity" in failed(verdict)
    assert {c.observed for c in verdict.checks if c.name == "k_anonymity"} == {2}


def test_gaps_in_large_enough_classes_pass(publish):
    rows = [("1980", None, None, None)] * 5 + [(None, "zł", "Ω", "")] * 5
    assert publish(rows).passed


def test_a_released_column_cannot_pose_as_the_weight(publish):
    columns = {**COLUMNS, "rows": {"role": "other"}}
    names = ["year", "sex", "category", "points", "rows"]
    assert publish([(*row, "999") for row in ROWS], names=names, columns=columns).passed
    small = publish([(*row, "999") for row in ROWS], names=names, columns=columns, k=4)
    assert failed(small) == {"k_anonymity", "joint_classes"} and "smallest class has 3 rows" in small.reasons[0]
    undeclared = publish([(*row, "999") for row in ROWS], names=names)
    assert "no_undeclared_column" in failed(undeclared) and undeclared.evaluated == 0


def test_the_suite_is_deterministic_plain_json(tmp_path):
    publication = publication_of(
        tmp_path,
        expectations=[{"type": "expect_column_max_to_be_between", "kwargs": {"column": "x", "max_value": TODAY}}],
    )
    one = measurement.render_suite(publication, rows_before=10, today=TODAY)
    assert one == json.loads(json.dumps(one)) == measurement.render_suite(publication, rows_before=10, today=TODAY)
    assert one["name"] == "licences"
    assert [entry["meta"]["runs_on"] for entry in one["expectations"]] == ["frequencies"] * 12 + ["rows"]
    other = measurement.render_suite(publication, rows_before=11, today=TODAY)
    assert measurement.suite_digest(one) != measurement.suite_digest(other)


def test_a_dataset_without_quasi_identifiers_has_no_k_but_is_searched(publish):
    columns = {"points": {"role": "other"}}
    verdict = publish([("3",)] * 10, names=["points"], columns=columns)
    assert verdict.passed
    assert [e["type"] for e in verdict.suite["expectations"]] == [
        "expect_no_undeclared_column",
        "expect_joint_classes",
        "expect_no_published_identifier",
        "expect_published_uniqueness",
        "expect_personal_patterns",
        "expect_personal_patterns",
        "expect_rows_suppressed_at_most",
    ]
