"""What is wrong with `privacy.waivers`: checks that cannot be waived, are not required, or are waived twice.

As in :mod:`anon_core.spec.parts` this is found in the parsed YAML, so that all of it is told at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from anon_core.check_names import Requirement, check_names
from anon_core.policy import Alpha, Distance, Diversity, LDiversity, TCloseness
from anon_core.waivers import NOT_WAIVABLE, OF_ONE_COLUMN, WAIVABLE, NamedCheck, named_check
from anon_core.yaml_lines import Location, as_text

__all__ = ["waiver_problems"]

_WRITTEN = {"no_freeform_breach": "freeform"}
_MODELS: dict[str, type[Requirement]] = {"l_diversity": LDiversity, "t_closeness": TCloseness, "alpha": Alpha}
_Found = Iterator[tuple[Location, str]]
_DEFAULTS: dict[str, Any] = {
    "kind": Diversity.DISTINCT,
    "distance": Distance.EQUAL,
    "l": 2,
    "c": None,
    "t": 0,
    "alpha": 1,
}
_Check = tuple[str, str | None]
"""A check that is required: its name, and its column where it is of one."""


def waiver_problems(content: Any) -> _Found:
    """Yield what is wrong with each waiver, at the place of its `check`."""
    privacy, stock = _mapping(_mapping(content).get("privacy")), _stock(content)
    required = [*_of_policy(privacy, _mapping(_mapping(content).get("columns"))), *stock]
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
    plain = check.name.removeprefix("expect_")
    if plain in NOT_WAIVABLE:
        return f"`{plain}` cannot be waived: {NOT_WAIVABLE[plain]}"
    types = list(dict.fromkeys(name for name, _ in stock))
    if check.name not in (*WAIVABLE, *types):
        known = [*WAIVABLE, *types]
        close = get_close_matches(check.name[:80], known, n=1) or get_close_matches(plain[:80], known, n=1)
        meant = f"; did you mean `{close[0]}`?" if close else f"; what can be waived: {', '.join(known)}"
        return f"there is no check called `{check.name[:80]}`{meant}"
    if check.narrowed is not None and check.name in WAIVABLE and check.name not in OF_ONE_COLUMN:
        return f"`{check.name}` is not about one column; write it without `({check.narrowed})`"
    return "" if waives_something else _without_effect(check, privacy)


def _without_effect(check: NamedCheck, privacy: Mapping[Any, Any]) -> str:
    if check.name not in WAIVABLE:
        return f"`expectations` has no `{check.name}` of column `{check.narrowed}`; remove the waiver"
    if check.name == "declared_types":
        return "no column has a `type`, so there is nothing to waive; remove the waiver"
    key = _WRITTEN.get(check.name, check.name)
    of = f" of column `{check.narrowed}`" if check.narrowed is not None and _list(privacy.get(key)) else ""
    return f"`privacy.{key}`{of} is not required, so there is nothing to waive; remove the waiver"


def _of_policy(privacy: Mapping[Any, Any], columns: Mapping[Any, Any]) -> Iterator[_Check]:
    """Yield the checks that a policy requires and that may be waived."""
    yield "rows_suppressed_at_most", None
    if any(_mapping(column).get("type") is not None for column in columns.values()):
        yield "declared_types", None
    for name in ("max_risk", "max_sensitivity", "no_freeform_breach"):
        written = privacy.get(_WRITTEN.get(name, name))
        if written is not None and written is not False:
            yield name, None
    found = [one for key, model in _MODELS.items() for one in _read(model, _list(privacy.get(key)))]
    yield from ((name, one.column) for one, name in check_names(found).items())


def _read(model: type[Requirement], entries: list[Any]) -> Iterator[Requirement]:
    """Yield the entries that are what they should be; others are reported as such, and their columns can be waived."""
    for entry in entries:
        column = as_text(_mapping(entry).get("column"))
        try:
            yield model.model_validate(entry)
        except ValidationError:
            if isinstance(column, str):
                yield model.model_construct(**{**_DEFAULTS, "column": column})


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
