"""Texts as they would be typed: what looks alike, or cannot be seen, does not make another text of them."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.table import Mask
from anon_core.table.arrays import flags

_NOT_PLAIN = r"[^\x20-\x7E]|^ | $|  "
_UNSEEN = r"[\p{Cf}\x{115F}\x{1160}\x{3164}\x{034F}]"
"""What is drawn as nothing: joiners, soft hyphens, marks of direction, fillers."""
_BLANKS = r"[\p{Z}\t-\r\x{85}\x{2800}]+"
_DASHES = r"[\p{Pd}\x{2212}]"


def plainly_written(texts: pa.Array) -> pa.Array:
    """
    Return texts with one way to write each sign; blanks around them are cut off, and case stays.

    Full-width letters, digits of other scripts, blanks that do not break and long dashes become those of a keyboard,
    and what cannot be seen is left out (NFKC, and the digits).

    >>> plainly_written(pa.array(["D\uff25\u00a089\u20113704 ", "a\u200b@b.it", "\u0661\u0662"])).to_pylist()
    ['DE 89-3704', 'a@b.it', '12']
    """
    unusual: Mask = flags(pc.match_substring_regex(texts, _NOT_PLAIN))
    if not unusual.any():
        return texts
    some = pc.utf8_normalize(texts.filter(pa.array(unusual)), form="NFKC")
    for signs, instead in ((_UNSEEN, ""), (_BLANKS, " "), (_DASHES, "-")):
        some = pc.replace_substring_regex(some, signs, instead)
    if flags(pc.match_substring_regex(some, r"[^\x00-\x7F]")).any():
        found = np.flatnonzero(flags(pc.match_substring_regex(some, _foreign_digit())))
        if len(found):
            written = some.to_pylist()
            for at in found.tolist():
                written[at] = written[at].translate(_digits())
            some = pa.array(written, some.type)
    return pc.replace_with_mask(texts, pa.array(unusual), pc.utf8_trim_whitespace(some))


@cache
def _digits() -> dict[int, str]:
    signs = (chr(code) for code in range(128, sys.maxunicode + 1))
    return {ord(sign): str(unicodedata.decimal(sign)) for sign in signs if unicodedata.category(sign) == "Nd"}


@cache
def _foreign_digit() -> str:
    """Return an expression for all digits but 0 to 9; every script has ten that follow each other."""
    zeros = (code for code, digit in _digits().items() if digit == "0")
    return "[" + "".join(rf"\x{{{code:X}}}-\x{{{code + 9:X}}}" for code in zeros) + "]"
