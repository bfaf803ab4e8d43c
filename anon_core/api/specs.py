"""The ``spec`` argument of the verbs: the path of a publication file, or one that was loaded before."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from anon_core.errors import InvalidInputError
from anon_core.spec import PartialPublication, SourceSettings, load_spec
from anon_core.table import ReadOptions

Spec: TypeAlias = PartialPublication | Path | str
"""The path of a publication file, or what :func:`load_spec` made of one."""


def publication_of(spec: Spec) -> PartialPublication:
    """
    Return the publication, of which only ``columns`` must be there.

    :raises SpecError: the file cannot be used; with all its problems.
    :raises InvalidInputError: it is no publication.
    """
    if isinstance(spec, PartialPublication):
        return spec
    if isinstance(spec, (str, Path)):
        return load_spec(spec, partial=True)
    raise InvalidInputError(
        f"spec= is of type {type(spec).__name__}: give the path of a publication file, or what load_spec returned"
    )


def reading_of(publication: PartialPublication | None) -> ReadOptions:
    """Return how the table of a publication is read: as its file says for the source, else by default."""
    source = publication.source if publication else None
    if not isinstance(source, SourceSettings) or not source.reading:
        return ReadOptions(encoding="auto")
    return ReadOptions(**source.reading)
