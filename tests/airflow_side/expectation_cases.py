"""For each of our expectations a table and arguments with which it just holds, and arguments with which it just fails."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.expectations.inputs import hierarchies_in
from tests.airflow_side.expectation_engines import Cells, people


@dataclass(frozen=True)
class Case:
    """``holds`` and ``breaks`` are arguments, or ``broken`` is another table of which ``holds`` does not hold."""

    name: str
    table: Cells
    holds: dict[str, Any]
    breaks: dict[str, Any]
    holds_as: dict[str, Any]
    """The observed value where it holds."""


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
UNIQUENESS = {"columns": ["sex", "town"], "max_size": 2, "accepted": [], "together": []}
SUPPRESSED = {**K, "roots": ["*", "*"], "rows_before": 100}

CASES = [
    Case(
        "expect_k_anonymity",
        TWO_CLASSES,
        {**K, "k": 2},
        {**K, "k": 3},
        {"k": 2, "classes": 2, "rows": 5, "rows_below_k": 0},
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
        "expect_rows_suppressed_at_most",
        people(("F", "Enna", 70), ("*", "*", 1)),
        {**SUPPRESSED, "limit": 0.30},
        {**SUPPRESSED, "limit": 0.29},
        {"rows": 71, "removed": 29, "blanked": 1, "share": 0.3},
    ),
]
BY_NAME = {case.name: case for case in CASES}


@pytest.fixture
def hierarchy_files(tmp_path: Path) -> Iterator[Path]:
    """The folder that whoever evaluates tells the expectations of."""
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies/sexes.csv").write_text(SEXES)
    with hierarchies_in(tmp_path):
        yield tmp_path
