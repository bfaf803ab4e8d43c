"""The publication file: what is accepted, and that everything wrong is said at once, with its line."""

from __future__ import annotations

import copy
import datetime
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core import policy, spec
from anon_core.errors import HierarchyError, SpecError
from anon_core.spec import Asset, HierarchyKind, Method, Missing, Publication, Role, load_spec
from anon_core.spec.checks import NOT_BUILT, NOT_GATED

MINIMAL = """\
dataset: driver-licences
title: Driver licences
source: {file: samples/driver_licences.csv}
columns:
  id: {role: identifier}
  birth_year: {role: quasi, priority: 2, hierarchy: {intervals: [5, 10, 20]}}
  sex: {role: quasi, priority: 1, hierarchy: {root: any gender}}
  points: {role: other}
privacy: {k: 5}
portal: {folder: portal}
"""

# Section 13 of the design, every key of it.
FULL = """\
dataset: driver-licences
title: Driver licences
schedule: "@monthly"
airflow: {owner: open-data, retries: 2, pool: null, max_active_runs: 1, tags: [], deadline: null, notify: []}
source:
  file: samples/driver_licences.csv
  delimiter: auto
  encoding: utf-8
  missing_words: [""]
engine: auto
missing: category
unit: null
sampling_fraction: null
columns:
  id:               {role: identifier}
  birth_year:       {role: quasi, priority: 2, hierarchy: {intervals: [5, 10, 20]}}
  municipality:     {role: quasi, priority: 1, hierarchy: {file: hierarchies/municipalities.csv, unmapped: error}}
  sex:              {role: quasi, priority: 3, hierarchy: {root: any gender}}
  postcode:         {role: quasi, priority: 4, hierarchy: {prefix: [4, 3, 2]},
                     decompose: {widths: [2, 3], names: [state, local],
                                 lookup: {state: hierarchies/states.csv}, publish: [state]}}
  issued:           {role: quasi, priority: 5, hierarchy: {date: [month, quarter, year]}}
  licence_category: {role: sensitive, hierarchy: {file: hierarchies/categories.csv}}
  points:           {role: other, description: points left}
  notes:            {role: drop}
detect: {max_size: 4, approximate: 0.001, ignore_duplicates: false, reveal_probability: 0.5}
privacy:
  k: 5
  k_means: exact
  singletons: 0
  suppression_limit: 0.01
  l_diversity: [{column: licence_category, kind: distinct, l: 2}]
  t_closeness: [{column: licence_category, t: 0.2, distance: equal}]
  alpha: [{column: licence_category, alpha: 0.5}]
  max_sensitivity: null
  max_risk: null
  published_uniqueness: {max_size: 3, max_share: 0.0,
                         accept: [{columns: [issued, points], reason: "...", by: name, until: 2027-12-31}]}
  freeform:
    sigma_o: 1
    sigma_t: 0.5
    columns: {licence_category: {guard: [CE, DE], sensitivity: aggregate, observability: sensitivity}}
  earlier_releases: {mode: snapshot, delta_k: 5, window: 3, on_breach: warn, unit_key: null}
  waivers: [{check: t_closeness, reason: "...", by: name, until: 2026-12-31}]
recode:
  method: prioritised
  mode: safe
  improve: auto
  seed: 0
  singletons: {columns: [municipality, sex], years: {column: birth_year, intervals: rows, size: 5, replace: range}}
  then: null
  sticky: false
  utility: wnue
expectations: []
approval: {required: false, users: [], four_eyes: false}
portal: {folder: portal}
metadata: {description: ..., publisher: ..., licence: CC-BY-4.0, keywords: [...],
           frequency: monthly, contact: ..., language: en, theme: ...}
keep_staging: false
"""


# Ten million values in eight lines.
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 10)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An `include` folder with a `publications` folder in it."""
    (tmp_path / "include" / "publications").mkdir(parents=True)
    return tmp_path / "include"


def load(folder: Path, text: str, *, partial: bool = False) -> Any:
    file = folder / "publications" / "licences.yaml"
    file.write_text(text, encoding="utf-8")
    return load_spec(file, partial=True) if partial else load_spec(file)


def problems(folder: Path, text: str, *, partial: bool = False) -> dict[str, tuple[int, str]]:
    with pytest.raises(SpecError) as caught:
        load(folder, text, partial=partial)
    return {problem.where: (problem.line, problem.what) for problem in caught.value.problems}


def changed(**sections: Any) -> str:
    """The minimal file with whole sections replaced; `None` removes one."""
    content = copy.deepcopy(yaml.safe_load(MINIMAL)) | sections
    return yaml.safe_dump({key: value for key, value in content.items() if value is not None}, sort_keys=False)


def with_column(**column: Any) -> str:
    return changed(columns=yaml.safe_load(MINIMAL)["columns"] | {"extra": column})


def test_a_minimal_file_has_safe_defaults(folder: Path) -> None:
    loaded = load(folder, MINIMAL)
    assert isinstance(loaded, Publication)
    assert (loaded.dataset, loaded.dag_id, loaded.schedule) == ("driver-licences", "publish_driver_licences", None)
    assert (loaded.airflow.owner, loaded.airflow.retries, loaded.airflow.pool) == ("open-data", 2, None)
    assert (loaded.airflow.max_active_runs, loaded.airflow.tags) == (1, ())
    assert loaded.privacy.published_uniqueness.max_size == 3
    assert (loaded.privacy.published_uniqueness.max_share, loaded.privacy.suppression_limit) == (0.0, 0.0)
    assert (loaded.recode.method, loaded.missing) == (Method.GLOBAL, Missing.CATEGORY)
    assert (loaded.source.delimiter, loaded.source.encoding, loaded.source.missing_words) == ("auto", "utf-8", ("",))
    assert loaded.metadata.language == "en"


def test_columns_are_known_by_role_in_the_order_of_the_file(folder: Path) -> None:
    loaded = load(folder, MINIMAL)
    assert loaded.quasi_identifiers == ("birth_year", "sex")
    assert loaded.published == ("birth_year", "sex", "points")
    assert loaded.names_with_role(Role.IDENTIFIER) == ("id",)
    assert [loaded.columns[name].hierarchy.kind for name in loaded.quasi_identifiers] == [
        HierarchyKind.INTERVALS,
        HierarchyKind.ROOT,
    ]


def test_paths_start_from_the_folder_that_holds_publications(folder: Path, tmp_path: Path) -> None:
    loaded = load(folder, MINIMAL)
    assert (loaded.root, loaded.resolve("a/b.csv")) == (folder, folder / "a" / "b.csv")
    assert loaded.resolve("/data/b.csv") == Path("/data/b.csv")
    elsewhere = tmp_path / "by_hand.yaml"
    elsewhere.write_text(MINIMAL)
    assert load_spec(elsewhere).root == tmp_path


@pytest.mark.parametrize(
    ("priorities", "weights"),
    [
        ((1, 2), (1.0, 0.5)),
        ((None, None), (1.0, 1.0)),
        ((10, 700), (1.0, 0.5)),
        ((3, 3), (1.0, 1.0)),
        ((4, None), (1.0, 1.0)),
    ],
)
def test_weights_follow_the_rank_of_the_priority(folder: Path, priorities: Any, weights: Any) -> None:
    columns = {
        name: {"role": "quasi", "hierarchy": {"root": "any"}, "priority": own}
        for name, own in zip("ab", priorities, strict=True)
    }
    assert tuple(load(folder, changed(columns=columns)).priority_weights.values()) == weights


def test_a_column_without_a_priority_ranks_with_the_least_important(folder: Path) -> None:
    columns = {
        name: {"role": "quasi", "hierarchy": {"root": "any"}, "priority": own}
        for name, own in (("a", 1), ("b", 2), ("c", None))
    }
    assert load(folder, changed(columns=columns)).priority_weights == {"a": 1.0, "b": 0.5, "c": 0.5}


def test_the_example_of_the_design_lacks_only_what_is_not_built(folder: Path) -> None:
    found = problems(folder, FULL)
    assert sorted(found) == sorted(
        ["columns.licence_category.hierarchy"]
        + [
            f"privacy.{key}"
            for key in ("l_diversity", "t_closeness", "alpha", "freeform", "earlier_releases", "waivers")
        ]
        + [f"recode.{key}" for key in ("method", "mode", "improve", "seed", "utility")]
    )
    assert all("not supported yet" in what for _, what in found.values())
    assert found["privacy.t_closeness"] == (
        33,
        "`privacy.t_closeness` is not supported yet; the gate has no expectation for it yet, "
        "`anon check --spec` measures it: remove it",
    )  # fmt: skip


def test_the_models_describe_the_whole_schema(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.spec.checks.NOT_BUILT", ())
    monkeypatch.setattr("anon_core.spec.checks.NOT_GATED", ())
    whole = FULL.replace("role: sensitive, hierarchy: {file: hierarchies/categories.csv}", "role: sensitive")
    loaded = load(folder, whole)
    assert loaded.privacy.freeform.columns["licence_category"].guard == ("CE", "DE")
    assert loaded.privacy.waivers[0].until == datetime.date(2026, 12, 31)
    assert loaded.columns["postcode"].decompose.widths == (2, 3)
    assert loaded.detect.approximate == 0.001
    belief = whole.replace("observability: sensitivity", "observability: {belief: {default: 0, B: 1}, boost: 0.5}")
    guard = load(folder, belief).privacy.freeform.columns["licence_category"]
    assert guard.observability.belief == {"default": 0.0, "B": 1.0}


@pytest.mark.parametrize("path", [path for path, refused, _ in (*NOT_BUILT, *NOT_GATED) if refused is None])
@pytest.mark.parametrize("off", ["null", "[]", "{}", "false"])
def test_a_key_that_is_not_built_may_be_written_when_it_is_off(folder: Path, path: str, off: str) -> None:
    content = yaml.safe_load(MINIMAL)
    *sections, key = path.replace("*", "sex").split(".")
    place = content
    for section in sections:
        place = place.setdefault(section, {})
    place[key] = yaml.safe_load(off)
    load(folder, yaml.safe_dump(content, sort_keys=False))


def test_no_improvement_is_off(folder: Path) -> None:
    load(folder, MINIMAL + "recode: {improve: 0}\n")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("engine: spark", "engine"),
        ("missing: wildcard", "missing"),
        ("approval: {required: true}", "approval.required"),
        ("approval: {users: [x]}", "approval.users"),
        ("unit: id", "unit"),
        ("airflow: {deadline: PT6H}", "airflow.deadline"),
        ("recode: {sticky: true}", "recode.sticky"),
    ],
)
def test_what_is_not_built_is_refused_by_name(folder: Path, text: str, where: str) -> None:
    found = problems(folder, f"{MINIMAL}{text}\n")
    assert found.keys() == {where}
    assert found[where][0] == 11
    assert where in found[where][1]


def test_a_bad_value_in_a_key_that_is_not_built_is_also_reported(folder: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(folder, changed(privacy={"k": 5, "max_sensitivity": 7}))
    assert [problem.what for problem in caught.value.problems] == [
        "`privacy.max_sensitivity` is not supported yet; remove it or set it to null",
        "should be at most 1, not `7`",
    ]


def test_every_problem_is_listed_with_its_line(folder: Path) -> None:
    text = """\
# a comment first
dataset: Driver Licences
titel: Driver licences
source: {file: a.csv, delimiter: ";;", encoding: nonsense}
columns:
  birth_year:
    role: quasi
    hierarchy:
      intervals: [5, 12]
  sex: {role: quasy}
  points: {}
privacy:
  k: 1
  suppression_limit: lots
  published_uniqueness:
    accept:
      - {columns: [points], reason: small, by: me, until: 2027-02-31}
      - {columns: [pionts], reason: small, by: me, until: soon}
keep_staging: yes
"""
    found = problems(folder, text)
    assert {where: line for where, (line, _) in found.items()} == {
        "dataset": 2,
        "titel": 3,
        "title": 2,
        "portal": 2,
        "source.delimiter": 4,
        "source.encoding": 4,
        "columns.birth_year.hierarchy.intervals": 9,
        "columns.sex.role": 10,
        "columns.points.role": 11,
        "privacy.k": 13,
        "privacy.suppression_limit": 14,
        "privacy.published_uniqueness.accept[0].until": 17,
        "privacy.published_uniqueness.accept[1].until": 18,
        "privacy.published_uniqueness.accept[1].columns[0]": 18,
        "keep_staging": 19,
    }
    assert found["titel"][1] == "unknown key `titel`; did you mean `title`?"
    assert found["title"][1] == "is required"
    assert found["privacy.k"][1] == "should be at least 2, not `1`"
    assert found["privacy.suppression_limit"][1] == "should be a number, not `lots`"
    assert found["privacy.published_uniqueness.accept[1].columns[0]"][1].endswith("did you mean `points`?")
    assert found["keep_staging"][1] == "should be true or false, not `yes`"


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
        ({"role": "quasi"}, "columns.extra"),
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
        ({"method": "magic"}, "recode.method", "one of"),
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
        ({"source": {}}, "source"),
        ({"source": {"file": "a.csv", "delimiter": ""}}, "source.delimiter"),
        ({"source": {"file": "a.csv", "encoding": "base64"}}, "source.encoding"),
        ({"source": {"file": "a.csv", "missing_words": [True]}}, "source.missing_words[0]"),
        ({"portal": {}}, "portal"),
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


def test_a_source_in_a_database_needs_one_table_or_query(folder: Path) -> None:
    found = problems(folder, changed(source={"connection": "db", "table": "t", "query": "q"}))
    assert found.keys() == {"source", "source.connection", "source.table", "source.query"}


def test_only_true_and_false_are_booleans_and_keys_are_text(folder: Path) -> None:
    text = """\
columns:
  no: {role: quasi, description: off}
  on: {role: other, description: 12:30}
  2019: {role: quasi, description: 007}
  null: {role: other, description: 2027-12-31}
  1.10: {role: other, description: 1.10}
privacy: {published_uniqueness: {accept: [{columns: [no, 2019, 1.10], reason: why, by: y, until: 2027-12-31}]}}
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


def test_a_key_written_twice_is_a_problem(folder: Path) -> None:
    found = problems(folder, MINIMAL.replace("  points:", "  sex:") + "title: Again\n")
    assert found["columns.sex"] == (8, "the key `sex` is written twice, first on line 7")
    assert found["title"] == (11, "the key `title` is written twice, first on line 2")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "empty"),
        ("# nothing\n", 1, "empty"),
        ("---\n", 1, "empty"),
        ("- a\n- b\n", 1, "should be a mapping"),
        ("just words\n", 1, "should be a mapping"),
        ("a: 1\nb:\n\tc: 2\n", 3, "tabs"),
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "not valid YAML"),
        ('a: 1\nb: "open\n', 3, "starts on line 2"),
        ("a: b: c\n", 1, "not valid YAML"),
        ("a: 1\nb: \x07\n", 2, "control characters"),
        ("a: 1\n---\nb: 2\n", 2, "second YAML document"),
        ("a: *nothing\n", 1, "no anchor"),
        ("a: &a [*a]\n", 1, "no anchor"),
        ("[" * 100_000, 1, "levels deep"),
        (BOMB, 1, "aliases written out"),
        ("a: " + "x" * 1_000_001, 1, "larger than"),
    ],
)
def test_a_text_that_is_no_specification_is_one_problem(folder: Path, text: str, line: int, words: str) -> None:
    ((where, (found, what)),) = problems(folder, text).items()
    assert (where, found) == ("", line)
    assert words in what


def test_tags_and_merges_are_refused_but_anchors_work(folder: Path) -> None:
    anchored = MINIMAL.replace("{role: other}", "&other {role: other}").replace(
        "id: {role: identifier}", "id: &x {role: identifier}"
    )
    text = anchored.replace("privacy:", "  notes: *other\nprivacy:")
    assert load(folder, text).columns["notes"].role is Role.OTHER
    found = problems(folder, "<<: {a: 1}\n" + MINIMAL.replace("Driver licences", "!!python/name:os.system x"))
    assert "remove it" in found[""][1]


def test_a_file_that_cannot_be_read_is_a_specification_error(folder: Path) -> None:
    with pytest.raises(SpecError, match="No such file"):
        load_spec(folder / "gone.yaml")
    with pytest.raises(SpecError, match="cannot be read"):
        load_spec(folder)
    latin = folder / "latin.yaml"
    latin.write_bytes(b"dataset: a\ntitle: caf\xe9\n")
    with pytest.raises(SpecError, match=r"latin\.yaml:2: the file is not UTF-8"):
        load_spec(latin)


def test_a_partial_file_needs_only_columns(folder: Path) -> None:
    loaded = load(folder, "columns: {sex: {role: quasi}, points: {role: other}}\n", partial=True)
    assert (loaded.dataset, loaded.title, loaded.source, loaded.privacy, loaded.portal) == (None,) * 5
    assert loaded.quasi_identifiers == ("sex",)
    assert load(folder, "columns: {sex: {role: quasi}}\nprivacy: {}\n", partial=True).privacy.k is None
    assert problems(folder, "title: x\n", partial=True) == {"columns": (1, "is required")}


def test_what_a_partial_file_does_say_is_checked(folder: Path) -> None:
    text = "columns: {sex: {role: quasi}}\nprivacy: {k: 1}\nrecode: {method: global}\nportal: {}\n"
    assert problems(folder, text, partial=True).keys() == {"privacy.k", "columns.sex", "portal"}


def test_the_digest_follows_the_meaning_and_not_the_spelling(folder: Path) -> None:
    first = load(folder, MINIMAL).digest()
    same = "# note\n" + changed(keep_staging=False, recode={"method": "global"})
    same = "\n".join(reversed(same.split("\nsource:")[0].split("\n"))) + "\nsource:" + same.split("\nsource:")[1]
    assert load(folder, same).digest() == first
    assert load(folder, MINIMAL.replace("k: 5", "k: 6")).digest() != first
    columns = dict(reversed(yaml.safe_load(MINIMAL)["columns"].items()))
    assert load(folder, changed(columns=columns)).digest() != first


def test_the_digest_changes_with_a_hierarchy_file(folder: Path) -> None:
    loaded = load(folder, with_column(role="quasi", hierarchy={"file": "h.csv"}))
    with pytest.raises(HierarchyError, match=r"columns\.extra\.hierarchy\.file: `h\.csv` cannot be read"):
        loaded.digest()
    (folder / "h.csv").write_text("a;b\n")
    first = loaded.digest()
    (folder / "h.csv").write_text("a;c\n")
    assert loaded.digest() != first


def test_loading_imports_nothing_heavy() -> None:
    heavy = "numpy pandas pyarrow numba airflow great_expectations sqlalchemy"
    code = f"import sys, anon_core.spec; print([name for name in {heavy.split()!r} if name in sys.modules])"
    root = Path(spec.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", [policy, spec])
def test_every_public_name_is_there(module: Any) -> None:
    assert list(module.__all__) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


WORDS = st.sampled_from(
    [
        "dataset", "title", "schedule", "airflow", "source", "file", "columns", "a", "b", "role", "quasi", "sensitive",
        "other", "drop", "priority", "hierarchy", "intervals", "prefix", "date", "root", "unmapped", "detect",
        "reveal_probability", "default", "privacy", "k", "l_diversity", "column", "alpha", "freeform",
        "published_uniqueness", "accept", "until", "recode", "method", "singletons", "global", "none", "years", "size",
        "decompose", "expectations", "type", "kwargs", "portal", "folder", "ckan", "improve", "unit", "<value>",
        "<mapping>", "no", "2019", "2027-12-31", "1.5",
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=6),
    max_leaves=30,
)


def only_specification_errors(folder: Path, raw: bytes) -> None:
    file = folder / "garbage.yaml"
    file.write_bytes(raw)
    for partial in (True, False):
        try:
            load_spec(file, partial=True) if partial else load_spec(file)
        except SpecError as error:
            assert error.problems
            assert str(error)


@given(raw=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
@settings(max_examples=150, deadline=None)
def test_garbage_is_only_ever_a_specification_error(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    only_specification_errors(tmp_path_factory.getbasetemp(), raw)


@given(
    sections=st.dictionaries(WORDS, VALUES, max_size=8), start=st.sampled_from(["", MINIMAL, FULL]), deep=st.booleans()
)
@settings(max_examples=300, deadline=None)
def test_a_wild_specification_is_only_ever_a_specification_error(
    tmp_path_factory: pytest.TempPathFactory, sections: dict[str, Any], start: str, deep: bool
) -> None:
    content = (yaml.safe_load(start) or {}) if start else {}
    for key, value in sections.items():
        nested = content.get(key)
        if deep and isinstance(nested, dict) and isinstance(value, dict):
            nested.update(value)
        else:
            content[key] = value
    only_specification_errors(tmp_path_factory.getbasetemp(), yaml.safe_dump(content).encode())


@given(text=st.text(alphabet="ab:-[]{}&*!|>'\"%@`#?,\n\t ~<=0.", max_size=60))
@settings(max_examples=300, deadline=None)
def test_odd_yaml_is_only_ever_a_specification_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    only_specification_errors(tmp_path_factory.getbasetemp(), (MINIMAL + text).encode())
