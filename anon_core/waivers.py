"""What a named person answers for until a day: which checks can be waived, and what a recoding must then reach.

A waiver counts until the end of its last day, UTC. Checks that hide people among others, and checks that the right
files were measured, cannot be waived.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from anon_core.policy import PartialPolicy, Waiver
from anon_core.registry import MODELS

if TYPE_CHECKING:
    from anon_core.models.model import PrivacyModel

__all__ = [
    "ACCEPT_BY_NAME",
    "ACCEPT_OTHERS",
    "HIDES_PEOPLE",
    "INTEGRITY",
    "SHOWS_PEOPLE",
    "Ended",
    "NamedCheck",
    "answers",
    "ended",
    "named_check",
    "not_waivable",
    "too_far",
    "waivable",
    "waiver_of",
    "without_waived",
]

HIDES_PEOPLE = (
    "it is what hides people among others: lower it in `privacy`, where every reader sees it, or generalise more"
)
ACCEPT_BY_NAME = "accept the set of columns by name in `privacy.published_uniqueness.accept`"
ACCEPT_OTHERS = (
    "it is what hides people among others: drop the columns declared other, declare them quasi, or accept them by name "
    "in `privacy.published_uniqueness.accept`"
)
SHOWS_PEOPLE = "it is what keeps sensitive columns from singling people out: coarsen or drop columns"
INTEGRITY = "it shows that the right files were measured by every check; correct what it reports"
_OF_THE_GATE = {
    **dict.fromkeys(
        ("same_content", "unchanged", "evaluated", "suite", "readable", "distributions", "gate", "witness"), INTEGRITY
    ),
    "formulas": "remove `csv.escape_formulas` if such cells are meant to be there",
    **dict.fromkeys(
        ("acceptance", "acceptances", "waiver", "waivers", "limit", "limits", "answer", "answers"),
        "have it renewed, or remove it",
    ),
    **dict.fromkeys(("site_policy", "smallest_table"), "the site policy says so, and only its owner may change it"),
    **dict.fromkeys(("receipt", "approval"), "nothing is published without it; run the gate again"),
}


def waivable() -> dict[str, type[PrivacyModel]]:
    """Return the privacy models that can be waived, by key, beside the stock expectations that a file lists."""
    return {key: model for key, model in MODELS.members().items() if model.waivable}


def not_waivable() -> dict[str, str]:
    """Return every name of a check that cannot be waived, and what to do instead."""
    found = dict(_OF_THE_GATE)
    for model in MODELS.members().values():
        if not model.waivable:
            found |= dict.fromkeys((model.key, model.section or model.key, *model.page), model.instead)
    return found


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
    key = next((key for key, model in waivable().items() if model.section == found[1]), found[1])
    return NamedCheck(key, found[2].strip() if found[2] else None)


def waiver_of(policy: PartialPolicy, check: str, column: str | None = None) -> Waiver | None:
    """Return the waiver for a check, of a column if it is about one; the waiver may have ended."""
    return next((one for one in policy.waivers if named_check(one.check).covers(check, column)), None)


_Policy = TypeVar("_Policy", bound=PartialPolicy)


def without_waived(policy: _Policy, *, keep_freeform: bool = False) -> _Policy:
    """
    Return the policy that a recoding must reach: without what is waived, also by waivers that have ended.

    So the end of a waiver changes no released bytes; a run with an ended waiver is refused anyway. With
    ``keep_freeform`` guarded values stay guarded, because the freeform method needs to know them.
    """
    changes = {model.section: model.unwaived(policy) for model in waivable().values() if model.section}
    if keep_freeform:
        del changes["freeform"]
    return policy.model_copy(update={name: one for name, one in changes.items() if one != getattr(policy, name, None)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A statement for which a person answers until a day that is over, or too far ahead."""

    kind: str
    until: date
    sentence: str


def ended(policy: PartialPolicy, today: date, unit: BaseModel | None = None) -> Iterator[Ended]:
    """Yield every acceptance, waiver, raised limit and answer about the ``unit`` that no longer counts."""
    for kind, until, what, otherwise in _answered(policy, unit):
        if until < today:
            sentence = f"{what} expired on {until.isoformat()}; have it renewed, or remove it {otherwise}"
            yield Ended(kind=kind, until=until, sentence=sentence)


def _answered(policy: PartialPolicy, unit: BaseModel | None) -> Iterator[tuple[str, date, str, str]]:
    """Yield the kind of each, its last day, what it is and whose, and what to do without it."""
    for accepted in policy.published_uniqueness.accept:
        what = f"the acceptance of {', '.join(accepted.columns)} given by {accepted.by}"
        otherwise = "from published_uniqueness.accept and generalise these columns"
        yield "acceptance", accepted.until, what, otherwise
    for pattern in policy.patterns.accept:
        what = f"the acceptance of {pattern.pattern.value} in {pattern.column} given by {pattern.by}"
        yield "acceptance", pattern.until, what, "from patterns.accept and clean the column"
    for waiver in policy.waivers:
        what = f"the waiver of {waiver.check} given by {waiver.by}"
        yield "waiver", waiver.until, what, "from privacy.waivers and keep what it waived"
    for raised in policy.raised:
        what = f"the limit {raised.limit} raised by {raised.by}"
        yield "limit", raised.until, what, "from privacy.raised and keep the limit of the site"
    for where, one in answers(unit, "unit"):
        what = f"what {one.by} answers for in {where}"
        yield "answer", one.until, what, "and say which columns tell people apart"


def too_far(policy: PartialPolicy, today: date, days: int, unit: BaseModel | None = None) -> Iterator[Ended]:
    """Yield every statement whose last day is more than so many days ahead, with the day to write instead."""
    last = today + timedelta(days=days)
    for where, one in (*answers(policy, "privacy"), *answers(unit, "unit")):
        if one.until > last:
            sentence = (
                f"{where}, which {one.by} answers for, lasts until {one.until.isoformat()}, and the site policy allows "
                f"at most {days:,} days: write `until: {last.isoformat()}` or an earlier day"
            )
            yield Ended(kind="answer", until=one.until, sentence=sentence)


def answers(settings: Any, where: str) -> Iterator[tuple[str, Any]]:
    """
    Yield every entry with a ``reason``, a name in ``by`` and a last day in ``until``, and its location.

    All sections are searched, so that entries of sections added later are found too.
    """
    if isinstance(settings, list | tuple):
        for index, one in enumerate(settings):
            yield from answers(one, f"{where}[{index}]")
    elif isinstance(settings, BaseModel):
        if {"reason", "by", "until"} <= set(type(settings).model_fields):
            yield where, settings
        for name, one in settings:
            yield from answers(one, f"{where}.{name}")
