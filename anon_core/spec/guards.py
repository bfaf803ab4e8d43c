"""What freeform anonymity asks of a publication file: guarded columns that are published and have a hierarchy.

As in :mod:`anon_core.spec.parts` this is found in the parsed YAML, so that all of it is told at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_core.spec.parts import parts_of, with_parts
from anon_core.spec.written import Found, at, text_at
from anon_core.yaml_lines import Location

_HERE: Location = ("privacy", "freeform", "columns")
_KEPT = ("quasi", "sensitive", "other")
_BUILT_FROM_VALUES = ("intervals", "prefix", "date")


def guarded_names(content: Any) -> list[str]:
    """Return the columns that `privacy.freeform` guards, as written."""
    return list(_guards(content))


def freeform_problems(content: Any, declared: Mapping[str, Any], *, partial: bool) -> Found:
    """
    Yield what is wrong between `privacy.freeform` and the columns.

    In a file that is run the gate measures published labels when the originals are gone. It can place only labels that
    a file knows, or that stand right below a root; and nobody knows any more how frequent values were.
    """
    if at(content, _HERE[:2]) is None:
        return
    columns = with_parts(declared)
    for name, guard in _guards(content).items():
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
    if role not in _KEPT:  # Reported as such.
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


def _guards(content: Any) -> Mapping[str, Any]:
    found = at(content, _HERE)
    return found if isinstance(found, dict) else {}


def _kind(column: Any) -> str:
    kinds = ("file", "root", *_BUILT_FROM_VALUES)
    return next((kind for kind in kinds if at(column, ("hierarchy", kind)) is not None), "")
