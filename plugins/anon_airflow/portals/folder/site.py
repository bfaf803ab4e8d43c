"""Update what readers see, by renames: versions in and out, pages, catalogue, and ``latest`` at the very end.

Every file that points to versions is made from the shelves. The same shelves give the same bytes, so the next
publication repairs a file that is damaged or was never written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from anon_airflow.portals import tombstone
from anon_airflow.portals.folder import changelog, pages
from anon_airflow.portals.folder.catalogue import Listed, catalogue_graph, serialised
from anon_airflow.portals.folder.disk import UNFINISHED, write_files
from anon_airflow.portals.folder.preview import preview_of
from anon_airflow.portals.folder.shelf import Shelf, shelf_of
from anon_airflow.portals.manifest import Manifest, as_json, read_document
from anon_airflow.portals.tombstone import Tombstone
from anon_airflow.run import cancellation
from anon_core.files.storage import sync
from anon_core.publishing.release import SLUG

ARRIVING = "arriving"
_STONES, _TAKEN = "stones", "taken"


def show(
    root: Path,
    hidden: Path,
    shelf: Shelf,
    *,
    arriving: Manifest | None = None,
    withdrawn: Sequence[Tombstone] = (),
    expiring: Sequence[Tombstone] = (),
) -> None:
    """
    Show a dataset as the shelf has it, with the version ``arriving`` added and the others taken off.

    Everything is written to the hidden folder first. Then, in this order: withdrawn versions are taken off, the new
    version is added, pages and catalogue are replaced, then ``latest``, and at last expired versions are taken off.
    """
    home = root / shelf.dataset
    after = shelf.without([*withdrawn, *expiring])
    own, log = dataset_files(after)
    write_files(hidden / "dataset", own)
    write_files(hidden / "portal", portal_files([(after, log), *_others(root, shelf.dataset)]))
    for stone in (*withdrawn, *expiring):
        page = pages.tombstone_page(stone).encode()
        write_files(_stone(hidden, stone), {tombstone.FILE: as_json(stone), "index.html": page})
    if after.manifests:
        (hidden / "latest").symlink_to(Path("versions", after.manifests[0]["version"]))
    cancellation.ignore_stops()  # The renames take a moment. Half of them would be on the portal, but not on record.
    _take_off(root, hidden, withdrawn)
    if arriving:
        (hidden / ARRIVING).rename(home / "versions" / arriving["version"])
        sync(home / "versions")
    _switch(hidden / "dataset", own, home)
    _switch(hidden / "portal", (hidden_file.name for hidden_file in sorted((hidden / "portal").iterdir())), root)
    if after.manifests:
        (hidden / "latest").replace(home / "latest")
    else:
        (home / "latest").unlink(missing_ok=True)
    sync(home)
    sync(root)
    _take_off(root, hidden, expiring)


def finish(root: Path) -> None:
    """
    Put the tombstones in place that an interrupted process had prepared for versions that it had already moved away.

    Only under the lock. Versions that it had not moved yet are left to the next try.
    """
    for stone in root.glob(f"{UNFINISHED}*/{_STONES}/*/*"):
        place = root / stone.parent.name / "versions" / stone.name
        taken = stone.parents[2] / _TAKEN / stone.parent.name / stone.name
        if os.path.lexists(taken) and not os.path.lexists(place):
            stone.rename(place)
            sync(place.parent)


def dataset_files(shelf: Shelf) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files in the folder of a dataset, and its changelog for the catalogue."""
    versions = [(manifest, shelf.report(manifest)) for manifest in shelf.manifests]
    log = changelog.changelog_of(shelf.dataset, versions, shelf.tombstones)
    if versions:
        newest = shelf.manifests[0]
        preview = preview_of(shelf.folders[newest["version"]], newest)
        page = pages.dataset_page(versions, shelf.tombstones, notes_in(log), preview)
    else:
        page = pages.empty_dataset_page(shelf.dataset, shelf.tombstones)
    return {"index.html": page.encode(), changelog.FILE: as_json(log)}, log


def portal_files(shelves: Sequence[tuple[Shelf, dict[str, Any]]]) -> dict[str, bytes]:
    """Return the files at the top of the portal, made from the shelf and the changelog of every dataset."""
    there = [(shelf, log) for shelf, log in shelves if shelf.manifests]
    gone = [shelf for shelf, _ in shelves if not shelf.manifests and shelf.tombstones]
    listed = [Listed(manifests=shelf.manifests, notes=notes_in(log)) for shelf, log in there]
    index = pages.index_page([(shelf.manifests, shelf.report(shelf.manifests[0])) for shelf, _ in there], gone)
    return {"index.html": index.encode(), **serialised(catalogue_graph(listed))}


def notes_in(log: dict[str, Any]) -> dict[str, list[str]]:
    """Return the changes of each version from a changelog; empty if the changelog is damaged."""
    entries = log.get("versions") if log.get("schema") == changelog.SCHEMA else None
    return {
        str(entry.get("version")): [str(change) for change in entry.get("changes") or ()]
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    }


def _others(root: Path, dataset: str) -> list[tuple[Shelf, dict[str, Any]]]:
    """Return the other datasets of the portal, with their changelogs."""
    names = sorted(each.name for each in root.iterdir() if each.name != dataset and SLUG.fullmatch(each.name))
    shelves = [shelf_of(root / name) for name in names]
    logs = [
        read_document(root / name / changelog.FILE) if shelf.manifests else {}
        for name, shelf in zip(names, shelves, strict=True)
    ]
    return list(zip(shelves, logs, strict=True))


def _stone(hidden: Path, stone: Tombstone) -> Path:
    return hidden.joinpath(_STONES, stone["dataset"], stone["version"])


def _take_off(root: Path, hidden: Path, stones: Sequence[Tombstone]) -> None:
    """Move versions to the hidden folder, and put their tombstones in their place."""
    try:
        for stone in stones:
            place = root / stone["dataset"] / "versions" / stone["version"]
            taken = hidden / _TAKEN / stone["dataset"] / stone["version"]
            taken.parent.mkdir(parents=True, exist_ok=True)
            place.rename(taken)
            _stone(hidden, stone).rename(place)
            sync(place.parent)
    except BaseException:  # After an interrupt between the two renames the tombstone would be missing.
        finish(root)
        raise


def _switch(hidden: Path, names: Iterable[str], visible: Path) -> None:
    for name in names:
        (hidden / name).replace(visible / name)
