"""What a publication file says to a member of a seam that is not installed: kept as written, refused by what runs."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from anon_core.errors import InvalidInputError
from anon_core.policy import Model
from anon_core.registry import Registry
from anon_core.yaml_lines import Location, name_of, plain

_ALIKE = 0.8
"""From this likeness on, an unknown key is a slip and not the key of something that is not installed."""


class Unread(Model):
    """
    The words for a member that no installed package brings.

    Reading the file, drawing its DAG and looking at its table go on without the member; ``refuse`` is for whatever
    would need it.
    """

    where: str
    reason: str
    content: Any = None

    @classmethod
    def of(cls, registry: Registry, key: str, location: Location, content: Any) -> Unread:
        """Keep what stands at a location, the words for the member of this key."""
        return cls(where=name_of(location), reason=registry.absent(key), content=plain(content))

    def refuse(self) -> InvalidInputError:
        """Return the error to raise where the member is needed."""
        return InvalidInputError(f"{self.where}: {self.reason}")


def misspelt(key: str, known: Registry | tuple[str, ...]) -> str | None:
    """
    Return the key that is most likely meant, or None where it is rather that of something not installed.

    >>> misspelt("l_diversty", ("k", "l_diversity")), misspelt("delta_presence", ("k", "l_diversity"))
    ('l_diversity', None)
    """
    keys = known.keys() if isinstance(known, Registry) else known
    close = get_close_matches(key, keys, n=1, cutoff=_ALIKE) if len(key) <= 80 else []
    return close[0] if close else None
