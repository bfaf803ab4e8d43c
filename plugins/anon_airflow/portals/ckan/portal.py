"""The CKAN portal: releases are published, replaced or kept, and withdrawn there.

A dataset is private until its first release is complete; one call uploads everything and makes it public. Later
releases change the files at the same addresses, if no other user has changed the dataset in between. Every download is
compared with what was sent, whatever CKAN answers: it can show a new file although it answers that the call failed.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from anon_airflow.portals.ckan import requests
from anon_airflow.portals.ckan.client import MAX_ADDRESS_LENGTH, CkanClient, RetryPolicy
from anon_airflow.portals.ckan.dataset import Dataset
from anon_airflow.portals.ckan.metadata import DATASET, WITHDRAWN, tombstone_fields
from anon_airflow.portals.ckan.publishing import Publishing
from anon_airflow.portals.ckan.requests import Package, Resource
from anon_airflow.portals.ckan.resources import (
    MANIFEST,
    VERSION,
    Held,
    ResourceRole,
    current,
    digests_of,
    held,
    in_order,
    ours,
    plan,
)
from anon_airflow.portals.ckan.server import Server, origin, server_of
from anon_airflow.portals.ckan.settings import CkanPlace, CkanSettings, check, find_licence
from anon_airflow.run.progress import Progress
from anon_core.errors import InvalidInputError, PortalError
from anon_core.publishing.portal import Connect, Portal
from anon_core.publishing.release import Published, Release, check_release
from anon_core.spec import PortalSettings, Publication


class CkanPortal(Portal):
    """One dataset on a CKAN. Several processes may publish at once: one of them wins, the others are refused."""

    settings: ClassVar[type[PortalSettings]] = CkanSettings
    location_key = "dataset"
    anchor_form = "a CKAN dataset as `package_show` returns it"

    def __init__(
        self,
        server: Server,
        place: CkanPlace,
        retries: RetryPolicy | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.place = place
        self.client = CkanClient(server, retries, progress)
        self.dataset = Dataset(self.client, place)

    @classmethod
    def opened(
        cls,
        settings: CkanSettings,
        *,
        connect: Connect,
        progress: Progress | None = None,
        publication: Publication | None = None,
    ) -> Self:
        """
        Return the portal of a publication on the CKAN of a connection.

        :raises InvalidInputError: the connection does not name a CKAN.
        """
        server = server_of(settings.ckan.connection, connect)
        return cls(server, CkanPlace.of(settings, publication), progress=progress)

    @classmethod
    def tombstones_in(cls, document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        """Return the withdrawals in a dataset, as `package_show` returns it."""
        package = document.get("result", document)
        extras = {str(one["key"]): one["value"] for one in package.get("extras", ())}
        if WITHDRAWN not in extras:
            return None
        return [
            {**one, "dataset": extras[DATASET], "audit": json.loads(one["audit"]) if one.get("audit") else None}
            for one in json.loads(extras[WITHDRAWN])
        ]

    def check(self) -> None:
        """
        Check, before hours of work, the token, the organisation, the name and the licence.

        :raises InvalidInputError: with everything that is wrong.
        :raises PortalError: the portal does not answer.
        """
        check(self.client, self.place)

    def publish(self, release: Release) -> Published:
        """
        Publish a release, completely or not at all; the same content twice is one version.

        :raises RefusedError: a file is not what was measured, or the release must not be published here.
        :raises PortalError: the portal failed; run again.
        """
        check_release(release)
        with tempfile.TemporaryDirectory(prefix="anonflow-") as folder:
            licence = find_licence(self.client, self.place)
            sent, there, package = Publishing(self.dataset, release, licence, Path(folder)).run()
            manifest = self._manifest(package, there, Path(folder) / "read back")
        mine = sent or manifest.get("receipt") == (release.manifest.get("receipt") or False)
        return Published(
            status="published" if mine else "unchanged",
            version=there.version,
            location=f"{self._site()}/dataset/{package['id']}",
            page=f"{self._site()}/dataset/{package['name']}",
            manifest=manifest,
        )

    def versions(self, dataset: str) -> list[dict[str, Any]]:
        """Return the manifests of a dataset, newest first."""
        package = self._of(dataset).read()
        if package is None:
            return []
        found: dict[str, Held] = {}
        for one in held(package, ResourceRole.VERSION, ResourceRole.CURRENT):
            found.setdefault(one.version, one)
        with tempfile.TemporaryDirectory(prefix="anonflow-") as folder:
            return [self._manifest(package, one, Path(folder) / str(at)) for at, one in enumerate(found.values())]

    def withdraw(
        self,
        dataset: str,
        version: str | None,
        reason: str,
        at: str,
        *,
        words_only: bool = False,
        audit: Mapping[str, Any] | None = None,
    ) -> tuple[str, ...]:
        """
        Take a version off the portal, or all of them, and return the versions taken off; the dataset's page says so.

        Files and rows in the DataStore are removed first. If the newest version is withdrawn, the one before replaces
        it. A dataset in CKAN's bin counts: its organisation can still download it, and can restore it.

        :raises PortalError: the portal failed; until a later call succeeds, files may still be on the portal.
        """
        place, gone = self._of(dataset), set[str]()

        def once() -> tuple[str, ...]:
            package = place.read(binned=True)
            if package is None:
                return tuple(sorted(gone))
            if to_remove := self._to_remove(place, package, version):
                names = {one[VERSION] for one in to_remove} if version is None else {version}
                gone.update(names)
                notice = {"reason": reason, "at": at, "audit": json.dumps(audit) if audit else ""}
                stones = [{**notice, **one} for one in digests_of(package, names, words_only=words_only)]
                package = self._archive(place, package, to_remove, stones)
            self._move_up(place, package)
            return tuple(sorted(gone))

        try:
            return self.client.retry(once)
        except PortalError as error:
            raise self.client.failed("withdrawing", error.reason, "what is still there is not known") from None

    def check_is_where(self, locations: Iterable[str]) -> None:
        """
        Check that this is the CKAN that releases were sent to: otherwise nothing would be withdrawn there.

        A CKAN whose address has changed still has the dataset by its id.

        :raises InvalidInputError: the connection names another CKAN now.
        """
        site = self._site()
        for one in sorted(set(locations)):
            if not one.startswith(f"{site}/") and not self.client.ask(requests.show(one.rpartition("/")[2])).ok:
                raise InvalidInputError(
                    f"{one} is on record, but the connection names {site}, which does not have it; set the connection "
                    "to the CKAN where it was published"
                )

    def _to_remove(self, place: Dataset, package: Package, version: str | None) -> list[Resource]:
        """
        Return the resources to take off.

        If the files at the stable addresses do not match their digests, a call that failed may have sent them, and they
        may belong to the version to withdraw: so they are removed too.
        """
        mine = [one for one in package["resources"] if ours(one)]
        if version is None:
            return mine
        to_remove = [one for one in mine if one[VERSION] == version]
        shown = current(package)
        if shown and shown.version != version and place.wrong(package, shown.resources.values()):
            to_remove += shown.resources.values()
        return to_remove

    def _archive(
        self, place: Dataset, package: Package, to_remove: list[Resource], stones: list[dict[str, str]]
    ) -> Package:
        ids = {one["id"] for one in to_remove}
        left = next(
            (
                {"version": one.version, "period": one.period}
                for one in held(package, ResourceRole.VERSION, ResourceRole.CURRENT)
                if not ids & {each["id"] for each in one.resources.values()}
            ),
            {},
        )
        return place.remove(package, ids, tombstone_fields(package, stones, left))

    def _move_up(self, place: Dataset, package: Package) -> None:
        """Copy the newest version that is left to the stable addresses, if it is not there."""
        left = held(package, ResourceRole.VERSION)
        shown = current(package)
        if not left or (shown and shown.version == left[0].version):
            return
        with tempfile.TemporaryDirectory(prefix="anonflow-") as folder:
            copied = place.copies(package, left[0], Path(folder))
            if copied is None:
                raise self.client.failed("restoring an older version", "its files do not match its manifest")
            wanted = plan(package, [(ResourceRole.CURRENT, *copied)], ())
            package = place.revise(
                requests.revise_with_files(package, update={}, wanted=wanted.wanted, uploads=wanted.uploads)
            )
            package = place.revise(requests.revise(package, update={}, resources=in_order(package["resources"])))
        if place.wrong(package, wanted.wanted):
            raise self.client.failed("restoring an older version", "the downloads are not what was sent")

    def _of(self, dataset: str) -> Dataset:
        return Dataset(self.client, dataclasses.replace(self.place, dataset=dataset))

    def _manifest(self, package: Package, one: Held, folder: Path) -> dict[str, Any]:
        """Return the manifest of a version; if it is damaged, what its resources say."""
        manifest = {name: each for name, each in one.resources.items() if name == MANIFEST}
        manifest_only = dataclasses.replace(one, resources=manifest)
        if copied := self.dataset.copies(package, manifest_only, folder):
            return copied[0]
        return {
            "dataset": package["name"],
            "version": one.version,
            "period": one.period or None,
            "sequence": one.sequence,
            "published_at": one.published_at,
            "content_digest": one.content_digest,
        }

    def _site(self) -> str:
        """Return the public address of the portal."""
        reply = self.client.ask(requests.status())
        site = str((reply.result or {}).get("site_url") or "").rstrip("/")
        usable = origin(site) and site.isprintable() and " " not in site and len(site) <= MAX_ADDRESS_LENGTH
        return site if usable else self.client.server.url
