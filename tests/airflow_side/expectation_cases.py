"""For each of our expectations a table, arguments with which it just holds and others with which it just fails."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.expectations.inputs import hierarchies_in, originals
from tests.airflow_side.expectation_engines import Cells, people


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
UNIQUENESS = {"columns": ["sex", "town"], "max_size": 2, "accepted": [], "together": [], "protected": []}
SUPPRESSED = {**K, "roots": [["*"], ["*"]], "rows_before": 100}

ILLNESSES = people(("F", "flu", 1), ("F", "cold", 1), ("M", "flu", 2), names=("sex", "illness"))
SENSITIVE = {"columns": ["sex"], "sensitive": "illness"}
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

CASES = [
    Case(
        "expect_alpha_anonymity",
        people(("F", "flu", 1), ("F", "cold", 1), ("M", "flu", 2), ("M", "cold", 2), names=("sex", "illness")),
        {**SENSITIVE, "alpha": 0.5, "k": 2},
        {**SENSITIVE, "alpha": 0.49, "k": 2},
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
        {**SENSITIVE, "kind": "distinct", "l": 2, "c": None},
        {**SENSITIVE, "kind": "distinct", "l": 3, "c": None},
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
        "expect_published_uniqueness",
        people(("F", "Enna", 1), ("M", "Enna", 3)),
        {**UNIQUENESS, "max_share": 0.25},
        {**UNIQUENESS, "max_share": 0.24},
        {"sets": 0, "largest_share": 0.0, "rows": 4, "offending": []},
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
]
BY_NAME = {case.name: case for case in CASES}


@pytest.fixture(name="second_inputs")
def given_inputs(tmp_path: Path) -> Iterator[Path]:
    """The folder and the original that whoever evaluates tells the expectations of."""
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies/sexes.csv").write_text(SEXES)
    with hierarchies_in(tmp_path), originals({"register": REGISTER.frame()}):
        yield tmp_path
