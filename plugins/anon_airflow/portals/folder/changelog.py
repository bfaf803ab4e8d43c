"""The changes from version to version, in sentences, found by comparing their manifests and public reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anon_airflow.portals.manifest import Manifest, age
from anon_airflow.portals.tombstone import Tombstone
from anon_airflow.portals.words import figure
from anon_core.report.criteria import USUAL_K

FILE = "changelog.json"
SCHEMA = "anonflow/changelog/1"

Report = Mapping[str, Any]


def changelog_of(
    dataset: str, versions: Sequence[tuple[Manifest, Report]], tombstones: Sequence[Tombstone]
) -> dict[str, Any]:
    """Return the changelog of a dataset; versions and tombstones are given newest first, and so are its entries."""
    entries = []
    for at, (manifest, report) in enumerate(versions):
        older = versions[at + 1] if at + 1 < len(versions) else None
        entries.append(
            {
                "version": manifest["version"],
                "period": manifest["period"],
                "published_at": manifest["published_at"],
                "status": "available",
                "changes": changes(manifest, report, older) if older else [_first(manifest, tombstones)],
                "files": [
                    {key: each[key] for key in ("name", "media_type", "bytes", "rows", "sha256")}
                    for each in manifest["distributions"]
                ],
            }
        )
    gone = [
        {key: one[key] for key in ("version", "period", "published_at")}
        | {"status": one["kind"], "reason": one["reason"], "at": one["at"], "changes": [], "files": []}
        for one in tombstones
    ]
    return {"schema": SCHEMA, "dataset": dataset, "versions": [*entries, *gone]}


def _first(manifest: Manifest, tombstones: Sequence[Tombstone]) -> str:
    earlier = any(age(one) < age(manifest) for one in tombstones)
    return "The versions before it are no longer available." if earlier else "First version."


def changes(manifest: Manifest, report: Report, older: tuple[Manifest, Report]) -> list[str]:
    """Return the differences from the version before; always at least one sentence."""
    before, report_before = older
    found = []
    if manifest["period"] is not None and manifest["period"] == before["period"]:
        found.append("Replaces the version before for the same period.")
    if _digests(manifest) == _digests(before):
        found.append("The files are the same as before.")
    else:
        found += [*_rows(manifest, before), *_columns(report, report_before), *_privacy(report, report_before)]
    found += _metadata(manifest, before)
    return found or ["Different rows; as many as before, in the same columns."]


def _digests(manifest: Manifest) -> list[str]:
    return sorted(each["sha256"] for each in manifest["distributions"])


def _rows(manifest: Manifest, before: Manifest) -> Iterator[str]:
    now, then = manifest["distributions"][0]["rows"], before["distributions"][0]["rows"]
    if now != then:
        if abs(now - then) < USUAL_K:  # A page must not draw attention to few people.
            yield f"Nearly as many rows as before: {figure(now)} in all."
        else:
            yield f"{figure(abs(now - then))} {'more' if now > then else 'fewer'} rows: {figure(now)} in all."


def _columns(report: Report, before: Report) -> Iterator[str]:
    now, then = _by_name(report), _by_name(before)
    if not now or not then:
        return
    if new := [name for name in now if name not in then]:
        yield f"New columns: {', '.join(new)}."
    if gone := [name for name in then if name not in now]:
        yield f"Columns that are no longer included: {', '.join(gone)}."
    for name in now:
        if name in then and _levels(now[name]) != _levels(then[name]):
            yield f"{name}: {' / '.join(_levels(now[name]))}; before: {' / '.join(_levels(then[name]))}."


def _by_name(report: Report) -> dict[str, Mapping[str, Any]]:
    columns = (report.get("recoding") or {}).get("columns") or ()
    return {str(column["name"]): column for column in columns}


def _levels(column: Mapping[str, Any]) -> list[str]:
    return [str(level["name"]) for level in column.get("levels") or () if level.get("rows")]


def _privacy(report: Report, before: Report) -> Iterator[str]:
    now, then = ((each.get("privacy") or {}).get("k_required") for each in (report, before))
    if isinstance(now, int) and isinstance(then, int) and now != then:
        yield f"The rule now requires groups of at least {figure(now)}; before: {figure(then)}."


def _metadata(manifest: Manifest, before: Manifest) -> Iterator[str]:
    now, then = manifest.get("metadata") or {}, before.get("metadata") or {}
    if now.get("licence") != then.get("licence"):
        yield f"Licence: {now.get('licence') or 'none'}; before: {then.get('licence') or 'none'}."
    if manifest["title"] != before["title"]:
        yield f"The title was {before['title']}."
    if others := sorted(key for key in {*now, *then} - {"licence"} if now.get(key) != then.get(key)):
        yield f"Described differently: {', '.join(others)}."
