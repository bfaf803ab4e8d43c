"""Every file of the folder portal that points to versions: pages, changelogs and the catalogue, made from the shelves.

The same shelves give the same bytes, so what is damaged or was never written comes back with the next publication.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anon_airflow.portals import changelog, pages
from anon_airflow.portals.catalogue import Listed, catalogue_graph, serialised
from anon_airflow.portals.manifest import as_json
from anon_airflow.portals.preview import preview_of
from anon_airflow.portals.shelf import Shelf


def dataset_files(shelf: Shelf) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files in the folder of a dataset, and its changelog, which the catalogue quotes."""
    versions = [(manifest, shelf.report(manifest)) for manifest in shelf.manifests]
    log = changelog.changelog_of(shelf.dataset, versions, shelf.tombstones)
    if versions:
        newest = shelf.manifests[0]
        preview = preview_of(shelf.folders[newest["version"]], newest)
        page = pages.dataset_page(versions, shelf.tombstones, notes_in(log), preview)
    else:
        page = pages.gone_page(shelf.dataset, shelf.tombstones)
    return {"index.html": page.encode(), changelog.FILE: as_json(log)}, log


def portal_files(shelves: Sequence[tuple[Shelf, dict[str, Any]]]) -> dict[str, bytes]:
    """Return the files of the whole portal; of every dataset its shelf and its changelog."""
    there = [(shelf, log) for shelf, log in shelves if shelf.manifests]
    gone = [shelf for shelf, _ in shelves if not shelf.manifests and shelf.tombstones]
    listed = [Listed(manifests=shelf.manifests, notes=notes_in(log)) for shelf, log in there]
    index = pages.index_page([(shelf.manifests, shelf.report(shelf.manifests[0])) for shelf, _ in there], gone)
    return {"index.html": index.encode(), **serialised(catalogue_graph(listed))}


def notes_in(log: dict[str, Any]) -> dict[str, list[str]]:
    """What changed in each version, as a changelog says it; nothing, if somebody damaged it."""
    entries = log.get("versions") if log.get("schema") == changelog.SCHEMA else None
    return {
        str(entry.get("version")): [str(change) for change in entry.get("changes") or ()]
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    }
