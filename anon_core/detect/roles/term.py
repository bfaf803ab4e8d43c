"""One entry of the lexicon."""

from __future__ import annotations

from dataclasses import dataclass

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
