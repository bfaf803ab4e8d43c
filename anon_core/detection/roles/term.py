"""The lexicon of roles, read once from the files in ``words``.

- ``terms.csv``: what a column's name may say, a term per line. A spelling that two terms claim is given to the first,
  so the careful side comes first: identifiers, sensitive values (Articles 9 and 10 of the GDPR, money and grades),
  quasi-identifiers, then nouns for persons. Two categories of Article 9 stand elsewhere: an ethnic origin is a
  quasi-identifier, because others often see it, and a biometric feature is an identifier, because it is one.
- ``lists.csv``: plain words, accents folded, a list per purpose. Left out of ``given names`` are those that are months,
  places or plain words. ``things`` have a name or a number of their own and are no persons: `product_id` and
  `nome_azienda` identify nobody. Beside ``attributes`` a noun for persons names no one: `client_type`, `student_count`.
  ``numbers`` make a count of several persons, but the number of a single one: `numero_alunni`, `numero_alunno`. Nouns
  ``only alone`` mean something else beside other words: `kind_of_permit` is no child.
- ``german_stems.csv``: stems of compounds, long enough not to end or begin a word of another language by chance.
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
    What a column is, and how its name says so in five languages; phrases are set apart by commas.

    A ``weak`` term gives way to every other one in the same name: `disease_name` names a disease, and `id_comune` is a
    municipality. ``article`` stands before the kind, nothing where it is no single thing; ``note`` goes on with the
    sentence that gives the reason.
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
