"""Names of persons among values, known by their form and by common given names, however often each occurs.

Places and professions are capitalised words too, so the form alone is not enough: `Bad Homburg` has it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import numpy as np
import pyarrow.compute as pc

from anon_core.detect.roles.patterns import FIRST_NAME, FULL_NAME
from anon_core.detect.roles.sampling import Sample
from anon_core.detect.roles.term import word_list
from anon_core.detect.roles.values import Finding, percent
from anon_core.kernels import Integers
from anon_core.role import Role
from anon_core.table.arrays import flags

_FORMED = 90
"""Percent of the rows that must have the form of a name."""
_GIVEN_FIRST = 30
_GIVEN_LAST = 60
"""Percent whose given name must be a common one; more where the family name stands first and no comma says so."""
_FIRST_NAMES = 50
_FEWEST = 3
"""Different first names at least: `Max` beside `Min` is no person."""
_TITLES = frozenset(
    re.findall("[a-z]+", "dr prof herr frau mr mrs ms miss mme mlle sig sigra dott dottssa avv ing sr sra don dona")
)
_PLACES = frozenset(
    re.findall("[a-z]+", "san santa santo sant saint sainte st ste sankt sao via piazza rue calle plaza villa monte")
)
"""What stands before a given name in the name of a place."""


def people(sample: Sample) -> Finding | None:
    """
    Return a finding where values are names of persons: full names, or common first names only.

    Of a full name the given name stands first, after a comma, beside a family name in capitals, or last. Lower case
    is not taken for a name.
    """
    full, texts, weights = _formed(sample, FULL_NAME)
    if full:
        first, last = _share(texts, weights, _is_given_first), _share(texts, weights, _is_given_last)
        if first * 100 >= _GIVEN_FIRST * sample.rows or last * 100 >= _GIVEN_LAST * sample.rows:
            looks = "look like full names of persons, many with a common given name"
            return _finding(looks, int(weights.sum()), sample)
    single, texts, weights = _formed(sample, FIRST_NAME)
    if single:
        common = _share(texts, weights, _is_given)
        if common * 100 > _FIRST_NAMES * sample.rows and sum(map(_is_given, texts)) >= _FEWEST:
            return _finding("are common first names", common, sample)
    return None


def _finding(looks: str, rows: int, sample: Sample) -> Finding:
    reason = f"{percent(rows, sample.rows)} of its values {looks}{sample.words}"
    return Finding(kind="personal name", role=Role.IDENTIFIER, reason=reason, most=True)


def _formed(sample: Sample, form: str) -> tuple[bool, list[str], Integers]:
    """Return whether enough rows have the form, and the values that have it with their rows."""
    if not len(sample.short):
        return False, [], sample.short_weights
    formed = pc.match_substring_regex(sample.short, form)
    weights = sample.short_weights[flags(formed)]
    if int(weights.sum()) * 100 < _FORMED * sample.rows:
        return False, [], weights
    return bool(len(weights)), sample.short.filter(formed).to_pylist(), weights


def _share(texts: list[str], weights: Integers, holds: Callable[[str], bool]) -> int:
    return int(weights[np.fromiter(map(holds, texts), np.bool_, len(texts))].sum())


def _is_given(word: str) -> bool:
    """
    Whether a word is a common given name; of a double name the first half decides.

    >>> _is_given("José"), _is_given("Jean-Luc"), _is_given("JÜRGEN"), _is_given("Homburg")
    (True, True, True, False)
    """
    return _folded(word).split("-")[0] in word_list("given names")


def _is_given_first(text: str) -> bool:
    """
    Whether the given name stands where a full name has it.

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
    """Return the words of a name without titles; where there are only titles, all."""
    words = text.split()
    return [word for word in words if re.sub("[^a-z]", "", _folded(word)) not in _TITLES] or words


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.lower().replace("ß", "ss"))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
