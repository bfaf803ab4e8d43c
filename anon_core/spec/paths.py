"""Texts of a publication file that are paths: only those that can be paths, and can be shown in a message."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from anon_core.files.name_rules import first_bad_character
from anon_core.settings import Filled

MAX_PATH_LENGTH = 1_000
"""Characters of a path after it is filled in; Linux allows 4,096 bytes."""


def path_problem(path: str) -> str | None:
    """
    Return why a text cannot be a path, or None; the reason never quotes the text.

    >>> path_problem("in/2026-10-01.csv"), path_problem("in/\\0.csv")
    (None, 'has a character that cannot be printed (U+0000, at place 4)')
    """
    if len(path) > MAX_PATH_LENGTH:
        return f"has {len(path):,} characters, and a path may have {MAX_PATH_LENGTH:,}"
    if place := first_bad_character(path):
        return f"has a character that cannot be printed (U+{ord(path[place - 1]):04X}, at place {place})"
    return None


def _path(value: str) -> str:
    if problem := path_problem(value):
        raise ValueError(problem)
    return value


FilePath = Annotated[Filled, AfterValidator(_path)]
"""A text that names a file or a folder."""
