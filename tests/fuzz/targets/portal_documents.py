"""What lies in a portal's folder, changed by others: manifests, tombstones, reports. One bad file stops nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from anon_airflow.commands.anchors import read_anchors
from anon_airflow.portals import manifest as manifests
from anon_airflow.portals.folder.shelf import shelf_of
from anon_airflow.portals.tombstone import read_tombstone, tombstone_of
from tests.fuzz.drawing import Draw
from tests.fuzz.oddities import changed, value
from tests.fuzz.oracle import judged
from tests.fuzz.target import Target

VERSION = "2026-10-01.dc92df35"
MANIFEST: dict[str, Any] = {
    "schema": manifests.SCHEMA,
    "dataset": "people",
    "title": "People",
    "version": VERSION,
    "period": "2026-10-01",
    "published_at": "2026-11-01T00:00:00.000000Z",
    "content_digest": "a" * 64,
    "report_sha256": "b" * 64,
    "distributions": [
        {"name": "people.csv", "media_type": "text/csv", "bytes": 9, "rows": 2, "sha256": "c" * 64},
        {"name": "people.parquet", "media_type": "application/x", "bytes": 9, "rows": 2, "sha256": "d" * 64},
    ],
    "metadata": {"licence": "CC-BY-4.0"},
    "audit": {"seq": 3, "mac": "e" * 64},
}
TOMBSTONE = tombstone_of(MANIFEST, dataset="people", version=VERSION, kind="withdrawn", reason="r", at="2026-11-02")
OTHERS = ("2026-09-01.aaaaaaaa", "2026-08-01.bbbbbbbb")


def run(draw: Draw, folder: Path) -> None:
    home = folder / "people"
    shutil.rmtree(home, ignore_errors=True)
    at = home / "versions" / VERSION
    at.mkdir(parents=True)
    for other in OTHERS[: draw.number(0, 2)]:
        _write(home / "versions" / other, "manifest.json", {**MANIFEST, "version": other})
    stone = draw.chance(2)
    name, whole = ("tombstone.json", TOMBSTONE) if stone else ("manifest.json", MANIFEST)
    if draw.chance(4):
        _write(at, "report.json", value(draw))
    if draw.chance(4):
        (at / name).write_bytes(draw.rest())
    else:
        _write(at, name, changed(draw, whole))
    if stone:  # Tombstones are sorted, so a bad one needs a good one beside it.
        _write(home / "versions" / OTHERS[1], name, {**TOMBSTONE, "version": OTHERS[1]})
        judged(read_tombstone, at)
    found = judged(manifests.read_manifest, at)
    if found is not None:
        judged(manifests.damaged_file, at, found)
        judged(manifests.data_digest_of, found)
    judged(read_anchors, [at / name])
    shelf = judged(shelf_of, home)
    for each in shelf.manifests if shelf else ():
        judged(shelf.report, each)


def _write(folder: Path, name: str, document: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(document))


TARGET = Target(run=run, share=0.06, drawn=0.03, words=(b'{"', b'":', b"[[", b"null", b"\\ud800", b"NaN", b"1e999"))
