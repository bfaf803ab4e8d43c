"""What must hold after a fault, whatever it was: every function returns what does not, as sentences."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from anon_airflow.audit import AuditStore
from anon_airflow.keys.ring import KeyRing
from anon_core.errors import AnonError
from tests.faults.anon_process import Ended
from tests.faults.matrix.operations import Operation, new_key
from tests.faults.matrix.place import CANARY, Place
from tests.faults.publications import files_below

SQLITE = ("disk is full", "disk I/O error", "readonly database", "unable to open database file")
"""What SQLite says; it does not tell a full disk from a broken one when it makes a journal durable."""
REASONS = {
    "full": ("No space left on device", *SQLITE),
    "read-only": ("Read-only file system", *SQLITE),
    "I/O error": ("Input/output error", *SQLITE),
}
BESIDE_DATA = {"datapackage.json", "manifest.json", "report.json"}
HIDDEN = (".incoming-", ".gone-", ".part-", ".signing.key.")


def portal_is_whole(place: Place) -> list[str]:
    """Every version is complete or gone, every page is whole; pages may still be those from before."""
    wrong = []
    for folder in _version_folders(place):
        if (folder / "tombstone.json").exists():
            names = {path.name for path in folder.iterdir()}
            wrong += [f"{folder.name}: beside its tombstone lie {names}"] * (names != {"tombstone.json", "index.html"})
            continue
        wrong += [f"{folder.name}: {each}" for each in _version_faults(folder)]
    for path in _shown(place):
        if path.suffix == ".html" and not path.read_text().rstrip().endswith("</html>"):
            wrong.append(f"half a page: {path.relative_to(place.portal)}")
        if path.suffix in (".json", ".jsonld") and not _is_json(path):
            wrong.append(f"half a document: {path.relative_to(place.portal)}")
    return wrong


def portal_is_settled(place: Place, releases: int, tombstones: int) -> list[str]:
    """What the portal shows is what lies on it: so many versions, ``latest`` the newest, pages and lists of these."""
    wrong = portal_is_whole(place)
    stones = [each for each in _version_folders(place) if (each / "tombstone.json").exists()]
    versions = [each for each in _version_folders(place) if each not in stones]
    if (len(versions), len(stones)) != (releases, tombstones):
        wrong.append(
            f"{len(versions)} versions and {len(stones)} tombstones are on the portal, not {releases} and {tombstones}"
        )
    latest = place.portal / "people/latest"
    newest = max(versions, key=_age).name if versions else None
    shown = latest.resolve().name if latest.is_symlink() else None
    if shown != newest:
        wrong.append(f"latest leads to {shown}, the newest version is {newest}")
    if versions or stones:
        page = (place.portal / "people/index.html").read_text()
        listed = json.dumps(json.loads((place.portal / "people/changelog.json").read_bytes()))
        catalogue = (place.portal / "catalog.ttl").read_text()
        for version in versions:
            wrong += [f"{version.name} is not on the page of the dataset"] * (version.name not in page)
            wrong += [f"{version.name} is not in the list of changes"] * (version.name not in listed)
        wrong += ["the catalogue does not know the newest version"] * (newest is not None and newest not in catalogue)
        for stone in stones:
            wrong += [f"{stone.name} is gone, and still in the catalogue"] * (stone.name in catalogue)
    return wrong


def record_holds(place: Place) -> list[str]:
    """The audit chain verifies, and one version was published at most once; looked at in a copy, which is mended."""
    if not (place.home / "audit.db").exists() or not (place.home / "audit.db").stat().st_size:
        return []
    with tempfile.TemporaryDirectory() as scratch:
        copied = Path(scratch) / "home"
        copied.mkdir()
        for path in place.home.glob("audit.db*"):
            shutil.copy(path, copied / path.name)
        try:
            with AuditStore.open(None, copied, _keys(place)) as store:
                verified = store.verify()
                rows = store.proven("publications")["publications"] if verified.ok else []
        except AnonError as error:
            return [f"the audit store cannot be read: {error}"]
    wrong = [] if verified.ok else [f"the audit chain is broken: {verified.reason}"]
    # A run of Airflow that is cleared and taken again from `stage` may say so again: it has published it.
    said = {(row["version"], row["run_id"]) for row in rows if row["status"] == "published"}
    counts = Counter(version for version, _ in said)
    return wrong + [
        f"{version} is on record as published by {count} runs" for version, count in counts.items() if count > 1
    ]


def nothing_is_left(place: Place, *, waits: bool = False, journal: bool = False) -> list[str]:
    """
    No original, no gated file unless a run ``waits`` for an answer, nothing half written and no temporary file.

    A ``journal`` may be left where the database could not undo what it had begun: it does so when it is opened next.
    """
    wrong = [f"an original is left: {path.relative_to(place.home)}" for path in files_below(place.home / "staging")]
    if not waits:
        wrong += [f"a gated file is left: {path.relative_to(place.home)}" for path in files_below(place.home / "gated")]
    wrong += [f"{path.relative_to(place.folder)} is left" for path in place.temporary.rglob("*")]
    for path in place.folder.rglob("*"):
        if (
            path.name.startswith(HIDDEN)
            or path.name.endswith(".part")
            or (path.name.endswith("-journal") and not journal)
        ):
            wrong.append(f"{path.relative_to(place.folder)} is left")
    return wrong


def assert_settled(place: Place, releases: int, tombstones: int = 0) -> None:
    """So many releases and tombstones are shown and on record, and nothing else is left."""
    assert portal_is_settled(place, releases, tombstones) == []
    assert record_holds(place) == []
    assert nothing_is_left(place) == []


def no_canary(place: Place, ended: Ended) -> list[str]:
    """No cell of the source is anywhere but in the source, the staging area and the file of the hierarchy."""
    wanted = CANARY.encode()
    wrong = ["a cell was said"] * (CANARY in ended.out + ended.err)
    allowed = (place.folder / "include/samples", place.folder / "include/hierarchies", place.home / "staging")
    for path in files_below(place.folder):
        if not any(folder in path.parents for folder in allowed) and wanted in path.read_bytes():
            wrong.append(f"a cell is in {path.relative_to(place.folder)}")
    return wrong


def said_well(operation: Operation, fault: str, ended: Ended) -> list[str]:
    """The exit code is one of ours; no traceback, no bug; an error of the disk is told as one, with its place."""
    wrong = []
    if ended.code not in ((operation.code, 130) if fault == "stop" else (0, 1, 2)):
        wrong.append(f"exit code {ended.code}: {_last_line(ended)}")
    for word in ("Traceback", "bug in anonflow"):
        if word in ended.out + ended.err:
            wrong.append(f"it says {word}: {_last_line(ended)}")
    if fault in REASONS and ended.code != operation.code:
        if ended.code == 1:
            wrong.append(f"an error of the disk is told as a refusal: {_last_line(ended)}")
        elif not any(reason in ended.err for reason in REASONS[fault]):
            wrong.append(f"the reason is not told: {_last_line(ended)}")
        elif os.sep not in _last_line(ended):
            wrong.append(f"the place is not told: {_last_line(ended)}")
    return wrong


def _shown(place: Place) -> list[Path]:
    """The files that a reader of the portal can find."""
    return [
        path
        for path in files_below(place.portal)
        if not any(part.startswith(".incoming-") for part in path.relative_to(place.portal).parts)
    ]


def _version_folders(place: Place) -> list[Path]:
    folder = place.portal / "people/versions"
    return sorted(folder.iterdir()) if folder.exists() else []


def _version_faults(folder: Path) -> list[str]:
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
    except (OSError, ValueError):
        return ["it has no manifest"]
    files = {each["name"]: each["sha256"] for each in manifest["distributions"]}
    there = {path.name for path in folder.iterdir()}
    if there != files.keys() | BESIDE_DATA:
        return [f"it holds {sorted(there)}"]
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    return [f"{name} is not what the manifest says" for name in files if digests[name] != files[name]]


def _age(folder: Path) -> tuple[str, int]:
    """By period, then by the order of publication: clocks may be wrong."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    return manifest["period"] or "", manifest["sequence"]


def _keys(place: Place) -> KeyRing:
    environ: dict[str, Any] = new_key(place) if (place.folder / "retired.keys").exists() else {}
    return KeyRing.load(place.home, environ, create=False)


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return False
    return True


def _last_line(ended: Ended) -> str:
    return (ended.err.strip().splitlines() or ["nothing"])[-1]
