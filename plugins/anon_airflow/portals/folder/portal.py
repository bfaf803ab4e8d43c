"""The folder portal: a folder of static pages, for any web server, or to open in a browser without one.

::

    index.html                            every dataset, with a search
    catalog.ttl, catalog.jsonld           the same for machines: DCAT-AP
    DATASET/index.html                    one dataset: downloads, privacy, columns, first rows, history
    DATASET/changelog.json                its versions, also those that were taken off
    DATASET/latest -> versions/VERSION    the newest period
    DATASET/versions/VERSION/             files, report.json, manifest.json, datapackage.json; never changed again
    DATASET/versions/VERSION/             or, if the version was taken off, tombstone.json and a page that says so

Everything is written to a hidden folder first, and a release appears by renames alone. An error before the renames,
such as a full disk, leaves the portal as it was; an error after them is repaired by running again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, ClassVar, Literal, Self

from anon_airflow.portals.folder import site
from anon_airflow.portals.folder.disk import (
    LOCK,
    copy_checked,
    hidden_folder,
    make_folder,
    refuse_links,
    remove_unfinished,
    storage_errors,
    write_new,
)
from anon_airflow.portals.folder.shelf import Shelf, shelf_of, version_folders
from anon_airflow.portals.manifest import Manifest, as_json, damaged_file, manifest_of, read_manifest, report_bytes
from anon_airflow.portals.tombstone import Tombstone, is_tombstone, tombstone_of, withdrawn_before
from anon_airflow.portals.vocabulary import LICENCES
from anon_airflow.portals.words import address, is_email
from anon_airflow.run.locks import locked
from anon_core.errors import InvalidInputError, RefusedError, StorageError
from anon_core.files.storage import sync
from anon_core.publishing.portal import Portal
from anon_core.publishing.release import NAME, SLUG, Published, Release, check_release, withdrawn_words
from anon_core.spec import PortalSettings
from anon_core.spec.paths import FilePath

EXPIRED = "Newer versions have replaced it."
NO_PORTAL = "there is no portal, so nothing was taken off; if the portal was moved, put a link to it in this place"
_TYPES: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer"},
    "decimal": {"type": "number"},
    "date": {"type": "date"},
    "timestamp": {"type": "datetime", "format": "any"},
    "boolean": {"type": "boolean", "trueValues": ["true", "True", "TRUE"], "falseValues": ["false", "False", "FALSE"]},
}


class FolderSettings(PortalSettings):
    """The folder; a relative path starts at the same folder as other paths of the publication file."""

    folder: FilePath
    ckan: None = None
    """The other portal, which a file may set to null; it is part of the digest of a file."""

    def resolved(self, root: Path) -> Self:
        """Return the settings with the absolute path of the folder."""
        return self.model_copy(update={"folder": str(root / self.folder)})

    @property
    def shown_folder(self) -> Path:
        """The folder: a web server shows all of it."""
        return Path(self.folder)


class FolderPortal(Portal):
    """A folder of releases; several processes may publish into it at once. ``keep`` is how many versions stay."""

    settings: ClassVar[type[PortalSettings]] = FolderSettings
    draft = "{folder: portal}"
    location_key = "folder"

    def __init__(self, root: Path, *, keep: int | None = None) -> None:
        self.root = root
        self.keep = keep

    @classmethod
    def opened(cls, settings: FolderSettings, **_: Any) -> Self:
        """Return the portal in a folder."""
        return cls(settings.shown_folder, keep=settings.keep)

    @classmethod
    def settings_of_location(cls, location: str) -> dict[str, Any]:
        """Return the settings by the folder of a version."""
        return {"folder": str(Path(location).parents[2])}

    def check(self) -> None:
        """
        Try, before hours of work, what publishing will need: a lock, a synced file, a link, a rename.

        :raises StorageError: one of them is not possible.
        """
        with self._writing(), hidden_folder(self.root) as probe:
            write_new(probe / "file", b"a test, to be removed")
            (probe / "link").symlink_to("file")
            (probe / "link").replace(probe / "renamed")

    def versions(self, dataset: str) -> list[Manifest]:
        """Return the manifests of a dataset, newest first: by period, then by order of publication."""
        return list(shelf_of(self._home(dataset)).manifests)

    def find(self, dataset: str, content_digest: str, period: str | None) -> Published | None:
        """
        Return the newest version of the period, of any period if that is None, if it holds exactly these bytes.

        An older version does not count: after A, then B, publishing A again must show A. A version whose files do not
        match its manifest does not count, either.
        """
        newest = next((each for each in self.versions(dataset) if period in (None, each["period"])), None)
        if newest is None or newest["content_digest"] != content_digest:
            return None
        return None if damaged_file(self._folder(newest), newest) else self._answer("unchanged", newest)

    def publish(self, release: Release) -> Published:
        """
        Publish a release, completely or not at all; the same bytes twice are one version.

        :raises RefusedError: a file is not what was measured, the version holds other bytes, the report is internal, or
            this content was withdrawn.
        :raises StorageError: the folder cannot be written; ``latest`` is as it was.
        """
        check_release(release)
        home = self.root / release.dataset
        with self._writing():
            refuse_links(home)
            make_folder(home / "versions")
            remove_unfinished(home)
            shelf = shelf_of(home)
            if stone := withdrawn_before(shelf.tombstones, release):
                raise RefusedError("portal", [withdrawn_words(stone["version"], stone["reason"])])
            there = self.find(release.dataset, release.content_digest, release.period)
            with hidden_folder(self.root) as hidden:
                if there:
                    site.show(self.root, hidden, shelf, expiring=self._expired(shelf))
                    return self._ours(there, release)
                manifest = manifest_of(release, self._free_version(release), _next_number(shelf))
                _fill(hidden / site.ARRIVING, release, manifest)
                shelf = shelf.with_version(manifest, hidden / site.ARRIVING)
                site.show(self.root, hidden, shelf, arriving=manifest, expiring=self._expired(shelf, manifest))
        return self._answer("published", manifest)

    def withdraw(
        self,
        dataset: str,
        version: str | None,
        reason: str,
        at: str,
        *,
        words_only: bool = False,
        audit: Mapping[str, Any] | None = None,
    ) -> tuple[str, ...]:
        """
        Take a version off the portal, or all of them, also damaged ones; a page in the place of each says so.

        The page of an expired version then says that it was withdrawn. A second call takes nothing more off. The files
        are removed before any page is replaced.

        :raises StorageError: the folder cannot be written, run it again; or there is no portal: it may have been moved,
            with the version in it.
        """
        home = self._home(dataset)
        if version is not None and not NAME.fullmatch(version):
            raise InvalidInputError(f"version {version!r} is not made of letters, digits and . _ + -")
        if not home.is_dir():
            if not (self.root / LOCK).exists():
                raise StorageError(str(self.root), "withdrawing", NO_PORTAL)
            return ()
        with self._writing():
            remove_unfinished(home)
            shelf = shelf_of(home)
            known = {folder.name: read_manifest(folder) for folder in version_folders(home)}
            known |= {one["version"]: one for one in shelf.tombstones if one["kind"] == "expired"}
            leaving = [
                tombstone_of(
                    known[name],
                    dataset=dataset,
                    version=name,
                    kind="withdrawn",
                    reason=reason,
                    at=at,
                    words_only=words_only,
                    audit=audit,
                )
                for name in sorted(known)
                if version in (None, name)
            ]
            with hidden_folder(self.root) as hidden:
                site.show(self.root, hidden, shelf, withdrawn=leaving)
        return tuple(one["version"] for one in leaving)

    def _expired(self, shelf: Shelf, arriving: Manifest | None = None) -> list[Tombstone]:
        """
        Return the tombstones of versions that expire because of ``keep``.

        A new version stays until the next publication, even if it is a backfill of the oldest period.
        """
        beyond = shelf.manifests[self.keep :] if self.keep else []
        last = arriving or max(
            shelf.manifests, key=lambda each: (int(each.get("sequence", 0)), str(each["published_at"]))
        )
        at = last["published_at"]
        return [
            tombstone_of(each, dataset=shelf.dataset, version=each["version"], kind="expired", reason=EXPIRED, at=at)
            for each in beyond
            if each is not last
        ]

    def _ours(self, there: Published, release: Release) -> Published:
        """Return the status `published` for a version that this run published before it was interrupted."""
        receipt = there.manifest.get("receipt")
        same = receipt is not None and receipt == release.manifest.get("receipt")
        return dataclasses.replace(there, status="published") if same else there

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with storage_errors("publishing into the portal folder", self.root):
            make_folder(self.root)
            with locked(self.root / LOCK, math.inf):
                site.finish(self.root)
                remove_unfinished(self.root)
                yield

    def _free_version(self, release: Release) -> str:
        """
        Return the version's name; with a number after it if other bytes of its period have been published since.

        :raises RefusedError: the version exists, but does not hold this release.
        """
        versions = self.root / release.dataset / "versions"
        wanted = {each.name: each.sha256 for each in release.distributions}
        name = release.version
        for again in itertools.count(2):
            if not os.path.lexists(versions / name):
                return name
            if not is_tombstone(versions / name):
                _refuse_another(versions / name, wanted)
            name = f"{release.version}-{again}"
        raise AssertionError("there is always a next number")

    def _home(self, dataset: str) -> Path:
        if not SLUG.fullmatch(dataset):
            raise InvalidInputError(f"dataset {dataset!r} is not made of a-z, 0-9, - and _")
        return self.root / dataset

    def _folder(self, manifest: Manifest) -> Path:
        return self.root.joinpath(manifest["dataset"], "versions", manifest["version"])

    def _answer(self, status: Literal["published", "unchanged"], manifest: Manifest) -> Published:
        page = self.root / manifest["dataset"] / "index.html"
        folder = str(self._folder(manifest))
        return Published(status=status, version=manifest["version"], location=folder, page=str(page), manifest=manifest)


def _next_number(shelf: Shelf) -> int:
    """Return the next sequence number: above that of every version, also of those that were taken off."""
    return 1 + max((int(each.get("sequence") or 0) for each in (*shelf.manifests, *shelf.tombstones)), default=0)


def _refuse_another(folder: Path, wanted: dict[str, str]) -> None:
    """:raises RefusedError: a version of this name is damaged, or holds other files."""
    manifest = read_manifest(folder)
    damaged = damaged_file(folder, manifest) if manifest else "manifest.json"
    if manifest is None or damaged:
        reason = f"{damaged} of version {folder.name} was changed or removed after it was published"
        raise RefusedError("portal", [f"{reason}: restore {folder}, or move it out of the portal, then run again"])
    if wanted != {each["name"]: each["sha256"] for each in manifest["distributions"]}:
        reason = f"version {folder.name} already holds other files, and a version never changes"
        raise RefusedError("portal", [f"{reason}: publish under another version"])


def _fill(incoming: Path, release: Release, manifest: Manifest) -> None:
    """Write all files of a version to a hidden folder."""
    incoming.mkdir()
    for each in release.distributions:
        copy_checked(each, incoming / each.name)
    write_new(incoming / "report.json", report_bytes(release, manifest))
    write_new(incoming / "manifest.json", as_json(manifest))
    write_new(incoming / "datapackage.json", as_json(datapackage_of(manifest, release.report)))
    incoming.chmod(0o755)
    sync(incoming)


def datapackage_of(manifest: Manifest, report: dict[str, Any]) -> dict[str, Any]:
    """
    Return a version as a Frictionless Data Package, so that programs can check and load it.

    Only a CSV file is a table in the package. For Parquet, which has its own schema, it gives size and digest.
    """
    metadata = manifest.get("metadata") or {}
    package: dict[str, Any] = {
        "profile": "data-package",
        "name": manifest["dataset"],
        "id": manifest["content_digest"],
        "title": manifest["title"],
        "version": manifest["version"],
        "created": manifest["published_at"],
        "resources": [_resource(each, report) for each in manifest["distributions"]],
    }
    if metadata.get("description"):
        package["description"] = metadata["description"]
    if metadata.get("keywords"):
        package["keywords"] = list(metadata["keywords"])
    if metadata.get("licence"):
        package["licenses"] = [_licence(str(metadata["licence"]))]
    if metadata.get("publisher"):
        package["contributors"] = [_publisher(metadata)]
    return package


def _resource(file: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    path = PurePath(file["name"])
    resource: dict[str, Any] = {
        "name": f"{path.stem}-{path.suffix[1:]}".lower(),
        "path": file["name"],
        "format": path.suffix[1:].lower(),
        "mediatype": file["media_type"],
        "bytes": file["bytes"],
        "hash": f"sha256:{file['sha256']}",
    }
    columns = (report.get("recoding") or {}).get("columns") or ()
    if file["media_type"] != "text/csv" or not columns:
        return resource | {"type": "file"}  # Otherwise programs would not check size and digest.
    return resource | {
        "type": "table",
        "profile": "tabular-data-resource",
        "encoding": "utf-8",
        "dialect": {"delimiter": ",", "quoteChar": '"', "doubleQuote": True, "lineTerminator": "\r\n", "header": True},
        "schema": {"fields": [_field(each) for each in columns], "missingValues": [""]},
    }


def _field(column: dict[str, Any]) -> dict[str, Any]:
    field = {"name": column["name"], **_TYPES.get(str(column.get("type")), {"type": "string"})}
    return field | ({"description": column["description"]} if column.get("description") else {})


def _licence(text: str) -> dict[str, str]:
    title, link = LICENCES.get(text, (text, address(text)))
    licence = {"name": text, "title": title, "path": link}
    # Only a known identifier is a name; a licence in words is a title.
    return {key: value for key, value in licence.items() if value and (key != "name" or text in LICENCES)}


def _publisher(metadata: dict[str, Any]) -> dict[str, str]:
    contact = str(metadata.get("contact") or "")
    publisher = {"title": str(metadata["publisher"]), "role": "publisher"}
    if is_email(contact):
        return publisher | {"email": contact}
    return publisher | ({"path": contact} if address(contact) else {})
