"""Each kind, distance and meaning of an expectation, and columns with types, on every engine."""

from __future__ import annotations

import hashlib
from datetime import date, datetime
from decimal import Decimal

import pytest

from anon_airflow.expectations.inputs import originals
from tests.anon_airflow.audit.audit_databases import postgresql  # noqa: F401 (a fixture)
from tests.anon_airflow.expectations.expectation_cases import given_inputs  # noqa: F401 (a fixture)
from tests.anon_airflow.expectations.expectation_engines import (  # noqa: F401 (some are fixtures)
    Cells,
    each_database,
    expectation_context,
    in_postgresql,
    in_sqlite,
    people,
)

pytestmark = pytest.mark.usefixtures("second_inputs")
ILLNESSES = people(("F", "flu", 2), ("F", "cold", 2), ("M", "flu", 3), ("M", "cold", 1), names=("sex", "illness"))
SENSITIVE = {"columns": ["sex"], "sensitive": "illness"}


@pytest.mark.parametrize(
    ("kind", "c", "holds", "breaks"),
    [("distinct", None, 2, 2.1), ("entropy", None, 1.75, 1.76), ("recursive", 3.1, 2, 3)],
)
def test_every_kind_of_diversity_is_the_same_everywhere(database, kind, c, holds, breaks):
    for l, success in ((holds, True), (breaks, False)):  # noqa: E741
        found = database.agreed("expect_l_diversity", ILLNESSES, **SENSITIVE, values="bands", kind=kind, l=l, c=c)
        assert found.success is success, found.result["sentence"]


KINDS = "flu;illness\ncold;illness\n"
INTERVALS = {"intervals": [4]}
WORST = {"equal": 1 / 2, "ordered": 9 / 6 / 5, "hierarchical": 1 / 6 * 1 / 2 + 1 / 3}
"""By hand: half of the points move; by 9/6 places of 5; a sixth within 8-11, one level of two, and a third above it."""


@pytest.mark.parametrize("number", [int, str], ids=["integers", "text"])
@pytest.mark.parametrize(("distance", "hierarchy"), [("ordered", None), ("hierarchical", INTERVALS), ("equal", None)])
def test_every_distance_is_the_same_everywhere_and_numbers_are_ordered_as_numbers(
    database, number, distance, hierarchy
):
    rows = [("F", number(n)) for n in (1, 2, 9)] + [("M", number(n)) for n in (10, 11, 12)]
    found = database.agreed(
        "expect_t_closeness",
        Cells(["sex", "points"], rows),
        columns=["sex"],
        sensitive="points",
        t=1.0,
        distance=distance,
        hierarchy=hierarchy,
    )
    assert found.success
    assert found.result["observed_value"]["worst"] == pytest.approx(WORST[distance])


def test_a_hierarchy_file_of_a_sensitive_column_is_read(database, second_inputs):
    (second_inputs / "illnesses.csv").write_text(KINDS)
    hierarchy = {"file": "illnesses.csv", "sha256": hashlib.sha256(KINDS.encode()).hexdigest()}
    asked = {**SENSITIVE, "t": 0.125, "distance": "hierarchical"}
    assert database.agreed("expect_t_closeness", ILLNESSES, **asked, hierarchy=hierarchy).success
    other = database.agreed("expect_t_closeness", ILLNESSES, **asked, hierarchy={**hierarchy, "sha256": "0" * 64})
    assert not other.success and "is missing or has changed" in other.result["sentence"]


YEARS = people(("F", "1980", 1), ("F", "1984", 1), ("M", "1982", 1), ("M", "1987", 1), names=("sex", "year"))
RELEASED = people(("*", "1980-1984", 3), ("*", "1985-1989", 1), names=("sex", "year"))
"""Whoever was born in 1987 finds one row, and that row is of one person."""


@pytest.mark.parametrize("means", ["link", "source", "concealment"])
def test_every_meaning_of_k_beside_the_original_is_the_same_everywhere(database, means):
    asked = {
        "columns": ["sex", "year"],
        "means": means,
        "original": "years",
        "hierarchies": {"sex": {"root": "*"}, "year": {"intervals": [5, 10]}},
    }
    with originals({"years": YEARS.frame()}):
        one = database.agreed("expect_k_anonymity_beside_original", RELEASED, **asked, k=1)
        two = database.agreed("expect_k_anonymity_beside_original", RELEASED, **asked, k=2)
    assert one.success and not two.success, one.result["sentence"]
    assert one.result["observed_value"]["k"] == two.result["observed_value"]["k"] == 1


TEXT = Cells(["cell"], [("x",)])
TYPED = [
    ("integer", int, [1, -2, None]),
    ("decimal", float, [1.5, -2.0, None]),
    ("decimal", Decimal, [Decimal("1.50"), None]),
    ("boolean", bool, [True, False, None]),
    ("date", date, [date(2026, 2, 28), None]),
    ("timestamp", datetime, [datetime(2026, 2, 28, 12, 30), None]),
]


@pytest.mark.parametrize(("kind", "python", "cells"), TYPED, ids=[f"{case[0]}-{case[1].__name__}" for case in TYPED])
def test_columns_that_have_a_type_read_as_it_everywhere(database, kind, python, cells):
    table = Cells(["cell"], [(cell,) for cell in cells], [python])
    if database.kind == "sqlite" and python is bool:
        found = database.judge("expect_declared_types", table, columns=["cell"], types=["integer"])
        assert found.success  # SQLite has no booleans: the cells are 1 and 0.
        return
    assert database.agreed("expect_declared_types", table, columns=["cell"], types=[kind]).success
    assert not database.agreed("expect_declared_types", TEXT, columns=["cell"], types=[kind]).success
