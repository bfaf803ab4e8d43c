"""The folders that must never be published: a portal folder may not contain one, nor lie inside most of them.

A web server shows everything below a portal folder. So the folder is compared with each private folder as the disk has
them: symbolic links are followed, and two names of one folder (a bind mount, another spelling where the disk ignores
case) are recognised by device and inode.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.spec.templates import is_template, static_part

if TYPE_CHECKING:
    from anon_core.spec.publication import PartialPublication

__all__ = ["PrivateFolder", "link_problem", "place_problem", "private_folders", "source_folders"]

_MAX_FILES = 1_000
"""Files of a pattern whose links are followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFolder:
    """A folder that a portal may neither be nor contain; nor may it lie inside one that is private as a ``whole``."""

    what: str
    folder: Path
    whole: bool = False


def place_problem(portal: Path, private: Iterable[PrivateFolder]) -> str | None:
    """Return why a folder cannot be a portal, with both folders and what to do; None if it can."""
    shown = _real(portal)
    for one in private:
        folder = _real(one.folder)
        around, inside = _within(folder, shown), one.whole and _within(shown, folder)
        if around or inside:
            how = "is" if around and _within(shown, folder) else "contains" if around else "lies inside"
            why = "is not to be published" if inside and not around else "would be published with it"
            return (
                f"{shown} {how} {one.what} ({folder}), and what lies there {why}: name a folder in which nothing but "
                "the portal lies, such as `portal` beside `publications`"
            )
    return None


def link_problem(portal: Path, private: Iterable[PrivateFolder]) -> str | None:
    """
    Return why links in a portal would publish what is private, with what to do; None if they would not.

    Links in the folder itself and in those of its datasets are looked at: a web server follows them.
    """
    found = list(private)
    for path in (*sorted(portal.glob("*")), *sorted(portal.glob("*/*"))):
        if not path.is_symlink():
            continue
        target = _real(path)
        if _within(target, _real(portal)):
            continue
        for one in found:
            if _would_show(target, one):
                folder = _real(one.folder)
                return (
                    f"the link {path} leads to {one.what} ({folder}), and what lies there would be published: remove "
                    "the link"
                )
    return None


def _would_show(target: Path, private: PrivateFolder) -> bool:
    """Whether what a link leads to is private, or contains what is; of a file beside others only the file is shown."""
    folder = _real(private.folder)
    if private.whole and _within(target, folder):
        return True
    if target.is_dir():
        return _within(folder, target)
    return _within(target.parent, folder) and _within(folder, target.parent)


def private_folders(publication: PartialPublication, source_file: str | None = None) -> Iterator[PrivateFolder]:
    """
    Yield what the publication file itself names: its own folder, sources, hierarchies and lookups.

    ``source_file`` is the source as it is read, filled in for a period. Without it, what of the path stands before the
    first template counts, and links of files that a pattern matches are not followed: files are read again and again.
    """
    own = publication.file.parent
    yield PrivateFolder(what="the folder of the publication file", folder=own, whole=own.name == "publications")
    for name in ("publications", "hierarchies"):
        yield PrivateFolder(what=f"the folder `{name}`", folder=publication.root / name, whole=True)
    for path in publication.files:
        for folder in {path.parent, _real(path).parent}:
            yield PrivateFolder(what="the folder of a hierarchy", folder=folder)
    written = source_file or (publication.source.file if publication.source else None)
    if written:
        yield from source_folders(publication.root, written, look=source_file is not None)


def source_folders(root: Path, source_file: str, *, look: bool = False) -> Iterator[PrivateFolder]:
    """
    Yield the folders of a source; one that is a folder, or a pattern of folders, is private as a whole.

    With ``look`` the files that a pattern matches are looked for, since they may be links.
    """
    what = "the folder of the source"
    text = os.path.join(root, static_part(source_file))  # noqa: PTH118 - Its end is kept: `in/` is a folder itself.
    path = Path(text)
    if is_template(source_file):
        folder = _start_of_pattern(text) if glob.has_magic(text) else Path(os.path.dirname(text))  # noqa: PTH120
        yield PrivateFolder(what=what, folder=folder)
    elif glob.has_magic(text) and not os.path.lexists(text):
        # `in/*.csv` matches files beside a portal in the same folder, `in/*/*.csv` those inside of it.
        deep = glob.has_magic(str(path.parent))
        yield PrivateFolder(
            what="the folder that the pattern of the source starts at", folder=_start_of_pattern(text), whole=deep
        )
        matched = sorted(glob.glob(text))[:_MAX_FILES] if look else []  # noqa: PTH207 - The pattern may be absolute.
        for folder in {folder for file in matched for folder in (Path(file).parent, _real(Path(file)).parent)}:
            yield PrivateFolder(what=what, folder=folder)
    elif path.is_dir():
        yield PrivateFolder(what=what, folder=path, whole=True)
    else:
        for folder in {path.parent, _real(path).parent}:
            yield PrivateFolder(what=what, folder=folder)


def _start_of_pattern(pattern: str) -> Path:
    """Return the folder that a pattern starts at: what stands before its first part with a `*`, `?` or `[`."""
    path = Path(pattern)
    while glob.has_magic(str(path)):
        path = path.parent
    return path


def _real(path: Path) -> Path:
    """Return the path with links followed, as far as it exists."""
    return Path(os.path.realpath(path))


def _within(inner: Path, outer: Path) -> bool:
    """Whether a folder is another one or lies below it; both paths are free of links."""
    identity = _identity(outer)
    return any(one == outer or (identity and _identity(one) == identity) for one in (inner, *inner.parents))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
