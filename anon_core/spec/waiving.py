"""What is wrong with `privacy.waivers`: checks that cannot be waived, are not required, or are waived twice.

As in :mod:`anon_core.spec.parts` this is found in the parsed YAML, so that all of it is told at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from anon_core.waivers import EXPECTATIONS, NOT_WAIVABLE, OF_ONE_COLUMN, NamedCheck, named_check
from anon_core.yaml_lines import Location, as_text

__all__ = ["waiver_problems"]

_ALWAYS = ("rows_suppressed_at_most", "declared_types")
_WRITTEN = {"no_freeform_breach": "freeform"}
_Found = Iterator[tuple[Location, str]]


def waiver_problems(content: Any) -> _Found:
    """Yield what is wrong with each waiver, at the place of its `check`."""
    privacy, stock = _mapping(_mapping(content).get("privacy")), _stock(content)
    seen: list[NamedCheck] = []
    for index, waiver in enumerate(_list(privacy.get("waivers"))):
        text = as_text(_mapping(waiver).get("check"))
        if not isinstance(text, str) or not text.strip():  # Reported as such.
            continue
        check = named_check(text)
        what = _refusal(check, privacy, stock)
        twice = any(one.covers(check.name, check.column) or check.covers(one.name, one.column) for one in seen)
        if not what and twice:
            what = f"`{check.name}` is waived already; one waiver for one check, so that it is plain who answers for it"
        if what:
            yield ("privacy", "waivers", index, "check"), what
        seen.append(check)


def _refusal(check: NamedCheck, privacy: Mapping[Any, Any], stock: list[NamedCheck]) -> str:
    """Say why a check cannot be waived; empty when it can."""
    plain = check.name.removeprefix("expect_")
    if plain in NOT_WAIVABLE:
        return f"`{plain}` cannot be waived: {NOT_WAIVABLE[plain]}"
    if check.name in EXPECTATIONS:
        return _of_policy(check, privacy)
    types = list(dict.fromkeys(one.name for one in stock))
    if check.name not in types:
        known = [*EXPECTATIONS, *types]
        close = get_close_matches(check.name[:80], known, n=1) or get_close_matches(plain[:80], known, n=1)
        meant = f"; did you mean `{close[0]}`?" if close else f"; what can be waived: {', '.join(known)}"
        return f"there is no check called `{check.name[:80]}`{meant}"
    columns = [one.column for one in stock if one.name == check.name]
    if check.column is not None and check.column not in columns:
        return f"`expectations` has no `{check.name}` of column `{check.column}`; remove the waiver"
    return ""


def _of_policy(check: NamedCheck, privacy: Mapping[Any, Any]) -> str:
    key = _WRITTEN.get(check.name, check.name)
    if check.column is not None and check.name not in OF_ONE_COLUMN:
        return f"`{check.name}` is not about one column; write it without `({check.column})`"
    required = privacy.get(key)
    if check.name in _ALWAYS or (check.column is None and required not in (None, [], False)):
        return ""
    columns = [as_text(_mapping(one).get("column")) for one in _list(required)]
    if check.column is not None and check.column in columns:
        return ""
    of = f" of column `{check.column}`" if check.column is not None and columns else ""
    return f"`privacy.{key}`{of} is not required, so there is nothing to waive; remove the waiver"


def _stock(content: Any) -> list[NamedCheck]:
    found = []
    for entry in _list(_mapping(content).get("expectations")):
        kind, column = (
            as_text(_mapping(entry).get("type")),
            as_text(_mapping(_mapping(entry).get("kwargs")).get("column")),
        )
        if isinstance(kind, str):
            found.append(NamedCheck(kind, column if isinstance(column, str) else None))
    return found


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
