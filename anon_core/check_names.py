"""What checks are called, everywhere the same: by the gate, by the commands, and by whoever waives one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from anon_core.policy import Alpha, LDiversity, PartialPolicy, TCloseness

__all__ = ["Requirement", "check_names", "names_of_policy"]

Requirement = LDiversity | TCloseness | Alpha
"""What a policy requires of a sensitive column."""


def names_of_policy(policy: PartialPolicy) -> dict[Requirement, str]:
    """Return the names of all that a policy requires of sensitive columns."""
    return check_names(chain(policy.l_diversity, policy.t_closeness, policy.alpha))


def check_names(requirements: Iterable[Requirement]) -> dict[Requirement, str]:
    """
    Return the name of each requirement; those that would have the same one carry their limits too.

    >>> twice = [LDiversity(column="illness", l=2), LDiversity(column="illness", l=3)]
    >>> list(check_names([*twice, TCloseness(column="illness", t=0.2), Alpha(column="illness", alpha=0.5)]).values())
    ['l_diversity(illness, distinct, l=2)', 'l_diversity(illness, distinct, l=3)', 't_closeness(illness, equal)', \
'alpha(illness)']
    """
    named = {one: _short(one) for one in requirements}
    times = Counter(named.values())
    return {one: f"{name[:-1]}, {_limits(one)})" if times[name] > 1 else name for one, name in named.items()}


def _short(one: Requirement) -> str:
    if isinstance(one, LDiversity):
        return f"l_diversity({one.column}, {one.kind.value})"
    return f"t_closeness({one.column}, {one.distance.value})" if isinstance(one, TCloseness) else f"alpha({one.column})"


def _limits(one: Requirement) -> str:
    if isinstance(one, LDiversity):
        return f"l={one.l:g}" + ("" if one.c is None else f", c={one.c:g}")
    return f"t={one.t:g}" if isinstance(one, TCloseness) else f"alpha={one.alpha:g}"
