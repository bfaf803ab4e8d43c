"""Which signs a spreadsheet takes for the beginning of a formula."""

from __future__ import annotations

import unicodedata

SIGNS = "=@+-＝＠＋－"
"""Full-width ones too: some spreadsheets read them like the others."""
BREAKS = "\t\r\n"
_UNSEEN = ("Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cs")


def begins_a_formula(name: str) -> bool:
    """
    Tell whether a spreadsheet might run this; some skip blanks before, and what cannot be seen.

    >>> [begins_a_formula(name) for name in ("=a", "a=b", "\\u200b @a", "\\ta", "")]
    [True, False, True, True, False]
    """
    seen = next((sign for sign in name if unicodedata.category(sign) not in _UNSEEN), " ")
    return name.startswith(tuple(BREAKS)) or seen in SIGNS
