"""A publication file as written, before its sections are read: any part may be wrong, or name what is not installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from anon_core.errors import InvalidInputError
from anon_core.files.yaml_lines import Location, as_text, name_of, plain
from anon_core.registry import METHODS, Registry
from anon_core.settings import Settings, quoted
from anon_core.spec.parts import parts_of, with_parts

ROLES = ("identifier", "quasi", "sensitive", "other", "drop")
Found = Iterator[tuple[Location, str]]
"""Problems: where each is written, and what to do."""


def at(value: Any, location: Location) -> Any:
    """Return the value at a location, or None; a list has no entry by name."""
    for part in location:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def text_at(content: Any, location: Location) -> str:
    """Return the text at a location, empty where there is none."""
    value = as_text(at(content, location))
    return value if isinstance(value, str) else ""


def list_at(content: Any, location: Location) -> list[Any]:
    """Return the list at a location, empty where there is none."""
    value = at(content, location)
    return value if isinstance(value, list) else []


def did_you_mean(name: str, known: Any) -> str:
    """Return the end of a sentence that names the known word closest to this one, empty where none is close."""
    # Matching takes long on long texts and lists, and these are not misspelt by a letter.
    close = get_close_matches(name, list(known)[:1000], n=1) if len(name) <= 80 else []
    return f"; did you mean `{close[0]}`?" if close else ""


def unknown_column(name: str, declared: Mapping[str, Any]) -> str | None:
    """Return that no published column has a name, and which one may be meant; None if there is such a column."""
    columns = with_parts(declared)
    if name in columns:
        return None
    if name in declared:
        instead = ", ".join(map(quoted, parts_of(declared[name]) or ()))
        return f"column {quoted(name)} is decomposed, so it is not published; name its parts: {instead}"
    return f"no column {quoted(name)} in `columns`{did_you_mean(name, columns)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A publication file as recoding methods check it; ``partial``: it is for a command that gets its own table."""

    content: Any
    partial: bool

    def at(self, *location: str | int) -> Any:
        return at(self.content, location)

    def text(self, *location: str | int) -> str:
        return text_at(self.content, location)

    def entries(self, *location: str | int) -> list[Any]:
        return list_at(self.content, location)

    @property
    def method(self) -> str:
        """The key of the recoding method, ``global`` where none is written."""
        return "global" if self.at("recode", "method") is None else self.text("recode", "method")

    @property
    def sections(self) -> tuple[str, ...]:
        """The keys of the methods that have a section of their own in the file."""
        keys = METHODS.keys()
        return tuple(key for key in keys if self.at("recode", key) is not None)

    @property
    def columns(self) -> Mapping[str, Any]:
        found = self.at("columns")
        return found if isinstance(found, dict) else {}

    @property
    def quasi_identifiers(self) -> Sequence[str] | None:
        """The columns of role quasi; None if a role is misspelt, because it may mean quasi."""
        roles = {name: text_at(column, ("role",)) for name, column in self.columns.items()}
        if not all(role in ROLES for role in roles.values()):
            return None
        return [name for name, role in roles.items() if role == "quasi"]


_MIN_LIKENESS = 0.75
"""From this likeness on, an unknown key is misspelt, and not the key of something that is not installed."""


class Unread(Settings):
    """
    The content of a file for a member that no installed package brings.

    The file can be read, its DAG drawn and its table profiled without the member; steps that need the member call
    ``refuse``.
    """

    where: str
    reason: str
    content: Any = None

    @classmethod
    def of(cls, registry: Registry, key: str, location: Location, content: Any) -> Unread:
        """Keep the content at a location, which is for the member of this key."""
        return cls(where=name_of(location), reason=registry.absent(key), content=plain(content))

    def refuse(self) -> InvalidInputError:
        """Return the error to raise where the member is needed."""
        return InvalidInputError(f"{self.where}: {self.reason}")


def misspelt(key: str, known: Registry | tuple[str, ...]) -> str | None:
    """
    Return the known key that is most likely meant; None if it is more likely the key of something not installed.

    >>> misspelt("l_diversty", ("k", "l_diversity")), misspelt("delta_presence", ("k", "l_diversity"))
    ('l_diversity', None)
    """
    keys = known.keys() if isinstance(known, Registry) else known
    close = get_close_matches(key, keys, n=1, cutoff=_MIN_LIKENESS) if len(key) <= 80 else []
    return close[0] if close else None
