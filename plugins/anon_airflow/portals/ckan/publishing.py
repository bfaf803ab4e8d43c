"""Publish one release to a CKAN: read the dataset, change it under its lock, download and compare; retry if needed."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anon_airflow.portals.ckan import requests
from anon_airflow.portals.ckan.dataset import Dataset
from anon_airflow.portals.ckan.datastore import Finishing
from anon_airflow.portals.ckan.files import sent_files
from anon_airflow.portals.ckan.metadata import INCOMPLETE, lost, own_extra, package_fields, withdrawn
from anon_airflow.portals.ckan.requests import Package, Sent
from anon_airflow.portals.ckan.resources import (
    MANIFEST,
    PUBLISHED,
    REPORT,
    ROLE,
    Held,
    Plan,
    ResourceRole,
    current,
    held,
    ours,
    plan,
)
from anon_airflow.portals.manifest import Manifest, age, manifest_of
from anon_core.errors import InvalidInputError, PortalError, RefusedError
from anon_core.limits import DOWNLOAD
from anon_core.publishing.release import Release, withdrawn_words

log = logging.getLogger(__name__)

Group = tuple[ResourceRole, Mapping[str, Any], Sequence[Sent]]


class Publishing:
    """The publication of one release; ``folder`` is a private folder for temporary files."""

    def __init__(self, dataset: Dataset, release: Release, licence: str | None, folder: Path) -> None:
        self.dataset = dataset
        self.release = release
        self.licence = licence
        self.folder = folder
        self.manifest: Manifest = manifest_of(release, release.version)
        self._doubtful: set[str] = set()
        self._first: frozenset[tuple[str, str, str]] | None = None
        self._seen = ""
        self._sent = False

    def run(self) -> tuple[bool, Held, Package]:
        """
        Publish, and return whether anything was sent, the version that is there now, and its dataset.

        :raises RefusedError: it must not be published.
        :raises PortalError: the portal failed in every attempt; the message says what readers can see.
        """
        client = self.dataset.client
        self._refuse_too_large()
        try:
            return client.retry(self._attempt)
        except PortalError as error:
            raise client.failed("publishing", error.reason, self._seen) from None

    def _attempt(self) -> tuple[bool, Held, Package]:
        package = self.dataset.read() or self._create()
        self._refuse(package)
        there = self._found(package)
        if there is None:
            self._refuse_to_overtake(package)
            self._sent = True
            package = self._send(package)
            there = self._found(package)
        if there is None:
            raise self.dataset.client.failed("publishing", "the downloads are not what was sent")
        self._seen = "" if package["private"] else "the files of the release are public already"
        return self._sent, there, self._finished(package, there)

    def _finished(self, package: Package, there: Held) -> Package:
        finishing = Finishing(
            dataset=self.dataset, release=self.release, licence=self.licence, manifest=self.manifest, there=there
        )
        return finishing.run(package)

    def _create(self) -> Package:
        fields = package_fields(self.release, None, self.licence, self.manifest)
        extras = [*fields["extras"], {"key": INCOMPLETE, "value": "yes"}]
        return self.dataset.create({**fields, "extras": extras})

    def _refuse_too_large(self) -> None:
        if large := [one.name for one in self.release.distributions if one.bytes > DOWNLOAD.value()]:
            raise InvalidInputError(
                f"{', '.join(large)}: beyond {DOWNLOAD.words()}, so the downloads could not be compared with what was "
                f"sent; {DOWNLOAD.advice}"
            )

    def _refuse(self, package: Package) -> None:
        """Refuse a release that must not be published on this portal, although the gate passed it."""
        place, period = self.dataset.place, self.release.period or ""
        if package["private"] and not own_extra(package, INCOMPLETE):
            reason = "a user of the portal made the dataset private; make it public again, then run again"
            raise RefusedError("portal", [reason])
        for one in withdrawn(package):
            digests = (one["content_digest"], one["data_digest"])
            same = self.release.content_digest in digests or self.release.data_digest in digests
            if same or self.release.version == one["version"]:
                raise RefusedError("portal", [withdrawn_words(one["version"], one["reason"])])
        newer = [one.age for one in held(package, ResourceRole.CURRENT, ResourceRole.VERSION) if one.period > period]
        if newer and not place.kept:
            raise RefusedError(
                "portal",
                [
                    f"the portal shows {newer[0][0]}, which is newer than {period or 'a run without a period'}, and "
                    "`versions: replace` has room for one; set `portal.ckan.versions: keep`"
                ],
            )

    def _refuse_to_overtake(self, package: Package) -> None:
        """Refuse to replace a release that another process has published since the first attempt."""
        mine = _fingerprint(package)
        if self._first is None:
            self._first = mine
        elif mine != self._first and self.manifest["published_at"] not in {published for *_, published in mine}:
            raise RefusedError(
                "portal", ["another process published this dataset at the same moment; look at it, then run again"]
            )

    def _found(self, package: Package) -> Held | None:
        """
        Return the version of this release if it is there completely, by its resources and by its downloads.

        Files whose downloads are wrong are sent again.
        """
        newest, kept = self._same(package), self.dataset.place.kept
        if newest is None:
            return None
        data = {each.name: each.sha256 for each in self.release.distributions}
        told = {name: one.get("hash") for name, one in newest.resources.items() if name in data}
        if told != data or not {MANIFEST, REPORT} <= newest.resources.keys():
            return None
        shown = current(package)
        if (
            shown is None
            or shown.version != held(package, ResourceRole.VERSION if kept else ResourceRole.CURRENT)[0].version
        ):
            return None
        resources = [*newest.resources.values(), *(shown.resources.values() if kept else ())]
        self._doubtful = self.dataset.wrong(package, resources)
        return None if self._doubtful else newest

    def _same(self, package: Package) -> Held | None:
        """
        Return the newest version of the period if it has this content; for a run without a period, of all periods.

        An older version does not count: after A, then B, publishing A again must show A.
        """
        mine = held(package, ResourceRole.VERSION if self.dataset.place.kept else ResourceRole.CURRENT)
        newest = [one for one in mine if one.period == (self.release.period or "")][:1]
        newest += mine[:1] if self.release.period is None else []
        return next((one for one in newest if one.content_digest == self.release.content_digest), None)

    def _send(self, package: Package) -> Package:
        """Change everything in one call; after a failure, check what readers can download now."""
        self.manifest = {**self.manifest, "version": self._version(package), "sequence": self._sequence(package)}
        wanted = plan(package, self._groups(package), self._doubtful)
        fields = package_fields(self.release, package, self.licence, self._shown(package, wanted))
        if self.dataset.place.datastore and package["private"]:
            fields["extras"] = [*fields["extras"], {"key": INCOMPLETE, "value": "yes"}]
        else:
            fields["private"] = False
        request = requests.revise_with_files(package, update=fields, wanted=wanted.wanted, uploads=wanted.uploads)
        try:
            package = self.dataset.revise(request)
        except (PortalError, InvalidInputError) as error:
            self._look(package, wanted)
            if isinstance(error, PortalError) or not self._seen:
                raise
            raise InvalidInputError(f"{error}. At present {self._seen}") from None
        if dropped := lost(fields, package):
            log.warning("the portal does not show what was sent for %s", ", ".join(dropped))
        return package

    def _shown(self, package: Package, wanted: Plan) -> Mapping[str, Any]:
        """Return the manifest for the dataset's page: this version, unless a newer one is at the stable addresses."""
        shown = current(package)
        if shown is None or any(one[ROLE] == ResourceRole.CURRENT for one in wanted.wanted):
            return self.manifest
        return {"version": shown.version, "period": shown.period, "published_at": shown.published_at}

    def _look(self, package: Package, wanted: Plan) -> None:
        """After a call that failed, check the downloads: CKAN may show a new file although it rejected the rest."""
        shown = [one for one in wanted.wanted if one[ROLE] == ResourceRole.CURRENT]
        try:
            wrong = self.dataset.wrong(package, shown)
        except PortalError:
            self._seen = "it is not known whether readers can see new files"
            return
        where = "with the token" if package["private"] else "by all readers"
        new = any(one["id"] in wanted.uploads and one["id"] not in wrong for one in shown)
        count = f"{len(shown) - len(wrong)} of {len(shown)}"
        self._seen = f"{count} new files can be downloaded {where} already" if new else ""

    def _version(self, package: Package) -> str:
        """Return the version's name; with a number after it if other bytes of its period were published since."""
        name = self.release.version
        if not self.dataset.place.kept:
            return name
        if there := self._same(package):
            return there.version  # It is damaged or incomplete: it will be repaired.
        mine = held(package, ResourceRole.VERSION)
        used = {one.version for one in mine if one.published_at != self.manifest["published_at"]}
        names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        return next(each for each in names if each not in used)

    def _sequence(self, package: Package) -> int:
        """Return the sequence number of this publication: times would be wrong after a clock is set back."""
        held_now = held(package, ResourceRole.CURRENT, ResourceRole.VERSION)
        others = [one.sequence for one in held_now if one.published_at != self.manifest["published_at"]]
        return max(others, default=0) + 1

    def _groups(self, package: Package) -> list[Group]:
        """Return the files that the dataset should have: this version, and the newest one at the stable addresses."""
        files = sent_files(self.release, self.manifest, self.folder)
        if not self.dataset.place.kept:
            return [(ResourceRole.CURRENT, self.manifest, files)]
        groups: list[Group] = [(ResourceRole.VERSION, self.manifest, files)]
        others = [one for one in held(package, ResourceRole.VERSION) if one.version != self.manifest["version"]]
        shown = current(package)
        if shown and shown.version not in {self.manifest["version"], *(one.version for one in others)}:
            # It was published under `versions: replace`; under `keep` it needs resources of its own.
            groups.append((ResourceRole.VERSION, *self._copies(package, shown)))
            others.append(shown)
        newest = max(others, key=lambda one: one.age, default=None)
        if newest is None or newest.age <= age(self.manifest):
            groups.append((ResourceRole.CURRENT, self.manifest, files))
        elif not shown or shown.version != newest.version:
            groups.append((ResourceRole.CURRENT, *self._copies(package, newest)))
        return groups

    def _copies(self, package: Package, one: Held) -> tuple[Mapping[str, Any], Sequence[Sent]]:
        copied = self.dataset.copies(package, one, self.folder / f"copy of {one.version}")
        if copied is None:
            raise RefusedError(
                "portal", [f"version {one.version} there is damaged; withdraw it (`anon withdraw`), then run again"]
            )
        return copied


def _fingerprint(package: Package) -> frozenset[tuple[str, str, str]]:
    """Return the parts of a dataset that only a publication changes; users may edit its description."""
    mine = [one for one in package["resources"] if ours(one)]
    return frozenset((one["id"], one.get("hash") or "", one.get(PUBLISHED) or "") for one in mine)
