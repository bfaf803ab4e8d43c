"""Each expectation in pandas, SQLite and PostgreSQL, on rows and on frequencies: one verdict, number and sentence."""

from __future__ import annotations

import json

import great_expectations as gx
import pytest

from anon_airflow.expectations import OURS
from anon_airflow.expectations.inputs import paired_by
from tests.anon_airflow.audit.audit_databases import postgresql  # noqa: F401 (a fixture)
from tests.anon_airflow.expectations.expectation_cases import (  # noqa: F401 (one is a fixture)
    BY_NAME,
    BY_PEOPLE,
    CASES,
    REPORTED,
    VISITS,
    K,
    given_inputs,
)
from tests.anon_airflow.expectations.expectation_engines import (  # noqa: F401 (some are fixtures)
    Cells,
    each_database,
    expectation_context,
    in_postgresql,
    in_sqlite,
    people,
)

pytestmark = pytest.mark.usefixtures("second_inputs")
NAMES = [case.name for case in CASES]
EVERY = [*CASES, *BY_PEOPLE]
IDS = [*NAMES, *(f"{case.name}, people" for case in BY_PEOPLE)]


def test_every_expectation_has_its_case():
    assert sorted(NAMES) == sorted(OURS)


@pytest.mark.parametrize("case", EVERY, ids=IDS)
def test_it_just_holds_with_the_same_numbers_everywhere(case, database):
    result = database.agreed(case.name, case.table, **case.holds)
    assert result.success and result.result["observed_value"] == case.observed
    assert result.result["sentence"].startswith(OURS[case.name].model.title)


@pytest.mark.parametrize("case", EVERY, ids=IDS)
def test_it_just_fails_with_the_same_numbers_everywhere(case, database):
    result = database.agreed(case.name, case.table, **case.breaks)
    assert result.success is (case.name in REPORTED) and result.result["observed_value"]
    assert "not measured" not in result.result["sentence"]


@pytest.mark.parametrize("case", EVERY, ids=IDS)
def test_of_no_rows_nothing_holds(case, database):
    kinds = [case.table.kind(at) for at in range(len(case.table.names))]
    result = database.agreed(case.name, Cells(case.table.names, [], kinds), **case.holds)
    assert not result.success and result.result["sentence"].endswith("there are no rows, so any requirement would hold")


@pytest.mark.parametrize("case", EVERY, ids=IDS)
def test_a_table_of_one_row_is_measured(case, database):
    one = Cells(case.table.names, case.table.rows[:1], [case.table.kind(at) for at in range(len(case.table.names))])
    result = database.agreed(case.name, one, **case.breaks)
    assert result.result["observed_value"] is not None


def test_one_row_is_a_singleton(database):
    assert not database.agreed("expect_no_singletons", people(("F", "Enna", 1)), **K, max_singletons=0).success
    assert database.agreed("expect_k_anonymity", people(("F", "Enna", 1)), **K, k=1).success


@pytest.mark.parametrize(
    "case", [case for case in EVERY if case.name != "expect_no_undeclared_column"], ids=lambda c: c.name
)
def test_a_column_that_is_not_there_is_refused_by_name(case, database):
    asked = {**case.holds, "columns": [*case.holds["columns"][:-1], "age"]}
    result = database.agreed(case.name, case.table, **asked)
    assert not result.success and result.result["sentence"].endswith("the table has no column age")


def test_a_lone_gap_is_a_class_of_its_own(database):
    table = people(("F", "Enna", 2), ("F", None, 1))
    found = database.agreed("expect_no_singletons", table, **K, max_singletons=0)
    assert found.result["observed_value"] == {"singletons": 1, "classes": 2, "rows": 3}


def test_gaps_of_different_columns_are_different_classes(database):
    table = people(("F", None, 2), (None, "Enna", 2), (None, None, 2), ("F", "Enna", 2))
    found = database.agreed("expect_k_anonymity", table, **K, k=2)
    assert found.success and found.result["observed_value"]["classes"] == 4


def test_a_column_of_gaps_alone_is_measured(database):
    found = database.agreed("expect_k_anonymity", people((None, None, 3)), **K, k=3)
    assert found.success and found.result["observed_value"]["classes"] == 1


def test_ten_thousand_groups_are_counted_alike(database):
    table = Cells(["sex", "town"], [(f"s{n % 100}", f"t{n // 100}") for n in range(10_000)] + [("s0", "t0")])
    found = database.agreed("expect_no_singletons", table, **K, max_singletons=9_999)
    assert found.success and found.result["observed_value"] == {"singletons": 9_999, "classes": 10_000, "rows": 10_001}


PEOPLE_ALONE = ("expect_common_values", "expect_half_of_class", "expect_max_rows_per_person", "expect_row_sets")
COUNTS_PEOPLE = sorted({case.name for case in BY_PEOPLE} | set(PEOPLE_ALONE))


def test_every_expectation_whose_model_counts_people_has_its_case_by_people():
    assert (
        sorted(name for name, kind in OURS.items() if kind.model.counts_people or name == "expect_no_undeclared_column")
        == COUNTS_PEOPLE
    )


@pytest.mark.parametrize("name", sorted(set(OURS) - set(COUNTS_PEOPLE)))
def test_a_unit_is_refused_where_rows_are_counted(name):
    with pytest.raises(ValueError, match="counts rows, not people; leave unit_column out"):
        OURS[name](**BY_NAME[name].holds, weight_column=None, unit_column="person")


@pytest.mark.parametrize("name", PEOPLE_ALONE)
def test_what_is_about_people_is_not_measured_without_a_unit(database, name):
    asked = {**BY_NAME[name].holds, "unit_column": None}
    result = database.agreed(name, BY_NAME[name].table, **asked)
    assert not result.success and "no column says whose the rows are" in result.result["sentence"]


@pytest.mark.parametrize("case", [*BY_PEOPLE, *(BY_NAME[name] for name in PEOPLE_ALONE)], ids=lambda case: case.name)
def test_a_unit_that_is_not_there_or_measured_as_well_never_passes(case, database):
    absent = database.agreed(case.name, case.table, **{**case.holds, "unit_column": "nobody"})
    assert not absent.success and absent.result["sentence"].endswith("the table has no column nobody")
    both = {**case.holds, "columns": [*case.holds["columns"], "person"]}
    measured = database.agreed(case.name, case.table, **both)
    assert not measured.success and "person cannot tell people apart and be a" in measured.result["sentence"]


@pytest.mark.parametrize("name", ["expect_removal", "expect_restored_values"])
def test_what_is_about_original_rows_is_not_measured_where_nobody_knows_them(database, name):
    with paired_by(None):
        result = database.agreed(name, BY_NAME[name].table, **BY_NAME[name].holds)
    assert not result.success and "not measured" in result.result["sentence"]


def test_no_person_stands_in_a_result(database):
    canary = Cells(VISITS.names, [(*row[:-1], f"CANARY-{row[-1]}") for row in VISITS.rows])
    for case in (*BY_PEOPLE[:-1], *(BY_NAME[name] for name in PEOPLE_ALONE)):
        found = database.agreed(case.name, canary, **case.breaks)
        assert "CANARY" not in json.dumps(found.to_json_dict())


def test_concealment_of_people_is_not_measured(database):
    case = next(case for case in BY_PEOPLE if case.name == "expect_k_anonymity_beside_original")
    result = database.agreed(case.name, case.table, **{**case.holds, "means": "concealment"})
    assert not result.success and "cannot count people yet" in result.result["sentence"]


def _required(name):
    return sorted((set(OURS[name].success_keys) | {"weight_column"}) - {"unit_column"})


@pytest.mark.parametrize("weight_column", [None, "n"])
@pytest.mark.parametrize("which", ["holds", "breaks"])
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_suite_comes_back_from_json_as_it_was(case, which, weight_column):
    kwargs = {**getattr(case, which), "weight_column": weight_column}
    suite = gx.ExpectationSuite(name="s", expectations=[OURS[case.name](**kwargs)])
    written = json.loads(json.dumps(suite.to_json_dict(), allow_nan=False))
    assert written["expectations"][0]["kwargs"] == kwargs
    (again,) = gx.ExpectationSuite(name="s", expectations=written["expectations"]).expectations
    assert type(again) is OURS[case.name] and again.configuration.kwargs == kwargs


@pytest.mark.parametrize(("name", "field"), [(name, field) for name in sorted(OURS) for field in _required(name)])
def test_every_field_must_be_given(name, field):
    kwargs = {**BY_NAME[name].holds, "weight_column": None}
    assert sorted(set(kwargs) - {"unit_column"}) == _required(name), "a unit is no requirement"
    del kwargs[field]
    with pytest.raises(ValueError, match=field):
        OURS[name](**kwargs)


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_field_that_is_not_known_is_refused(name):
    with pytest.raises(ValueError, match="mostly"):
        OURS[name](**BY_NAME[name].holds, weight_column=None, mostly=0.5)


@pytest.mark.parametrize("name", sorted(OURS))
def test_null_is_written_where_it_is_a_value(name):
    """Great Expectations leaves out what equals a default: ours have none."""
    own = OURS[name].__fields__
    assert all(own[field].required for field in _required(name))


LIMITS = [(case.name, field) for case in CASES for field, value in case.holds.items() if type(value) in (int, float)]


@pytest.mark.parametrize("value", [True, False, "0.5", "1", None, float("nan"), float("inf"), -1, [1]], ids=repr)
@pytest.mark.parametrize(("name", "field"), LIMITS, ids=lambda part: part)
def test_a_limit_that_is_no_number_is_refused(name, field, value):
    """``max_risk: true`` would be a risk of 1, and hold of any table."""
    if (name, value) == ("expect_unique_with_sensitive", None):
        return  # That is no limit, and says so.
    with pytest.raises(ValueError, match=field):
        OURS[name](**{**BY_NAME[name].holds, field: value}, weight_column=None)


SPELLINGS = [
    ["RS1", "rs1", " R S1"],
    ["12345678Z", "12345678-Z", "12345678z"],
    ["007", "7", "7.0"],
    [None, "NaN", "--"],
]


@pytest.mark.parametrize("cells", SPELLINGS, ids=lambda cells: str(cells[0]))
def test_spellings_of_one_unit_are_one_person_and_words_for_a_gap_nobody(database, cells):
    table = Cells(["sex", "person"], [("F", cell) for cell in (*cells, "ann", "bea")])
    by_people = {"columns": ["sex"], "unit_column": "person"}
    found = database.agreed("expect_k_anonymity", table, **by_people, k=4)
    assert not found.success and found.result["measured"] == 2 + (cells[0] is not None)


def test_units_that_are_floats_are_people_and_what_is_no_number_is_nobody(database):
    table = Cells(["sex", "person"], [("F", 1.0), ("F", 1.0), ("F", 2.5), ("F", float("nan")), ("F", None)])
    found = database.agreed("expect_k_anonymity", table, columns=["sex"], unit_column="person", k=3)
    assert not found.success and found.result["measured"] == 2
