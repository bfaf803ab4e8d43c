"""The tombstone in the place of a version that was taken off: it says when the version was removed, and why."""

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
    Return the tombstone of a version: ``withdrawn`` by a person, or ``expired`` because newer versions replaced it.

    Without a manifest, which may be damaged, it holds only names. Of the data it holds only the digest, so that the
    same data is recognised; with ``words_only`` the digest is left out, because the same data may be published again.
    ``audit`` is the head of the audit chain when the version was withdrawn, or else when it was published: an anchor.
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
    """Whether a version was taken off."""
    return (folder / FILE).is_file()


def read_tombstone(folder: Path) -> Tombstone | None:
    """Return the tombstone of a version; None if it does not belong to this folder."""
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
    """Return the tombstone of a withdrawn version with this content, or this data, if there is one."""
    mine = {"content_digest": release.content_digest, "data_digest": release.data_digest}
    gone = (one for one in tombstones if one["kind"] == "withdrawn")
    return next((one for one in gone if any(one.get(key) == digest for key, digest in mine.items())), None)
