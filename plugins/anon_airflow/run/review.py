"""The review of a publication file: a draft does not run, and the chain binds a review to the reviewed content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from anon_airflow.audit.history import RUN
from anon_core.errors import HierarchyError, RefusedError
from anon_core.spec import Publication
from anon_core.spec.review import Review

BY = "review"
REVIEW = "review"
"""The key in the intent of a run for its review: by whom, when, and the digest of the reviewed content."""

Bound = Mapping[str, Any]
Intents = Sequence[Mapping[str, Any]]


def review_of(publication: Publication) -> dict[str, str] | None:
    """Return the review as a run puts it on record; None for a draft, and if a hierarchy cannot be read."""
    reviewed, digest = publication.reviewed, _digest(publication)
    if not isinstance(reviewed, Review) or digest is None:
        return None
    return {"by": reviewed.by, "on": reviewed.moment, "digest": digest}


def review_problems(publication: Publication, intents: Intents, today: date) -> list[str]:
    """
    Return why a publication file counts as not reviewed; nothing if it does.

    ``intents`` are those of all runs, proven by the chain; ``today`` is the day that counts. The first run with a
    review binds the review to the content of the file at that time. An older review than the newest on record does not
    count: otherwise two versions of a file could alternate.
    """
    name, reviewed = publication.file.name, publication.reviewed
    if not isinstance(reviewed, Review):
        what = "read its columns, unit and privacy, and correct them"
        return [f"{name} is a draft: {what}, then write {_example(today)} instead of `reviewed: false`"]
    found = []
    if reviewed.day > today:
        what = f"that is in the future, today is {today.isoformat()} (UTC): write the day on which the file was read"
        found.append(f"{name} says that {reviewed.by} reviewed it on {reviewed.moment}: {what}")
    bound = list(_bound(publication.dataset, intents))
    latest = max(bound, key=lambda one: str(one["on"]), default=None)
    if latest and reviewed.moment < str(latest["on"]):
        newer = f"{latest['by']} reviewed {publication.dataset} on {latest['on']}, later than {reviewed.by} on "
        found.append(f"{newer}{reviewed.moment}, as {name} says: read the file again and write {_example(today)}")
    first = _first(reviewed, bound)
    if first and first["digest"] != (_digest(publication) or first["digest"]):
        found.append(
            f"columns, unit, privacy or recoding of {name} changed after the review by {reviewed.by} on "
            f"{reviewed.moment}: read them again and write a later moment, such as {_example(today, reviewed)}"
        )
    return found


def is_bound(publication: Publication, intents: Intents) -> bool:
    """Whether an earlier run has begun with the review that the file has."""
    reviewed = publication.reviewed
    return isinstance(reviewed, Review) and _first(reviewed, _bound(publication.dataset, intents)) is not None


def _first(reviewed: Review, bound: Iterable[Bound]) -> Bound | None:
    """Return the review that the first run with it put on record; case and spaces of a name do not matter."""
    wanted = (_person(reviewed.by), reviewed.moment)
    return next((one for one in bound if (_person(str(one["by"])), one["on"]) == wanted), None)


def _person(name: str) -> str:
    return " ".join(name.split()).casefold()


def refuse_unreviewed(publication: Publication, intents: Intents, today: date) -> None:
    """:raises RefusedError: the publication file is a draft, or not what was reviewed."""
    if problems := review_problems(publication, intents, today):
        raise RefusedError(BY, problems)


def _digest(publication: Publication) -> str | None:
    """Return the digest of the reviewed content; None if a hierarchy cannot be read, and then the run stops anyway."""
    try:
        return publication.reviewed_digest()
    except HierarchyError:
        return None


def _example(today: date, after: Review | None = None) -> str:
    """Return an example of a review of today; for the second review of a day it has a time."""
    time = datetime.now(UTC).strftime(" %H:%M") if after and after.day >= today else ""
    return f"`reviewed: {{by: YOUR NAME, on: {today.isoformat()}{time}}}`"


def _bound(dataset: str, intents: Intents) -> Iterator[Bound]:
    """Yield the reviews of a dataset that runs began with, the oldest first."""
    for row in sorted(intents, key=lambda one: int(one["id"])):
        bound = row["details"].get(REVIEW)
        if (row["dataset"], row["verb"]) == (dataset, RUN) and isinstance(bound, dict):
            yield bound
