"""What freeform anonymity asks of a publication file: guarded columns that are published and have a hierarchy.

As in :mod:`anon_core.spec.parts` this is found in the parsed YAML, so that all of it is told at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from anon_core.spec.parts import parts_of, with_parts
from anon_core.yaml_lines import Location, as_text

__all__ = ["freeform_problems", "guarded_names"]

_HERE: Location = ("privacy", "freeform", "columns")
_KEPT = ("quasi", "sensitive", "other")
_BUILT_FROM_VALUES = ("intervals", "prefix", "date")
_Found = Iterator[tuple[Location, str]]


def guarded_names(content: Any) -> list[str]:
    """Return the columns that `privacy.freeform` guards, as written."""
    return list(_mapping(_mapping(_freeform(content)).get("columns")))


def freeform_problems(content: Any, declared: Mapping[str, Any], *, partial: bool) -> _Found:
    """
    Yield what is wrong between `privacy.freeform` and the columns.

    In a file that is run the gate measures published labels when the originals are gone. It can place only labels that
    a file knows, or that stand right below a root; and nobody knows any more how frequent values were.
    """
    if _freeform(content) is None:
        return
    columns = with_parts(declared)
    for name, guard in _mapping(_mapping(_freeform(content)).get("columns")).items():
        if name in columns:
            yield from _guard_problems(name, columns[name], guard, partial=partial)
    if not partial:
        for name, column in columns.items():
            if _role(column) == "quasi" and name not in guarded_names(content) and _kind(column) in _BUILT_FROM_VALUES:
                yield _place(declared, name), _needs_a_file(_kind(column))


def _guard_problems(name: str, column: Any, guard: Any, *, partial: bool) -> _Found:
    role, hierarchy = _role(column), _mapping(column).get("hierarchy")
    if role in ("identifier", "drop"):
        yield (*_HERE, name), f"a column of role `{role}` is never published, so it needs no guard; remove it"
        return
    if role not in _KEPT:  # Reported as such.
        return
    if hierarchy is None:
        yield (*_HERE, name), "needs a hierarchy of the column: guarded values are generalised by it"
    elif not partial and _kind(column) != "file":
        yield (*_HERE, name), _needs_a_file(_kind(column))
    if as_text(_mapping(hierarchy).get("unmapped")) == "suppress":
        what = "the hierarchy of a guarded column covers all its values; remove `unmapped: suppress` there"
        yield (*_HERE, name), what
    if not partial and as_text(_mapping(guard).get("sensitivity")) == "frequency":
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


def _freeform(content: Any) -> Any:
    return _mapping(_mapping(content).get("privacy")).get("freeform")


def _role(column: Any) -> Any:
    return as_text(_mapping(column).get("role"))


def _kind(column: Any) -> str:
    hierarchy = _mapping(_mapping(column).get("hierarchy"))
    return next((kind for kind in ("file", "root", *_BUILT_FROM_VALUES) if hierarchy.get(kind) is not None), "")


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}
