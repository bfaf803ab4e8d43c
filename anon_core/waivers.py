"""Checks that a named person lets fail until a day: which can be waived, and what is then required of a recoding.

A waiver counts through the end of its last day, UTC. What keeps people apart from each other, and what shows that the
right files were measured, cannot be waived at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from anon_core.check_names import names_of_policy
from anon_core.policy import PartialPolicy, Waiver

__all__ = [
    "NOT_WAIVABLE",
    "OF_ONE_COLUMN",
    "WAIVABLE",
    "Ended",
    "NamedCheck",
    "ended",
    "named_check",
    "waiver_of",
    "without_waived",
]

WAIVABLE = (
    "l_diversity",
    "t_closeness",
    "alpha",
    "max_risk",
    "max_sensitivity",
    "no_freeform_breach",
    "rows_suppressed_at_most",
    "declared_types",
)
"""What can be waived, as a publication file calls it, beside the stock expectations that it lists."""

OF_ONE_COLUMN = ("l_diversity", "t_closeness", "alpha")
"""Those that are required of columns one by one."""

_ALIASES = {"freeform": "no_freeform_breach", "suppression_limit": "rows_suppressed_at_most"}

_CLASSES = "it is what hides people among others: lower it in `privacy`, where everybody sees it, or generalise more"
_SETS = "accept the set of columns by name in `privacy.published_uniqueness.accept`"
_INTEGRITY = "it shows that the right files were measured by every check; correct what it tells of"
NOT_WAIVABLE = {
    "k": _CLASSES,
    "k_anonymity": _CLASSES,
    "link_k": _CLASSES,
    "source_k": _CLASSES,
    "singletons": "set `privacy.singletons` to the number of rows that may stand alone",
    "no_singletons": "set `privacy.singletons` to the number of rows that may stand alone",
    "published_uniqueness": _SETS,
    "no_published_identifier": _SETS,
    "no_undeclared_column": "declare the column in `columns`, or give it the role drop",
    **dict.fromkeys(
        ("same_content", "unchanged", "evaluated", "suite", "readable", "distributions", "gate", "made_from_original"),
        _INTEGRITY,
    ),
    "formulas": "remove `csv.escape_formulas` if such cells are meant to be there",
    **dict.fromkeys(("acceptance", "acceptances", "waiver", "waivers"), "have it renewed, or remove it"),
    **dict.fromkeys(("receipt", "approval"), "nothing is published without it; run the gate again"),
}
"""What cannot be waived, and what to do instead."""


@dataclass(frozen=True, slots=True)
class NamedCheck:
    """A check as a waiver names it: all of a name, or what is ``narrowed`` to a column, its kind and its limits."""

    name: str
    narrowed: str | None = None

    def covers(self, check: str, column: str | None) -> bool:
        """
        Whether a check of this name, of a column where it is of one, is meant.

        >>> meant = named_check("t_closeness(illness, equal)")
        >>> meant.covers("t_closeness(illness, equal, t=0.2)", "illness")
        True
        >>> meant.covers("t_closeness(age, equal)", "age")
        False
        """
        name, _, inside = check.partition("(")
        if self.name != name or self.narrowed is None:
            return self.name == name
        if self.narrowed == column:
            return True
        wanted, own = f"{_spaced(self.narrowed)}, ", f"{_spaced(inside.removesuffix(')'))}, "
        return column is not None and wanted.startswith(f"{_spaced(column)}, ") and own.startswith(wanted)


def _spaced(text: str) -> str:
    return re.sub(r"\s*,\s*", ", ", text)


def named_check(text: str) -> NamedCheck:
    """
    Read the name of a check, and what it is narrowed to.

    >>> named_check("t_closeness(licence category)")
    NamedCheck(name='t_closeness', narrowed='licence category')
    >>> named_check("freeform")
    NamedCheck(name='no_freeform_breach', narrowed=None)
    """
    found = re.fullmatch(r"\s*([^()\s]+)\s*(?:\((.+)\))?\s*", text, re.DOTALL)
    if found is None:
        return NamedCheck(text)
    return NamedCheck(_ALIASES.get(found[1], found[1]), found[2].strip() if found[2] else None)


def waiver_of(policy: PartialPolicy, check: str, column: str | None = None) -> Waiver | None:
    """Return the waiver for a check, of a column where it is of one; whether it has ended is not asked."""
    return next((one for one in policy.waivers if named_check(one.check).covers(check, column)), None)


_Policy = TypeVar("_Policy", bound=PartialPolicy)


def without_waived(policy: _Policy, *, keep_freeform: bool = False) -> _Policy:
    """
    Return what a recoding must reach: all but what is waived, ended waivers too, so that a day changes no bytes.

    A run with an ended waiver is refused anyway. With ``keep_freeform`` guarded values stay guarded: the method that is
    made for that needs to know them.
    """

    names = names_of_policy(policy)

    def kept(name: str) -> tuple[Any, ...]:
        return tuple(one for one in getattr(policy, name) if waiver_of(policy, names[one], one.column) is None)

    changes: dict[str, Any] = {name: kept(name) for name in OF_ONE_COLUMN}
    changes |= {name: None for name in ("max_risk", "max_sensitivity") if waiver_of(policy, name)}
    if waiver_of(policy, "no_freeform_breach") and not keep_freeform:
        changes["freeform"] = None
    if waiver_of(policy, "rows_suppressed_at_most"):
        changes["suppression_limit"] = 1.0
    return policy.model_copy(update=changes) if policy.waivers else policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A waiver or an acceptance whose last day is over."""

    kind: str
    until: date
    sentence: str


def ended(policy: PartialPolicy, today: date) -> Iterator[Ended]:
    """Yield every acceptance and waiver that no longer counts, with what to do."""
    for one in policy.published_uniqueness.accept:
        if one.until < today:
            sentence = (
                f"the acceptance of {', '.join(one.columns)} given by {one.by} expired on {one.until.isoformat()}; "
                "have it renewed, or remove it from published_uniqueness.accept and generalise these columns"
            )
            yield Ended(kind="acceptance", until=one.until, sentence=sentence)
    for waiver in policy.waivers:
        if waiver.until < today:
            sentence = (
                f"the waiver of {waiver.check} given by {waiver.by} expired on {waiver.until.isoformat()}; have it "
                "renewed, or remove it from privacy.waivers and keep what it waived"
            )
            yield Ended(kind="waiver", until=waiver.until, sentence=sentence)
