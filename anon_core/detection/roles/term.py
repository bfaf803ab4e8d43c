"""The lexicon of roles, read once from the files in ``words``.

- ``terms.csv``: the meanings of column names, a term per line. A spelling of two terms belongs to the first, so the
  more careful terms come first: identifiers, sensitive values (Articles 9 and 10 of the GDPR, money and grades),
  quasi-identifiers, then nouns for persons. Two categories of Article 9 are elsewhere: an ethnic origin is a
  quasi-identifier, because others often see it, and a biometric feature is an identifier.
- ``lists.csv``: plain words without accents, a list per purpose. ``given names`` has no months, places or plain words.
  ``things`` have a name or a number and are no persons: `product_id` and `nome_azienda` identify no person. Beside
  ``attributes`` a noun for persons is no person: `client_type`, `student_count`. ``numbers`` with a plural noun make a
  count, with a singular noun a number of one person: `numero_alunni`, `numero_alunno`. Nouns ``only alone`` mean
  something else beside other words: `kind_of_permit` is no child.
- ``german_stems.csv``: stems of compounds, long enough not to be part of a word of another language by chance.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anon_core.role import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """
    A meaning of column names, and its phrases in five languages, separated by commas.

    A ``weak`` term counts only if the name has no other term: `disease_name` means a disease, and `id_comune` a
    municipality. ``article`` is the article before the kind, empty for a plural; ``note`` is added to the sentence that
    gives the reason.
    """

    role: Role
    kind: str
    article: str = "a"
    english: str = ""
    italian: str = ""
    german: str = ""
    french: str = ""
    spanish: str = ""
    weak: bool = False
    note: str = ""

    @property
    def noun(self) -> str:
        """Return the kind with its article."""
        return f"{self.article} {self.kind}".lstrip()

    def phrases(self) -> dict[str, list[str]]:
        """Return the phrases by language."""
        spoken = {
            "English": self.english,
            "Italian": self.italian,
            "German": self.german,
            "French": self.french,
            "Spanish": self.spanish,
        }
        return {
            language: [phrase.strip() for phrase in phrases.split(",") if phrase.strip()]
            for language, phrases in spoken.items()
        }


@cache
def terms() -> tuple[Term, ...]:
    """Return the terms of the lexicon, in the order in which they claim a spelling."""
    return tuple(Term(role=Role(row.pop("role")), weak=bool(row.pop("weak")), **row) for row in rows_of("terms"))


@cache
def word_list(name: str) -> frozenset[str]:
    """
    Return a list of plain words, of all languages.

    >>> sorted(word_list("only alone"))
    ['kind', 'minore']
    """
    return frozenset(word for row in rows_of("lists") if row["list"] == name for word in row["words"].split())


def rows_of(name: str) -> Iterator[dict[str, str]]:
    """Yield the lines of a file of the lexicon."""
    with (Path(__file__).parent / "words" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
