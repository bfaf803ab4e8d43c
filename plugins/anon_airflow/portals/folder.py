"""The portal that needs no server: a folder of static pages that any web server, or none, can show.

::

    index.html                            every dataset
    DATASET/index.html                    one dataset: downloads, privacy, history
    DATASET/latest -> versions/VERSION    the newest period
    DATASET/versions/VERSION/             files, report.json, manifest.json; never changed again

Everything is written to hidden names first, so that a release appears by renames alone: whatever goes wrong before, a
full disk included, leaves the portal as it was, and whatever goes wrong after is mended by running again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from anon_airflow.portals import pages
from anon_airflow.portals.disk import (
    UNFINISHED,
    copy_checked,
    locked,
    make_folder,
    storage_errors,
    sweep,
    sync_folder,
    write_new,
)
from anon_airflow.portals.manifest import (
    Manifest,
    as_json,
    damaged_file,
    manifest_of,
    newest_first,
    read_document,
    read_manifest,
)
from anon_airflow.portals.release import NAME, SLUG, Published, Release, check_names
from anon_core.errors import InvalidInputError, RefusedError


class FolderPortal:
    """A folder of releases; several processes may publish into it at once."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def check_writable(self) -> None:
        """
        Try, before hours of work, what publishing will need: a lock, a durable file, a link, a rename.

        :raises StorageError: the folder does not take one of them.
        """
        with self._writing():
            probe = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=self.root))
            try:
                write_new(probe / "file", b"a test, to be removed")
                (probe / "link").symlink_to("file")
                (probe / "link").replace(probe / "renamed")
            finally:
                shutil.rmtree(probe, ignore_errors=True)

    def versions(self, dataset: str) -> list[Manifest]:
        """The manifests of a dataset, newest first: by period, then by the time they were published."""
        if not SLUG.fullmatch(dataset):
            raise InvalidInputError(f"dataset {dataset!r} is not made of a-z, 0-9, - and _")
        folder = self.root / dataset / "versions"
        if not folder.is_dir():
            return []
        found = (read_manifest(each) for each in folder.iterdir() if NAME.fullmatch(each.name))
        return newest_first(each for each in found if each is not None)

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

        :raises RefusedError: a file is not what was checked, the version holds other bytes, or the report is internal.
        :raises StorageError: the folder does not take it; ``latest`` is as it was.
        """
        check_names(release)
        if release.report.get("kind") != "public":
            raise RefusedError("portal", ["the report is not the public one"])
        home = self.root / release.dataset
        with self._writing():
            make_folder(home / "versions")
            sweep(home)
            if there := self.find(release.dataset, release.content_digest, release.period):
                self._show(release.dataset)
                return self._ours(there, release)
            manifest = manifest_of(release, self._free_version(release))
            incoming = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=home))
            try:
                _fill(incoming, release, manifest)
                self._show(release.dataset, incoming, manifest)
            finally:
                shutil.rmtree(incoming, ignore_errors=True)
        return self._answer("published", manifest)

    def _ours(self, there: Published, release: Release) -> Published:
        """Answer `published` for what this very run has put there before something stopped it from saying so."""
        receipt = (read_manifest(Path(there.location)) or {}).get("receipt")
        same = receipt is not None and receipt == release.manifest.get("receipt")
        return dataclasses.replace(there, status="published") if same else there

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with storage_errors("publishing into the portal folder", self.root):
            make_folder(self.root)
            with locked(self.root):
                sweep(self.root)
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
            manifest = read_manifest(versions / name)
            damaged = damaged_file(versions / name, manifest) if manifest else "manifest.json"
            if manifest is None or damaged:
                reason = f"{damaged} of version {name} was changed or removed after it was published"
                raise RefusedError("portal", [f"{reason}: restore {versions / name}, or move it away, then run again"])
            if wanted != {each["name"]: each["sha256"] for each in manifest["distributions"]}:
                reason = f"version {name} holds other files already, and a version never changes"
                raise RefusedError("portal", [f"{reason}: publish under another version"])
            name = f"{release.version}-{again}"
        raise AssertionError("there is always a next number")

    def _show(self, dataset: str, incoming: Path | None = None, arriving: Manifest | None = None) -> None:
        """Write link and pages beside the old ones, then rename: first the new version, then what points to it."""
        home = self.root / dataset
        manifests = newest_first([*self.versions(dataset), *([arriving] if arriving else [])])
        newest = manifests[0]
        report = read_document((incoming if incoming and newest is arriving else self._folder(newest)) / "report.json")
        others = sorted(each.name for each in self.root.iterdir() if each.name != dataset and SLUG.fullmatch(each.name))
        catalogue = [manifests, *filter(None, map(self.versions, others))]
        link = home / f"{UNFINISHED}latest"
        link.symlink_to(Path("versions", newest["version"]))
        written = [
            (link, home / "latest"),
            (_hidden_page(home, pages.dataset_page(manifests, report)), home / "index.html"),
            (_hidden_page(self.root, pages.index_page(catalogue)), self.root / "index.html"),
        ]
        if incoming and arriving:
            incoming.rename(self._folder(arriving))
            sync_folder(home / "versions")
        for hidden, visible in written:
            hidden.replace(visible)
        sync_folder(home)
        sync_folder(self.root)

    def _folder(self, manifest: Manifest) -> Path:
        return self.root.joinpath(manifest["dataset"], "versions", manifest["version"])

    def _answer(self, status: Literal["published", "unchanged"], manifest: Manifest) -> Published:
        page = self.root / manifest["dataset"] / "index.html"
        return Published(
            status=status, version=manifest["version"], location=str(self._folder(manifest)), page=str(page)
        )


def _fill(incoming: Path, release: Release, manifest: Manifest) -> None:
    """Write all files of a version into a folder that nobody looks at yet."""
    for each in release.distributions:
        copy_checked(each, incoming / each.name)
    report = as_json(release.report)
    if hashlib.sha256(report).hexdigest() != manifest.get("report_sha256", hashlib.sha256(report).hexdigest()):
        raise RefusedError("portal", ["the report is not the one that the receipt covers"])
    write_new(incoming / "report.json", report)
    write_new(incoming / "manifest.json", as_json(manifest))
    incoming.chmod(0o755)
    sync_folder(incoming)


def _hidden_page(folder: Path, html: str) -> Path:
    hidden = folder / f"{UNFINISHED}index.html"
    write_new(hidden, html.encode())
    return hidden
