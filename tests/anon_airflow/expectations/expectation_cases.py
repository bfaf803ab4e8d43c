"""For each of our expectations a table, arguments with which it just holds and others with which it just fails."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_airflow.expectations.inputs import hierarchies_in, originals, paired_by
from anon_core.measures.removal import Kept
from anon_core.measures.restored import Paired
from anon_core.models.subject import Pairing
from tests.anon_airflow.expectations.expectation_engines import Cells, people


@dataclass(frozen=True)
class Case:
    """Arguments that just hold of a table and others that just do not; what is observed where it holds."""

    name: str
    table: Cells
    holds: dict[str, Any]
    breaks: dict[str, Any]
    observed: dict[str, Any]


K = {"columns": ["sex", "town"]}
TWO_CLASSES = people(("F", "Enna", 3), ("M", "Enna", 2))
SEXES = "F;person\nM;person\n"
FREEFORM = {
    "columns": ["sex", "town"],
    "hierarchies": {
        "sex": {"file": "hierarchies/sexes.csv", "sha256": hashlib.sha256(SEXES.encode()).hexdigest()},
        "town": {"root": "*"},
    },
    "guards": {"sex": {"guard": ["F"], "sensitivity": "aggregate", "observability": "sensitivity"}},
    "sigma_o": 1,
}
UNIQUENESS = {
    "columns": ["sex", "town"],
    "max_size": 2,
    "accepted": [],
    "together": [],
    "protected": [],
    "quasi": [],
}
SUPPRESSED = {**K, "roots": [["*"], ["*"]], "rows_before": 100}

ILLNESSES = people(("F", "flu", 1), ("F", "cold", 1), ("M", "flu", 2), names=("sex", "illness"))
SENSITIVE = {"columns": ["sex"], "sensitive": "illness"}
DIVERSE = {**SENSITIVE, "values": "bands"}
SENSITIVITY = {
    "columns": ["sex", "town"],
    "max_size": 2,
    "approximate": 0.0,
    "ignore_duplicates": True,
    "reveal": {"sex": 0.5, "town": 0.5},
}
REGISTER = people(("F", "Enna", 1), ("F", "Noto", 1), ("M", "Enna", 2))
"""The original of a release whose towns are all ``*``."""
BESIDE = {**K, "means": "link", "original": "register", "hierarchies": {"sex": {"root": "*"}, "town": {"root": "*"}}}

BY_SEX = people(("F", "*", 20), ("M", "*", 20))
"""The sexes lived in one town each; and of two classes, of 40 and of 2 people, the smaller one lost a row."""
SEX = np.arange(2)
PAIRED = Paired(
    column="town",
    levels=(SEX, np.full(2, 2)),
    label=np.full(2, 2),
    names=("sex",),
    codes=(SEX,),
    sizes=(2,),
    weights=np.full(2, 20),
)
KEPT = Kept(people=np.array([40, 2]), gone=np.array([0, 1]), as_collected=np.array([False, True]))
PAIRING = Pairing(paired=lambda column: PAIRED if column == "town" else None, kept=lambda _: KEPT)

VISITS = Cells(
    ["sex", "illness", "person"],
    [
        ("F", "flu", "1"), ("F", "flu", "1"), ("F", "cold", "2"), ("F", "flu", "3"), ("F", "cold", None),
        ("M", "flu", "1"), ("M", "cold", "2"), ("M", "gout", "4"), ("M", "gout", "4"),
    ],
)  # fmt: skip
"""People with several rows, and one of nobody known, who adds nobody to a class that has people."""
VISITED = {
    "columns": ["sex", "illness"],
    "max_size": 2,
    "approximate": 0.25,
    "ignore_duplicates": False,
    "reveal": {"sex": 0.5, "illness": 0.5},
}
"""Three of four people are alone on both columns."""
OF_PEOPLE = {"columns": ["sex"], "unit_column": "person"}

PEOPLE_CASES = [
    Case(
        "expect_half_of_class",
        VISITS,
        OF_PEOPLE,
        {"columns": ["sex", "illness"], "unit_column": "person"},
        {"largest_share": 0.5, "classes": 2, "classes_failing": 0, "people": 4, "people_failing": 0},
    ),
    Case(
        "expect_common_values",
        VISITS,
        {**OF_PEOPLE, "sensitive": "illness", "values": "bands", "l": 2},
        {**OF_PEOPLE, "sensitive": "illness", "values": "bands", "l": 3},
        {"fewest": 2, "people": 4, "people_failing": 0, "people_changing": 0},
    ),
    Case(
        "expect_max_rows_per_person",
        VISITS,
        {"columns": [], "most": 3, "unit_column": "person"},
        {"columns": [], "most": 2, "unit_column": "person"},
        {"most": 3, "people": 4, "people_above": 0},
    ),
]
"""Expectations that are about people alone."""
BY_PEOPLE = [
    Case(
        "expect_k_anonymity",
        VISITS,
        {**OF_PEOPLE, "k": 3},
        {**OF_PEOPLE, "k": 4},
        {"k": 3, "classes": 2, "rows": 4, "rows_below_k": 0},
    ),
    Case(
        "expect_no_singletons",
        VISITS,
        {"columns": ["sex", "illness"], "unit_column": "person", "max_singletons": 3},
        {"columns": ["sex", "illness"], "unit_column": "person", "max_singletons": 2},
        {"singletons": 3, "classes": 5, "rows": 4},
    ),
    Case(
        "expect_risk_below",
        VISITS,
        {**OF_PEOPLE, "max_risk": 0.34},
        {**OF_PEOPLE, "max_risk": 0.33},
        {"highest": 1 / 3, "average": 1 / 3, "classes": 2, "classes_failing": 0, "rows": 4, "rows_failing": 0},
    ),
    Case(
        "expect_l_diversity",
        VISITS,
        {**OF_PEOPLE, "sensitive": "illness", "values": "each", "kind": "distinct", "l": 2, "c": None},
        {**OF_PEOPLE, "sensitive": "illness", "values": "each", "kind": "distinct", "l": 3, "c": None},
        {"worst": 2, "classes": 2, "classes_failing": 0, "rows": 4, "rows_failing": 0},
    ),
    Case(
        "expect_alpha_anonymity",
        VISITS,
        {**OF_PEOPLE, "sensitive": "illness", "values": "each", "alpha": 0.67, "k": 3},
        {**OF_PEOPLE, "sensitive": "illness", "values": "each", "alpha": 0.66, "k": 3},
        {"worst": 2 / 3, "classes": 2, "classes_failing": 0, "rows": 4, "rows_failing": 0},
    ),
    Case(
        "expect_t_closeness",
        VISITS,
        {**OF_PEOPLE, "sensitive": "illness", "t": 0.26, "distance": "equal", "hierarchy": None},
        {**OF_PEOPLE, "sensitive": "illness", "t": 0.16, "distance": "equal", "hierarchy": None},
        {"worst": pytest.approx(0.25), "classes": 2, "classes_failing": 0, "rows": 4, "rows_failing": 0},
    ),
    Case(
        "expect_published_uniqueness",
        VISITS,
        {**UNIQUENESS, "columns": ["sex", "illness"], "unit_column": "person", "max_share": 0.75},
        {**UNIQUENESS, "columns": ["sex", "illness"], "unit_column": "person", "max_share": 0.74},
        {"sets": 0, "largest_share": 0.0, "rows": 4, "offending": [], "alone_within_limit": 3},
    ),
    Case(
        "expect_no_undeclared_column",
        VISITS,
        {"columns": ["illness", "sex"], "unit_column": "person"},
        {"columns": ["sex"], "unit_column": "person"},
        {"columns": 2, "undeclared_at": [], "missing": []},
    ),
    Case(
        "expect_k_anonymity_beside_original",
        Cells(["sex", "town", "person"], [(sex, "*", who) for sex, who in zip("FFFMM", "11234", strict=True)]),
        {**BESIDE, "original": "visits", "unit_column": "person", "k": 2},
        {**BESIDE, "original": "visits", "unit_column": "person", "k": 3},
        {"k": 2, "rows": 4, "rows_before": 5, "rows_below_k": 0, "made_from_original": True},
    ),
    Case(
        "expect_joint_beside_original",
        Cells(["sex", "town", "person"], [(sex, "*", who) for sex, who in zip("FFFMM", "11234", strict=True)]),
        {**BESIDE, "original": "visits", "unit_column": "person", "k": 2},
        {**BESIDE, "original": "visits", "unit_column": "person", "k": 3},
        {"k": 2, "rows": 4, "rows_before": 5, "rows_below_k": 0, "made_from_original": True},
    ),
    Case(
        "expect_joint_classes",
        VISITS,
        {**OF_PEOPLE, "k": 3, "others": []},
        {**OF_PEOPLE, "k": 4, "others": []},
        {
            "k": 3,
            "classes": 2,
            "rows": 4,
            "rows_below_k": 0,
            "singletons": 0,
            "without": [],
            "smallest_set": [],
        },
    ),
    Case(
        "expect_sensitive_alone",
        VISITS,
        {"columns": ["illness"], "unit_column": "person", "k": 2, "max_share": 0.5},
        {"columns": ["illness"], "unit_column": "person", "k": 2, "max_share": 0.49},
        {"alone": 2, "rows": 4, "share": 0.5, "sets": [{"columns": ["illness"], "alone": 2}]},
    ),
    Case(
        "expect_sensitivity_below",
        VISITS,
        {**VISITED, "unit_column": "person", "limit": 0.25},
        {**VISITED, "unit_column": "person", "limit": 0.24},
        {"highest": 0.25, "column": "sex", "columns_above": 0, "unique_sets": 1, "rows": 4},
    ),
    Case(
        "expect_no_published_identifier",
        VISITS,
        {"columns": ["illness"], "unit_column": "person", "share": 0.51},
        {"columns": ["illness"], "unit_column": "person", "share": 0.5},
        {"columns": 0, "largest_share": 0.5, "rows": 4},
    ),
    Case(
        "expect_unique_with_sensitive",
        VISITS,
        {"columns": ["sex", "illness"], "unit_column": "person", "limit": 0.75},
        {"columns": ["sex", "illness"], "unit_column": "person", "limit": 0.74},
        {"alone": 3, "rows": 4, "share": 0.75},
    ),
    Case(
        "expect_homogeneity",
        VISITS,
        {"columns": ["illness"], "sensitive": "sex", "unit_column": "person"},
        {"columns": ["illness"], "sensitive": "sex", "unit_column": "person"},  # Nothing breaks it.
        {"rows": 4, "certain": 4, "certain_not_commonest": 0, "ninety_percent": 4},
    ),
]
"""Expectations that count rows, counting people: a column of the table says whose each row is."""
BEFORE = Cells(
    ["sex", "town", "person"],
    [("F", "Enna", "1"), ("F", "Noto", "1"), ("F", "Noto", "2"), ("M", "Enna", "3"), ("M", "Noto", "4")],
)

CASES = [
    *PEOPLE_CASES,
    Case(
        "expect_row_sets",
        VISITS,
        {**OF_PEOPLE, "k": 2},
        {**OF_PEOPLE, "k": 9},
        {"people": 4, "people_by_all": 2, "people_by_two": 0},
    ),
    Case(
        "expect_alpha_anonymity",
        people(("F", "flu", 1), ("F", "cold", 1), ("M", "flu", 2), ("M", "cold", 2), names=("sex", "illness")),
        {**DIVERSE, "alpha": 0.5, "k": 2},
        {**DIVERSE, "alpha": 0.49, "k": 2},
        {"worst": 0.5, "classes": 2, "classes_failing": 0, "rows": 6, "rows_failing": 0},
    ),
    Case(
        "expect_declared_types",
        people(("F", "1980", 2), ("M", None, 1), names=("sex", "year")),
        {"columns": ["sex", "year"], "types": ["text", "integer"]},
        {"columns": ["sex", "year"], "types": ["boolean", "integer"]},
        {"columns": 2, "columns_wrong": [], "cells_wrong": 0},
    ),
    Case(
        "expect_homogeneity",
        people(("F", "flu", 3), ("M", "flu", 1), ("M", "cold", 1), names=("sex", "illness")),
        SENSITIVE,
        SENSITIVE,  # Nothing is required of it, so nothing breaks it.
        {"rows": 5, "certain": 3, "certain_not_commonest": 0, "ninety_percent": 3},
    ),
    Case(
        "expect_joint_beside_original",
        people(("F", "*", 2), ("M", "*", 2)),
        {**BESIDE, "k": 2},
        {**BESIDE, "k": 3},
        {"k": 2, "rows": 4, "rows_before": 4, "rows_below_k": 0, "made_from_original": True},
    ),
    Case(
        "expect_joint_classes",
        TWO_CLASSES,
        {**K, "k": 2, "others": []},
        {**K, "k": 3, "others": []},
        {
            "k": 2,
            "classes": 2,
            "rows": 5,
            "rows_below_k": 0,
            "singletons": 0,
            "without": [],
            "smallest_set": [],
        },
    ),
    Case(
        "expect_k_anonymity",
        TWO_CLASSES,
        {**K, "k": 2},
        {**K, "k": 3},
        {"k": 2, "classes": 2, "rows": 5, "rows_below_k": 0},
    ),
    Case(
        "expect_k_anonymity_beside_original",
        people(("F", "*", 2), ("M", "*", 2)),
        {**BESIDE, "k": 2},
        {**BESIDE, "k": 3},
        {"k": 2, "rows": 4, "rows_before": 4, "rows_below_k": 0, "made_from_original": True},
    ),
    Case(
        "expect_l_diversity",
        people(("F", "flu", 1), ("F", "cold", 1), ("M", "flu", 1), ("M", None, 1), names=("sex", "illness")),
        {**DIVERSE, "kind": "distinct", "l": 2, "c": None},
        {**DIVERSE, "kind": "distinct", "l": 3, "c": None},
        {"worst": 2, "classes": 2, "classes_failing": 0, "rows": 4, "rows_failing": 0},
    ),
    Case(
        "expect_no_freeform_breach",
        TWO_CLASSES,
        {**FREEFORM, "sigma_t": 0.6},
        {**FREEFORM, "sigma_t": 0.59},
        {"breaches": 0, "rows": 5, "rows_concerned": 0, "threat": 0.6, "column": "sex"},
    ),
    Case(
        "expect_no_published_identifier",
        people(("F", "Enna", 3), ("F", "Noto", 1)),
        {"columns": ["town"], "share": 0.26},
        {"columns": ["town"], "share": 0.25},
        {"columns": 0, "largest_share": 0.25, "rows": 4},
    ),
    Case(
        "expect_no_singletons",
        people(("F", "Enna", 1), ("M", "Enna", 2)),
        {**K, "max_singletons": 1},
        {**K, "max_singletons": 0},
        {"singletons": 1, "classes": 2, "rows": 3},
    ),
    Case(
        "expect_no_undeclared_column",
        TWO_CLASSES,
        {"columns": ["town", "sex"]},
        {"columns": ["sex"]},
        {"columns": 2, "undeclared_at": [], "missing": []},
    ),
    Case(
        "expect_personal_patterns",
        people(("F", "anna@example.org", 2), ("M", "Enna", 3), names=("sex", "note")),
        {"columns": ["sex", "note"], "accepted": [["note", "email"]], "refuses": True},
        {"columns": ["sex", "note"], "accepted": [["sex", "email"]], "refuses": True},
        {
            "columns": 2,
            "rows": 5,
            "found": [],
            "accepted": [{"column": "note", "pattern": "email", "values": 1, "rows": 2, "at_least": False}],
        },
    ),
    Case(
        "expect_published_uniqueness",
        people(("F", "Enna", 1), ("M", "Enna", 3)),
        {**UNIQUENESS, "max_share": 0.25},
        {**UNIQUENESS, "max_share": 0.24},
        {"sets": 0, "largest_share": 0.0, "rows": 4, "offending": [], "alone_within_limit": 1},
    ),
    Case(
        "expect_removal",
        BY_SEX,
        {**K, "k": 3},
        {**K, "k": 2},
        {"classes": 1, "missing": 0, "coarser": 1, "rows": 0, "exact": True},
    ),
    Case(
        "expect_restored_values",
        BY_SEX,
        {**K, "limit": 40},
        {**K, "limit": 39},
        {
            "cells": 40,
            "cells_by_loose_rules": 0,
            "hidden": 40,
            "columns": {"town": 40},
            "rules": [{"column": "town", "by": ["sex"], "cells": 40}],
        },
    ),
    Case(
        "expect_risk_below",
        TWO_CLASSES,
        {**K, "max_risk": 0.5},
        {**K, "max_risk": 0.49},
        {"highest": 0.5, "average": 0.4, "classes": 2, "classes_failing": 0, "rows": 5, "rows_failing": 0},
    ),
    Case(
        "expect_rows_suppressed_at_most",
        people(("F", "Enna", 70), ("*", "*", 1)),
        {**SUPPRESSED, "limit": 0.30},
        {**SUPPRESSED, "limit": 0.29},
        {"rows": 71, "removed": 29, "blanked": 1, "share": 0.3},
    ),
    Case(
        "expect_sensitive_alone",
        TWO_CLASSES,
        {"columns": K["columns"], "k": 3, "max_share": 0.4},
        {"columns": K["columns"], "k": 3, "max_share": 0.3},
        {"alone": 2, "rows": 5, "share": 0.4, "sets": [{"columns": ["sex"], "alone": 2}]},
    ),
    Case(
        "expect_sensitivity_below",
        people(("F", "Enna", 1), ("M", "Enna", 1), ("F", "Noto", 2)),
        {**SENSITIVITY, "limit": 0.25},
        {**SENSITIVITY, "limit": 0.24},
        {"highest": 0.25, "column": "sex", "columns_above": 0, "unique_sets": 1, "rows": 4},
    ),
    Case(
        "expect_t_closeness",
        ILLNESSES,
        {**SENSITIVE, "t": 0.25, "distance": "equal", "hierarchy": None},
        {**SENSITIVE, "t": 0.24, "distance": "equal", "hierarchy": None},
        {"worst": 0.25, "classes": 2, "classes_failing": 0, "rows": 4, "rows_failing": 0},
    ),
    Case(
        "expect_unique_with_sensitive",
        people(("F", "Enna", 1), ("M", "Enna", 3)),
        {"columns": K["columns"], "limit": 0.25},
        {"columns": K["columns"], "limit": 0.24},
        {"alone": 1, "rows": 4, "share": 0.25},
    ),
]
REPORTED = ("expect_row_sets", "expect_homogeneity")
"""What holds whatever is found."""
BY_NAME = {case.name: case for case in CASES}


@pytest.fixture(name="second_inputs")
def given_inputs(tmp_path: Path) -> Iterator[Path]:
    """The folder, the originals and what each row was, of which whoever evaluates tells the expectations."""
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies/sexes.csv").write_text(SEXES)
    tables = {"register": REGISTER.frame(), "visits": BEFORE.frame()}
    with hierarchies_in(tmp_path), originals(tables), paired_by(PAIRING):
        yield tmp_path
