"""The files that are sent to a CKAN: tables as they were measured, the report, the manifest."""

from __future__ import annotations

from pathlib import Path

from anon_airflow.portals.ckan.requests import Sent
from anon_airflow.portals.ckan.resources import MANIFEST, REPORT
from anon_airflow.portals.manifest import Manifest, as_json, report_bytes
from anon_core.files.storage import digest
from anon_core.publishing.release import Distribution, Release


def sent_files(release: Release, manifest: Manifest, folder: Path) -> list[Sent]:
    """
    Return all files of a version; report and manifest are written to a private folder.

    :raises RefusedError: the report is not the one that the receipt covers.
    """
    report = report_bytes(release, manifest)
    tables = [_table(one) for one in release.distributions]
    return [*tables, _made(folder / REPORT, report), _made(folder / MANIFEST, as_json(manifest))]


def sent_table(release: Release) -> Sent | None:
    """Return the CSV file of a release, if it has one."""
    return next((_table(one) for one in release.distributions if one.name.endswith(".csv")), None)


def _table(one: Distribution) -> Sent:
    return Sent(
        name=one.name, path=one.path, media_type=one.media_type, sha256=one.sha256, bytes=one.bytes, rows=one.rows
    )


def _made(path: Path, content: bytes) -> Sent:
    path.write_bytes(content)
    return Sent(name=path.name, path=path, media_type="application/json", sha256=digest(content), bytes=len(content))
