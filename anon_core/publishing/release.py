"""What a portal is given, and what it answers; the names in it are checked before they become paths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from anon_core.errors import InvalidInputError, RefusedError
from anon_core.files.storage import digest

SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")
RESERVED = frozenset({"datapackage.json", "index.html", "manifest.json", "report.json", "tombstone.json"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """One file of a release, as the gate measured it."""

    name: str
    path: Path
    media_type: str
    sha256: str
    bytes: int
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """
    One version of a dataset: its files, its public report and what is said about it.

    ``content_digest`` says what the release is: two with the same digest are the same release. ``period`` sorts as
    text, as ISO dates do. ``manifest`` holds keys to add to the manifest.
    """

    dataset: str
    title: str
    version: str
    period: str | None
    distributions: tuple[Distribution, ...]
    report: dict[str, Any]
    metadata: dict[str, Any]
    manifest: dict[str, Any]
    content_digest: str

    @property
    def data_digest(self) -> str:
        """The digest of the data alone, without its metadata."""
        return data_digest({each.name: each.sha256 for each in self.distributions})


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Where a release can be read, and what its manifest says; ``unchanged`` if the same bytes were there already."""

    status: Literal["published", "unchanged"]
    version: str
    location: str
    page: str
    manifest: dict[str, Any]


def data_digest(files: Mapping[str, str]) -> str:
    """Return a digest of the data of a release: of its files by name and digest, without metadata."""
    return digest("\n".join(sorted(f"{name} {sha256}" for name, sha256 in files.items())))


def withdrawn_words(version: str, reason: str) -> str:
    """Return the sentence that a release is not published because it was withdrawn before."""
    return f"the same was withdrawn, as version {version}: {reason}; it is not published again: publish other data"


def changed_file(name: str) -> RefusedError:
    """Return the error for a file whose bytes are not those that the gate measured."""
    return RefusedError("portal", [f"{name} is not the file that was checked: its bytes changed after the check"])


def check_release(release: Release) -> None:
    """
    Refuse every name that could become another path than the one meant, all at once, and an internal report.

    :raises InvalidInputError: the dataset, the version or a distribution has such a name, or two have the same.
    :raises RefusedError: the report is not the public one.
    """
    problems = []
    if not SLUG.fullmatch(release.dataset):
        problems.append(f"dataset {release.dataset!r} is not made of a-z, 0-9, - and _")
    if not NAME.fullmatch(release.version):
        problems.append(f"version {release.version!r} is not made of letters, digits and . _ + -")
    if not release.distributions:
        problems.append("there is no distribution")
    seen = set(RESERVED)
    for each in release.distributions:
        if not NAME.fullmatch(each.name):
            problems.append(f"distribution {each.name!r} is not made of letters, digits and . _ + -")
        elif each.name.casefold() in seen:
            problems.append(f"distribution {each.name!r} is a name that is taken")
        seen.add(each.name.casefold())
    if problems:
        raise InvalidInputError("this release cannot have a place on the portal: " + "; ".join(problems))
    if release.report.get("kind") != "public":
        raise RefusedError("portal", ["the report is not the public one"])
