"""What is wrong with `privacy.waivers`: checks that cannot be waived, are not required, or are waived twice.

As in :mod:`anon_core.spec.parts` this is found in the parsed YAML, so that all of it is told at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from anon_core.waivers import NamedCheck, named_check, not_waivable, waivable
from anon_core.yaml_lines import Location, as_text

_Found = Iterator[tuple[Location, str]]
_Check = tuple[str, str | None]
"""A check that is required: its name, and its column where it is of one."""


def waiver_problems(content: Any) -> _Found:
    """Yield what is wrong with each waiver, at the place of its `check`."""
    privacy, columns = (_mapping(_mapping(content).get(section)) for section in ("privacy", "columns"))
    if not _list(privacy.get("waivers")):  # A DAG file parses most publications without loading a model.
        return
    stock = _stock(content)
    required = [*(one for model in waivable().values() for one in model.written_in(privacy, columns)), *stock]
    seen: set[_Check] = set()
    for index, waiver in enumerate(_list(privacy.get("waivers"))):
        text = as_text(_mapping(waiver).get("check"))
        if not isinstance(text, str) or not text.strip():  # Reported as such.
            continue
        check = named_check(text)
        meant = {one for one in required if check.covers(*one)}
        what = _refusal(check, privacy, stock, waives_something=bool(meant))
        if not what and meant & seen:
            what = f"`{check.name}` is waived already; one waiver for one check, so that it is plain who answers for it"
        if what:
            yield ("privacy", "waivers", index, "check"), what
        seen |= meant


def _refusal(check: NamedCheck, privacy: Mapping[Any, Any], stock: list[_Check], *, waives_something: bool) -> str:
    """Say why a check cannot be waived; empty when it can."""
    plain, refused, models = check.name.removeprefix("expect_"), not_waivable(), waivable()
    if plain in refused:
        return f"`{plain}` cannot be waived: {refused[plain]}"
    known = [*models, *dict.fromkeys(name for name, _ in stock)]
    if check.name not in known:
        close = get_close_matches(check.name[:80], known, n=1) or get_close_matches(plain[:80], known, n=1)
        meant = f"; did you mean `{close[0]}`?" if close else f"; what can be waived: {', '.join(known)}"
        return f"there is no check called `{check.name[:80]}`{meant}"
    if check.narrowed is not None and check.name in models and not models[check.name].by_column:
        return f"`{check.name}` is not about one column; write it without `({check.narrowed})`"
    if waives_something:
        return ""
    if check.name not in models:
        return f"`expectations` has no `{check.name}` of column `{check.narrowed}`; remove the waiver"
    section = models[check.name].section
    if section is None:
        return "no column has a `type`, so there is nothing to waive; remove the waiver"
    of = f" of column `{check.narrowed}`" if check.narrowed is not None and _list(privacy.get(section)) else ""
    return f"`privacy.{section}`{of} is not required, so there is nothing to waive; remove the waiver"


def _stock(content: Any) -> list[_Check]:
    found: list[_Check] = []
    for entry in _list(_mapping(content).get("expectations")):
        kind, column = (
            as_text(_mapping(entry).get("type")),
            as_text(_mapping(_mapping(entry).get("kwargs")).get("column")),
        )
        if isinstance(kind, str):
            found.append((kind, column if isinstance(column, str) else None))
    return found


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
