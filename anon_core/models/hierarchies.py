"""Hierarchies as a suite holds them: the keys of the publication file, and the sha256 of a hierarchy file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from anon_core.files.regular import FileTooLargeError, NotRegularError, read_whole
from anon_core.files.storage import digest
from anon_core.limits import HIERARCHY_FILE
from anon_core.models.measurement import NotMeasurableError
from anon_core.spec import Hierarchy

GROUPS = "groups"
"""The key that says that recoding may have grouped a column by its own values: then its labels are ranges."""
WITHHELD = "withheld"
"""The key for the label of cells that were suppressed before recoding."""


def hierarchy_named(column: str, given: Mapping[str, Any], folder: Path | None) -> Hierarchy:
    """
    Return a hierarchy as a suite has it: ``{root: ...}``, ``{file: ..., sha256: ...}``, ``{intervals: [...]}``, ...

    The keys ``withheld`` and ``groups``, which a suite has beside the hierarchy, are ignored.

    :raises NotMeasurableError: this is no hierarchy; its file is missing, or has changed since the suite was rendered.
    """
    words = {key: value for key, value in given.items() if key not in ("sha256", GROUPS, WITHHELD)}
    if len(set(words) - {"unmapped"}) != 1 or ("file" in words) != ("sha256" in given):
        raise NotMeasurableError(f"the hierarchy of {column} must be one kind; a file needs its sha256")
    try:
        hierarchy = Hierarchy.model_validate(words)
    except ValidationError:
        raise NotMeasurableError(f"the hierarchy of {column} is wrong; write it as in a publication file") from None
    if hierarchy.file is None:
        return hierarchy
    if folder is None:
        raise NotMeasurableError("the folder of its hierarchy files is not known: evaluate it within `hierarchies_in`")
    if _digest(folder / hierarchy.file) != given["sha256"]:
        raise NotMeasurableError(f"the hierarchy file of {column} is missing or has changed; run the publication again")
    return hierarchy


def _digest(path: Path) -> str | None:
    try:
        return digest(read_whole(path, HIERARCHY_FILE))
    except (NotRegularError, FileTooLargeError, OSError, ValueError):
        return None
