"""The words in a column's name, whatever the case, the accents and the separators."""

from __future__ import annotations

import re
import unicodedata

_LONGEST = 300
"""Characters of a name that are looked at."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z]+|[0-9]+")
_FILLERS = frozenset(
    re.findall("[a-z]+", "the of di de del della dello dei degli delle da du des la le les el los las der die das d l")
)


def words_of(name: str) -> tuple[str, ...]:
    """
    Return the words of a name: lower case, accents folded, humps and separators taken as borders, articles left out.

    Letters of other alphabets fold to nothing, so such a name has no words and says nothing.

    >>> words_of("DataDi_Nascita"), words_of("Código-postal 2"), words_of("Straße"), words_of("IPAddress")
    (('data', 'nascita'), ('codigo', 'postal', '2'), ('strasse',), ('ip', 'address'))
    """
    words = _words(name)
    return tuple(word for word in words if word not in _FILLERS) or words


def spellings(phrase: str) -> set[str]:
    """
    Return how a phrase of the lexicon is written in one piece: with and without articles, umlauts folded either way.

    >>> sorted(spellings("date of birth")), sorted(spellings("Größe"))
    (['datebirth', 'dateofbirth'], ['groesse', 'grosse'])
    """
    spelled = {phrase, re.sub("[äöüÄÖÜ]", lambda umlaut: unicodedata.normalize("NFD", umlaut[0])[0] + "e", phrase)}
    taken_apart = [_words(one) for one in spelled]
    return {"".join(words) for words in taken_apart} | {
        "".join(word for word in words if word not in _FILLERS) for words in taken_apart
    } - {""}


def _words(name: str) -> tuple[str, ...]:
    text = name[:_LONGEST]
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
        text = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return tuple(_WORD.findall(_HUMP.sub(" ", text).lower()))
