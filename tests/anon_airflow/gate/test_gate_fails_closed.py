"""Everything that makes Great Expectations pass too much, or say too much, shuts the gate."""

from __future__ import annotations

import pytest

from anon_airflow.expectations import OURS
from anon_airflow.gate import measurement, suite
from anon_airflow.gate.verdict import MeasuredFile, Verdict
from anon_core.models import Measurement
from tests.anon_airflow.gate.gate_publications import (
    CANARY,
    COLUMNS,
    PERSON,
    ROWS,
    TODAY,
    failed,
    publication_of,
    text_of,
    witness_of,
    write,
)

STOCK = [
    ({"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F", "M"]}}, True),
    ({"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F"]}}, False),
    ({"type": "expect_column_values_to_be_between", "kwargs": {"column": "year", "min_value": 1900}}, True),
    ({"type": "expect_column_values_to_be_between", "kwargs": {"column": "year", "min_value": 1985}}, False),
    ({"type": "expect_column_values_to_be_between", "kwargs": {"column": "sex", "min_value": 1985}}, False),
    ({"type": "expect_column_value_lengths_to_equal", "kwargs": {"column": "year", "value": 4}}, True),
    ({"type": "expect_column_values_to_match_regex", "kwargs": {"column": "year", "regex": "^19"}}, True),
    ({"type": "expect_table_row_count_to_equal", "kwargs": {"value": 10}}, True),
    ({"type": "expect_table_row_count_to_equal", "kwargs": {"value": 9}}, False),
    ({"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "nowhere"}}, False),
    ({"type": "expect_column_values_to_not_be_null", "kwargs": {}}, False),
    ({"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "sex", "severity": "info"}}, True),
    ({"type": "expect_something_unheard_of", "kwargs": {}}, False),
    (
        {
            "type": "expect_column_values_to_be_in_set",
            "kwargs": {"column": "sex", "value_set": ["F", "M"], "result_format": "COMPLETE"},
        },
        False,
    ),
]


@pytest.mark.parametrize(("entry", "holds"), STOCK, ids=[f"{e['type']}-{h}" for e, h in STOCK])
def test_a_stock_expectation_counts_like_our_own(publish, entry, holds):
    verdict = publish(expectations=[entry])
    assert verdict.passed is holds
    if not holds:
        assert entry["type"] in failed(verdict)


def test_a_failing_stock_expectation_does_not_leak(publish, caplog, capsys):
    rows = [("1980", CANARY, CANARY, "3")] * 10
    verdict = publish(
        rows,
        expectations=[
            {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F"]}},
            {"type": "expect_column_values_to_be_between", "kwargs": {"column": "sex", "min_value": 3}},
            {"type": "expect_column_distinct_values_to_equal_set", "kwargs": {"column": "sex", "value_set": ["F"]}},
            {"type": "expect_column_max_to_be_between", "kwargs": {"column": "sex", "max_value": "A"}},
        ],
    )
    assert {entry["type"] for entry in verdict.suite["expectations"][12:]} <= failed(verdict)
    assert CANARY not in text_of(verdict) + caplog.text + "".join(capsys.readouterr())


def test_a_requirement_that_nobody_measures_shuts_it(tmp_path):
    publication = publication_of(tmp_path)
    stricter = publication.model_copy(
        update={"privacy": publication.privacy.model_copy(update={"earlier_releases": "yes"})}
    )
    verdict = measurement.measure(stricter, write(tmp_path, ROWS, publication.published), rows_before=10, today=TODAY)
    assert failed(verdict) == {"privacy.earlier_releases"}


def test_an_emptied_suite_or_one_that_lost_an_entry_does_not_pass(publish, monkeypatch):
    def without(entries):
        def render(publication, **kwargs):
            return {**suite.render_suite(publication, **kwargs), "expectations": entries}

        return render

    whole = publish().suite["expectations"]
    monkeypatch.setattr(measurement, "render_suite", without([]))
    assert failed(publish()) == {"suite", "evaluated"}
    for entry in whole:
        monkeypatch.setattr(measurement, "render_suite", without([other for other in whole if other != entry]))
        verdict = publish()
        assert failed(verdict) == {"suite"} and entry["type"] in verdict.reasons[0]


EVERYTHING = {
    "l_diversity": [{"column": "category", "l": 2}, {"column": "category", "l": 3}],
    "t_closeness": [{"column": "category", "t": 0.5, "distance": "hierarchical"}],
    "alpha": [{"column": "category", "alpha": 0.9}],
    "max_risk": 0.5,
    "max_sensitivity": 0.9,
    "singletons": 2,
    "max_rows_per_person": 9,
    "freeform": {"sigma_o": 1, "sigma_t": 1.0, "columns": {"category": {"guard": ["A"]}}},
}


@pytest.mark.parametrize("k_means", ["exact", "link"])
def test_no_requirement_of_a_policy_can_be_lost_unnoticed(tmp_path, monkeypatch, k_means):
    (tmp_path / "kinds.csv").write_text("A;any\nB;any\n")
    columns = {name: dict(column) for name, column in COLUMNS.items()}
    columns["year"]["hierarchy"] = {"root": "any"}
    columns["category"]["hierarchy"] = {"file": "kinds.csv"}
    columns["points"]["type"] = "integer"
    publication = publication_of(tmp_path, columns=columns, k_means=k_means, unit="id", **EVERYTHING)
    whole = suite.render_suite(publication, rows_before=10, today=TODAY, unit=PERSON, paired=True)
    witness = witness_of(tmp_path, ROWS, publication.published)
    kinds = {entry["type"] for entry in whole["expectations"]}
    exact = {"expect_k_anonymity", "expect_joint_classes"}
    beside = {"expect_k_anonymity_beside_original", "expect_joint_beside_original"}
    assert kinds == set(OURS) - (exact if k_means == "link" else beside), "every expectation that there is"
    for entry in whole["expectations"]:
        left = [other for other in whole["expectations"] if other != entry]
        monkeypatch.setattr(measurement, "render_suite", lambda *_, left=left, **__: {**whole, "expectations": left})
        paths = write(tmp_path, ROWS, publication.published)
        verdict = measurement.measure(publication, paths, rows_before=10, today=TODAY, witness=witness)
        assert [check.sentence for check in verdict.checks if check.name == "suite" and entry["type"] in check.sentence]


@pytest.mark.parametrize("lost", sorted(["expect_k_anonymity", "expect_no_singletons", "expect_published_uniqueness"]))
def test_an_expectation_whose_class_is_gone_does_not_pass(publish, monkeypatch, lost):
    from great_expectations.expectations import registry

    from anon_airflow import expectations

    assert expectations.OURS
    monkeypatch.delitem(registry._registered_expectations, lost)
    verdict = publish()
    assert failed(verdict) == {lost.removeprefix("expect_"), "evaluated"} and verdict.evaluated == 11


def test_an_expectation_replaced_by_a_namesake_does_not_pass(publish, monkeypatch):
    from great_expectations.expectations import registry

    from anon_airflow import expectations

    lenient = expectations.OURS["expect_no_singletons"]
    monkeypatch.setitem(registry._registered_expectations, "expect_k_anonymity", lenient)
    assert "k_anonymity" in failed(publish())


@pytest.mark.parametrize("target", ["ExpectationSuite", "get_context"])
@pytest.mark.parametrize("error", [RuntimeError(CANARY), SystemExit(0), MemoryError(CANARY)])
def test_great_expectations_raising_anything_shuts_it(publish, monkeypatch, target, error, caplog, capsys):
    import great_expectations as gx

    def explode(*_, **__):
        raise error

    monkeypatch.setattr(gx, target, explode)
    verdict = publish()
    assert not verdict.passed and "evaluated" in failed(verdict)
    assert CANARY not in text_of(verdict) + caplog.text + "".join(capsys.readouterr())


@pytest.mark.parametrize("answer", ["no_results", "success_is_a_text", "raised"])
def test_a_result_must_say_true_itself(publish, monkeypatch, answer):
    from types import SimpleNamespace as Some

    from anon_airflow.expectations import evaluation

    result = Some(success=True, exception_info={}, result={"sentence": "fine", "measured": 9, "required": 1})
    if answer == "success_is_a_text":
        result.success = "False"
    if answer == "raised":
        result.exception_info = {"MetricConfigurationID(...)": {"raised_exception": True}}
    results = [] if answer == "no_results" else [result]
    reply = Some(success=True, results=results, statistics={"evaluated_expectations": len(results)})
    monkeypatch.setattr(
        evaluation.Evaluation, "_validator", lambda *_: Some(validate_expectation_suite=lambda _: reply)
    )
    assert "k_anonymity" in failed(publish())


def test_a_verdict_cannot_be_talked_into_passing():
    check = Measurement(
        model="k", name="k", columns=(), distribution="a", passed=True, observed=5, required=5, sentence=""
    )
    file = MeasuredFile(name="a", sha256="0", bytes=1, rows=1)
    good = {
        "checks": (check,),
        "distributions": (file,),
        "suite": {},
        "suite_digest": "",
        "evaluated": 1,
        "expected": 1,
    }
    assert Verdict(**good).passed
    for change in ({"checks": ()}, {"distributions": ()}, {"evaluated": 0}, {"evaluated": 0, "expected": 0}):
        assert not Verdict(**{**good, **change}).passed
