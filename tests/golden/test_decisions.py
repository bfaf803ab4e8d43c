"""What is released, and every verdict about it, is what it was: a difference is a defect or a behaviour change.

``python -m tests.golden`` writes the file anew. Do so only with a line in the changelog that says why.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden.cases import CASES, decided

EXPECTED: dict[str, Any] = json.loads(Path(__file__).with_name("decisions.json").read_text())


def test_the_file_has_exactly_the_cases() -> None:
    assert EXPECTED.keys() == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_bytes_and_verdicts_are_what_they_were(tmp_path: Path, name: str) -> None:
    assert decided(tmp_path, CASES[name]) == EXPECTED[name]
