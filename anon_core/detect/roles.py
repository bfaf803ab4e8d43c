"""A proposed role for each column, with the reason in words; people confirm it in the publication file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from anon_core.score.profile import ColumnProfile
from anon_core.spec import Role

_LEXICON: Sequence[tuple[Role, str, str]] = (
    (
        Role.IDENTIFIER,
        r"(^|_)(id|uuid|guid|ssn|name|surname|first_?name|last_?name|email|e_?mail|phone|telephone|mobile|iban|passport"
        r"|nome|cognome|codice_fiscale|cf|targa|telefono|cellulare|indirizzo|address|matricola)($|_)",
        "its name says that it identifies a person",
    ),
    (
        Role.QUASI,
        r"birth|nascita|(^|_)(age|eta|sex|sesso|gender|genere|zip|zipcode|postcode|postal|cap|city|town|municipality|comune"
        r"|province|provincia|region|regione|country|nationality|cittadinanza|stato|race|ethnicity|marital|education"
        r"|occupation|profession|residence|residenza|issued|rilascio)($|_)",
        "its name says what others may know about a person",
    ),
    (
        Role.SENSITIVE,
        r"(^|_)(disease|diagnosis|diagnosi|salary|income|reddito|religion|religione|health|salute|points|punti|crime|offence"
        r"|sanction|disability|disabilita|category|categoria)($|_)",
        "its name says what a person may want to keep private",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedRole:
    """A role and why."""

    role: Role
    reason: str


def propose(profile: ColumnProfile, rows: int) -> ProposedRole:
    """
    Propose a role from the name and the figures of a column. In doubt it is a quasi-identifier: the careful side.

    >>> figures = ColumnProfile(name="sesso", type="text", distinct=2, missing=0, entropy=1.0, unique_share=0.0)
    >>> propose(figures, 100).role
    <Role.QUASI: 'quasi'>
    """
    if profile.distinct == 0:
        return ProposedRole(role=Role.DROP, reason="it is empty")
    name = re.sub(r"[^a-z0-9]+", "_", profile.name.lower())
    named = next((entry for entry in _LEXICON if re.search(entry[1], name)), None)
    unique = rows > 1 and profile.unique_share >= 0.95
    if unique and (named is None or named[0] is Role.SENSITIVE):
        return ProposedRole(role=Role.IDENTIFIER, reason=f"{profile.unique_share:.1%} of its values occur once")
    if named:
        return ProposedRole(role=named[0], reason=named[2])
    if profile.distinct == 1 and not profile.missing:
        return ProposedRole(role=Role.OTHER, reason="it has one value in every row")
    return ProposedRole(role=Role.QUASI, reason="nothing says that others cannot know it")
