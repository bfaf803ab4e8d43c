"""Whether the settings of a member refuse a key that they do not know: a slip in a publication file must not pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints, is_typeddict

from pydantic import BaseModel


def types_that_ignore_keys(settings: Any) -> tuple[str, ...]:
    """
    Return the names of the classes in a type of settings, nested ones included, that let unknown keys pass, sorted.

    >>> class Loose(BaseModel):
    ...     most: int
    >>> types_that_ignore_keys(tuple[Loose, ...] | None), types_that_ignore_keys(dict[str, int])
    (('Loose',), ())
    """
    found: set[str] = set()
    seen: list[Any] = []
    waiting = [settings]
    while waiting:
        kind = waiting.pop()
        if any(kind is one for one in seen):
            continue
        seen.append(kind)
        waiting += [*get_args(kind), *_fields(kind)]
        if _ignores_keys(kind):
            found.add(kind.__name__)
    return tuple(sorted(found))


def _has_keys(kind: Any) -> bool:
    return isinstance(kind, type) and (issubclass(kind, BaseModel) or is_dataclass(kind) or is_typeddict(kind))


def _fields(kind: Any) -> Iterator[Any]:
    """Yield the types of the fields of a class; of a name that stands for a type, that type."""
    if _has_keys(kind):
        yield from _hints(kind).values()
    elif (meant := getattr(kind, "__value__", None) or getattr(kind, "__supertype__", None)) is not None:
        yield meant


def _hints(kind: Any) -> Mapping[str, Any]:
    if issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    try:
        return get_type_hints(kind)
    except NameError:  # Types that only a type checker imports; pydantic says so when it reads the first file.
        return {}


def _ignores_keys(kind: Any) -> bool:
    if not _has_keys(kind) or getattr(kind, "__pydantic_root_model__", False):
        return False
    config = getattr(kind, "model_config", None) or getattr(kind, "__pydantic_config__", None) or {}
    return bool(config.get("extra") != "forbid")
