"""Our Great Expectations classes in pandas: what each of them counts, and what it refuses. The matrix has the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_airflow.expectations import OURS
from anon_airflow.expectations.evaluation import batch_of
from anon_airflow.expectations.inputs import hierarchies_in
from anon_airflow.expectations.metrics import pandas_cells
from anon_airflow.expectations.metrics.pandas_cells import codes_of
from tests.anon_airflow.expectations.expectation_cases import FREEFORM, SEXES, K

CANARY = "CANARY-7f3a"
ROOT = Path(__file__).resolve().parents[3]


def judge(name, table, *, weight_column=None, **kwargs):
    """Run one expectation on a table and return its result."""
    return batch_of(table).validate(OURS[name](weight_column=weight_column, **kwargs), result_format="BASIC")


def both(name, table, **kwargs):
    """Run it on rows and on the frequency table of those rows: they must say the same."""
    counted = table.groupby(list(table.columns), dropna=False, observed=True, sort=False).size()
    on_rows = judge(name, table, **kwargs)
    on_frequencies = judge(name, counted.reset_index(name="n"), weight_column="n", **kwargs)
    assert on_rows.success is on_frequencies.success
    assert on_rows.result == on_frequencies.result
    json.dumps(on_rows.to_json_dict(), allow_nan=False)
    return on_rows


def people(*groups):
    """Return a table of (sex, town) with as many rows as each group says."""
    cells = [(sex, town) for sex, town, times in groups for _ in range(times)]
    return (
        pd.DataFrame(cells, columns=["sex", "town"], dtype="object").astype("str").where(lambda t: t != "<gap>", None)
    )


TWO_CLASSES = people(("F", "Enna", 3), ("M", "Enna", 2))
STARS = {"roots": [["*"], ["*"]]}
UNIQUENESS = {
    "columns": ["sex", "town"],
    "max_size": 2,
    "max_share": 0.0,
    "accepted": [],
    "together": [],
    "protected": [],
    "quasi": [],
}


@pytest.fixture(autouse=True)
def hierarchies(tmp_path):
    """The folder that the gate tells the metrics of."""
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies/sexes.csv").write_text(SEXES)
    with hierarchies_in(tmp_path):
        yield tmp_path / "hierarchies"


def test_the_observed_numbers_are_those_of_the_table():
    result = both("expect_k_anonymity", TWO_CLASSES, **K, k=3).result
    assert result["observed_value"] == {"k": 2, "classes": 2, "rows": 5, "rows_below_k": 2}
    assert result["sentence"] == (
        "k-anonymity: smallest class has 2 rows, 3 required over sex, town; "
        "2 rows lie in classes below 3: generalise these columns further"
    )


def test_suppression_counts_removed_rows_and_rows_of_nothing_but_stars():
    table = people(("F", "Enna", 6), ("*", "Enna", 1), ("*", "*", 2))
    observed = both("expect_rows_suppressed_at_most", table, **K, **STARS, rows_before=10, limit=1.0).result[
        "observed_value"
    ]
    assert observed == {"rows": 9, "removed": 1, "blanked": 2, "share": 0.3}
    without = both("expect_rows_suppressed_at_most", table, columns=[], roots=[], rows_before=10, limit=0.1)
    assert without.success and without.result["observed_value"]["blanked"] == 0


def test_more_rows_than_the_source_had_fail():
    assert not both("expect_rows_suppressed_at_most", TWO_CLASSES, **K, **STARS, rows_before=4, limit=1.0).success


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, True, 1.0, "1"], dtype="object"),
        pd.Series([0.0, -0.0, np.nan, 1.0]),
        pd.Series([1, 2, None, 3], dtype="Int64"),
        pd.Series(["a", "b", None, "c"], dtype="category"),
        pd.Series([b"1", "1", None, 1], dtype="object"),
    ],
)
def test_codes_keep_types_apart_and_gaps_together(column):
    codes, domain = codes_of(column)
    assert len(set(codes.tolist())) == 4 and domain.null_count == int(column.isna().any())


def test_all_kinds_of_gap_are_one():
    codes, _ = codes_of(pd.Series([None, np.nan, pd.NaT, pd.NA, "x"], dtype="object"))
    assert codes.tolist() == [1, 1, 1, 1, 0]


def test_an_accepted_set_is_excused_and_nothing_else():
    table = people(("F", "Enna", 1), ("M", "Enna", 3))
    assert both("expect_published_uniqueness", table, **{**UNIQUENESS, "accepted": [["sex", "town"]]}).success
    assert not both("expect_published_uniqueness", table, **{**UNIQUENESS, "accepted": [["town"]]}).success


def test_missing_doubled_and_undeclared_columns_fail_without_naming_the_undeclared():
    leaky = TWO_CLASSES.assign(**{CANARY: "x"})
    result = both("expect_no_undeclared_column", leaky, columns=["sex", "town", "year"])
    assert not result.success and CANARY not in json.dumps(result.to_json_dict())
    assert result.result["observed_value"] == {"columns": 3, "undeclared_at": [3], "missing": ["year"]}
    doubled = pd.concat([TWO_CLASSES, TWO_CLASSES[["sex"]]], axis=1)
    assert not judge("expect_no_undeclared_column", doubled, columns=["sex", "town"]).success
    assert not judge("expect_k_anonymity", doubled, columns=["sex"], k=1).success


@pytest.mark.parametrize(
    "weights",
    [[5, -1], [5, 0], [5, None], [5.0, 5.0], [5.5, 5], ["5", "5"], [True, True], [2**62, 2**62], [2**64 - 1, 5]],
)
@pytest.mark.parametrize("name", ["expect_k_anonymity", "expect_rows_suppressed_at_most"])
def test_weights_that_are_not_counts_never_pass(name, weights):
    table = pd.DataFrame({"sex": ["F", "M"], "town": "Enna", "n": pd.Series(weights)})
    holds = {**K, "k": 1} if name == "expect_k_anonymity" else {**K, **STARS, "rows_before": 2**63 - 1, "limit": 1.0}
    result = judge(name, table, weight_column="n", **holds)
    assert not result.success and "n " in result.result["sentence"]


def test_a_measured_column_cannot_be_the_weight():
    table = pd.DataFrame({"sex": ["F", "M"], "n": [5, 5]})
    assert not judge("expect_k_anonymity", table, columns=["sex", "n"], k=1, weight_column="n").success
    assert not judge("expect_no_undeclared_column", table, columns=["sex", "n"], weight_column="n").success


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("expect_k_anonymity", {"columns": [], "k": 2, "weight_column": None}),
        ("expect_k_anonymity", {"columns": ["sex"], "k": 4.9, "weight_column": None}),
        ("expect_k_anonymity", {"columns": ["sex"], "k": True, "weight_column": None}),
        ("expect_k_anonymity", {"columns": ["sex"], "k": 0, "weight_column": None}),
        ("expect_k_anonymity", {"columns": ["sex"], "weight_column": None}),
        ("expect_k_anonymity", {"columns": ["sex"], "k": 2}),
        ("expect_k_anonymity", {"columns": ["sex"], "k": 2, "weight_column": None, "mostly": 0.5}),
        ("expect_no_singletons", {"columns": ["sex"], "weight_column": None}),
        (
            "expect_published_uniqueness",
            {
                "columns": ["a"],
                "max_size": 1,
                "max_share": 0.0,
                "together": [],
                "protected": [],
                "quasi": [],
                "weight_column": None,
            },
        ),
        ("expect_published_uniqueness", {**UNIQUENESS, "accepted": [[]], "weight_column": None}),
        ("expect_no_freeform_breach", {**FREEFORM, "weight_column": None}),
        ("expect_no_freeform_breach", {**FREEFORM, "sigma_t": 1.1, "weight_column": None}),
        ("expect_no_freeform_breach", {**FREEFORM, "sigma_t": 0.5, "sigma_o": -1, "weight_column": None}),
        ("expect_no_freeform_breach", {**FREEFORM, "sigma_t": 0.5, "guards": ["F"], "weight_column": None}),
        (
            "expect_rows_suppressed_at_most",
            {"columns": [], "roots": [], "rows_before": 0, "limit": 0.1, "weight_column": None},
        ),
        (
            "expect_rows_suppressed_at_most",
            {"columns": [], "roots": [], "rows_before": 9, "limit": 1.1, "weight_column": None},
        ),
        (
            "expect_rows_suppressed_at_most",
            {"columns": [], "roots": [], "rows_before": 9, "limit": float("nan"), "weight_column": None},
        ),
    ],
)
def test_a_requirement_that_is_missing_or_wrong_cannot_be_constructed(name, kwargs):
    with pytest.raises(ValueError, match="validation error"):
        OURS[name](**kwargs)


def test_an_exception_inside_a_metric_does_not_carry_its_text(monkeypatch, caplog, capsys):
    def explode(*_):
        raise KeyError(CANARY)

    monkeypatch.setattr(pandas_cells, "codes_of", explode)
    result = judge("expect_k_anonymity", people((CANARY, "Enna", 2)), **K, k=1)
    assert not result.success and "unexpected KeyError" in result.result["sentence"]
    assert CANARY not in json.dumps(result.to_json_dict()) + caplog.text + "".join(capsys.readouterr())


def test_an_exception_inside_a_verdict_does_not_carry_its_text(monkeypatch):
    def explode(*_):
        raise ValueError(CANARY)

    monkeypatch.setattr(OURS["expect_k_anonymity"].model, "measure", explode)
    result = judge("expect_k_anonymity", TWO_CLASSES, **K, k=1)
    assert not result.success and CANARY not in json.dumps(result.to_json_dict())


def test_a_process_without_our_classes_does_not_evaluate_the_suite():
    """Great Expectations itself passes here with nothing evaluated: the reason why the gate counts."""
    entry = OURS["expect_k_anonymity"](**K, k=99, weight_column=None).configuration.to_json_dict()
    code = (
        "import json, sys, great_expectations as gx\n"
        "suite = gx.ExpectationSuite(name='s', expectations=[json.loads(sys.argv[1])])\n"
        "assert 'anon_airflow.expectations' not in sys.modules\n"
        "print(len(suite.expectations))"
    )
    ran = subprocess.run([sys.executable, "-c", code, json.dumps(entry)], capture_output=True, text=True, check=True)
    assert ran.stdout.split()[-1] == "0"


def test_a_file_is_named_after_the_one_expectation_it_holds():
    folder = ROOT / "plugins" / "anon_airflow" / "expectations"
    assert sorted(path.stem for path in folder.glob("expect_*.py")) == sorted(OURS)
    assert all(kind.__module__.rsplit(".", 1)[-1] == name for name, kind in OURS.items())


def test_a_subclass_with_a_limit_of_its_own_works_like_the_expectation():
    class ExpectOurK(OURS["expect_k_anonymity"]):
        """Every class has two rows."""

        k: int = 2

    table = pd.DataFrame({"sex": ["F", "F", "M"]})
    found = batch_of(table).validate(ExpectOurK(columns=["sex"], weight_column=None), result_format="BASIC")
    assert not found.success
    assert found.result["measured"] == 1 and found.result["required"] == 2


def test_what_a_model_says_it_did_not_measure_is_told_as_that(monkeypatch):
    kind = OURS["expect_k_anonymity"]
    monkeypatch.setattr(kind.model, "measure", lambda self, _: self.unmeasured("for a test"))
    table = pd.DataFrame({"sex": ["F", "F"]})
    found = batch_of(table).validate(kind(columns=["sex"], k=2, weight_column=None), result_format="BASIC")
    assert not found.success
    assert "measured" not in found.result, "else the gate would let it be waived"
