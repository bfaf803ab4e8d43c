"""The portal that needs no server: a folder of static pages that any web server, or none, can show.

::

    index.html                            every dataset, with a search
    catalog.ttl, catalog.jsonld           the same for machines: DCAT-AP
    DATASET/index.html                    one dataset: downloads, privacy, columns, first rows, history
    DATASET/changelog.json                its versions, those that are gone too
    DATASET/latest -> versions/VERSION    the newest period
    DATASET/versions/VERSION/             files, report.json, manifest.json, datapackage.json; never changed again
    DATASET/versions/VERSION/             or, where a version was taken off, tombstone.json and a page that says so

Everything is written into a hidden folder first, so that a release appears by renames alone: whatever goes wrong
before, a full disk included, leaves the portal as it was, and whatever goes wrong after is mended by running again.
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

EXPIRED = "Newer versions have taken its place."
MOVED = "no portal is there, so nothing was taken off; if it was moved, put a link to it in this place"
_TYPES: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer"},
    "decimal": {"type": "number"},
    "date": {"type": "date"},
    "timestamp": {"type": "datetime", "format": "any"},
    "boolean": {"type": "boolean", "trueValues": ["true", "True", "TRUE"], "falseValues": ["false", "False", "FALSE"]},
}


class FolderSettings(PortalSettings):
    """Which folder; a relative one starts from where those of the publication file start."""

    folder: FilePath
    ckan: None = None
    """The other portal, which a file may say is off; the digest of a file counts it."""

    def resolved(self, root: Path) -> Self:
        """Return the settings with the whole path of the folder."""
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
        Try, before hours of work, what publishing will need: a lock, a durable file, a link, a rename.

        :raises StorageError: the folder does not take one of them.
        """
        with self._writing(), hidden_folder(self.root) as probe:
            write_new(probe / "file", b"a test, to be removed")
            (probe / "link").symlink_to("file")
            (probe / "link").replace(probe / "renamed")

    def versions(self, dataset: str) -> list[Manifest]:
        """The manifests of a dataset, newest first: by period, then in the order in which they were published."""
        return list(shelf_of(self._home(dataset)).manifests)

    def find(self, dataset: str, content_digest: str, period: str | None) -> Published | None:
        """
        The newest version of the period, of any period if that is None, if it holds these very bytes.

        An older version does not count: whoever publishes A, then B, then A again wants to see A. Nor does one whose
        files are no longer what its manifest says.
        """
        newest = next((each for each in self.versions(dataset) if period in (None, each["period"])), None)
        if newest is None or newest["content_digest"] != content_digest:
            return None
        return None if damaged_file(self._folder(newest), newest) else self._answer("unchanged", newest)

    def publish(self, release: Release) -> Published:
        """
        Put a release on the portal, whole or not at all; the same bytes twice are one version.

        :raises RefusedError: a file is not what was checked, the version holds other bytes, the report is internal, or
            this content was withdrawn.
        :raises StorageError: the folder does not take it; ``latest`` is as it was.
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
        Take a version off the portal, or all of them, damaged ones included; a page says so in the place of each.

        Where a version had expired, its page now says that it was withdrawn. Doing it twice takes nothing more off. The
        files are out of reach before any page is switched.

        :raises StorageError: the folder does not take it, run it again; or no portal is there, so that perhaps it
            stands elsewhere, with the version in it.
        """
        home = self._home(dataset)
        if version is not None and not NAME.fullmatch(version):
            raise InvalidInputError(f"version {version!r} is not made of letters, digits and . _ + -")
        if not home.is_dir():
            if not (self.root / LOCK).exists():
                raise StorageError(str(self.root), "withdrawing", MOVED)
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
        The tombstones of versions beyond those that stay.

        What arrives stays until the next one does, even if it is a backfill of a period before all others.
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
        """Answer `published` for what this very run has put there before something stopped it from saying so."""
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
        The version's name; with a number after it if other bytes of its period have been published since.

        :raises RefusedError: the version is there, but is not, or no longer, this release.
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
    """The number of what is published next: above that of every version, those that are gone included."""
    return 1 + max((int(each.get("sequence") or 0) for each in (*shelf.manifests, *shelf.tombstones)), default=0)


def _refuse_another(folder: Path, wanted: dict[str, str]) -> None:
    """:raises RefusedError: a version of this name is damaged, or holds other files."""
    manifest = read_manifest(folder)
    damaged = damaged_file(folder, manifest) if manifest else "manifest.json"
    if manifest is None or damaged:
        reason = f"{damaged} of version {folder.name} was changed or removed after it was published"
        raise RefusedError("portal", [f"{reason}: restore {folder}, or move it away, then run again"])
    if wanted != {each["name"]: each["sha256"] for each in manifest["distributions"]}:
        reason = f"version {folder.name} holds other files already, and a version never changes"
        raise RefusedError("portal", [f"{reason}: publish under another version"])


def _fill(incoming: Path, release: Release, manifest: Manifest) -> None:
    """Write all files of a version into a folder that nobody looks at yet."""
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

    Only a CSV is a table to a package. Of Parquet, which carries its own schema, it has size and digest.
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
        return resource | {"type": "file"}  # Or size and digest would not be looked at.
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
    # Only names of the known kind are names; a licence in words is a title.
    return {key: value for key, value in licence.items() if value and (key != "name" or text in LICENCES)}


def _publisher(metadata: dict[str, Any]) -> dict[str, str]:
    contact = str(metadata.get("contact") or "")
    publisher = {"title": str(metadata["publisher"]), "role": "publisher"}
    if is_email(contact):
        return publisher | {"email": contact}
    return publisher | ({"path": contact} if address(contact) else {})
