"""What a name can be: a column, a level or a file is called in one line of text that can be printed.

A stray quote in the first line of a CSV file makes a name of whole rows. Messages, reports and the audit store repeat
names, so a reader refuses what cannot be a name by its position, and never quotes it.
"""

from __future__ import annotations

import re
import unicodedata

from anon_core.limits import NAME

BAD_CHARACTERS = "control characters, line breaks or marks that turn the direction of the text"

# Bidirectional controls are of one category with joiners, which Persian and Hindi words need.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CATEGORIES = ("Cc", "Cs", "Zl", "Zp")


def has_bad_characters(name: str) -> bool:
    r"""
    Whether a text holds what no name has: control characters, any line break, bidirectional controls, surrogates.

    >>> [has_bad_characters(name) for name in ("Straße 1", "a\nb", "a\x85b", "a\u2028b", "a\u202eb", "a\0", "\ud800")]
    [False, True, True, True, True, True, True]
    """
    if name.isascii() and name.isprintable():
        return False
    return bool(_BIDI.search(name)) or any(unicodedata.category(letter) in _CATEGORIES for letter in set(name))


def first_bad_character(text: str) -> int | None:
    """
    Return the place of the first character, from 1 on, that no name has; None for a text without one.

    >>> first_bad_character("in/people.csv"), first_bad_character("in/\\0")
    (None, 4)
    """
    return next((place for place, letter in enumerate(text, 1) if has_bad_characters(letter)), None)


def is_utf8(text: str) -> bool:
    """
    Whether a text can be written as UTF-8: one with half a surrogate pair cannot, so it is neither printed nor stored.

    >>> is_utf8("café"), is_utf8("caf\\udce9")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_too_long(name: str) -> bool:
    """Whether a text is longer than a name can be."""
    return len(name) > NAME.value()


def fault_of_name(name: str) -> str | None:
    r"""
    Return why a text cannot be a name, or None; the text is not quoted.

    >>> fault_of_name("date of birth"), fault_of_name("a\tb")
    (None, 'has control characters, line breaks or marks that turn the direction of the text')
    """
    if is_too_long(name):
        return f"is longer than {NAME.words()}"
    return f"has {BAD_CHARACTERS}" if has_bad_characters(name) else None
