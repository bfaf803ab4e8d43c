"""Arguments of stock expectations that could run code or never end are refused when the publication file is read."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.anon_core.spec.spec_files import changed, folder, load, problems  # noqa: F401 - `folder` is a fixture

REGEX = "expect_column_values_to_match_regex"
CELL = "a" * 30 + "!"

RUNAWAYS = [
    r"^(a+)+$",
    r"^(a*)*$",
    r"^(a|a)*$",
    r"^(a|aa)+$",
    r"^([a-zA-Z]+)*$",
    r"^(\w+\s?)*$",
    r"(x+x+)+y",
    r"^(?:a?){40}a{40}$",
    "^" + "a?" * 40 + "a" * 40 + "$",
    r"a*a*a*a*a*a*b",
    r"(?=a)b",
    r"(?<!a)b",
    r"(a)\1",
    r"a++b",
    r"(",
    "a" * 2_000,
    r"((a{1,100}){1,100}){1,100}",
]
FINE = [
    r"^[A-Z]{2}[0-9]{3}$",
    r"^\d+$",
    r"^\w+@\w+\.\w+$",
    r"^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$",
    r"^(?:north|south)$",
    r"^[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]$",
    r"^(\d{3}-){2}\d{4}$",
    r"^\d{4}(-\d{2}(-\d{2})?)?$",
    r"^19",
]


def expectation(kwargs: dict[str, Any], kind: str = REGEX) -> str:
    return changed(expectations=[{"type": kind, "kwargs": {"column": "points", **kwargs}}])


@pytest.mark.parametrize("pattern", RUNAWAYS)
def test_an_expression_that_may_never_end_is_refused(folder: Path, pattern: str) -> None:  # noqa: F811
    (where,) = problems(folder, expectation({"regex": pattern}))
    assert where == "expectations[0]"
    (where,) = problems(folder, expectation({"regex_list": ["^a", pattern]}, f"{REGEX}_list"))
    assert where == "expectations[0]"


@pytest.mark.parametrize("pattern", FINE)
def test_expressions_that_people_write_are_taken_and_end_soon(folder: Path, pattern: str) -> None:  # noqa: F811
    assert load(folder, expectation({"regex": pattern})).expectations[0].kwargs["regex"] == pattern
    begun = time.process_time()
    for cell in (CELL * 3, "1" * 90 + "!", "1." * 45 + "!"):
        re.search(pattern, cell)  # As pandas does where RE2 reads the expression otherwise.
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("kind", "kwargs"),
    [
        ("expect_column_max_to_be_between", {"max_value": {"$PARAMETER": "9**9**9"}}),
        ("expect_column_values_to_not_be_null", {"row_condition": "@pd.io", "condition_parser": "pandas"}),
        ("expect_column_values_to_not_be_null", {"row_condition": "points > 1"}),
        ("expect_column_values_to_not_be_null", {"condition_parser": "pandas"}),
        ("expect_column_values_to_match_json_schema", {"json_schema": {"properties": {"a": {"pattern": "(a+)+$"}}}}),
        ("expect_column_values_to_match_json_schema", {"json_schema": {"$ref": "http://127.0.0.1/x"}}),
    ],
)
def test_what_would_be_evaluated_is_refused(folder: Path, kind: str, kwargs: dict[str, Any]) -> None:  # noqa: F811
    assert list(problems(folder, expectation(kwargs, kind))) == ["expectations[0]"]
