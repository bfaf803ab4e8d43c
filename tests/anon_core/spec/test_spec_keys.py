"""Every key of a publication file: what it takes, and what it refuses."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from anon_core.errors import SpecError
from anon_core.spec import Asset
from tests.anon_core.spec.spec_files import MINIMAL, changed, folder, load, problems, with_column

__all__ = ["folder"]

CKAN = {"connection": "town", "organization": "town"}


@pytest.mark.parametrize("key", ["dataset", "title", "source", "columns", "privacy", "portal"])
def test_what_is_required_is_missed(folder: Path, key: str) -> None:
    assert problems(folder, changed(**{key: None})) == {key: (1, "is required")}


def test_privacy_needs_a_k(folder: Path) -> None:
    assert problems(folder, MINIMAL.replace("{k: 5}", "{singletons: 0}")) == {"privacy.k": (9, "is required")}


def test_a_required_key_without_a_value_is_missing_at_its_own_line(folder: Path) -> None:
    assert problems(folder, MINIMAL.replace("title: Driver licences", "title:")) == {"title": (2, "is required")}


@pytest.mark.parametrize(
    ("hierarchy", "where", "words"),
    [
        ({"intervals": [5, 12]}, ".intervals", "multiple"),
        ({"intervals": [10, 5]}, ".intervals", "multiple"),
        ({"intervals": [0, 5]}, ".intervals", "positive"),
        ({"intervals": []}, ".intervals", "empty"),
        ({"intervals": 5}, ".intervals", "a list"),
        ({"intervals": [float("inf")]}, ".intervals[0]", "number"),
        ({"prefix": [2, 3]}, ".prefix", "shorter"),
        ({"prefix": [0]}, ".prefix[0]", "at least 1"),
        ({"date": ["year", "month"]}, ".date", "coarser"),
        ({"date": ["week"]}, ".date[0]", "one of"),
        ({"root": ""}, ".root", "empty"),
        ({"file": ["a"]}, ".file", "text"),
        ({"cuts": [18, 65]}, ".cuts", "build it as a file with `anon hierarchy build --cuts`; name that: `hierarchy:"),
        ({"groups": [50], "root": "any"}, ".groups", "build it as a file with `anon hierarchy build --groups`"),
        ({"rules": "towns.rules"}, ".rules", "rules stand in a file of their own; name that: `hierarchy: {file: ...}`"),
        ({}, "", "exactly one"),
        ({"root": "any", "prefix": [2]}, "", "it has root and prefix"),
        ({"root": "any", "unmapped": "ignore"}, ".unmapped", "one of"),
        (["root"], "", "a mapping"),
    ],
)
def test_a_hierarchy_that_cannot_be_is_explained(folder: Path, hierarchy: Any, where: str, words: str) -> None:
    found = problems(folder, with_column(role="quasi", hierarchy=hierarchy))
    assert found.keys() == {"columns.extra.hierarchy" + where}
    assert words in found["columns.extra.hierarchy" + where][1]


@pytest.mark.parametrize(
    "hierarchy",
    [
        {"intervals": [0.1, 0.3]},
        {"date": ["day", "decade"]},
        {"prefix": [3]},
        {"file": "h.csv", "unmapped": "suppress"},
    ],
)
def test_every_kind_of_hierarchy_is_taken(folder: Path, hierarchy: Any) -> None:
    assert load(folder, with_column(role="quasi", hierarchy=hierarchy)).columns["extra"].hierarchy.kind in hierarchy


def test_whole_interval_widths_stay_whole(folder: Path) -> None:
    assert repr(load(folder, MINIMAL).columns["birth_year"].hierarchy.intervals) == "(5, 10, 20)"


@pytest.mark.parametrize(
    ("column", "where"),
    [
        ({"role": "identifier", "hierarchy": {"root": "any"}}, "columns.extra.hierarchy"),
        ({"role": "drop", "hierarchy": {"root": "any"}}, "columns.extra.hierarchy"),
        ({"role": "other", "priority": 1}, "columns.extra.priority"),
        ({"role": "quasi", "priority": 0, "hierarchy": {"root": "any"}}, "columns.extra.priority"),
        ({"role": ["quasi"]}, "columns.extra.role"),
        ({}, "columns.extra.role"),
    ],
)
def test_a_column_that_contradicts_itself_is_refused(folder: Path, column: Any, where: str) -> None:
    assert problems(folder, with_column(**column)).keys() == {where}


def test_something_must_be_published(folder: Path) -> None:
    found = problems(folder, changed(columns={"id": {"role": "identifier"}}, recode={"method": "none"}))
    assert "no column would be published" in found["columns"][1]


@pytest.mark.parametrize(
    ("section", "where"),
    [
        ({"privacy": {"k": 5, "l_diversity": [{"column": "gone", "l": 2}]}}, "privacy.l_diversity[0].column"),
        ({"privacy": {"k": 5, "t_closeness": [{"column": "gone", "t": 0.2}]}}, "privacy.t_closeness[0].column"),
        ({"privacy": {"k": 5, "alpha": [{"column": "gone", "alpha": 0.2}]}}, "privacy.alpha[0].column"),
        (
            {"privacy": {"k": 5, "freeform": {"sigma_o": 1, "sigma_t": 1, "columns": {"gone": {"guard": ["x"]}}}}},
            "privacy.freeform.columns.gone",
        ),
        ({"detect": {"reveal_probability": {"default": 0.5, "gone": 1}}}, "detect.reveal_probability.gone"),
        ({"unit": "gone"}, "unit"),
        ({"recode": {"method": "singletons", "singletons": {"columns": ["gone"]}}}, "recode.singletons.columns[0]"),
        (
            {"recode": {"method": "singletons", "singletons": {"years": {"column": "gone", "size": 5}}}},
            "recode.singletons.years.column",
        ),
    ],
)
def test_a_column_that_is_named_must_exist(folder: Path, section: Any, where: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(folder, changed(**section))
    assert (where, "no column `gone` in `columns`") in [(one.where, one.what) for one in caught.value.problems]


@pytest.mark.parametrize(
    ("recode", "where", "words"),
    [
        ({"singletons": {"columns": ["sex"]}}, "recode.singletons", "belongs to"),
        ({"method": "none", "singletons": {"columns": ["sex"]}}, "recode.singletons", "belongs to"),
        ({"method": "singletons"}, "recode.singletons", "needs"),
        ({"method": "singletons", "singletons": {"columns": []}}, "recode.singletons", "needs"),
        ({"method": "singletons", "singletons": {"columns": ["points"]}}, "recode.singletons.columns[0]", "quasi"),
        (
            {"method": "singletons", "singletons": {"years": {"column": "points", "size": 5}}},
            "recode.singletons.years.column",
            "quasi",
        ),
        ({"method": "singletons", "singletons": {"columns": ["sex", "sex"]}}, "recode.singletons.columns", "twice"),
        ({"method": "globl"}, "recode.method", "did you mean `global`?"),
    ],
)
def test_a_method_that_does_not_fit_is_refused(folder: Path, recode: Any, where: str, words: str) -> None:
    found = problems(folder, changed(recode=recode))
    assert found.keys() == {where}
    assert words in found[where][1]


def test_recoding_by_singletons_is_described(folder: Path) -> None:
    years = {"column": "birth_year", "intervals": "distinct", "size": 5, "replace": "mean"}
    loaded = load(folder, changed(recode={"method": "singletons", "singletons": {"columns": ["sex"], "years": years}}))
    assert loaded.recode.singletons.model_dump(mode="json") == {"columns": ["sex"], "years": years}


@pytest.mark.parametrize("method", [None, "global", "singletons"])
def test_recoding_needs_a_quasi_identifier(folder: Path, method: str | None) -> None:
    found = problems(folder, changed(columns={"points": {"role": "other"}}, recode={"method": method}))
    assert "at least one column of role quasi" in found["recode.method"][1]


def test_without_recoding_no_quasi_identifier_is_needed(folder: Path) -> None:
    load(folder, changed(columns={"points": {"role": "other"}}, recode={"method": "none"}))


@pytest.mark.parametrize(
    "schedule",
    [
        "@monthly",
        "@continuous",
        "0 6 1 * *",
        "*/15 0-6,22 * JAN-MAR mon#1",
        "0 0 L * *",
        "0 0 * * * 30",
        {"asset": "s3://a"},
    ],
)
def test_a_schedule_is_cron_a_preset_or_an_asset(folder: Path, schedule: Any) -> None:
    loaded = load(folder, changed(schedule=schedule)).schedule
    assert loaded == (Asset(asset="s3://a") if isinstance(schedule, dict) else schedule)


@pytest.mark.parametrize(
    "schedule", ["monthly", "@fortnightly", "99 * * * *", "* * * *", "a b c d e", "", 5, [1], {"asset": ""}, {}]
)
def test_any_other_schedule_is_refused(folder: Path, schedule: Any) -> None:
    where = "schedule.asset" if isinstance(schedule, dict) else "schedule"
    assert problems(folder, changed(schedule=schedule)).keys() == {where}


@pytest.mark.parametrize(
    ("section", "where"),
    [
        ({"source": {}}, "source.file"),
        ({"source": {"file": "a.csv", "delimiter": ""}}, "source.delimiter"),
        ({"source": {"file": "a.csv", "encoding": "base64"}}, "source.encoding"),
        ({"source": {"file": "a.csv", "missing_words": [True]}}, "source.missing_words[0]"),
        ({"portal": {}}, "portal"),
        ({"portal": {"folder": "portal", "ckan": CKAN}}, "portal"),
        ({"portal": {"ckan": {"connection": "town"}}}, "portal.ckan.organization"),
        ({"portal": {"ckan": {**CKAN, "connection": "https://data.example.org"}}}, "portal.ckan.connection"),
        ({"portal": {"ckan": {**CKAN, "versions": "all"}}}, "portal.ckan.versions"),
        ({"portal": {"ckan": {**CKAN, "datastore": "yes"}}}, "portal.ckan.datastore"),
        ({"portal": {"ckan": CKAN, "keep": 3}}, "portal.keep"),
        ({"portal": {"folder": "portal", "keep": 0}}, "portal.keep"),
        ({"dataset": "x" * 81}, "dataset"),
        ({"dataset": "a--b"}, "dataset"),
        ({"title": " "}, "title"),
        ({"airflow": {"max_active_runs": 0}}, "airflow.max_active_runs"),
        ({"airflow": {"retries": "2"}}, "airflow.retries"),
        ({"detect": {"max_size": 0}}, "detect.max_size"),
        ({"detect": {"reveal_probability": 2}}, "detect.reveal_probability"),
        ({"detect": {"approximate": 1}}, "detect.approximate"),
        ({"detect": {"approximate": -0.1}}, "detect.approximate"),
        ({"detect": {"reveal_probability": {"sex": 2}}}, "detect.reveal_probability.sex"),
        ({"privacy": {"k": True}}, "privacy.k"),
        ({"privacy": {"k": 5, "singletons": -1}}, "privacy.singletons"),
        ({"privacy": {"k": 5, "published_uniqueness": False}}, "privacy.published_uniqueness"),
        ({"expectations": [{"type": "no_nulls"}]}, "expectations[0].type"),
        ({"expectations": [{"type": "expect_x", "kwargs": 3}]}, "expectations[0].kwargs"),
        ({"metadata": {"keywords": "one, two"}}, "metadata.keywords"),
        ({"columns": {}}, "columns"),
        ({"columns": ["a", "b"]}, "columns"),
    ],
)
def test_a_bad_value_is_named(folder: Path, section: Any, where: str) -> None:
    assert problems(folder, changed(**section)).keys() == {where}


def test_a_ckan_keeps_as_many_versions_as_it_is_told(folder: Path) -> None:
    portal = {"ckan": {**CKAN, "versions": "keep", "datastore": True}, "keep": 3}
    loaded = load(folder, changed(portal=portal)).portal
    assert (loaded.keep, loaded.ckan.versions, loaded.ckan.datastore) == (3, "keep", True)


def test_a_source_in_a_database_is_not_supported_yet_and_says_so_by_each_key(folder: Path) -> None:
    found = problems(folder, changed(source={"connection": "db", "table": "t", "query": "q"}))
    assert found.keys() == {"source.file", "source.connection", "source.table", "source.query"}
    assert found["source.table"] == (5, "`source.table` is not supported yet; use `source.file`")
    written = {"file": "a.csv", "connection": None, "table": False}
    assert load(folder, changed(source=written)).source.table is None


def test_only_true_and_false_are_booleans_and_keys_are_text(folder: Path) -> None:
    text = """\
columns:
  no: {role: quasi, description: off}
  on: {role: other, description: 12:30}
  2019: {role: quasi, description: 007}
  null: {role: other, description: 2027-12-31}
  1.10: {role: other, description: 1.10}
privacy: {published_uniqueness: {accept: [{columns: [no, 2019, 1.10], reason: ten letters, by: y, until: 2027-12-31}]}}
keep_staging: true
"""
    loaded = load(folder, text, partial=True)
    assert list(loaded.columns) == ["no", "on", "2019", "null", "1.10"]
    assert [column.description for column in loaded.columns.values()] == ["off", "12:30", "007", "2027-12-31", "1.10"]
    accepted = loaded.privacy.published_uniqueness.accept[0]
    assert (accepted.columns, accepted.by, accepted.until) == (("no", "2019", "1.10"), "y", datetime.date(2027, 12, 31))
    assert loaded.keep_staging is True


def test_the_arguments_of_an_expectation_are_ordinary_values(folder: Path) -> None:
    loaded = load(folder, MINIMAL + "expectations: [{type: expect_x, kwargs: {a: [1, 0.5, {b: 0x1F}], c: no}}]\n")
    (expectation,) = loaded.expectations
    assert expectation.kwargs == {"a": [1, 0.5, {"b": 31}], "c": "no"}
    assert [type(value) for value in expectation.kwargs["a"]] == [int, float, dict]


def test_the_probability_of_a_column_falls_back_to_the_default(folder: Path) -> None:
    detect = load(folder, MINIMAL + "detect: {reveal_probability: {default: 0.25, sex: 0.75}}\n").detect
    assert (detect.probability_of("sex"), detect.probability_of("points")) == (0.75, 0.25)
    assert load(folder, MINIMAL).detect.probability_of("sex") == 0.5
