"""Read anchors for ``anon audit verify``: heads of the audit chain that manifests and tombstones on portals hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_airflow.audit import Anchor, AuditStore
from anon_airflow.portals import tombstone
from anon_core.errors import InvalidInputError
from anon_core.files.regular import FileTooLargeError, NotRegularError, read_whole
from anon_core.limits import DOCUMENT
from anon_core.registry import PORTALS

FILES = ("manifest.json", tombstone.FILE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """
    The anchors that were given on the command line.

    ``heads`` must be links of the audit chain, by their signatures. ``withdrawn`` are datasets and versions whose
    withdrawal must be on record.
    """

    heads: tuple[Anchor, ...]
    withdrawn: tuple[tuple[str, str], ...]

    @property
    def sentence(self) -> str:
        """The beginning of a sentence about the anchors."""
        return "the anchor is" if len(self.heads) == 1 else f"all {len(self.heads)} anchors are"

    def not_on_record(self, store: AuditStore) -> list[str]:
        """
        Return a sentence for every version that is withdrawn on a portal, but not on record.

        A tombstone is written before the withdrawal goes on record, so its head does not cover the withdrawal.
        """
        if not self.withdrawn:
            return []
        known = {(row["dataset"], row["version"]) for row in store.proven("withdrawals")["withdrawals"]}
        return [
            f"{dataset} {version} has a tombstone on its portal, but no withdrawal on record: the end of the chain was "
            "cut off, or the withdrawal was killed before it ended; run `anon withdraw` again to complete it"
            for dataset, version in sorted(set(self.withdrawn) - known)
        ]


def read_anchors(paths: Iterable[Path]) -> Anchors:
    """
    Read anchors from manifests and tombstones, from folders of them, and from JSON of a portal's own API.

    In a folder, tombstones of expired versions, and those of earlier versions of anonflow, may have no head.

    :raises InvalidInputError: a file is none of these, or a folder has no anchor.
    """
    heads: list[Anchor] = []
    withdrawn: list[tuple[str, str]] = []
    for path in paths:
        files = _files_in(path) if path.is_dir() else [path]
        found = [one for file in files for one in _anchors_of(file)]
        heads += [head for head, _ in found if head]
        withdrawn += [gone for _, gone in found if gone]
        if not any(head for head, _ in found):
            forms = [portal.anchor_form for portal in PORTALS.members().values() if portal.anchor_form]
            given = ["a manifest.json or tombstone.json of a portal", "a folder with some", *forms]
            raise InvalidInputError(
                f"{path} has no head of an audit chain: give {', '.join(given[:-1])}, or {given[-1]}"
            )
    return Anchors(heads=tuple(dict.fromkeys(heads)), withdrawn=tuple(dict.fromkeys(withdrawn)))


def _files_in(folder: Path) -> Sequence[Path]:
    """Return the files with anchors in a folder, each once: `latest` is a link to one of them."""
    found = (path for name in FILES for path in folder.rglob(name))
    return sorted({path.resolve() for path in found})


def _anchors_of(path: Path) -> Iterator[tuple[Anchor | None, tuple[str, str] | None]]:
    """Yield each head with the dataset and version that was withdrawn at it, if one was."""
    try:
        content = json.loads(read_whole(path, DOCUMENT))
        own = [content] if content.get("kind") == "withdrawn" else None
        of_portals = (portal.tombstones_in(content) for portal in PORTALS.members().values())
        stones = own or next((found for found in of_portals if found is not None), None)
        if stones is None:
            yield _head(content.get("audit")), None
        for stone in stones or ():
            yield _head(stone.get("audit")), (str(stone["dataset"]), str(stone["version"]))
    except NotRegularError as error:
        raise InvalidInputError(f"{path} is {error.kind}; give a manifest.json or tombstone.json") from None
    except FileTooLargeError as error:
        raise InvalidInputError(f"{path} {error.what}; {error.advice}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InvalidInputError(f"{path} is not a manifest or a tombstone with the head of an audit chain") from None


def _head(entry: Any) -> Anchor | None:
    if entry is None:
        return None
    return Anchor(mac=str(entry["mac"]), seq=int(entry["seq"]) if "seq" in entry else None)
