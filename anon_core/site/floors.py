"""A publication file held against the site policy: everything in which it goes below a floor, at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date

from anon_core.policy import PartialPolicy
from anon_core.registry import PORTALS
from anon_core.role import Role
from anon_core.site.policy import PEOPLE_PER_K, SitePolicy
from anon_core.site.raising import RaisedLimit, answered_by_name, raised_limits
from anon_core.spec import PartialPublication, PortalSettings
from anon_core.spec.member_sections import key_in
from anon_core.waivers import named_check
from anon_core.wording import counted


def undercuts(
    publication: PartialPublication | None, site: SitePolicy, today: date, *, k: int | None = None
) -> list[str]:
    """
    Return a sentence for everything that undercuts the site policy: what, the file's value, the floor, who may change.

    What the file leaves out is judged as what then holds; a command may have its ``k`` from elsewhere. No sentence has
    a path of this machine.
    """
    policy = (publication.privacy if publication else None) or PartialPolicy()
    policy = policy if k is None else policy.model_copy(update={"k": k})
    found = [*_k(policy, site)]
    if publication is not None:
        found += _diversity(publication, policy, site)
        found += _suppression(policy, site)
        found += _limits(publication, policy, site, today)
        found += _publishing(publication, site)
    return [f"{one} ({site.owner} may change the site policy)" for one in found]


def smallest_table(k: int, people: int, site: SitePolicy, *, counted_as: str = "person") -> str | None:
    """Return a sentence where a table has fewer people than the site policy asks for; None where it has enough."""
    needed = site.people_for(k)
    if people >= needed:
        return None
    found = counted(people, counted_as)
    why = f"{needed:,}" if site.min_people is not None else f"{needed:,}, which is {PEOPLE_PER_K} times k"
    return (
        f"the table has {found}, and the site policy asks for at least {why}: publish a longer period or a larger area "
        f"at once ({site.owner} may change the site policy)"
    )


def _k(policy: PartialPolicy, site: SitePolicy) -> Iterator[str]:
    if policy.k is not None and policy.k < site.k:
        yield f"privacy.k is {policy.k}, and the site policy asks for at least {site.k}"


def _diversity(publication: PartialPublication, policy: PartialPolicy, site: SitePolicy) -> Iterator[str]:
    floor = site.l_diversity.l
    for one in policy.l_diversity:
        if floor is not None and one.l < floor:
            yield f"privacy.l_diversity of {one.column} has l {one.l:g}, the site policy asks for at least {floor:g}"
    if not site.l_diversity.required:
        return
    asked = {one.column for one in policy.l_diversity}
    sensitive = publication.names_with_role(Role.SENSITIVE)
    if without := [name for name in sensitive if name not in asked]:
        yield (
            f"privacy.l_diversity asks nothing of {', '.join(without)}, and the site policy requires it of every "
            "sensitive column"
        )
    for waiver in policy.waivers:
        if named_check(waiver.check).name == "l_diversity":
            yield f"privacy.waivers has {waiver.check}, and the site policy requires it of every sensitive column"


def _suppression(policy: PartialPolicy, site: SitePolicy) -> Iterator[str]:
    most = site.suppression_limit
    if policy.suppression_limit > most:
        yield f"privacy.suppression_limit is {policy.suppression_limit:g}, and the site policy allows at most {most:g}"
    for waiver in policy.waivers:
        if most < 1 and named_check(waiver.check).name == "rows_suppressed_at_most":
            yield f"privacy.waivers has {waiver.check}, and the site policy allows suppression of at most {most:g}"


def _limits(publication: PartialPublication, policy: PartialPolicy, site: SitePolicy, today: date) -> Iterator[str]:
    for one in raised_limits(publication, policy, site):
        if one.beyond and not answered_by_name(one, today):
            yield (
                f"privacy.{one.limit} is {_value(one)}, and the site policy allows at most {one.allowed}: lower it, or "
                f"raise the limit by name in privacy.raised, with `limit: {one.limit}`, `reason`, `by` and `until`"
            )


def _value(one: RaisedLimit) -> str:
    stated = "not stated" if one.value is None else f"{one.value:g}"
    return f"{stated} and waived" if one.waived else stated


def _publishing(publication: PartialPublication, site: SitePolicy) -> Iterator[str]:
    if site.approval.required and not publication.approval.required:
        yield "approval.required is false, and the site policy asks for the approval of every release by a person"
    if site.portals is None or not isinstance(publication.portal, PortalSettings):
        return
    kind = key_in(PORTALS, dict(publication.portal)) or ""
    allowed = site.portals.get(kind)
    if allowed is None:
        yield f"portal is of the kind {kind}, and the site policy allows {', '.join(site.portals)}"
        return
    settings = publication.portal.resolved(publication.root)
    if not isinstance(allowed, str) and not _is_named(settings, allowed):
        places = counted(len(allowed), "place")
        yield f"portal.{kind} is none of the {places} that the site policy allows; `anon policy show` lists them"


def _is_named(settings: PortalSettings, allowed: tuple[str, ...]) -> bool:
    """Whether a portal is one of those named; a folder is compared as the disk has it, with links followed."""
    if settings.shown_folder is not None:
        return os.path.realpath(settings.shown_folder) in {os.path.realpath(name) for name in allowed}
    return settings.place is not None and settings.place in allowed
