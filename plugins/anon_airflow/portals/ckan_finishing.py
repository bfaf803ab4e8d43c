"""After the files of a release can be read on a CKAN: its DataStore, who may see it, and what does not stay."""

from __future__ import annotations

from dataclasses import dataclass

from anon_airflow.portals import ckan_datastore as datastore
from anon_airflow.portals import ckan_requests as requests
from anon_airflow.portals.ckan_dataset import Dataset
from anon_airflow.portals.ckan_files import sent_table
from anon_airflow.portals.ckan_metadata import package_fields
from anon_airflow.portals.ckan_requests import Package
from anon_airflow.portals.ckan_resources import (
    FILE,
    MANIFEST,
    REPORT,
    ROLE,
    VERSION,
    Held,
    Role,
    current,
    held,
    in_order,
    ours,
)
from anon_airflow.portals.manifest import Manifest
from anon_core.release import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Finishing:
    """A release whose files stand on the portal as version ``there``."""

    dataset: Dataset
    release: Release
    licence: str | None
    manifest: Manifest
    there: Held

    def run(self, package: Package) -> Package:
        """
        Fill the DataStore, show the dataset, remove the versions that do not stay, and put the rest in order.

        :raises PortalError: the portal failed; every step can be taken again.
        """
        if self._tables_changed(package):
            package = self.dataset.read() or package
        if package["private"]:
            fields = package_fields(self.release, package, self.licence, self.manifest)
            package = self.dataset.revise(requests.revise(package, update={**fields, "private": False}))
        if doomed := self._beyond(package):
            package = self.dataset.remove(package, doomed, {})
        ordered = in_order(package["resources"])
        if [one["id"] for one in ordered] != [one["id"] for one in package["resources"]]:
            package = self.dataset.revise(requests.revise(package, update={}, resources=ordered))
        return package

    def _tables_changed(self, package: Package) -> bool:
        """Let the DataStore follow the files at the stable addresses; tell whether it had to be touched."""
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
        if datastore.is_filled(client, place, table, columns):
            return False
        datastore.fill(client, place, table, columns)
        if not datastore.is_filled(client, place, table, columns):
            raise client.failed("filling the DataStore", "it does not have the rows of the file")
        return True

    def _drop(self, shown: Held) -> bool:
        """Remove tables that we made when a DataStore was asked for: they hold an older version by now."""
        tables = [one["id"] for one in shown.resources.values() if one.get("datastore_active")]
        return self.dataset.delete_rows([one for one in tables if datastore.is_ours(self.dataset.client, one)])

    def _beyond(self, package: Package) -> set[str]:
        """
        Return the resources that do not stay: versions beyond ``keep``, files of other names, what is gone.

        What arrives stays until the next one does, even if it is a backfill of a period before all others.
        """
        place = self.dataset.place
        versions = [one.version for one in held(package, Role.VERSION)]
        staying = {self.there.version, *versions[: place.keep]} if place.kept else set()
        names = {MANIFEST, REPORT, *(one.name for one in self.release.distributions)}
        return {
            one["id"]
            for one in package["resources"]
            if ours(one)
            and (
                one[ROLE] == Role.GONE
                or (one[ROLE] == Role.VERSION and one[VERSION] not in staying)
                or (one[ROLE] == Role.CURRENT and one[FILE] not in names)
            )
        }
