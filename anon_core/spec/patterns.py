"""Regular expressions in a publication file, whose named groups are the parts of a value.

Python parses the groups, and RE2 matches. Expressions that they read differently, or that RE2 does not know, are
refused before any value is read.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

_ESCAPE_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_NEEDS_BACKTRACKING = re.compile(r"\(\?(?!:|P<|-?[ims]+(?:-[ims]+)?[:)])|[*+?}]\+")
_BACK_REFERENCE = re.compile(r"(?<!\\)(?:\\\\)*\\[1-9]")
MAX_PATTERN_LENGTH = 1_000
_IGNORES_CASE = re.compile(r"\(\?[a-zA-Z]*i")
_MAX_CLASSES = 50
"""At most so many classes in a pattern that ignores case: Python expands each, which takes 20 ms for the widest."""
_NO_LEAST = re.compile(r"\{,[0-9]*\}")


def groups_of(pattern: str) -> tuple[str, ...]:
    """
    Return the names of the groups, in their order; none if the text is no regular expression.

    >>> groups_of(r"(?P<area>\\d{2})(?P<office>\\d+)"), groups_of("(?P<area>")
    (('area', 'office'), ())
    """
    try:
        return tuple(_compiled(pattern).groupindex)
    except (re.error, OverflowError, RecursionError):
        return ()


def pattern_problem(pattern: str) -> str | None:
    """
    Return why a regular expression cannot name parts, or None.

    >>> pattern_problem("(?P<area>x{,2})")
    'has a repetition without its least number, which is read as plain text; write `{0,2}` for `{,2}`'
    """
    try:
        compiled = _compiled(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a regular expression: {error}"
    if not compiled.groupindex:
        return r"has no named group; write parts as `(?P<area>\d{2})`"
    if compiled.groups != len(compiled.groupindex):
        return "has a group without a name; name it as a part, or write `(?:...)`"
    return _not_linear(pattern) or _unknown_to_re2(pattern)


def search_problem(pattern: str) -> str | None:
    """
    Return why cells cannot be searched for a regular expression in linear time, or None.

    >>> search_problem("^[A-Z]{2}$") is None, search_problem("(?=x)") is None
    (True, False)
    """
    try:
        _compiled(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression: {error}"
    return _not_linear(pattern) or _unknown_to_re2(pattern)


def _not_linear(pattern: str) -> str | None:
    bare = _ESCAPE_OR_CLASS.sub("_", pattern)
    if _NEEDS_BACKTRACKING.search(bare) or _BACK_REFERENCE.search(pattern):
        return "looks around, refers back or is possessive: matching in linear time does not allow these"
    if _NO_LEAST.search(bare):
        return "has a repetition without its least number, which is read as plain text; write `{0,2}` for `{,2}`"
    return None


@lru_cache(maxsize=100)
def _compiled(pattern: str) -> re.Pattern[str]:
    """:raises re.error: it is not a regular expression, or compiling it would take long."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise re.error(f"it has {len(pattern):,} characters, and {MAX_PATTERN_LENGTH:,} are allowed")
    classes = sum(match[0].startswith("[") for match in _ESCAPE_OR_CLASS.finditer(pattern))
    if classes > _MAX_CLASSES and _IGNORES_CASE.search(pattern):
        raise re.error(f"it ignores case and has {classes:,} classes in brackets, of which {_MAX_CLASSES} are allowed")
    with warnings.catch_warnings():
        # Python warns about `[[:alpha:]]`, with a path of ours; RE2 knows it.
        warnings.simplefilter("ignore")
        return re.compile(pattern)


def _unknown_to_re2(pattern: str) -> str | None:
    # A scheduler parses every publication file often: only a file with a pattern needs this import.
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as error:
        return f"cannot be used, for it is matched by RE2: {str(error).removeprefix('Invalid regular expression: ')}"
    return None
