"""One dataset of the folder portal as it is on disk: its versions, and the tombstones of removed versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_airflow.portals.manifest import Manifest, newest_first, read_document, read_manifest
from anon_airflow.portals.tombstone import Tombstone, is_tombstone, read_tombstone
from anon_core.files.storage import file_digest
from anon_core.publishing.release import NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A dataset: manifests, newest first, the folder of each version, and tombstones, newest first."""

    dataset: str
    manifests: Sequence[Manifest]
    folders: Mapping[str, Path]
    tombstones: Sequence[Tombstone]

    def with_version(self, manifest: Manifest, folder: Path) -> Shelf:
        """Return the shelf with one more version, whose folder is still hidden."""
        return Shelf(
            dataset=self.dataset,
            manifests=newest_first([*self.manifests, manifest]),
            folders={**self.folders, manifest["version"]: folder},
            tombstones=self.tombstones,
        )

    def without(self, leaving: Sequence[Tombstone]) -> Shelf:
        """Return the shelf with tombstones in the place of some versions."""
        gone = {one["version"] for one in leaving}
        return Shelf(
            dataset=self.dataset,
            manifests=[each for each in self.manifests if each["version"] not in gone],
            folders={version: folder for version, folder in self.folders.items() if version not in gone},
            tombstones=newest_first([*(one for one in self.tombstones if one["version"] not in gone), *leaving]),
        )

    def report(self, manifest: Manifest) -> dict[str, Any]:
        """Return the public report of a version; empty if it is not the report that was published."""
        path = self.folders[manifest["version"]] / "report.json"
        known = manifest.get("report_sha256")
        if known is not None and (not path.is_file() or file_digest(path) != known):
            return {}
        return read_document(path)


def version_folders(home: Path) -> list[Path]:
    """Return the folders of versions, also of damaged ones, but not of tombstones."""
    versions = home / "versions"
    found = sorted(versions.iterdir()) if versions.is_dir() else []
    return [folder for folder in found if NAME.fullmatch(folder.name) and not is_tombstone(folder)]


def shelf_of(home: Path) -> Shelf:
    """Read one dataset from disk."""
    folders = {folder.name: folder for folder in version_folders(home)}
    manifests = [manifest for folder in folders.values() if (manifest := read_manifest(folder))]
    versions = home / "versions"
    stones = [read_tombstone(folder) for folder in (sorted(versions.iterdir()) if versions.is_dir() else ())]
    return Shelf(
        dataset=home.name,
        manifests=newest_first(manifests),
        folders=folders,
        tombstones=newest_first(stone for stone in stones if stone),
    )
