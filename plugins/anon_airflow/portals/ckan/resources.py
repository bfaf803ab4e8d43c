"""The resources that a dataset on CKAN has, and those that it should have: pure functions of CKAN's answers.

The newest version is in resources whose ids and addresses never change (role ``current``). With ``versions: keep``
every version also has resources of its own (role ``version``). Ids are made from names and are not random: a call that
is sent again, or a release that is published again after a withdrawal, uses the same resources. Resources that users
have added to the dataset are not touched.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from anon_airflow.portals.ckan.requests import Package, Resource, Sent
from anon_airflow.portals.words import figure
from anon_core.limits import DOCUMENT, DOWNLOAD
from anon_core.publishing.release import NAME, data_digest

MANIFEST = "manifest.json"
REPORT = "report.json"
FORMATS = {".csv": "CSV", ".parquet": "Parquet", ".json": "JSON"}
SHA256 = "http://spdx.org/rdf/terms#checksumAlgorithm_sha256"
ROLE, VERSION, PERIOD = "anonflow_role", "anonflow_version", "anonflow_period"
PUBLISHED, CONTENT, FILE = "anonflow_published_at", "anonflow_content_digest", "anonflow_file"
SEQUENCE = "anonflow_sequence"
OWN = (ROLE, VERSION, PERIOD, SEQUENCE, PUBLISHED, CONTENT, FILE)
MAX_DIGITS = 9
"""Maximum digits of a number from the portal; anonflow writes no longer ones."""
DESCRIPTIONS = {
    MANIFEST: "The files of this version, when they were published, and their digests.",
    REPORT: "Which checks were made before publication, what was not checked, and which columns were made coarser.",
}


class ResourceRole(StrEnum):
    """The role of a resource of anonflow; ``gone``: its file is removed, and the resource will be."""

    CURRENT = "current"
    VERSION = "version"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One version on the portal, in one role, with its resources by file name."""

    role: ResourceRole
    version: str
    period: str
    sequence: int
    published_at: str
    content_digest: str
    resources: dict[str, Resource]

    @property
    def age(self) -> tuple[str, int, str, str]:
        """The sort key of versions, as for manifests."""
        return self.period, self.sequence, self.published_at, self.version


def ours(resource: Resource) -> bool:
    """
    Whether anonflow made a resource.

    Its labels come from the portal, where users may have changed them: a version or file name that could become a wrong
    path is not ours.
    """
    texts = all(isinstance(resource.get(key) or "", str) for key in OWN)
    named = texts and all(NAME.fullmatch(resource.get(key) or "") for key in (VERSION, FILE))
    return named and resource.get(ROLE) in list(ResourceRole)


def relabelled(package: Package) -> Package:
    """
    Return a dataset in which our resources that lost their labels have them again; they are found by their ids.

    CKAN's own form for editing a resource silently drops labels and ``hash``; the file is still there, and must be
    removed with its version.
    """
    mine = [one for one in package["resources"] if ours(one) and one[ROLE] != ResourceRole.GONE]
    if not any(one[ROLE] == ResourceRole.CURRENT for one in mine) and NAME.fullmatch(package.get("version") or ""):
        mine.append({ROLE: ResourceRole.CURRENT.value, VERSION: package["version"]})
    names = {*DESCRIPTIONS, *(f"{package['name']}{suffix}" for suffix in FORMATS), *(one.get(FILE) for one in mine)}
    versions = {(one[ROLE], one[VERSION]): {key: one.get(key) or "" for key in OWN} for one in mine}
    labels = {
        resource_id(package["id"], ResourceRole(role), version, name): {**about, FILE: name}
        for (role, version), about in versions.items()
        for name in filter(None, names)
    }
    return {
        **package,
        "resources": [one if ours(one) else {**one, **labels.get(one["id"], {})} for one in package["resources"]],
    }


def held(package: Package, *roles: ResourceRole) -> list[Held]:
    """Return the versions on a dataset, newest first, in the given roles."""
    found: dict[tuple[str, str], Held] = {}
    for resource in package["resources"]:
        if ours(resource) and ResourceRole(resource[ROLE]) in roles:
            one = Held(
                role=ResourceRole(resource[ROLE]),
                version=resource[VERSION],
                period=resource.get(PERIOD) or "",
                sequence=_number(resource.get(SEQUENCE) or ""),
                published_at=resource.get(PUBLISHED) or "",
                content_digest=resource.get(CONTENT) or "",
                resources={},
            )
            found.setdefault((one.role, one.version), one).resources[resource[FILE]] = resource
    return sorted(found.values(), key=lambda one: one.age, reverse=True)


def _age(resource: Resource) -> tuple[str, int, str]:
    return resource.get(PERIOD) or "", _number(resource.get(SEQUENCE) or ""), resource.get(PUBLISHED) or ""


def _number(text: str) -> int:
    """Read a sequence number from the portal; 0 if it is not a number."""
    return int(text) if len(text) <= MAX_DIGITS and text.isascii() and text.isdigit() else 0


def digests_of(package: Package, versions: Collection[str], *, words_only: bool) -> list[dict[str, str]]:
    """Return version, content digest and data digest of versions; with ``words_only`` without the data digest."""
    found = {one.version: one for one in held(package, ResourceRole.CURRENT, ResourceRole.VERSION)}
    digests = []
    for version in sorted(versions):
        one = found.get(version)
        files = {name: str(each.get("hash")) for name, each in one.resources.items()} if one else {}
        tables = {name: digest for name, digest in files.items() if name not in (MANIFEST, REPORT)}
        data = data_digest(tables) if tables and not words_only else ""
        digests.append({"version": version, "content_digest": one.content_digest if one else "", "data_digest": data})
    return digests


def current(package: Package) -> Held | None:
    """Return the version at the stable addresses."""
    return next(iter(held(package, ResourceRole.CURRENT)), None)


def resource_id(package_id: str, role: ResourceRole, version: str, file: str) -> str:
    """
    Return the id of a resource: always the same for the current file of a name, and for a file of a version.

    >>> package = "ed5381c2-bbb7-4b94-9142-784a60074e32"
    >>> newer, older = (resource_id(package, Role.CURRENT, version, "people.csv") for version in ("v2", "v1"))
    >>> newer == older, newer == resource_id(package, Role.VERSION, "v2", "people.csv")
    (True, False)
    """
    place = f"current/{file}" if role is ResourceRole.CURRENT else f"version/{version}/{file}"
    return str(uuid.uuid5(uuid.UUID(package_id), place))


def address(package: Package, resource: Resource) -> str:
    """Return the path of a download below the address of the connection; CKAN may give another address."""
    name = unquote(PurePosixPath(urlsplit(str(resource.get("url") or "")).path).name) or str(
        resource.get(FILE) or "file"
    )
    return f"/dataset/{package['id']}/resource/{resource['id']}/download/{quote(name)}"


def size_of(resource: Resource) -> int:
    """Return how many bytes of a file to read back: its size on the portal, up to the limit."""
    size = resource.get("size")
    limit = (DOCUMENT if resource.get(FILE) in DESCRIPTIONS else DOWNLOAD).value()
    return min(size, limit) if isinstance(size, int) and not isinstance(size, bool) and size > 0 else limit


def described(package: Package, role: ResourceRole, manifest: Mapping[str, Any], sent: Sent) -> Resource:
    """Return the fields of the resource for one file of a version."""
    suffix = PurePosixPath(sent.name).suffix
    rows = next((one["rows"] for one in manifest["distributions"] if one["name"] == sent.name), None)
    about = DESCRIPTIONS.get(sent.name) or f"The table, {figure(rows)} rows, as {FORMATS.get(suffix, suffix)}."
    version = str(manifest["version"])
    return {
        "id": resource_id(package["id"], role, version, sent.name),
        "name": sent.name if role is ResourceRole.CURRENT else f"{sent.name} ({version})",
        "description": f"{about} Version {version}.",
        "format": FORMATS.get(suffix, suffix.lstrip(".").upper()),
        "mimetype": sent.media_type,
        "size": sent.bytes,
        "hash": sent.sha256,
        "hash_algorithm": SHA256,
        ROLE: role.value,
        VERSION: version,
        PERIOD: manifest.get("period") or "",
        SEQUENCE: str(manifest.get("sequence") or 0),
        PUBLISHED: manifest["published_at"],
        CONTENT: manifest["content_digest"],
        FILE: sent.name,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The change of a dataset: resources to add or update, and the files of some of them, by id."""

    wanted: list[Resource]
    uploads: dict[str, Sent]


def plan(
    package: Package, groups: Sequence[tuple[ResourceRole, Mapping[str, Any], Sequence[Sent]]], anyway: Iterable[str]
) -> Plan:
    """
    Return the change for a publication: each group is a role, a manifest and its files.

    A file whose hash the portal already has is not sent again, unless its resource is in ``anyway``.
    """
    there = {resource["id"]: resource for resource in package["resources"]}
    wanted: list[Resource] = []
    sent_by_id: dict[str, Sent] = {}
    again = set(anyway)
    for role, manifest, files in groups:
        for sent in files:
            new = described(package, role, manifest, sent)
            old = there.get(new["id"], {})
            if old.get("hash") != sent.sha256 or old.get("url_type") != "upload" or new["id"] in again:
                sent_by_id[new["id"]] = sent
            wanted.append(new)
    return Plan(wanted=in_order(wanted), uploads=sent_by_id)


def in_order(resources: Iterable[Resource]) -> list[Resource]:
    """Sort resources: current files first, then versions, newest first, each with tables first; then those of users."""
    found = list(resources)
    mine = sorted((one for one in found if ours(one)), key=lambda one: (one[FILE] in DESCRIPTIONS, one[FILE]))
    mine.sort(key=_age, reverse=True)
    mine.sort(key=lambda one: one[ROLE] != ResourceRole.CURRENT)
    return [*mine, *(one for one in found if not ours(one))]


def without_files(package: Package, to_remove: Iterable[str]) -> list[Resource]:
    """Return the resources with the files of some cleared: CKAN would keep the file of a removed resource."""
    gone = {"clear_upload": True, "url": "", "hash": "", "size": 0, ROLE: ResourceRole.GONE.value}
    ids = set(to_remove)
    return [{**one, **gone} if one["id"] in ids else one for one in package["resources"]]


def without(package: Package, to_remove: Iterable[str]) -> list[Resource]:
    """Return the resources without some."""
    ids = set(to_remove)
    return [one for one in package["resources"] if one["id"] not in ids]
