"""Proposes a role for one column, from its values, its name and its figures."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow.compute as pc

from anon_core.detection.groups import MAX_GROUP_ROWS, ValueGroups
from anon_core.detection.roles.lexicon import Meaning, is_numbered, meaning_of
from anon_core.detection.roles.patterns import FIRST_NAME, FULL_NAME
from anon_core.detection.roles.sampling import Sample, sample_of
from anon_core.detection.roles.term import word_list
from anon_core.detection.roles.values import (
    Finding,
    are_amounts,
    are_codes,
    are_exact,
    births,
    counts_or_answers,
    findings,
    five_digit_codes,
    free_text,
    have_form_of_names,
    percent,
    points_in_time,
)
from anon_core.kernels import Integers
from anon_core.measures.profile import ColumnProfile
from anon_core.role import Role
from anon_core.table import Column
from anon_core.table.arrays import flags

_MIN_UNIQUE_SHARE = 0.95
_OF_PEOPLE = ("coordinate", "date of birth", "year of birth")
"""Kinds that may be nearly unique; another nearly unique code is a record number, even if it looks like a postcode."""
_OF_HOUSES = ("house number", "family situation")
"""A number of a house or household that repeats in small groups may number people: `household_no`."""
_AMOUNTS = ("income", "debt", "social benefit", "amount granted")
_MIN_FILLED_ROWS = 20
"""From so many filled rows on, a column whose values are all different is an identifier even if it has gaps."""
_MIN_FORMED_PERCENT = 90
"""At least this percentage of the rows must have the form of a name."""
_MIN_GIVEN_FIRST_PERCENT = 30
_MIN_GIVEN_LAST_PERCENT = 60
"""At least this percentage must have a common given name; more if the family name may come first without a comma."""
_MIN_FIRST_NAMES_PERCENT = 50
_MIN_CODES, _MIN_NUMBERS = 20, 100
"""From so many distinct values on, a column may tell people apart: codes and names; plain numbers or words."""
_MAX_TERM_WORDS = 5
"""A value with at most so many words may be a term; a sentence has words of all kinds."""
_MAX_LOOKED_UP = 300
"""With up to so many distinct values, the words in them are looked up."""
_MIN_DIFFERENT_NAMES = 3
"""So many different first names are needed: `Max` beside `Min` is no person."""
_TITLES = frozenset(
    re.findall("[a-z]+", "dr prof herr frau mr mrs ms miss mme mlle sig sigra dott dottssa avv ing sr sra don dona")
)
_PLACES = frozenset(
    re.findall("[a-z]+", "san santa santo sant saint sainte st ste sankt sao via piazza rue calle plaza villa monte")
)
"""Words before a given name in the names of places."""


class Evidence(StrEnum):
    """What a proposal is based on."""

    NAME = "name"
    VALUES = "values"
    STATISTICS = "statistics"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedRole:
    """A role, the reason in one sentence without a value, the evidence, and the kind of the column if it is known."""

    role: Role
    reason: str
    evidence: Evidence
    kind: str | None = None


def propose(column: Column, profile: ColumnProfile, rows: int, *, today: datetime.date) -> ProposedRole:
    """
    Propose a role; in doubt, the more careful one.

    The form of the values counts before the name, and an identifier before any other role: an e-mail address is one in
    a column of any name. Values that look like names of persons make an identifier, unless the name of the column means
    something else, such as a place. Next comes a name that means a sensitive column or a quasi-identifier.

    A nearly unique column is an identifier, unless its name or values show a quasi-identifier, an amount or a point in
    time. Such a column is generalised until k holds, which is as safe, and a small table keeps its dates of birth.
    Nearly unique coordinates of houses are identifiers.

    In doubt a column is an identifier if it has codes, has the form of names, or repeats in small even groups; else it
    is a quasi-identifier. Dates after ``today`` are no dates of birth.

    >>> import numpy as np, pyarrow as pa
    >>> column = Column(name="sesso", codes=np.array([0, 1, 0], np.int32), domain=pa.array(["F", "M"]))
    >>> figures = ColumnProfile(name="sesso", type="text", distinct=2, missing=0, entropy=0.9, unique_share=0.3)
    >>> propose(column, figures, 3, today=datetime.date(2026, 7, 1)).reason
    'its name says that it is a sex or gender (Italian)'
    """
    return propose_from(sample_of(column), profile, rows, today=today, groups=ValueGroups.of(column))


def propose_from(
    sample: Sample, profile: ColumnProfile, rows: int, *, today: datetime.date, groups: ValueGroups | None = None
) -> ProposedRole:
    """
    Propose a role from a sample of the values, as for a table that was read in a stream.

    ``groups`` has the rows of all values. Without it, how values repeat is known only if the sample has them all.
    """
    if profile.distinct == 0:
        return ProposedRole(role=Role.DROP, reason="it is empty", evidence=Evidence.STATISTICS)
    meaning = meaning_of(profile.name)
    unique, filled = _unique_rows(profile, rows), rows - profile.missing
    nearly_unique = _is_nearly_unique(profile, rows, unique)
    named = _named(meaning) if meaning else None
    if meaning and meaning.term.kind == "person" and not nearly_unique:
        named = _no_person(meaning, sample, profile) or named
    found = _findings(sample, profile, named, mostly_unique=unique * 2 >= filled)
    withheld = _identifier(found, named) or _free_text(sample, profile, filled, named)
    if withheld:
        return withheld
    quasi = _quasi(sample, profile, found, today)
    if nearly_unique and (
        decided := _decided_by_uniqueness(profile.name, sample, named, quasi, percent(unique, filled))
    ):
        return decided
    repeating = groups or (ValueGroups(sizes=sample.weights) if sample.whole else None)
    told = _tells_people_apart(sample, profile, repeating) if repeating else ""
    if named and told and named.kind in _OF_HOUSES and is_numbered(profile.name):
        return ProposedRole(role=Role.IDENTIFIER, reason=told, evidence=Evidence.STATISTICS)
    if named:
        return named
    if profile.distinct == 1 and not profile.missing:
        return ProposedRole(role=Role.OTHER, reason="it has one value in every row", evidence=Evidence.STATISTICS)
    if quasi:
        return _from(quasi)
    if told:
        return ProposedRole(role=Role.IDENTIFIER, reason=told, evidence=Evidence.STATISTICS)
    if spoken := _sensitive_words(sample, profile):
        return spoken
    return ProposedRole(role=Role.QUASI, reason="nothing says that others cannot know it", evidence=Evidence.DEFAULT)


def _tells_people_apart(sample: Sample, profile: ColumnProfile, groups: ValueGroups) -> str:
    """Return why a column may have ids, codes or names of people, in words; an empty text if it may not.

    Amounts, dates and counts repeat in small groups too, by chance: then most of their values occur in one row.
    """
    if profile.type not in ("integer", "text") or profile.distinct < _MIN_CODES or points_in_time(sample):
        return ""
    dense = groups.values * MAX_GROUP_ROWS >= groups.rows
    several = f"{groups.values:,} values in {groups.rows:,} rows"
    if dense and are_codes(sample):
        return f"it holds codes, {several}, and in doubt a code is the number of a person"
    if dense and profile.type == "text" and have_form_of_names(sample):
        return f"it holds capitalised words, {several}, and in doubt these are names of persons"
    if groups.are_even and profile.distinct >= _MIN_NUMBERS:
        return f"its values repeat in small even groups, {several}, as the number of a person with several rows does"
    return ""


def _sensitive_words(sample: Sample, profile: ColumnProfile) -> ProposedRole | None:
    """Propose the role sensitive if a tenth of the rows have words for something sensitive, such as a disability."""
    if profile.type != "text" or len(sample.values) > _MAX_LOOKED_UP:
        return None
    kinds: Counter[str] = Counter()
    for value, rows in zip(sample.values.to_pylist(), sample.weights.tolist(), strict=True):
        meaning = meaning_of(value) if len(value.split()) <= _MAX_TERM_WORDS else None
        if meaning and meaning.term.role is Role.SENSITIVE and not meaning.term.weak:
            kinds[meaning.term.kind] += rows
    if kinds.total() * 10 < sample.rows or not kinds:
        return None
    kind = kinds.most_common(1)[0][0]
    reason = f"{percent(kinds.total(), sample.rows)} of its rows hold words for something sensitive ({kind})"
    return ProposedRole(role=Role.SENSITIVE, reason=reason, evidence=Evidence.VALUES, kind=kind)


def _no_person(meaning: Meaning, sample: Sample, profile: ColumnProfile) -> ProposedRole | None:
    """Propose a role for a column named after persons that counts them, or says yes or no; None for others."""
    told = counts_or_answers(sample, profile.type)
    reason = f"{meaning.reason}, but {told}"
    return ProposedRole(role=Role.QUASI, reason=reason, evidence=Evidence.VALUES) if told else None


def _findings(
    sample: Sample, profile: ColumnProfile, named: ProposedRole | None, *, mostly_unique: bool
) -> list[Finding]:
    """Return what the values look like; names of persons only if the column's name means nothing else."""
    something_else = named is not None and named.role in (Role.QUASI, Role.OTHER)
    # Places and professions are capitalised words too: their form is enough only where most of them differ.
    found = list(findings(sample, profile.type, persons=mostly_unique and not something_else))
    if profile.type != "text" or something_else or any(one.most and one.role is Role.IDENTIFIER for one in found):
        return found
    named_people = people(sample)
    return [named_people, *found] if named_people else found


def _decided_by_uniqueness(
    name: str, sample: Sample, named: ProposedRole | None, quasi: Finding | None, share: str
) -> ProposedRole | None:
    """Propose a role for a column of nearly unique values; None if the column is known to be a quasi-identifier."""
    kinds = {named.kind if named else None, quasi.kind if quasi else None}
    if "coordinate" in kinds and are_exact(sample):
        reason = f"{share} of its values occur once, and a coordinate as exact as a house finds who lives there"
        return ProposedRole(role=Role.IDENTIFIER, reason=reason, evidence=Evidence.VALUES, kind="coordinate")
    if (named and named.role is Role.QUASI) or (quasi and quasi.kind in _OF_PEOPLE):
        return None
    if time := points_in_time(sample):
        return _from(time)
    if named and named.kind in _AMOUNTS and not is_numbered(name) and are_amounts(sample):
        reason = f"{named.reason}, but {share} of its values occur once, so it has to be rounded"
        return ProposedRole(role=Role.QUASI, reason=reason, evidence=Evidence.NAME, kind=named.kind)
    reason = f"{share} of its values occur once"
    return ProposedRole(role=Role.IDENTIFIER, reason=reason, evidence=Evidence.STATISTICS)


def _identifier(found: Sequence[Finding], named: ProposedRole | None) -> ProposedRole | None:
    """Propose the role identifier: by the form of most values, by the name, or by the form of some values."""
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
    """Propose the role of free text, by the name or the values."""
    if named and named.role is Role.DROP:
        return named
    written = free_text(sample, profile.distinct, filled) if profile.type == "text" else None
    return _from(written) if written else None


def _quasi(sample: Sample, profile: ColumnProfile, found: Sequence[Finding], today: datetime.date) -> Finding | None:
    """Return a finding where values show something that others may know: where people live, when they were born."""
    if profile.distinct == 1:
        return None
    stated = next((one for one in found if one.role is Role.QUASI and one.most), None)
    coded = five_digit_codes(sample) if profile.type in ("integer", "text") else None
    return stated or coded or births(sample, profile.type, today)


def _unique_rows(profile: ColumnProfile, rows: int) -> int:
    """Return how many rows have a value that no other row has; a lone gap does not count."""
    return round(profile.unique_share * rows) - (profile.missing == 1)


def _is_nearly_unique(profile: ColumnProfile, rows: int, unique: int) -> bool:
    filled = rows - profile.missing
    if rows < 2 or filled < 1:
        return False
    return profile.unique_share >= _MIN_UNIQUE_SHARE or (
        filled >= _MIN_FILLED_ROWS and unique >= _MIN_UNIQUE_SHARE * filled
    )


def people(sample: Sample) -> Finding | None:
    """
    Return a finding where values are names of persons: full names, or common first names only.

    The form alone is not enough, since places and professions are capitalised words too, such as `Bad Homburg`. In a
    full name the given name comes first, after a comma, beside a family name in capitals, or last. Words in lower case
    are no names.
    """
    full, texts, weights = _formed(sample, FULL_NAME)
    if full:
        first, last = _share(texts, weights, _is_given_first), _share(texts, weights, _is_given_last)
        if first * 100 >= _MIN_GIVEN_FIRST_PERCENT * sample.rows or last * 100 >= _MIN_GIVEN_LAST_PERCENT * sample.rows:
            looks = "look like full names of persons, many with a common given name"
            return _finding(looks, int(weights.sum()), sample)
    single, texts, weights = _formed(sample, FIRST_NAME)
    if single:
        common = _share(texts, weights, _is_given)
        if common * 100 > _MIN_FIRST_NAMES_PERCENT * sample.rows and sum(map(_is_given, texts)) >= _MIN_DIFFERENT_NAMES:
            return _finding("are common first names", common, sample)
    return None


def _finding(looks: str, rows: int, sample: Sample) -> Finding:
    reason = f"{percent(rows, sample.rows)} of its values {looks}{sample.words}"
    return Finding(kind="personal name", role=Role.IDENTIFIER, reason=reason, most=True)


def _formed(sample: Sample, form: str) -> tuple[bool, list[str], Integers]:
    """Return whether enough rows have the form, and the values with the form and their rows."""
    if not len(sample.short):
        return False, [], sample.short_weights
    formed = pc.match_substring_regex(sample.short, form)
    weights = sample.short_weights[flags(formed)]
    if int(weights.sum()) * 100 < _MIN_FORMED_PERCENT * sample.rows:
        return False, [], weights
    return bool(len(weights)), sample.short.filter(formed).to_pylist(), weights


def _share(texts: list[str], weights: Integers, holds: Callable[[str], bool]) -> int:
    return int(weights[np.fromiter(map(holds, texts), np.bool_, len(texts))].sum())


def _is_given(word: str) -> bool:
    """
    Whether a word is a common given name; of a double name, whether the first half is.

    >>> _is_given("José"), _is_given("Jean-Luc"), _is_given("JÜRGEN"), _is_given("Homburg")
    (True, True, True, False)
    """
    return _folded(word).split("-")[0] in word_list("given names")


def _is_given_first(text: str) -> bool:
    """
    Whether the given name is where a full name has it.

    >>> [_is_given_first(name) for name in ("Anna Weber", "Weber, Anna", "WEBER Anna", "Dr. Anna Weber", "San Pietro")]
    [True, True, True, True, False]
    """
    _, comma, given = text.partition(",")
    if comma:
        return _is_given(_words(given)[0])
    words = _words(text)
    capitals = [word for word in words if len(word) > 1 and word.isupper()]
    others = [word for word in words if word not in capitals]
    if capitals and others and words[0] in capitals:
        return _is_given(others[0])
    return _is_given(words[0])


def _is_given_last(text: str) -> bool:
    words = _words(text)
    return _folded(words[0]) not in _PLACES and _is_given(words[-1])


def _words(text: str) -> list[str]:
    """Return the words of a name without titles; all of them if there are only titles."""
    words = text.split()
    return [word for word in words if re.sub("[^a-z]", "", _folded(word)) not in _TITLES] or words


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.lower().replace("ß", "ss"))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
