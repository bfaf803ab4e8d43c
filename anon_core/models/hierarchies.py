"""Hierarchies as a requirement names them: the words of the publication file, and of a file its sha256."""

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
"""Says that a column may have been grouped by its own values: then its labels say themselves what they cover."""
WITHHELD = "withheld"
"""What stands in cells that were suppressed before anything was recoded."""


def hierarchy_named(column: str, given: Mapping[str, Any], folder: Path | None) -> Hierarchy:
    """
    Return a hierarchy as a suite has it: ``{root: ...}``, ``{file: ..., sha256: ...}``, ``{intervals: [...]}``, ...

    What a suite says of a column beside its hierarchy, ``withheld`` and ``groups``, is passed over.

    :raises NotMeasurableError: its file is not there, or another one than when the suite was rendered; no hierarchy.
    """
    words = {key: value for key, value in given.items() if key not in ("sha256", GROUPS, WITHHELD)}
    if len(set(words) - {"unmapped"}) != 1 or ("file" in words) != ("sha256" in given):
        raise NotMeasurableError(f"the hierarchy of {column} is neither a file with its sha256 nor of another kind")
    try:
        hierarchy = Hierarchy.model_validate(words)
    except ValidationError:
        raise NotMeasurableError(f"the hierarchy of {column} is none; write it as in a publication file") from None
    if hierarchy.file is None:
        return hierarchy
    if folder is None:
        raise NotMeasurableError("nobody told the folder of its hierarchy files: evaluate it within `hierarchies_in`")
    if _digest(folder / hierarchy.file) != given["sha256"]:
        raise NotMeasurableError(f"the hierarchy file of {column} is gone or was changed; run the publication again")
    return hierarchy


def _digest(path: Path) -> str | None:
    try:
        return digest(read_whole(path, HIERARCHY_FILE))
    except (NotRegularError, FileTooLargeError, OSError, ValueError):
        return None
