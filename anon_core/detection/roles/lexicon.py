"""What a column's name says, by words in English, Italian, German, French and Spanish.

Whole words are compared, never parts of words: `page` is no age and `paid` no id. Only German writes its compounds in
one word, so a few long German stems also count at the beginning or the end of a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from anon_core.detection.roles.term import Term, rows_of, terms, word_list
from anon_core.role import Role

_MAX_RUN_WORDS = 6
_MAX_NAME_CHARACTERS = 300
"""Only so many characters of a name are read."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z]+|[0-9]+")
_FILLERS = frozenset(
    re.findall("[a-z]+", "the of di de del della dello dei degli delle da du des la le les el los las der die das d l")
)
FEATURE = Term(role=Role.OTHER, kind="feature of an animal", note=", which says nothing of a person", english="animal")

FEATURES = frozenset({"sex or gender", "age", "year of birth", "bodily feature"})
"""Features that animals have as people do. A date of birth is not among them, since it may single the owner out; nor is
health, since an animal beside such a word may be a test on animals, or a scanner."""

_BEGINNINGS = ("hunde", "katzen", "haustier")
_GERMAN_ONLY = frozenset({"tier"})
"""In English a tier is a level, and `age_tier` is about a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The meaning of a name: a term of the lexicon, and the languages in which the name has it."""

    term: Term
    languages: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Return the reason as one sentence, without the full stop."""
        spoken = ", ".join(self.languages) if len(self.languages) < 5 else "all languages"
        return f"its name says that it is {self.term.noun} ({spoken}){self.term.note}"


def meaning_of(name: str) -> Meaning | None:
    """
    Return the meaning of a name, or None. Of several meanings it is the most careful one, then that of the longest
    word.

    >>> meaning_of("Geburtsdatum").reason
    'its name says that it is a date of birth (German)'
    >>> meaning_of("validity"), meaning_of("page"), meaning_of("capacity"), meaning_of("")
    (None, None, None, None)
    """
    words = words_of(name)
    found, rest = _found(words)
    strong = [one for one in found if not one[1].term.weak]
    careful = {Role.IDENTIFIER: 0, Role.DROP: 1}
    counted = strong or _weak(words, found, rest)
    meaning = min(counted, key=lambda one: (careful.get(one[1].term.role, 2), -one[0]), default=(0, None))[1]
    persons = any(one.term.kind == "person" for _, one in found)
    if meaning and meaning.term.kind in FEATURES and not persons and is_of_an_animal(words, meaning.languages):
        return Meaning(term=FEATURE, languages=meaning.languages)
    return meaning


def is_numbered(name: str) -> bool:
    """
    Whether a name means a number or a code: a `loan_id` is no amount.

    >>> is_numbered("loan_id"), is_numbered("Kredit-Nr."), is_numbered("loan_amount")
    (True, True, False)
    """
    words = words_of(name)
    codes = word_list("numbers") | word_list("codes")
    return not codes.isdisjoint(words) or any(one.term.kind == "record number" for _, one in _found(words)[0])


def _weak(words: Sequence[str], found: list[tuple[int, Meaning]], rest: Sequence[str]) -> list[tuple[int, Meaning]]:
    """Return the meanings by weak terms, without those that other words of the name exclude."""
    several = sum(not word.isdigit() for word in words) > 1
    persons = [one for one in found if one[1].term.kind == "person"]
    others = [one for one in found if one[1].term.kind != "person"]
    if not word_list("things").isdisjoint(rest):
        others = []
    if persons and _are_counted(words, persons):
        return [one for one in others if one[1].term.role is Role.IDENTIFIER and "nombre" not in words]
    numbered = any(one.term.role is Role.IDENTIFIER for _, one in others)  # `patient_id` is more than a patient
    attributes = word_list("attributes").union(word_list("only alone") if several else ())
    if numbered or not attributes.isdisjoint(words):
        persons = []
    return [*persons, *(one for one in others if one[1].term.kind != "house number" or not several)]


def _are_counted(words: Sequence[str], persons: Sequence[tuple[int, Meaning]]) -> bool:
    """Whether a name means a count of persons; `nombre` is a number in French and a name in Spanish."""
    if "nombre" in words:
        return any("French" in one.languages and "Spanish" not in one.languages for _, one in persons)
    plural = any(_is_plural_of_persons(word) for word in words)
    return plural and not word_list("numbers").isdisjoint(words)


def _is_plural_of_persons(word: str) -> bool:
    meaning = _index().get(word)
    return meaning is not None and meaning.term.kind == "person" and word.endswith(("s", "i", "innen"))


def _found(words: tuple[str, ...]) -> tuple[list[tuple[int, Meaning]], list[str]]:
    """Return the meanings of the longest runs of words, each with its length in letters, and the words left over."""
    found: list[tuple[int, Meaning]] = []
    rest: list[str] = []
    at = 0
    while at < len(words):
        for run in range(min(_MAX_RUN_WORDS, len(words) - at), 0, -1):
            joined = "".join(words[at : at + run])
            meaning = _index().get(joined) or (_compound(joined) if run == 1 else None)
            if meaning:
                found.append((len(joined), meaning))
                break
        else:
            rest.append(words[at])
        at += run
    return found, rest


def _compound(word: str) -> Meaning | None:
    """Return the meaning of a German compound by its stem."""
    for place, spelled, meaning in _stems():
        if len(word) > len(spelled) and (word.startswith(spelled) if place == "begins" else word.endswith(spelled)):
            return meaning
    return None


@cache
def _index() -> dict[str, Meaning]:
    """Return the meaning of each spelling; a spelling in several languages has all of them."""
    claimed: dict[str, tuple[Term, list[str]]] = {}
    for term in terms():
        for language, phrases in term.phrases().items():
            for phrase in phrases:
                for spelling in sorted(set().union(*map(spellings, _numbers(phrase, language)))):
                    holder, languages = claimed.setdefault(spelling, (term, []))
                    if holder.kind == term.kind and language not in languages:
                        languages.append(language)
    return {spelling: Meaning(term=term, languages=tuple(spoken)) for spelling, (term, spoken) in claimed.items()}


@cache
def _stems() -> tuple[tuple[str, str, Meaning], ...]:
    """Return the stems of German compounds with what they mean."""
    return tuple(
        (row["place"], spelled, Meaning(term=_index()[min(spellings(row["noun"]))].term, languages=("German",)))
        for row in rows_of("german_stems")
        for spelled in sorted(spellings(row["stem"]))
    )


def _numbers(phrase: str, language: str) -> set[str]:
    """Return singular and plural where a rule gives the plural; Italian and German plurals are in the lexicon."""
    first, _, rest = phrase.partition(" ")
    if language == "German" and phrase.endswith("nummer"):
        return {phrase, f"{phrase.removesuffix('nummer')}nr"}
    if language == "English":
        return {phrase, f"{phrase}s"} if len(phrase) > 1 else {phrase}
    if language in ("French", "Spanish") and rest:
        return {phrase, f"{phrase}s", f"{first}s {rest}", f"{first}s {rest}s"}
    return {phrase, f"{phrase}s"} if language in ("French", "Spanish") and len(phrase) > 3 else {phrase}


def words_of(name: str) -> tuple[str, ...]:
    """
    Return the words of a name: lower case, without accents and articles, split at separators and at inner capitals.

    Letters of other alphabets are removed, so a name in another alphabet has no words.

    >>> words_of("DataDi_Nascita"), words_of("Código-postal 2"), words_of("Straße"), words_of("IPAddress")
    (('data', 'nascita'), ('codigo', 'postal', '2'), ('strasse',), ('ip', 'address'))
    """
    words = _words(name)
    return tuple(word for word in words if word not in _FILLERS) or words


def spellings(phrase: str) -> set[str]:
    """
    Return the spellings of a phrase of the lexicon as one word: with and without articles, umlauts as one letter or
    two.

    >>> sorted(spellings("date of birth")), sorted(spellings("Größe"))
    (['datebirth', 'dateofbirth'], ['groesse', 'grosse'])
    """
    spelled = {phrase, re.sub("[äöüÄÖÜ]", lambda umlaut: unicodedata.normalize("NFD", umlaut[0])[0] + "e", phrase)}
    taken_apart = [_words(one) for one in spelled]
    return {"".join(words) for words in taken_apart} | {
        "".join(word for word in words if word not in _FILLERS) for words in taken_apart
    } - {""}


def _words(name: str) -> tuple[str, ...]:
    text = name[:_MAX_NAME_CHARACTERS]
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
        text = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return tuple(_WORD.findall(_HUMP.sub(" ", text).lower()))


def is_of_an_animal(words: Sequence[str], languages: Sequence[str]) -> bool:
    """
    Whether words name an animal; ``languages`` are those in which the name says what it is.

    >>> is_of_an_animal(["geschlecht", "hund"], ["German"]), is_of_an_animal(["hundert"], ["German"])
    (True, False)
    >>> is_of_an_animal(["age", "tier"], ["English"]), is_of_an_animal(["alter", "tier"], ["German"])
    (False, True)
    """
    return any(
        (word in word_list("animals") or (word.startswith(_BEGINNINGS) and not word.startswith("hundert")))
        and (word not in _GERMAN_ONLY or "German" in languages)
        for word in words
    )
