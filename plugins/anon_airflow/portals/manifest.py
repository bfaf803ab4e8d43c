"""The manifest beside the files of a version: its files with their digests, its period and time of publication."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anon_core.errors import InvalidInputError, RefusedError
from anon_core.files.name_rules import is_utf8
from anon_core.files.regular import FileTooLargeError, NotRegularError, read_whole
from anon_core.files.storage import digest, file_digest
from anon_core.limits import DOCUMENT
from anon_core.publishing.release import NAME, Release, data_digest

log = logging.getLogger(__name__)

Manifest = dict[str, Any]
SCHEMA = "anonflow/manifest/1"


def manifest_of(release: Release, version: str, sequence: int | None = None) -> Manifest:
    """
    Return the manifest of a release that is published now, as it will be read back.

    ``sequence`` counts the publications of a dataset on a portal: times are in a wrong order after a clock is set back.

    :raises InvalidInputError: the release adds a key that the manifest itself has.
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
    if sequence is not None:
        manifest["sequence"] = sequence
    if taken := sorted(manifest.keys() & release.manifest.keys()):
        raise InvalidInputError(f"the manifest has its own {', '.join(taken)}; name the additional keys differently")
    return dict(json.loads(as_json(manifest | release.manifest)))


def report_bytes(release: Release, manifest: Manifest) -> bytes:
    """
    Return the public report of a release as every portal writes it.

    :raises RefusedError: it is not the report that the receipt covers.
    """
    report = as_json(release.report)
    found = digest(report)
    if found != manifest.get("report_sha256", found):
        raise RefusedError("portal", ["the report is not the report that the receipt covers"])
    return report


def data_digest_of(manifest: Manifest) -> str | None:
    """Return the digest of the data of a version, without its description; None if the manifest is damaged."""
    try:
        return data_digest({str(each["name"]): str(each["sha256"]) for each in manifest["distributions"]})
    except (KeyError, TypeError, UnicodeError):
        return None


def metadata_of(manifest: Manifest) -> Mapping[str, Any]:
    """What the publication file says of the dataset; empty where the manifest has none of it."""
    return manifest.get("metadata") or {}


def as_json(document: dict[str, Any]) -> bytes:
    """Return the bytes of a document, always in the same form, so that digests agree; dates become text."""
    return json.dumps(document, indent=1, sort_keys=True, allow_nan=False, default=str).encode()


def read_document(path: Path) -> dict[str, Any]:
    """Return a document of the portal; empty if it is damaged, because one bad file must not stop all others."""
    try:
        return dict(json.loads(read_whole(path, DOCUMENT)))
    except (OSError, ValueError, TypeError, RecursionError, NotRegularError, FileTooLargeError):
        log.warning("%s is missing or damaged, and is ignored", path)
        return {}


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a version; None if it does not belong to this folder."""
    manifest = read_document(folder / "manifest.json")
    try:
        mine = (manifest["schema"], manifest["dataset"], manifest["version"])
        names = [each["name"] for each in manifest["distributions"] if each["sha256"]]
        counts = [each[key] for each in manifest["distributions"] for key in ("bytes", "rows")]
        counts.append(manifest.get("sequence", 0))
        texts = [manifest[key] for key in ("title", "published_at", "content_digest")]
        texts += [each[key] for each in manifest["distributions"] for key in ("media_type", "sha256")]
        texts += [manifest["period"] or ""]
    except (LookupError, TypeError):
        return None
    safe = all(isinstance(name, str) and NAME.fullmatch(name) for name in names)
    safe = safe and bool(names) and all(isinstance(count, int) for count in counts)
    safe = safe and isinstance(manifest.get("metadata") or {}, dict)
    whole = all(map(is_text, texts))
    return manifest if safe and whole and mine == (SCHEMA, folder.parent.parent.name, folder.name) else None


def is_text(value: Any) -> bool:
    """Whether a value is text that can be written as UTF-8: JSON can hold half a surrogate pair."""
    return isinstance(value, str) and is_utf8(value)


def age(one: Mapping[str, Any]) -> tuple[str, int, str, str]:
    """
    Return the sort key of manifests and tombstones: the period, then the order of publication.

    A version without a period, from a run by hand, is older than all with one. The order of publication is that of the
    sequence numbers; the time decides between versions without a number.
    """
    return one["period"] or "", one.get("sequence") or 0, one["published_at"] or "", one["version"]


def newest_first(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return manifests, or tombstones, sorted by age."""
    return sorted(manifests, key=age, reverse=True)


def damaged_file(folder: Path, manifest: Manifest) -> str | None:
    """Return the name of the first file of a version that does not match its manifest; None if all do."""
    for each in manifest["distributions"]:
        path = folder / each["name"]
        if not path.is_file() or file_digest(path) != each["sha256"]:
            return str(each["name"])
    report = folder / "report.json"
    if not report.is_file() or manifest.get("report_sha256") not in (None, file_digest(report)):
        return report.name
    return None
