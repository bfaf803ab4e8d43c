"""The portal that is a CKAN: releases are published, replaced or kept, and withdrawn there.

A dataset is private until its first release is whole; one call uploads everything and shows it. Later releases change
the files at the same addresses, if nobody else has changed the dataset in between. Whatever CKAN answers, what can be
downloaded is compared with what was sent: it shows a new file even when it answers that the call failed.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from anon_airflow.portals.ckan import requests
from anon_airflow.portals.ckan.client import MAX_ADDRESS_LENGTH, CkanClient, Patience
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
    """The place of one dataset on a CKAN; several processes may publish there at once, and one of them wins."""

    settings: ClassVar[type[PortalSettings]] = CkanSettings
    location_key = "dataset"
    anchor_form = "a CKAN dataset as `package_show` returns it"

    def __init__(
        self,
        server: Server,
        place: CkanPlace,
        patience: Patience | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.place = place
        self.client = CkanClient(server, patience, progress)
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
        Return the place of a publication on the CKAN of a connection.

        :raises InvalidInputError: the connection does not lead to a CKAN.
        """
        server = server_of(settings.ckan.connection, connect)
        return cls(server, CkanPlace.of(settings, publication), progress=progress)

    @classmethod
    def tombstones_in(cls, document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        """Return what a dataset says of its withdrawals, as `package_show` returns it."""
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
        Ask, before hours of work, whether the token, the organisation, the name and the licence will do.

        :raises InvalidInputError: with everything that is wrong.
        :raises PortalError: the portal does not answer.
        """
        check(self.client, self.place)

    def publish(self, release: Release) -> Published:
        """
        Put a release on the portal, whole or not at all; the same content twice is one version.

        :raises RefusedError: a file is not what was checked, or the release must not be published here.
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
        """The manifests of a dataset, newest first."""
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
        Take a version off the portal, or all of them, and return those that were taken off; its page says so.

        Files and rows in the DataStore go first. If the newest is withdrawn, the one before takes its place. A dataset
        in CKAN's bin counts: its organisation can still download it, and can bring it back.

        :raises PortalError: the portal failed; until this ends well, nothing is known to be off.
        """
        place, gone = self._of(dataset), set[str]()

        def once() -> tuple[str, ...]:
            package = place.read(binned=True)
            if package is None:
                return tuple(sorted(gone))
            if doomed := self._doomed(place, package, version):
                names = {one[VERSION] for one in doomed} if version is None else {version}
                gone.update(names)
                notice = {"reason": reason, "at": at, "audit": json.dumps(audit) if audit else ""}
                stones = [{**notice, **one} for one in digests_of(package, names, words_only=words_only)]
                package = self._bury(place, package, doomed, stones)
            self._move_up(place, package)
            return tuple(sorted(gone))

        try:
            return self.client.retry(once)
        except PortalError as error:
            raise self.client.failed("withdrawing", error.reason, "what is still there is not known") from None

    def check_is_where(self, locations: Iterable[str]) -> None:
        """
        Refuse to be another CKAN than the one that releases were sent to: what is not here is not gone there.

        A CKAN that got another name still has the dataset by its id.

        :raises InvalidInputError: the connection leads elsewhere by now.
        """
        site = self._site()
        for one in sorted(set(locations)):
            if not one.startswith(f"{site}/") and not self.client.ask(requests.show(one.rpartition("/")[2])).ok:
                raise InvalidInputError(
                    f"{one} is on record, and the connection leads to {site}, which does not have it; let the "
                    "connection lead to where it was published"
                )

    def _doomed(self, place: Dataset, package: Package, version: str | None) -> list[Resource]:
        """
        Return the resources to take off.

        If the files at the stable addresses are not what they are said to be, perhaps they are those of the version to
        be withdrawn, sent by a call that failed: then they go too.
        """
        mine = [one for one in package["resources"] if ours(one)]
        if version is None:
            return mine
        doomed = [one for one in mine if one[VERSION] == version]
        shown = current(package)
        if shown and shown.version != version and place.wrong(package, shown.resources.values()):
            doomed += shown.resources.values()
        return doomed

    def _bury(self, place: Dataset, package: Package, doomed: list[Resource], stones: list[dict[str, str]]) -> Package:
        ids = {one["id"] for one in doomed}
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
        """Put the newest version that is left to the stable addresses, if it is not there."""
        left = held(package, ResourceRole.VERSION)
        shown = current(package)
        if not left or (shown and shown.version == left[0].version):
            return
        with tempfile.TemporaryDirectory(prefix="anonflow-") as folder:
            copied = place.copies(package, left[0], Path(folder))
            if copied is None:
                raise self.client.failed("putting an older version forward", "its files are not what they were")
            wanted = plan(package, [(ResourceRole.CURRENT, *copied)], ())
            package = place.revise(
                requests.revise_with_files(package, update={}, wanted=wanted.wanted, uploads=wanted.uploads)
            )
            package = place.revise(requests.revise(package, update={}, resources=in_order(package["resources"])))
        if place.wrong(package, wanted.wanted):
            raise self.client.failed("putting an older version forward", "what can be downloaded is not what was sent")

    def _of(self, dataset: str) -> Dataset:
        return Dataset(self.client, dataclasses.replace(self.place, dataset=dataset))

    def _manifest(self, package: Package, one: Held, folder: Path) -> dict[str, Any]:
        """The manifest of a version; what its resources say, if it is damaged."""
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
        """The address that readers know the portal by."""
        reply = self.client.ask(requests.status())
        site = str((reply.result or {}).get("site_url") or "").rstrip("/")
        usable = origin(site) and site.isprintable() and " " not in site and len(site) <= MAX_ADDRESS_LENGTH
        return site if usable else self.client.server.url
