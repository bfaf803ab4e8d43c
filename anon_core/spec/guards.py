"""What is wrong in ``privacy`` of a publication file: guarded columns that do not fit, and waivers without effect.

As in :mod:`anon_core.spec.parts` these checks read the parsed YAML, so that all problems are reported at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from anon_core.files.yaml_lines import Location, as_text
from anon_core.spec.parts import parts_of, with_parts
from anon_core.spec.written import Found, at, list_at, text_at
from anon_core.waivers import NamedCheck, named_check, not_waivable, waivable

_HERE: Location = ("privacy", "freeform", "columns")
_KEPT = ("quasi", "sensitive", "other")
_BUILT_FROM_VALUES = ("intervals", "prefix", "date")


def guarded_names(content: Any) -> list[str]:
    """Return the columns that `privacy.freeform` guards, as written."""
    return list(_mapping_at(content, _HERE))


def freeform_problems(content: Any, declared: Mapping[str, Any], *, partial: bool) -> Found:
    """
    Yield what is wrong between `privacy.freeform` and the columns.

    When a file is run, the gate measures published labels without the originals. It can place only labels that a
    hierarchy file has, or that are right below a root, and it does not know how frequent values were.
    """
    if at(content, _HERE[:2]) is None:
        return
    columns = with_parts(declared)
    for name, guard in _mapping_at(content, _HERE).items():
        if name in columns:
            yield from _guard_problems(name, columns[name], guard, partial=partial)
    if not partial:
        for name, column in columns.items():
            if (
                text_at(column, ("role",)) == "quasi"
                and name not in guarded_names(content)
                and _kind(column) in _BUILT_FROM_VALUES
            ):
                yield _place(declared, name), _needs_a_file(_kind(column))


def _guard_problems(name: str, column: Any, guard: Any, *, partial: bool) -> Found:
    role, hierarchy = text_at(column, ("role",)), at(column, ("hierarchy",))
    if role in ("identifier", "drop"):
        yield (*_HERE, name), f"a column of role `{role}` is never published, so it needs no guard; remove it"
        return
    if role not in _KEPT:  # It is reported elsewhere.
        return
    if hierarchy is None:
        yield (*_HERE, name), "needs a hierarchy of the column: guarded values are generalised by it"
    elif not partial and _kind(column) != "file":
        yield (*_HERE, name), _needs_a_file(_kind(column))
    if text_at(hierarchy, ("unmapped",)) == "suppress":
        what = "the hierarchy of a guarded column covers all its values; remove `unmapped: suppress` there"
        yield (*_HERE, name), what
    if not partial and text_at(guard, ("sensitivity",)) == "frequency":
        what = (
            "`frequency` needs to know how frequent values are in the originals, which are gone when the gate "
            "measures; use aggregate or non-aggregate, or `anon recode`"
        )
        yield (*_HERE, name, "sensitivity"), what


def _needs_a_file(kind: str) -> str:
    return (
        f"`{kind or 'this'}` is made from the values, and the gate measures `privacy.freeform` on published labels "
        "when the originals are gone: it can place only what a file knows; build one with `anon hierarchy build`"
    )


def _place(declared: Mapping[str, Any], name: str) -> Location:
    """Return where the hierarchy of a column is written, or that of the column which it is a part of."""
    if name in declared:
        return ("columns", name, "hierarchy")
    whole = next(one for one, column in declared.items() if name in (parts_of(column) or ()))
    return ("columns", whole, "decompose")


def _mapping_at(content: Any, location: Location) -> Mapping[str, Any]:
    found = at(content, location)
    return found if isinstance(found, dict) else {}


def _kind(column: Any) -> str:
    kinds = ("file", "root", *_BUILT_FROM_VALUES)
    return next((kind for kind in kinds if at(column, ("hierarchy", kind)) is not None), "")


_Check = tuple[str, str | None]
"""A check that is required: its name, and its column if it is about one."""


def waiver_problems(content: Any) -> Found:
    """Yield what is wrong with each waiver, at the location of its `check`."""
    privacy, columns = (_mapping_at(content, (section,)) for section in ("privacy", "columns"))
    waivers = list_at(privacy, ("waivers",))
    if not waivers:  # A DAG file parses most publications without loading a model.
        return
    stock = _stock(content)
    required = [*(one for model in waivable().values() for one in model.written_in(privacy, columns)), *stock]
    seen: set[_Check] = set()
    for index, waiver in enumerate(waivers):
        text = text_at(waiver, ("check",))
        if not text.strip():  # Reported as such.
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
    """Return why a check cannot be waived; an empty text if it can."""
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
    of = f" of column `{check.narrowed}`" if check.narrowed is not None and list_at(privacy, (section,)) else ""
    return f"`privacy.{section}`{of} is not required, so there is nothing to waive; remove the waiver"


def _stock(content: Any) -> list[_Check]:
    found: list[_Check] = []
    for entry in list_at(content, ("expectations",)):
        kind, column = as_text(at(entry, ("type",))), as_text(at(entry, ("kwargs", "column")))
        if isinstance(kind, str):
            found.append((kind, column if isinstance(column, str) else None))
    return found
