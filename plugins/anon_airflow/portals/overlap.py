"""Reject a portal folder that would publish originals, keys or the audit store; `stage` and `publish` check this."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anon_airflow.portals.choice import settings_of
from anon_airflow.run.context import Run
from anon_core.errors import InvalidInputError
from anon_core.files.regular import FileTooLargeError, NotRegularError, read_whole
from anon_core.files.yaml_lines import parse_yaml
from anon_core.limits import PUBLICATION_FILE
from anon_core.registry import PORTALS, SOURCES
from anon_core.spec.member_sections import key_in
from anon_core.spec.private_folders import PrivateFolder, link_problem, place_problem, private_folders

SOURCE_TEXT = "source_file"
"""The key in the note of `stage` for the filled-in source: `publish` has only the template, and checks again."""
MANIFEST = "manifest.json"
PUBLICATIONS = "publications"
_KEY_FILES = ("ANON_SIGNING_KEY_FILE", "ANON_RETIRED_KEYS_FILE")


def check_portal_place(run: Run, source_text: str | None = None, environ: Mapping[str, str] | None = None) -> None:
    """
    Reject a portal on this machine that is a private folder, contains one, or is inside one.

    A link may have appeared since the publication file was loaded, or since `stage`, so each step checks again. A
    withdrawal does not check: a release in such a folder must be removable.

    :raises InvalidInputError: the portal overlaps a private folder; the message names both.
    """
    settings = settings_of(run.publication)
    place = settings.shown_folder
    if place is None:
        return
    source_text = source_text or (run.noted_or_none("stage") or {}).get(SOURCE_TEXT)
    environ = os.environ if environ is None else environ
    private = [*private_folders(run.publication, source_text), *_of_installation(run, environ)]
    for include in _includes(run, place, environ):
        private += _of_include(include, run.publication.file)
    if problem := place_problem(place, private) or link_problem(place, private):
        raise InvalidInputError(f"portal.{key_in(PORTALS, dict(settings))} of {run.publication.file.name}: {problem}")


def _of_installation(run: Run, environ: Mapping[str, str]) -> Iterator[PrivateFolder]:
    """Yield the private folders of this installation: the home, the audit database, keys, Airflow's own folder."""
    yield PrivateFolder(what="the home of anonflow, ANON_HOME", folder=run.home.root, whole=True)
    if database := _sqlite_file(run.home.audit_url):
        yield PrivateFolder(what="the folder of the audit database, ANON_AUDIT_URL", folder=database.parent)
    for name in _KEY_FILES:
        for text in filter(None, environ.get(name, "").split(os.pathsep)):
            for folder in {Path(text).absolute().parent, Path(os.path.realpath(text)).parent}:
                yield PrivateFolder(what=f"the folder of a key, {name}", folder=folder)
    named = [Path(text) for text in (environ.get("ANON_POLICY", "").strip(),) if text]
    for policy in (*named, *((run.policy_file,) if run.policy_file else ())):
        for folder in {policy.expanduser().absolute().parent, Path(os.path.realpath(policy)).parent}:
            yield PrivateFolder(what="the folder of the site policy, ANON_POLICY", folder=folder)
    if airflow := environ.get("AIRFLOW_HOME"):
        yield PrivateFolder(what="Airflow's own folder, AIRFLOW_HOME", folder=Path(airflow).expanduser())


def _sqlite_file(url: str | None) -> Path | None:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    with contextlib.suppress(
        ArgumentError, ValueError
    ):  # Opening the audit store reports what is wrong with its address.
        where = make_url(url or "")
        if where.get_backend_name() == "sqlite" and where.database:
            return Path(os.path.realpath(where.database.removeprefix("file:")))
    return None


def _includes(run: Run, place: Path, environ: Mapping[str, str]) -> list[Path]:
    """
    Return the include folders that a portal could publish: this installation's, and each one that contains the portal.

    A publication file can be outside of them, and ANON_INCLUDE may not be set.
    """
    own = run.publication.file.parent
    found = [own.parent] if own.name == PUBLICATIONS else []
    if named := environ.get("ANON_INCLUDE"):
        found.append(Path(named))
    found.append(run.home.root.parent / "include")
    real = Path(os.path.realpath(place))
    found += [folder for folder in (real, *real.parents) if any((folder / PUBLICATIONS).glob("*.y*ml"))]
    return list(dict.fromkeys(found))


def _of_include(include: Path, file: Path) -> Iterator[PrivateFolder]:
    """Yield the private folders of an include folder: its own, and the sources of the other publication files."""
    for name in (PUBLICATIONS, "hierarchies"):
        yield PrivateFolder(what=f"the folder `{name}`", folder=include / name, whole=True)
    for other in sorted((include / PUBLICATIONS).glob("*.y*ml")):
        if _is_same(other, file):
            continue
        # A broken file publishes nothing.
        with contextlib.suppress(OSError, ValueError, NotRegularError, FileTooLargeError):
            content = parse_yaml(read_whole(other, PUBLICATION_FILE).decode("utf-8-sig")).content
            for one in _sources_of(include, content.get("source") if isinstance(content, dict) else None):
                if not (one.folder / MANIFEST).exists():  # A source that is a release is public already.
                    yield PrivateFolder(what=f"{one.what} of {other.name}", folder=one.folder, whole=one.whole)


def _sources_of(include: Path, section: Any) -> Iterator[PrivateFolder]:
    """Yield the folders of a source as it is written, even if other keys of its section are wrong."""
    for key, written in section.items() if isinstance(section, dict) else ():
        if key in SOURCES and isinstance(written, str) and written.strip():
            yield from SOURCES.get(key).settings.private_folders(include, written)


def _is_same(one: Path, other: Path) -> bool:
    with contextlib.suppress(OSError):
        return one.samefile(other)
    return False
