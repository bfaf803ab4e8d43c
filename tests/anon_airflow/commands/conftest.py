"""The table that most commands are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.publications import csv_text, people


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "register.csv"
    path.write_text(csv_text(people()))
    return path
