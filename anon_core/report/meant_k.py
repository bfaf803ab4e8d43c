"""Which k a policy means, in words: every page and text with a k takes it from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anon_core.policy import KMeans

_WORDS = {
    "exact": ("k", "rows in the smallest class"),
    "link": ("link k", "rows that may be a person's, at least"),
    "source": ("source k", "people whose row each may be, at least"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeantK:
    """
    One k that a table must reach to be published.

    ``kind`` is its key among the four k's, ``name`` its name, and ``meaning`` what it counts. ``required`` is None if
    no k is required, ``measured`` if it was not measured.
    """

    kind: str
    name: str
    meaning: str
    required: int | None
    measured: int | None


def meant_k(means: str, required: int | None, measured: Mapping[str, Any] | None = None) -> tuple[MeantK, ...]:
    """
    Return the k that the policy means: that of the smallest class, or, with ``link``, both link and source k.

    ``measured`` has the four k's as the reports hold them.

    >>> [(one.name, one.required, one.measured) for one in meant_k("link", 3, {"exact": 1, "link": 4, "source": 3})]
    [('link k', 3, 4), ('source k', 3, 3)]
    >>> [(one.name, one.measured) for one in meant_k("exact", 3)]
    [('k', None)]
    """
    kinds = ("link", "source") if means == KMeans.LINK.value else ("exact",)
    found = measured or {}
    return tuple(
        MeantK(
            kind=kind, name=_WORDS[kind][0], meaning=_WORDS[kind][1], required=required, measured=_count(found, kind)
        )
        for kind in kinds
    )


def _count(measured: Mapping[str, Any], kind: str) -> int | None:
    value = measured.get(kind)
    return value if isinstance(value, int) else None
