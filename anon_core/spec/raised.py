"""The limits that a site sets and a named person may let one publication file raise: ``privacy.raised``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anon_core.settings import quoted
from anon_core.spec.written import Found, at, did_you_mean, list_at, text_at

NEVER = ("k", "k_anonymity")
"""k hides people among others: a file cannot go below the k of the site, even if a person answers for it."""


@dataclass(frozen=True, slots=True)
class NotThere:
    """The value of a key that this version does not have."""


NOT_THERE = NotThere()

LIMITS = (
    "published_uniqueness.max_share",
    "published_uniqueness.max_share_alone",
    "published_uniqueness.max_share_with_sensitive",
    "max_restored",
    "max_risk",
)
"""The limits, as dotted keys: the same below ``privacy`` of a publication file and in a site policy."""


def value_at(settings: object, limit: str) -> Any:
    """
    Return the value of a dotted key of settings; :data:`NOT_THERE` where this version has no such key.

    >>> from anon_core.policy import PartialPolicy
    >>> value_at(PartialPolicy(), "published_uniqueness.max_share"), value_at(PartialPolicy(), "max_raised")
    (0.0, NotThere())
    """
    for part in limit.split("."):
        settings = getattr(settings, part, NOT_THERE)
    return settings


def raised_problems(content: Any) -> Found:
    """Yield the limits that do not exist, cannot be raised, or are raised twice, each with its location."""
    seen: set[str] = set()
    for index, one in enumerate(list_at(at(content, ("privacy",)), ("raised",))):
        limit = text_at(one, ("limit",)).strip()
        if limit and (what := _problem(limit, seen)):
            yield ("privacy", "raised", index, "limit"), what
        seen.add(limit)


def _problem(limit: str, seen: set[str]) -> str:
    if limit in NEVER:
        return "`k` can be neither raised, waived nor accepted: the site policy says which k is the smallest"
    if limit not in LIMITS:
        meant = did_you_mean(limit, LIMITS) or f"; limits that can be raised: {', '.join(LIMITS)}"
        return f"there is no limit {quoted(limit)} to raise{meant}"
    if limit in seen:
        return f"`{limit}` is raised already; one entry for one limit, so that it is plain who answers for it"
    return ""
