"""The policy that a draft proposes: how many people share a class, and how different their sensitive values are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.detection.roles import ProposedRole
from anon_core.role import Role
from anon_core.table import Column

K, SPECIAL_K = 5, 11
SPECIAL = frozenset(
    {"matter of health", "religion", "political opinion", "union membership", "matter of sexual life",
     "genetic feature", "ethnic origin", "biometric feature", "offence or penalty"}
)  # fmt: skip
"""Special categories of personal data, and offences: Articles 9 and 10 of the GDPR."""
_L, _ALPHA, _T = 3, 0.8, 0.3
_FIRST = ("age", "year of birth", "date of birth", "sex or gender", "place", "region", "postcode")
_SECOND = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedPolicy:
    """The lines of ``privacy`` that depend on the columns, with their reasons as comments."""

    k: int
    why_k: str
    lines: tuple[str, ...]


def proposed_policy(
    columns: Sequence[Column], roles: Sequence[ProposedRole], quoted_names: Sequence[str], k: int | None
) -> ProposedPolicy:
    """
    Return k and diversity: k = 5, or 11 if a column looks like a special category of personal data.

    Each class needs at least three values of a sensitive column, none with a share above 0.8. If one value has a larger
    share in the whole table, no class could keep that, so t-closeness is proposed instead: shares near those of the
    table.
    """
    special = [
        name for name, role in zip(quoted_names, roles, strict=True) if _is_published(role) and role.kind in SPECIAL
    ]
    chosen = k or (SPECIAL_K if special else K)
    why = f"special categories of personal data or offences: {', '.join(special)}" if special else ""
    asked: dict[str, list[str]] = {"l_diversity": [], "alpha": [], "t_closeness": []}
    for column, role, name in zip(columns, roles, quoted_names, strict=True):
        if role.role is Role.SENSITIVE:
            for key, entry in _diversity(column, name):
                asked[key].append(entry)
    lines = [
        line for key, entries in asked.items() if entries for line in (f"  {key}:", *(f"    - {e}" for e in entries))
    ]
    return ProposedPolicy(k=chosen, why_k=why, lines=tuple(lines))


def _is_published(role: ProposedRole) -> bool:
    return role.role in (Role.QUASI, Role.SENSITIVE, Role.OTHER)


def _diversity(column: Column, name: str) -> Iterator[tuple[str, str]]:
    counts = np.bincount(column.codes, minlength=len(column.domain))
    counts = counts[counts > 0]
    values, share = len(counts), float(counts.max() / counts.sum()) if len(counts) else 1.0
    if share > _ALPHA:
        yield "t_closeness", f"{{column: {name}, t: {_T}}}  # one value has {share:.0%} of the rows"
        return
    few = f"  # it has {values} values" if values < _L else ""
    yield "l_diversity", f"{{column: {name}, kind: distinct, l: {min(_L, values)}}}{few}"
    yield "alpha", f"{{column: {name}, alpha: {_ALPHA}}}"


def priority(role: ProposedRole) -> int:
    """
    Return the priority of a quasi-identifier: 1 for who and where people are, 3 for a kind that was not recognised.

    >>> priority(ProposedRole(role=Role.QUASI, reason="", evidence="default"))
    3
    """
    if role.kind in _FIRST:
        return 1
    return _SECOND if role.kind else _SECOND + 1


def roles_by_name(columns: Sequence[Column], roles: Sequence[ProposedRole]) -> Mapping[str, ProposedRole]:
    """Return the roles by the names of their columns."""
    return {column.name: role for column, role in zip(columns, roles, strict=True)}
