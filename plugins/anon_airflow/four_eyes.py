"""Four eyes: whoever approves a release neither triggered its run nor last changed what decides about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from anon_airflow.authors import authors_of, names_of
from anon_core.spec import Publication

CHANGED_BY = "spec_changed_by"
"""Where the intent of a run keeps who had changed its files; names of people stand in the audit store only."""

_NOBODY_KNOWS = ("unknown", *(f"airflow ({kind})" for kind in ("manual", "backfill", "asset_materialization")))
"""Who triggered a run that somebody must have triggered, when Airflow does not tell who."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FourEyes:
    """Who may not approve a run: ``actor`` triggered it, ``changed_by`` changed its files."""

    actor: str
    changed_by: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def problems(self) -> list[str]:
        """Why nobody can tell whether four eyes see this run; empty when it can be told."""
        found = [f"four_eyes: {one}" for one in self.unknown]
        if self.actor in _NOBODY_KNOWS:
            found.append(
                "four_eyes: Airflow does not tell who triggered this run; trigger it as a user who is logged in"
            )
        return found

    def objections(self, names: Iterable[str]) -> list[str]:
        """Say why somebody, known by these names, may not approve; empty when nothing is to be said."""
        asked = frozenset().union(*map(names_of, names))
        found = []
        if asked & names_of(self.actor):
            found.append("triggered this run")
        if any(asked & names_of(author) for author in self.changed_by):
            found.append("last changed the publication file or one of its hierarchy files")
        return found


def eyes_of(
    publication: Publication, start: Mapping[str, Any] | None, actor: str, environ: Mapping[str, str] | None = None
) -> FourEyes:
    """
    Return who may not approve: by the intent with which the run was staged, if it was, and by what the files say now.

    Both count: a comment that somebody else commits later makes nobody a stranger to an own change.
    """
    recorded = start["details"].get(CHANGED_BY, []) if start else []
    authors = authors_of([publication.file, *publication.files], environ)
    return FourEyes(
        actor=start["actor"] if start else actor,
        changed_by=tuple(sorted({*authors.people, *map(str, recorded)})),
        unknown=authors.unknown,
    )
