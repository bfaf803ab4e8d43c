"""Which limits of the site a publication file goes beyond, and who answers for that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from anon_core.policy import KMeans, PartialPolicy, Raised
from anon_core.role import Role
from anon_core.site.policy import SitePolicy, exact_risk
from anon_core.spec import PartialPublication
from anon_core.spec.raised import LIMITS, NOT_THERE, value_at
from anon_core.waivers import named_check

_WITH_SENSITIVE = "published_uniqueness.max_share_with_sensitive"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedLimit:
    """
    A limit as a file has it (``value``; None where it states none) and as the site does, and whether it is ``beyond``.

    ``waived``: the file lets the check fail, so its value limits nothing.
    """

    limit: str
    value: float | None
    allowed: float | str | None
    waived: bool
    beyond: bool
    answered: Raised | None


def raised_limits(publication: PartialPublication, policy: PartialPolicy, site: SitePolicy) -> Iterator[RaisedLimit]:
    """Yield every limit that this version has, with who answers for raising it, whether it has ended or not."""
    for limit in LIMITS:
        value, allowed = value_at(policy, limit), value_at(site, limit)
        if value is not NOT_THERE:
            yield RaisedLimit(
                limit=limit,
                value=value,
                allowed=allowed,
                waived=any(named_check(one.check).name == limit for one in policy.waivers),
                beyond=allowed is not None and _beyond(publication, policy, limit, value, allowed),
                answered=next((one for one in policy.raised if one.limit == limit), None),
            )


def answered_by_name(found: RaisedLimit, today: date) -> bool:
    """Whether a person answers for a limit today."""
    return found.answered is not None and found.answered.until >= today


def _beyond(publication: PartialPublication, policy: PartialPolicy, limit: str, value: Any, allowed: Any) -> bool:
    """Whether a value is more than the site allows, as exact fractions; one that is not stated is no limit at all."""
    if limit == "max_risk":
        return _risk_beyond(publication, policy, exact_risk(allowed))
    if value is None:
        return limit != _WITH_SENSITIVE or bool(publication.names_with_role(Role.SENSITIVE))
    return Fraction(str(value)) > Fraction(str(allowed))


def _risk_beyond(publication: PartialPublication, policy: PartialPolicy, allowed: Fraction) -> bool:
    """
    Whether people could be linked with more than this risk.

    Classes of k people keep it where their exact k is required and 1/k is no more; else the file has to require it, and
    must not waive it.
    """
    if not publication.quasi_identifiers:
        return False
    if policy.k and policy.k_means is KMeans.EXACT and Fraction(1, policy.k) <= allowed:
        return False
    waived = any(named_check(one.check).name == "max_risk" for one in policy.waivers)
    return waived or policy.max_risk is None or exact_risk(policy.max_risk) > allowed
