"""What stands in the place of a version that was taken off: that it was there, when it went and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from anon_airflow.portals.manifest import Manifest, data_digest_of, is_text, read_document
from anon_core.publishing.release import Release

Tombstone = dict[str, Any]
FILE = "tombstone.json"
SCHEMA = "anonflow/tombstone/1"


def tombstone_of(
    manifest: Manifest | None,
    *,
    dataset: str,
    version: str,
    kind: Literal["withdrawn", "expired"],
    reason: str,
    at: str,
    words_only: bool = False,
    audit: Mapping[str, Any] | None = None,
) -> Tombstone:
    """
    The tombstone of a version: ``withdrawn`` by a person, or ``expired`` because newer ones took its place.

    Without a manifest, which somebody may have damaged, it knows only the names. It says nothing of the data but its
    digest, by which the same data is known again, and which is left out if it may come back with other words.
    ``audit`` is the head of the audit chain when it was withdrawn, or else when it was published: an anchor.
    """
    known = manifest or {}
    return {
        "schema": SCHEMA,
        "dataset": dataset,
        "title": known.get("title") or dataset,
        "version": version,
        "period": known.get("period"),
        "published_at": known.get("published_at"),
        "sequence": known.get("sequence"),
        "content_digest": known.get("content_digest"),
        "data_digest": None if words_only else known.get("data_digest") or data_digest_of(known),
        "kind": kind,
        "reason": reason,
        "at": at,
        "audit": dict(audit) if audit else known.get("audit"),
    }


def is_tombstone(folder: Path) -> bool:
    """Tell whether a version was taken off."""
    return (folder / FILE).is_file()


def read_tombstone(folder: Path) -> Tombstone | None:
    """The tombstone of a version, None if it is not one for this very folder."""
    if not is_tombstone(folder):
        return None
    found = read_document(folder / FILE)
    mine = (found.get("schema"), found.get("dataset"), found.get("version"), found.get("kind"))
    texts = all(is_text(found.get(key)) for key in ("title", "reason", "at"))
    texts = texts and all(key in found and is_text(found[key] or "") for key in ("period", "published_at"))
    texts = texts and isinstance(found.get("sequence"), int | None)
    known = mine[:3] == (SCHEMA, folder.parent.parent.name, folder.name) and mine[3] in ("withdrawn", "expired")
    return found if texts and known else None


def withdrawn_before(tombstones: Iterable[Tombstone], release: Release) -> Tombstone | None:
    """The tombstone of a version that held this content, or this data, and was withdrawn, if there is one."""
    mine = {"content_digest": release.content_digest, "data_digest": release.data_digest}
    gone = (one for one in tombstones if one["kind"] == "withdrawn")
    return next((one for one in gone if any(one.get(key) == digest for key, digest in mine.items())), None)
