"""Switching what readers see, by renames: versions in and out, pages, catalogue, and ``latest`` at the very end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from anon_airflow import stopping
from anon_airflow.portals import changelog, site, tombstone
from anon_airflow.portals.disk import UNFINISHED, write_files
from anon_airflow.portals.manifest import Manifest, as_json, read_document
from anon_airflow.portals.pages import tombstone_page
from anon_airflow.portals.shelf import Shelf, shelf_of
from anon_airflow.portals.tombstone import Tombstone
from anon_core.release import SLUG
from anon_core.storage import sync

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
    Show a dataset as the shelf has it, with ``arriving`` in and the others out.

    Everything is written to the hidden folder before anything is switched. Then, in this order: what was withdrawn
    goes, the new version comes, what points to versions is switched, ``latest`` last, and what nothing points to any
    more goes.
    """
    home = root / shelf.dataset
    after = shelf.without([*withdrawn, *expiring])
    own, log = site.dataset_files(after)
    write_files(hidden / "dataset", own)
    write_files(hidden / "portal", site.portal_files([(after, log), *_others(root, shelf.dataset)]))
    for stone in (*withdrawn, *expiring):
        write_files(_stone(hidden, stone), _stone_files(stone))
    if after.manifests:
        (hidden / "latest").symlink_to(Path("versions", after.manifests[0]["version"]))
    stopping.too_late()  # What follows takes a moment. Half of it would be on the portal, and not on record.
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
    Put up the tombstones that somebody who was stopped had ready when he took their versions away.

    Only under the lock. What it had not begun to take away is left to the next try.
    """
    for stone in root.glob(f"{UNFINISHED}*/{_STONES}/*/*"):
        place = root / stone.parent.name / "versions" / stone.name
        taken = stone.parents[2] / _TAKEN / stone.parent.name / stone.name
        if os.path.lexists(taken) and not os.path.lexists(place):
            stone.rename(place)
            sync(place.parent)


def _others(root: Path, dataset: str) -> list[tuple[Shelf, dict[str, Any]]]:
    """The other datasets of the portal, with their changelogs."""
    names = sorted(each.name for each in root.iterdir() if each.name != dataset and SLUG.fullmatch(each.name))
    shelves = [shelf_of(root / name) for name in names]
    logs = [
        read_document(root / name / changelog.FILE) if shelf.manifests else {}
        for name, shelf in zip(names, shelves, strict=True)
    ]
    return list(zip(shelves, logs, strict=True))


def _stone(hidden: Path, stone: Tombstone) -> Path:
    return hidden.joinpath(_STONES, stone["dataset"], stone["version"])


def _stone_files(stone: Tombstone) -> dict[str, bytes]:
    return {tombstone.FILE: as_json(stone), "index.html": tombstone_page(stone).encode()}


def _take_off(root: Path, hidden: Path, stones: Sequence[Tombstone]) -> None:
    """Move versions out of reach, into the hidden folder, and put their tombstones in their place."""
    try:
        for stone in stones:
            place = root / stone["dataset"] / "versions" / stone["version"]
            taken = hidden / _TAKEN / stone["dataset"] / stone["version"]
            taken.parent.mkdir(parents=True, exist_ok=True)
            place.rename(taken)
            _stone(hidden, stone).rename(place)
            sync(place.parent)
    except BaseException:  # A stop may fall between the two renames: what is gone must not be without its page.
        finish(root)
        raise


def _switch(hidden: Path, names: Iterable[str], visible: Path) -> None:
    for name in names:
        (hidden / name).replace(visible / name)
