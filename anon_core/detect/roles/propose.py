"""A proposed role for one column, from its values, its name and its figures."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from anon_core.detect.roles.lexicon import Meaning, meaning_of
from anon_core.detect.roles.sampling import Sample, sample_of
from anon_core.detect.roles.values import Finding, births, findings, five_digit_codes, free_text, percent
from anon_core.role import Role
from anon_core.score.profile import ColumnProfile
from anon_core.table import Column

_UNIQUE = 0.95
_OF_PEOPLE = ("coordinate", "date of birth", "year of birth")
"""Kinds that may well be unique; a code that is unique is a record number, even if it looks like a postcode."""
_ENOUGH = 20
"""Filled rows from which on gaps no longer speak against a column whose values are all different."""


class Evidence(StrEnum):
    """What a proposal rests on."""

    NAME = "name"
    VALUES = "values"
    STATISTICS = "statistics"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedRole:
    """A role, the reason in one sentence that quotes no value, what it rests on, and what the column is if known."""

    role: Role
    reason: str
    evidence: Evidence
    kind: str | None = None


def propose(column: Column, profile: ColumnProfile, rows: int, *, today: datetime.date | None = None) -> ProposedRole:
    """
    Propose a role; the careful side wins.

    What values look like counts before the name, and an identifier before anything else: an e-mail address is one
    whatever its column is called. A name that says sensitive or quasi comes next. A column that is nearly unique is an
    identifier, unless its name or values say that it is a quasi-identifier: then it is generalised until k holds, which
    is as safe, and a date of birth is not lost in a small table. In doubt a column is a quasi-identifier.

    >>> import numpy as np, pyarrow as pa
    >>> column = Column(name="sesso", codes=np.array([0, 1, 0], np.int32), domain=pa.array(["F", "M"]))
    >>> figures = ColumnProfile(name="sesso", type="text", distinct=2, missing=0, entropy=0.9, unique_share=0.3)
    >>> propose(column, figures, 3).reason
    'its name says that it is a sex or gender (Italian)'
    """
    return propose_from(sample_of(column), profile, rows, today=today)


def propose_from(
    sample: Sample, profile: ColumnProfile, rows: int, *, today: datetime.date | None = None
) -> ProposedRole:
    """Propose a role where only a sample of the values is at hand, as of a table that was read in a stream."""
    if profile.distinct == 0:
        return ProposedRole(role=Role.DROP, reason="it is empty", evidence=Evidence.STATISTICS)
    meaning = meaning_of(profile.name)
    named = _named(meaning) if meaning else None
    unique, filled = _unique_rows(profile, rows), rows - profile.missing
    # Places and professions are capitalised words too: names are names where most differ and nothing says better.
    persons = unique * 2 >= filled and not (named and named.role is Role.QUASI)
    found = list(findings(sample, profile.type, persons=persons))
    withheld = _identifier(found, named) or _free_text(sample, profile, filled, named)
    if withheld:
        return withheld
    quasi = _quasi(sample, profile, found, today or datetime.date.today())
    known = (named is not None and named.role is Role.QUASI) or (quasi is not None and quasi.kind in _OF_PEOPLE)
    if _is_nearly_unique(profile, rows, unique) and not known:
        reason = f"{percent(unique, filled)} of its values occur once"
        return ProposedRole(role=Role.IDENTIFIER, reason=reason, evidence=Evidence.STATISTICS)
    if named:
        return named
    if profile.distinct == 1 and not profile.missing:
        return ProposedRole(role=Role.OTHER, reason="it has one value in every row", evidence=Evidence.STATISTICS)
    if quasi:
        return _from(quasi)
    return ProposedRole(role=Role.QUASI, reason="nothing says that others cannot know it", evidence=Evidence.DEFAULT)


def _identifier(found: Sequence[Finding], named: ProposedRole | None) -> ProposedRole | None:
    """Return that it identifies people: by what most values look like, by its name, by what some values look like."""
    looks = next((finding for finding in found if finding.role is Role.IDENTIFIER), None)
    if looks and looks.most:
        return _from(looks)
    if named and named.role is Role.IDENTIFIER:
        return named
    return _from(looks) if looks else None


def _named(meaning: Meaning) -> ProposedRole:
    term = meaning.term
    return ProposedRole(role=term.role, reason=meaning.reason, evidence=Evidence.NAME, kind=term.kind)


def _from(finding: Finding) -> ProposedRole:
    return ProposedRole(role=finding.role, reason=finding.reason, evidence=Evidence.VALUES, kind=finding.kind)


def _free_text(sample: Sample, profile: ColumnProfile, filled: int, named: ProposedRole | None) -> ProposedRole | None:
    """Return that people wrote it freely, by its name or its values."""
    if named and named.role is Role.DROP:
        return named
    written = free_text(sample, profile.distinct, filled) if profile.type == "text" else None
    return _from(written) if written else None


def _quasi(sample: Sample, profile: ColumnProfile, found: Sequence[Finding], today: datetime.date) -> Finding | None:
    """Return what the values say others may know: where somebody lives, when they were born."""
    if profile.distinct == 1:
        return None
    stated = next((one for one in found if one.role is Role.QUASI and one.most), None)
    coded = five_digit_codes(sample) if profile.type in ("integer", "text") else None
    return stated or coded or births(sample, profile.type, today)


def _unique_rows(profile: ColumnProfile, rows: int) -> int:
    """Return how many rows are alone in having their value, a lone gap not counted."""
    return round(profile.unique_share * rows) - (profile.missing == 1)


def _is_nearly_unique(profile: ColumnProfile, rows: int, unique: int) -> bool:
    filled = rows - profile.missing
    if rows < 2 or filled < 1:
        return False
    return profile.unique_share >= _UNIQUE or (filled >= _ENOUGH and unique >= _UNIQUE * filled)
