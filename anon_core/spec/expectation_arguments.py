"""Arguments of stock expectations that could run code or take for ever: programs, formulas, regular expressions.

Great Expectations evaluates some texts: a ``row_condition`` as Python code by pandas, a ``$PARAMETER`` as a formula. It
hands regular expressions to pandas, which matches them in linear time (RE2) or, depending on what is in the cells, by
trying every way (Python). So the publication file may have only expressions with few ways to match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from anon_core.spec.patterns import MAX_PATTERN_LENGTH, search_problem

MAX_WAYS = 1_000_000
"""In how many ways an expression may match a cell of a hundred characters."""
_CELL_LENGTH = 100
_JSON_SCHEMA = "expect_column_values_to_match_json_schema"


def argument_problem(kind: str, arguments: Mapping[str, Any]) -> str | None:
    """Return why an expectation with these arguments cannot be run, or None."""
    if found := next((key for key in _keys(arguments) if key.startswith("$")), None):
        return f"`{found[:40]}` would be evaluated as a formula or an address; write the value itself"
    if isinstance(arguments.get("row_condition"), str) or arguments.get("condition_parser") is not None:
        return "`row_condition` would be run as a program; remove it, and `condition_parser`"
    if kind == _JSON_SCHEMA and {"pattern", "patternProperties"} & set(_keys(arguments)):
        return "matching the `pattern` of a JSON schema may never end; use expect_column_values_to_match_regex"
    written = arguments.get("regex_list") if "regex_list" in arguments else [arguments.get("regex")]
    for one in written if isinstance(written, list) else []:
        if isinstance(one, str) and (problem := _regex_problem(one)):
            return f"the regular expression {problem}"
    return None


def _keys(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _keys(inner)


def _regex_problem(pattern: str) -> str | None:
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"has {len(pattern):,} characters, and may have {MAX_PATTERN_LENGTH:,}"
    if problem := search_problem(pattern):
        return problem
    if _ways(_parsed(pattern)) > MAX_WAYS:
        return (
            "may match in too many ways, so matching may never end: repeat nothing that has a repetition or `|` in it, "
            "and use at most three `*` or `+`"
        )
    return None


def _parsed(pattern: str) -> Any:
    # Python has no public way to read an expression without compiling it.
    return re._parser.parse(pattern)  # type: ignore[attr-defined]


def _ways(parsed: Any) -> float:
    """Return in how many ways a parsed expression may be tried on a cell, at least."""
    ways = 1.0
    for operation, argument in parsed:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = argument
            times = min(int(most), _CELL_LENGTH)
            ways *= (max(times - int(least), 0) + 1) * min(_ways(inner), MAX_WAYS + 1) ** min(times, 50)
        elif name == "SUBPATTERN":
            ways *= _ways(argument[-1])
        elif name == "BRANCH":
            ways *= sum(map(_ways, argument[1]))
        if ways > MAX_WAYS:
            return ways
    return ways
