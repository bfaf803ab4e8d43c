"""The folders that must never be published: the folder of a portal may not contain one, nor be inside most of them.

A web server shows everything below a folder. So the folder of a portal is compared with each private folder as they are
on disk: symbolic links are followed, and two names of one folder (a bind mount, another spelling where the disk ignores
case) are recognised by device and inode.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.spec.written import Unread

if TYPE_CHECKING:
    from anon_core.spec.publication import PartialPublication


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFolder:
    """A folder that a portal may neither be nor contain; with ``whole`` it may not be inside it either."""

    what: str
    folder: Path
    whole: bool = False


def place_problem(portal: Path, private: Iterable[PrivateFolder]) -> str | None:
    """Return why a folder cannot be a portal, with both folders and what to do; None if it can."""
    shown = real_path(portal)
    for one in private:
        folder = real_path(one.folder)
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
    Return why links in a portal would publish private files, with what to do; None if they would not.

    Links in the folder itself and in those of its datasets are checked: a web server follows them.
    """
    found = list(private)
    for path in (*sorted(portal.glob("*")), *sorted(portal.glob("*/*"))):
        if not path.is_symlink():
            continue
        target = real_path(path)
        if _within(target, real_path(portal)):
            continue
        for one in found:
            if _would_show(target, one):
                folder = real_path(one.folder)
                return (
                    f"the link {path} leads to {one.what} ({folder}), and what lies there would be published: remove "
                    "the link"
                )
    return None


def _would_show(target: Path, private: PrivateFolder) -> bool:
    """Whether the target of a link is private, or contains private files; a link to a file shows only that file."""
    folder = real_path(private.folder)
    if private.whole and _within(target, folder):
        return True
    if target.is_dir():
        return _within(folder, target)
    return _within(target.parent, folder) and _within(folder, target.parent)


def private_folders(publication: PartialPublication, source_text: str | None = None) -> Iterator[PrivateFolder]:
    """
    Yield the folders that the publication file itself names: its own, and those of sources, hierarchies and lookups.

    ``source_text`` is the template of the source, filled in for a period. Without it, the template is used as written,
    and files are not searched on disk, because a publication file is read often.
    """
    own = publication.file.parent
    yield PrivateFolder(what="the folder of the publication file", folder=own, whole=own.name == "publications")
    for name in ("publications", "hierarchies"):
        yield PrivateFolder(what=f"the folder `{name}`", folder=publication.root / name, whole=True)
    for path in publication.files:
        for folder in {path.parent, real_path(path).parent}:
            yield PrivateFolder(what="the folder of a hierarchy", folder=folder)
    if publication.source and not isinstance(publication.source, Unread):
        text = source_text or publication.source.template
        yield from publication.source.private_folders(publication.root, text, look=source_text is not None)


def real_path(path: Path) -> Path:
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
