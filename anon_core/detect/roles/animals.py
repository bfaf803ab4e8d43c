"""Words for animals: beside them a sex or an age says nothing of a person."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.detect.roles.term import Term, word_list
from anon_core.role import Role

FEATURE = Term(role=Role.OTHER, kind="feature of an animal", note=", which says nothing of a person", english="animal")

FEATURES = frozenset({"sex or gender", "age", "year of birth", "bodily feature"})
"""What is told of an animal as of a person. Not a day of birth, which may single an owner out, and no matter of health:
an animal with a word for it may be a test on animals, or a scanner."""

_BEGINNINGS = ("hunde", "katzen", "haustier")
_GERMAN_ONLY = frozenset({"tier"})
"""In English a tier is a level, and `age_tier` is a person's."""


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
