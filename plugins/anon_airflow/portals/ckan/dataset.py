"""One dataset on a CKAN: read it, change it under its lock, measure its downloads, and remove files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from anon_airflow.portals.ckan import requests
from anon_airflow.portals.ckan.client import CkanClient, Downloaded
from anon_airflow.portals.ckan.requests import Package, Request, Resource, Sent
from anon_airflow.portals.ckan.resources import (
    MANIFEST,
    OWN,
    REPORT,
    ROLE,
    Held,
    ResourceRole,
    address,
    relabelled,
    size_of,
    without,
    without_files,
)
from anon_airflow.portals.ckan.settings import CkanPlace, not_ours, taken
from anon_airflow.portals.manifest import Manifest
from anon_core.errors import InvalidInputError


class Dataset:
    """The dataset on the portal that has the name of the publication."""

    def __init__(self, client: CkanClient, place: CkanPlace) -> None:
        self.client = client
        self.place = place

    def read(self, *, binned: bool = False) -> Package | None:
        """
        Return the dataset, or None if there is none; with ``binned`` also a dataset of anonflow in CKAN's bin.

        :raises InvalidInputError: another dataset has this name.
        """
        reply = self.client.ask(requests.show(self.place.dataset))
        if reply.status == 404:
            return None
        if not reply.ok:
            raise self._wrong(taken(self.place, f"which this token may not see ({reply.words})"))
        why = not_ours(reply.result, self.place)
        if reply.result.get("state") == "deleted" and (why or not binned):
            return None
        if why:
            raise self._wrong(why)
        return relabelled(reply.result)

    def create(self, fields: Mapping[str, Any]) -> Package:
        """Create the dataset as private; or return it, if another process created it at the same moment."""
        named = {"name": self.place.dataset, "owner_org": self.place.organization}
        try:
            return dict(self._changed(requests.create({**fields, **named}), "creating the dataset"))
        except InvalidInputError:
            if package := self.read():
                return package
            raise

    def revise(self, request: Request) -> Package:
        """
        Change the dataset, if it has not changed since it was read. The call is not repeated here.

        :raises PortalError: it has changed, or the portal failed: read it again before the next try.
        :raises InvalidInputError: the portal rejects the change; another try would not help.
        """
        package = relabelled(self._changed(request, "changing the dataset")["package"])
        told = {one["id"]: one for one in request.told}
        for shown in package["resources"]:
            dropped = [
                key for key in ("hash", *OWN) if (told.get(shown["id"], {}).get(key) or "") != (shown.get(key) or "")
            ]
            if dropped and shown["id"] in told:
                raise self._wrong(
                    f"it drops {', '.join(dropped)} of resources, which anonflow needs to recognise releases; make its "
                    "schema allow them"
                )
        return package

    def _changed(self, request: Request, doing: str) -> Any:
        reply = self.client.send(request)
        if reply.ok:
            return reply.result
        if reply.stale:
            raise self.client.failed(doing, "another user changed it at the same moment")
        if reply.broken:
            raise self.client.failed(doing, reply.words)
        if reply.too_large:
            sizes = ", ".join(f"{sent.name} {sent.bytes / 1e6:.1f} MB" for sent in request.uploads.values())
            raise self._wrong(f"a file is larger than it allows ({sizes}; {reply.words}); raise ckan.max_resource_size")
        if reply.status == 413:
            raise self._wrong(
                f"{doing}: the call is larger than it, or a server in front of it, allows ({reply.words}): shorten "
                "metadata.description, or ask its administrator to raise the limit"
            )
        if reply.name_taken:
            raise self._wrong(taken(self.place, f"which this token may not see ({reply.words})"))
        raise self._wrong(f"{doing} was answered with {reply.words}")

    def measure(self, package: Package, resource: Resource) -> Downloaded | None:
        """Download a file as a reader would; with the token, if only its organisation may read it."""
        hidden = bool(package.get("private")) or package.get("state") == "deleted"
        return self.client.measure(address(package, resource), token=hidden, max_bytes=size_of(resource))

    def wrong(self, package: Package, resources: Iterable[Resource]) -> set[str]:
        """Return the ids of resources whose downloads do not have the right digest."""
        measured = ((one, self.measure(package, one)) for one in resources)
        return {one["id"] for one, found in measured if not (found and one.get("hash") and found.sha256 == one["hash"])}

    def copies(self, package: Package, held: Held, folder: Path) -> tuple[Manifest, list[Sent]] | None:
        """Download the files of a version on the portal; None if they do not match its manifest."""
        folder.mkdir(exist_ok=True)
        sent = []
        for name, resource in held.resources.items():
            path = folder / name
            found = self.client.fetch(address(package, resource), path, token=True, max_bytes=size_of(resource))
            if found is None:
                return None
            kind = str(resource.get("mimetype") or "application/octet-stream")
            sent.append(Sent(name=name, path=path, media_type=kind, sha256=found.sha256, bytes=found.bytes))
        try:
            manifest = dict(json.loads((folder / MANIFEST).read_bytes()))
            digests = {one["name"]: one["sha256"] for one in manifest["distributions"]}
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            return None
        digests |= {REPORT: manifest.get("report_sha256")}
        right = all(one.sha256 == (held.resources[one.name].get("hash") or digests.get(one.name)) for one in sent)
        return (manifest, sent) if right and manifest.get("version") == held.version else None

    def remove(self, package: Package, to_remove: Iterable[str], fields: Mapping[str, Any]) -> Package:
        """
        Remove resources for good: first rows in the DataStore, then files, then the resources themselves.

        If only the resource is removed, CKAN keeps its file and its rows, and shows the rows to all readers.

        :raises PortalError: a part is left; run it again.
        """
        ids = set(to_remove)
        going = [one for one in package["resources"] if one["id"] in ids]
        if self.delete_rows(ids):  # This changes the dataset, so it must be read again for its lock.
            package = self.read(binned=True) or package
            if _labels(going) != _labels(one for one in package["resources"] if one["id"] in ids):
                raise self.client.failed("taking files off", "another process published at the same moment")
        if any(one[ROLE] != ResourceRole.GONE for one in going):
            package = self.revise(requests.revise(package, update={}, resources=without_files(package, ids)))
        package = self.revise(requests.revise(package, update=fields, resources=without(package, ids)))
        if left := [one["id"] for one in going if self.client.measure(address(package, one), token=True, max_bytes=0)]:
            raise self.client.failed("taking files off", f"{len(left)} of {len(going)} can still be downloaded")
        return package

    def delete_rows(self, resource_ids: Iterable[str]) -> bool:
        """Remove the tables of resources from the DataStore, if there is one; return whether there were any."""
        replies = [self.client.send(requests.delete_rows(one)) for one in sorted(resource_ids)]
        if wrong := [one.status for one in replies if not one.ok and one.status not in (400, 404)]:
            if 403 in wrong:
                raise self._wrong(
                    "this token may not change it (HTTP 403); set the connection's password to the token of an editor "
                    f"of {self.place.organization!r}"
                )
            # A message of the DataStore may quote rows, so only the status is shown.
            raise self.client.failed("removing rows from the DataStore", f"HTTP {wrong[0]}")
        return any(one.ok for one in replies)

    def _wrong(self, what: str) -> InvalidInputError:
        return InvalidInputError(f"{self.client.server.url} does not accept {self.place.dataset!r}: {what}")


def _labels(resources: Iterable[Resource]) -> set[tuple[str, ...]]:
    return {(one["id"], *(str(one.get(key) or "") for key in ("hash", *OWN))) for one in resources}
