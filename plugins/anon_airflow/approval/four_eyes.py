"""Four eyes: the approver must not be the person who triggered the run or last changed the publication file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_core.spec import Publication

CHANGED_BY = "spec_changed_by"
"""The key in the intent of a run for the authors of its files; names of people are stored in the audit store only."""

UNKNOWN_ACTORS = ("unknown", *(f"airflow ({kind})" for kind in ("manual", "backfill", "asset_materialization")))
"""Values of the actor of a run that a person triggered, if Airflow does not report which person."""
VARIABLE = "ANON_SPEC_CHANGED_BY"
"""Environment variable: names, comma separated, of the people who last changed the files that are not in git."""

_GIT_TIMEOUT_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FourEyes:
    """Who may not approve a run: ``actor`` triggered it, ``changed_by`` changed its files."""

    actor: str
    changed_by: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def problems(self) -> list[str]:
        """Why it is not known who must not approve this run; empty if it is known."""
        found = [f"four_eyes: {one}" for one in self.unknown]
        if self.actor in UNKNOWN_ACTORS:
            found.append(
                "four_eyes: Airflow does not report who triggered this run; trigger it as a user who is logged in"
            )
        return found

    def objections(self, names: Iterable[str]) -> list[str]:
        """Return why a person with these names may not approve; empty if the person may."""
        known = frozenset().union(*map(names_of, names))
        found = []
        if known & names_of(self.actor):
            found.append("triggered this run")
        if any(known & names_of(author) for author in self.changed_by):
            found.append("last changed the publication file or one of its hierarchy files")
        return found


def eyes_of(
    publication: Publication, start: Mapping[str, Any] | None, actor: str, environ: Mapping[str, str] | None = None
) -> FourEyes:
    """
    Return who may not approve: the authors on record when the run was staged, and the authors of the files now.

    Both count: an author of the staged file stays excluded even if another person commits a comment afterwards.
    """
    recorded = start["details"].get(CHANGED_BY, []) if start else []
    authors = authors_of([publication.file, *publication.files], environ)
    return FourEyes(
        actor=start["actor"] if start else actor,
        changed_by=tuple(sorted({*authors.people, *map(str, recorded)})),
        unknown=authors.unknown,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Authors:
    """The people, as git or the environment names them, and a reason for each file whose author is not known."""

    people: tuple[str, ...]
    unknown: tuple[str, ...]


class UnknownAuthorError(Exception):
    """The author of a file is not known; ``changed`` if the reason is that the file differs from its commit."""

    def __init__(self, why: str, *, changed: bool = False) -> None:
        super().__init__(why)
        self.changed = changed


def authors_of(files: Iterable[Path], environ: Mapping[str, str] | None = None) -> Authors:
    """
    Return who last changed these files.

    For a file in git that is the author of its last commit; if it has changes that are not committed, the author is not
    known. For files that are not in git, :data:`VARIABLE` names the people.
    """
    environ = os.environ if environ is None else environ
    named = [name.strip() for name in environ.get(VARIABLE, "").split(",") if name.strip()]
    people, unknown = set(named), []
    for file in dict.fromkeys(place for given in files for place in _places(given)):
        try:
            people.add(_author(file, environ))
        except UnknownAuthorError as error:
            if error.changed or not named:
                unknown.append(f"who last changed {file.name} is not known: {error}")
    return Authors(people=tuple(sorted(people)), unknown=tuple(unknown))


def names_of(person: str) -> frozenset[str]:
    """
    Return all names of a person: the name, the e-mail address and the part before its @, in lower case.

    >>> sorted(names_of("Ada Rossi <ada+git@example.org>"))
    ['ada', 'ada rossi', 'ada+git', 'ada+git@example.org', 'git']
    """
    found = re.fullmatch(r"\s*(.*?)\s*<([^<>]*)>\s*", person, re.DOTALL)
    written = [found[1], found[2]] if found else [person]
    local = [text.partition("@")[0] for text in written if "@" in text]
    names = [*written, *local, *(piece for text in local for piece in text.split("+"))]
    return frozenset(name.strip().casefold() for name in names if name.strip())


def _places(file: Path) -> Iterator[Path]:
    """Yield the file, and if it is a link also its target: both decide what is read."""
    yield file.parent.resolve() / file.name
    yield file.resolve()


def _author(file: Path, environ: Mapping[str, str]) -> str:
    """Return the author of the last commit that changed a file, as ``name <address>``."""
    instead = f"name the person in {VARIABLE} of the worker"
    if not any((folder / ".git").exists() for folder in file.parents):
        raise UnknownAuthorError(f"it is in no git repository; {instead}")
    if shutil.which("git") is None:
        raise UnknownAuthorError(f"git is not installed; install it, or {instead}")
    committed = _git(file, environ, "rev-parse", "--verify", "--quiet", f"HEAD:./{file.name}")
    if not committed:
        raise UnknownAuthorError(f"git does not answer, or the file is not committed; commit it, or {instead}")
    if _is_changed(file, environ, committed):
        raise UnknownAuthorError("it was changed after its last commit; commit it", changed=True)
    shown = _git(file, environ, "log", "-1", "--format=%an%x00%ae%x00%P", "--", file.name)
    name, address, parents = [*shown.split("\0"), "", ""][:3]
    if not parents.strip() and _git(file, environ, "rev-parse", "--is-shallow-repository") != "false":
        raise UnknownAuthorError(f"the clone is shallow, its history too short; fetch all of it, or {instead}")
    if not names_of(f"{name} <{address}>"):
        raise UnknownAuthorError(f"its last commit names no author; {instead}")
    return f"{name} <{address}>"


def _is_changed(file: Path, environ: Mapping[str, str], committed: str) -> bool:
    """Whether a file differs from its commit. Not by `git diff`, which can be configured to ignore a file."""
    if file.is_symlink():
        return _git(file, environ, "cat-file", "blob", committed) != str(file.readlink()).strip()
    return _git(file, environ, "hash-object", "--", file.name) != committed


def _git(file: Path, environ: Mapping[str, str], *words: str) -> str:
    """Run git in the folder of the file; an error gives an empty answer. The file name is never used as a pattern."""
    settings = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "--literal-pathspecs", "--no-pager")
    # Variables such as GIT_DIR would make git read another repository.
    clean = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    try:
        ended = subprocess.run(  # noqa: S603 - No shell, and the arguments are written here.
            [shutil.which("git") or "git", *settings, *words],
            cwd=file.parent,
            env={**clean, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout.decode("utf-8", "replace").strip() if ended.returncode == 0 else ""
