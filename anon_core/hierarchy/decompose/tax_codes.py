"""The Italian tax code (codice fiscale), as the decree of 23 December 1976 makes it."""

from __future__ import annotations

import re

_LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ODD_PLACES = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
"""What the letters A to Z are worth in the odd places; digits are worth as much as A to J."""
_MONTHS = "ABCDEHLMPRST"
_LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DIGIT = "[0-9LMNP-V]"
_FORM = re.compile(rf"[A-Z]{{6}}{_DIGIT}{{2}}[{_MONTHS}]{_DIGIT}{{2}}[A-Z]{_DIGIT}{{3}}[A-Z]")
_SHARED_CODES = str.maketrans("LMNPQRSTUV", "0123456789")
"""Where two people would have one code, letters stand for some digits of the second (omocodia)."""
_OF_A_WOMAN = 40
"""Added to the day of birth of women."""


def check_letter(places: str) -> str:
    """
    Return the last letter of a tax code from the fifteen signs before it, capitals and digits.

    >>> check_letter("RSSMRA85T10A562")
    'S'
    """
    worth = [_LATIN.index(sign) if sign.isalpha() else int(sign) for sign in places]
    return _LATIN[(sum(_ODD_PLACES[place] for place in worth[::2]) + sum(worth[1::2])) % 26]


def italian_tax_code(code: str) -> tuple[str, ...] | None:
    """
    Return surname, name, year, month and day of birth, sex and place of birth of a code in capitals.

    Surname and name are three letters each; the place is a code of a municipality, or of a country other than Italy.

    Letters that stand for digits are read as these; the year has two digits, for the code does not tell the century.
    Whatever the check letter does not follow from, or has no such day, is None. That letter is no part: published, it
    would tell of parts that are left out or generalised.

    >>> italian_tax_code("RSSMRA85T10A562S")
    ('RSS', 'MRA', '85', '12', '10', 'M', 'A562')
    >>> italian_tax_code("RSSMRA85T10A562T") is None
    True
    """
    if not _FORM.fullmatch(code) or check_letter(code[:15]) != code[15]:
        return None
    year, day, number = (code[start:end].translate(_SHARED_CODES) for start, end in ((6, 8), (9, 11), (12, 15)))
    month, woman = _MONTHS.index(code[8]), int(day) > _OF_A_WOMAN
    born = int(day) - _OF_A_WOMAN * woman
    if not 1 <= born <= _LONGEST_MONTHS[month]:
        return None
    sex = "F" if woman else "M"
    return code[:3], code[3:6], year, str(month + 1), str(born), sex, code[11] + number
