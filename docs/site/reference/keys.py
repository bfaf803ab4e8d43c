"""The page of the publication file's keys: what the models read, beside what the document says that it means."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from anon_core.spec.checks import NOT_BUILT
from anon_core.spec.columns import Hierarchy
from docs.site.reference.markdown import code, docstring, table

DOCUMENT = Path(__file__).resolve().parents[2] / "publication-file.md"
_BOUNDS = {"ge": "at least {:g}", "gt": "above {:g}", "le": "at most {:g}", "lt": "below {:g}"}
_TYPES = {"str": "text", "int": "whole number", "float": "number", "date": "date", "Any": "any value"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key: its path, what it takes, its default (empty for a section), and what that says of it."""

    path: str
    takes: str
    default: str
    about: str = ""

    @property
    def name(self) -> str:
        """Its last part."""
        return self.path.rpartition(".")[2].removesuffix("[]")


def not_built() -> frozenset[str]:
    """Return the keys that this version knows and refuses by name."""
    return frozenset(path for path, values, _ in NOT_BUILT if values is None)


def keys() -> tuple[Key, ...]:
    """Return every key that a publication file can have, those of our sources, portals and methods included."""
    from anon_core.registry import METHODS, PORTALS, SOURCES
    from anon_core.spec import Publication

    found: dict[str, Key] = {}
    for key in _below(Publication, ""):
        found.setdefault(key.path, key)
        for section, registry in (("source", SOURCES), ("portal", PORTALS), ("recode", METHODS)):
            if key.path == section or (section == "recode" and key.path == "recode.utility"):
                for name, member in registry.members().items():
                    if settings := member.settings:
                        prefix = f"{section}." if section != "recode" else f"recode.{name}."
                        if section == "recode":
                            found[f"recode.{name}"] = Key(path=f"recode.{name}", takes="mapping", default="`null`")
                        found |= {one.path: one for one in _below(settings, prefix) if one.path not in found}
    return tuple(found.values())


def _below(model: type[BaseModel], prefix: str) -> Iterator[Key]:
    for name, field in model.model_fields.items():
        if field.annotation is types.NoneType and not field.metadata:
            continue  # The key of another member of the seam, which may say that it is off.
        path = prefix + name
        inner = list(_models_in(field.annotation))
        default = _default(field.default, required=field.is_required(), section=bool(inner))
        about = inner[0][1].__doc__ if len(inner) == 1 else None
        if path in not_built():
            yield Key(path=path, takes="*not yet*", default="`null`")
            continue
        yield Key(path=path, takes=_takes(field.annotation, field.metadata), default=default, about=about or "")
        for suffix, one in inner:
            if one is not Hierarchy or not suffix:  # Those of the parts of a column are written as that of a column.
                yield from _below(one, f"{path}{suffix}.")


def _models_in(annotation: Any) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the models that a value can be read by, and what stands between their keys and the key of the value."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        if annotation.model_fields and annotation.__name__ not in ("SourceSettings", "PortalSettings", "Unread"):
            yield "", annotation
    elif origin is Annotated:
        yield from _models_in(inside[0])
    elif origin is dict:
        yield from ((f".<name>{suffix}", one) for suffix, one in _models_in(inside[1]))
    elif origin is tuple:
        yield from ((f"[]{suffix}", one) for suffix, one in _models_in(inside[0]))
    elif origin in (Union, types.UnionType):
        for one in inside:
            yield from _models_in(one)


def _takes(annotation: Any, metadata: list[Any]) -> str:
    """Return what a key takes, in words."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _takes(inside[0], [*inside[1:], *metadata])
    if annotation is types.NoneType:
        return "*not yet*"
    if origin in (Union, types.UnionType):
        shown = dict.fromkeys(_takes(one, metadata) for one in inside if one is not types.NoneType)
        return "number" + _bounded(metadata) if inside == (int, float) else " or ".join(shown)
    if origin is Literal:
        return " or ".join(code(_written(one)) for one in inside)
    if origin is tuple:
        return "list of " + _takes(inside[0], [])
    if origin is dict:
        return "mapping of names to " + _takes(inside[1], [])
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        return ", ".join(code(one.value) for one in annotation)
    if annotation is bool:
        return "`true` or `false`"
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return "mapping"
    return _TYPES.get(getattr(annotation, "__name__", ""), "text") + _bounded(metadata)


def _bounded(metadata: list[Any]) -> str:
    flat = [one for item in metadata for one in getattr(item, "metadata", [item])]
    found = {name: getattr(one, name) for one in flat for name in _BOUNDS if getattr(one, name, None) is not None}
    if {"ge", "le"} <= set(found):
        return f" from {found['ge']:g} to {found['le']:g}"
    return "".join(f", {_BOUNDS[name].format(limit)}" for name, limit in found.items())


def _default(value: Any, *, required: bool, section: bool) -> str:
    if required:
        return "required"
    if value is PydanticUndefined or isinstance(value, BaseModel):
        return "" if section else "`{}`"
    return code(_written(value))


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join('""' if one == "" else _written(one) for one in value) + "]"
    if isinstance(value, Enum):
        return str(value.value)
    return (
        {None: "null", True: "true", False: "false"}.get(value, str(value))
        if isinstance(value, bool | None)
        else str(value)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the document: the keys that it is about, the default that it gives, and the meaning."""

    paths: tuple[str, ...]
    default: str
    meaning: str


def rows() -> tuple[Row, ...]:
    """Return the rows of the table in ``docs/publication-file.md``."""
    text = DOCUMENT.read_text(encoding="utf-8")
    found = re.findall(r"^\| (`.+?) \| (.*?) ?\| (.+) \|$", text[: text.index("## Templates")], re.MULTILINE)
    return tuple(Row(paths=_paths(cell), default=default, meaning=meaning) for cell, default, meaning in found)


def _paths(cell: str) -> tuple[str, ...]:
    first, *others = re.findall(r"`([^`]+)`", cell)
    parent = first.rpartition(".")[0]
    return (first, *(one if "." in one or not parent else f"{parent}.{one}" for one in others))


def row_of(key: Key, written: tuple[Row, ...]) -> tuple[Row | None, bool]:
    """Return the row that explains a key, and whether the key has the row for itself; None where no row names it."""
    path = key.path.replace("[]", "")
    by_path = {one: row for row in written for one in row.paths}
    if path in by_path:
        return by_path[path], True
    while path := path.rpartition(".")[0]:
        if path in by_path:
            words = re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]+)`", by_path[path].meaning)))
            return (by_path[path] if key.name in words else None), False
    return None, False


def page() -> str:
    """Return every key by its section."""
    parts = [
        "What a key takes and its default are read from the code when this site was built; the meaning is that of "
        "[the publication file](../publication-file.md). `<name>` is a name that you choose, `[]` an entry of a list. "
        "A package that brings a source, a portal, an engine, a method or a privacy model adds keys of its own."
    ]
    written, found = rows(), keys()
    by_section: dict[str, list[Key]] = {}
    for key in found:
        by_section.setdefault(re.split(r"[.\[]", key.path)[0], []).append(key)
    alone = [key for section in by_section.values() if len(section) == 1 for key in section]
    parts += ["## Keys without a section", _table(alone, written)]
    for section, inside in by_section.items():
        if len(inside) > 1:
            about = inside[0].about if inside[0].takes == "mapping" else ""
            parts += [f"## {section}", *([docstring(about)] if about else []), _table(inside, written)]
    return "\n\n".join(parts) + "\n"


def _table(found: list[Key], written: tuple[Row, ...]) -> str:
    lines = []
    for key in found:
        row, own = row_of(key, written)
        above = next((one for one in row.paths if key.path.replace("[]", "").startswith(f"{one}.")), "") if row else ""
        meaning = _from_reference(row.meaning) if row and own else f"see {code(above)}" if above else ""
        lines.append([code(key.path), key.takes, key.default, meaning])
    return table(["key", "takes", "default", "meaning"], lines)


def _from_reference(meaning: str) -> str:
    """Return a meaning with links that lead from a page of the reference to the other pages."""
    meaning = re.sub(r"\]\(#", "](publication-file.md#", meaning)
    return re.sub(r"\]\((?![a-z]+:)", "](../", meaning)
