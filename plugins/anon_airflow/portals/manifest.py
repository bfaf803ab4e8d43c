"""The manifest beside the files of a version: what was published, when, with which digests."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anon_airflow.portals.disk import sha256_of
from anon_airflow.portals.release import NAME, Release, data_digest
from anon_core.errors import InvalidInputError, RefusedError

log = logging.getLogger(__name__)

Manifest = dict[str, Any]
SCHEMA = "anonflow/manifest/1"


def manifest_of(release: Release, version: str) -> Manifest:
    """
    The manifest of a release that is published now, as it will be read back.

    :raises InvalidInputError: the release brings a key that the manifest has itself.
    """
    manifest: Manifest = {
        "schema": SCHEMA,
        "dataset": release.dataset,
        "title": release.title,
        "version": version,
        "period": release.period,
        "published_at": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "content_digest": release.content_digest,
        "distributions": [
            {"name": d.name, "media_type": d.media_type, "bytes": d.bytes, "rows": d.rows, "sha256": d.sha256}
            for d in release.distributions
        ],
        "metadata": release.metadata,
    }
    if taken := sorted(manifest.keys() & release.manifest.keys()):
        raise InvalidInputError(f"the manifest has its own {', '.join(taken)}; name the additional keys differently")
    return dict(json.loads(as_json(manifest | release.manifest)))


def report_bytes(release: Release, manifest: Manifest) -> bytes:
    """
    The public report of a release as every portal writes it.

    :raises RefusedError: it is not the one that the receipt covers.
    """
    report = as_json(release.report)
    digest = hashlib.sha256(report).hexdigest()
    if digest != manifest.get("report_sha256", digest):
        raise RefusedError("portal", ["the report is not the one that the receipt covers"])
    return report


def data_digest_of(manifest: Manifest) -> str | None:
    """What the data of a version is, whatever is said about it; None if its manifest does not tell."""
    try:
        return data_digest({str(each["name"]): str(each["sha256"]) for each in manifest["distributions"]})
    except (KeyError, TypeError):
        return None


def as_json(document: dict[str, Any]) -> bytes:
    """The bytes of a document, in the one form that digests of reports are taken of; dates become text."""
    return json.dumps(document, indent=1, sort_keys=True, allow_nan=False, default=str).encode()


def read_document(path: Path) -> dict[str, Any]:
    """A document of the portal; empty if somebody damaged it, because one bad file must not stop all others."""
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        log.warning("%s is missing or damaged, and is passed over", path)
        return {}


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a version, None if it is not one for this very folder."""
    manifest = read_document(folder / "manifest.json")
    try:
        mine = (manifest["schema"], manifest["dataset"], manifest["version"])
        names = [each["name"] for each in manifest["distributions"] if each["sha256"]]
        counts = [each[key] for each in manifest["distributions"] for key in ("bytes", "rows")]
        texts = [manifest[key] for key in ("title", "published_at", "content_digest")]
        texts += [each["media_type"] for each in manifest["distributions"]]
    except (LookupError, TypeError):
        return None
    safe = all(isinstance(name, str) and NAME.fullmatch(name) for name in names)
    safe = safe and bool(names) and all(isinstance(count, int) for count in counts)
    safe = safe and isinstance(manifest.get("metadata") or {}, dict)
    whole = all(isinstance(text, str) for text in texts) and isinstance(manifest.get("period"), str | None)
    return manifest if safe and whole and mine == (SCHEMA, folder.parent.parent.name, folder.name) else None


def newest_first(manifests: Iterable[Manifest]) -> list[Manifest]:
    """By period, then by time of publication; one without a period, a trial by hand, comes after all that have one."""

    def age(manifest: Manifest) -> tuple[str, str, str]:
        return manifest["period"] or "", manifest["published_at"], manifest["version"]

    return sorted(manifests, key=age, reverse=True)


def damaged_file(folder: Path, manifest: Manifest) -> str | None:
    """The first file of a version that is not, or no longer, what its manifest says."""
    for each in manifest["distributions"]:
        path = folder / each["name"]
        if not path.is_file() or sha256_of(path) != each["sha256"]:
            return str(each["name"])
    report = folder / "report.json"
    if not report.is_file() or manifest.get("report_sha256") not in (None, sha256_of(report)):
        return report.name
    return None
