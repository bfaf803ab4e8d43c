"""The work after the files of a release are on a CKAN: fill its DataStore, make it public, remove old versions.

The DataStore is a copy for browsing and for queries: the cells of the CSV file as text, and a gap as null. The files
are the release; the DataStore only follows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from anon_airflow.portals.ckan import requests
from anon_airflow.portals.ckan.client import CkanClient
from anon_airflow.portals.ckan.dataset import Dataset
from anon_airflow.portals.ckan.files import sent_table
from anon_airflow.portals.ckan.metadata import package_fields
from anon_airflow.portals.ckan.requests import Package, Reply, Sent
from anon_airflow.portals.ckan.resources import (
    FILE,
    MANIFEST,
    REPORT,
    ROLE,
    VERSION,
    Held,
    ResourceRole,
    current,
    held,
    in_order,
    ours,
)
from anon_airflow.portals.manifest import Manifest
from anon_airflow.run.progress import say
from anon_core.errors import InvalidInputError
from anon_core.files.storage import file_digest
from anon_core.publishing.release import Release, changed_file

BATCH = 5000
BLOCK = 16 << 20
"""Bytes that are read at once; no published table has a longer row."""
SOURCE = "anonflow_sha256"


def is_filled(client: CkanClient, resource_id: str, sent: Sent, columns: list[dict[str, Any]]) -> bool:
    """Whether the table was loaded from exactly this file, completely, with the right description of columns."""
    reply = client.ask(requests.table(resource_id))
    if not reply.ok:
        return False
    shown = [{"id": one["id"], "info": one.get("info")} for one in reply.result["fields"] if one["id"] != "_id"]
    told = [{"id": one["id"], "info": one["info"]} for one in fields(sent, columns)]
    return bool(shown == told and reply.result.get("total") == sent.rows)


def is_ours(client: CkanClient, resource_id: str) -> bool:
    """Whether anonflow loaded a table; a CKAN can also load tables by itself."""
    reply = client.ask(requests.table(resource_id))
    return bool(reply.ok and any(SOURCE in (one.get("info") or {}) for one in reply.result["fields"]))


def fill(client: CkanClient, resource_id: str, sent: Sent, columns: list[dict[str, Any]]) -> None:
    """
    Load a file, a few thousand rows at a time, in place of the old table.

    After any failure the whole load begins again: an insert that was sent twice would double its rows. A message of the
    DataStore may quote rows, so errors show only the status.

    :raises RefusedError: the file is not the one that was checked.
    :raises PortalError: the server failed.
    :raises InvalidInputError: it does not accept the table; another try would not help.
    """
    if file_digest(sent.path) != sent.sha256:
        raise changed_file(sent.name)
    dropped = client.send(requests.delete_rows(resource_id))
    if dropped.status != 404:
        _refuse(client, dropped)
    _refuse(client, client.send(requests.create_table(resource_id, fields(sent, columns))))
    done = 0
    for records in batches(sent):
        _refuse(client, client.send(requests.insert_rows(resource_id, records)))
        done += len(records)
        client.tell("filling the DataStore: {:,} of {:,} rows", done, sent.rows)
    _show(client, resource_id)


def _show(client: CkanClient, resource_id: str) -> None:
    """Make CKAN show the table on its page; if that fails the table can still be queried, so it is only reported."""
    shown = client.ask(requests.resource(resource_id))
    reply = client.send(requests.show_table(shown.result)) if shown.ok else shown
    if not reply.ok:
        say(client.progress, f"the table can be queried, but CKAN does not show it on its page (HTTP {reply.status})")


def fields(sent: Sent, columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the data dictionary: every column is text, because a generalised cell is a label."""
    return [
        {
            "id": one["name"],
            "type": "text",
            "info": {"label": one["name"], "notes": one.get("description") or "", SOURCE: sent.sha256},
        }
        for one in columns
    ]


def batches(sent: Sent) -> Iterator[list[dict[str, str | None]]]:
    """Yield the rows of a released CSV file, some at a time: a bare empty cell is a gap, a quoted one is not."""
    import pyarrow as pa
    from pyarrow import csv

    read, parse = csv.ReadOptions(block_size=BLOCK), csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(sent.path, read, parse) as head:
        names = head.schema.names
    text = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    with csv.open_csv(sent.path, read, parse, text) as reader:
        for block in reader:
            for start in range(0, block.num_rows, BATCH):
                yield block.slice(start, BATCH).to_pylist()


def _refuse(client: CkanClient, reply: Reply) -> None:
    state = "the files are published, but the DataStore is not complete"
    if reply.broken:
        raise client.failed("filling the DataStore", f"HTTP {reply.status}", state)
    if not reply.ok:
        raise InvalidInputError(
            f"{client.server.url} does not accept the table in its DataStore (HTTP {reply.status}); {state}: remove "
            "`portal.ckan.datastore`, or ask its administrator"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finishing:
    """The last steps for a release whose files are on the portal as version ``there``."""

    dataset: Dataset
    release: Release
    licence: str | None
    manifest: Manifest
    there: Held

    def run(self, package: Package) -> Package:
        """
        Fill the DataStore, make the dataset public, remove expired versions, and sort the resources.

        :raises PortalError: the portal failed; every step can be repeated.
        """
        if self._tables_changed(package):
            package = self.dataset.read() or package
        if package["private"]:
            fields = package_fields(self.release, package, self.licence, self.manifest)
            package = self.dataset.revise(requests.revise(package, update={**fields, "private": False}))
        if to_remove := self._beyond(package):
            package = self.dataset.remove(package, to_remove, {})
        ordered = in_order(package["resources"])
        if [one["id"] for one in ordered] != [one["id"] for one in package["resources"]]:
            package = self.dataset.revise(requests.revise(package, update={}, resources=ordered))
        return package

    def _tables_changed(self, package: Package) -> bool:
        """Update the DataStore to the files at the stable addresses; return whether it had to be changed."""
        shown = current(package)
        if shown is None:
            return False
        if not self.dataset.place.datastore:
            return self._drop(shown)
        return shown.version == self.there.version and self._fill(shown)

    def _fill(self, shown: Held) -> bool:
        table, client = sent_table(self.release), self.dataset.client
        if table is None:
            return False
        place, columns = shown.resources[table.name]["id"], self.release.report.get("recoding", {}).get("columns", [])
        if is_filled(client, place, table, columns):
            return False
        fill(client, place, table, columns)
        if not is_filled(client, place, table, columns):
            raise client.failed("filling the DataStore", "it does not have the rows of the file")
        return True

    def _drop(self, shown: Held) -> bool:
        """Remove tables that anonflow made while `datastore` was set: they hold an older version now."""
        tables = [one["id"] for one in shown.resources.values() if one.get("datastore_active")]
        return self.dataset.delete_rows([one for one in tables if is_ours(self.dataset.client, one)])

    def _beyond(self, package: Package) -> set[str]:
        """
        Return the resources to remove: versions beyond ``keep``, files of other names, and resources without a file.

        A new version stays until the next publication, even if it is a backfill of the oldest period.
        """
        place = self.dataset.place
        versions = [one.version for one in held(package, ResourceRole.VERSION)]
        staying = {self.there.version, *versions[: place.keep]} if place.kept else set()
        names = {MANIFEST, REPORT, *(one.name for one in self.release.distributions)}
        return {
            one["id"]
            for one in package["resources"]
            if ours(one)
            and (
                one[ROLE] == ResourceRole.GONE
                or (one[ROLE] == ResourceRole.VERSION and one[VERSION] not in staying)
                or (one[ROLE] == ResourceRole.CURRENT and one[FILE] not in names)
            )
        }
