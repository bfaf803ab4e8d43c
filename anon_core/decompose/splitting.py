"""Ways to split a value into parts: fixed widths, separators, a regular expression, or a preset.

Every way takes distinct values and returns for each its parts, or None where it does not fit. A part with nothing in it
is an empty text. Values are split one by one and as they are: whether one fits never depends on the others.

Presets are codes whose structure is public. Cases and blanks that people write differently are evened out first, so one
number written in two ways is one number; a hyphen is read only where the country writes one. Postcodes are cut as their
operator defines them; whether such a code was given out is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from anon_core.errors import InvalidInputError
from anon_core.spec import Decompose, Preset
from anon_core.table.arrays import texts

Parts = tuple[str, ...]
"""The parts of one value, in their order; a part with nothing in it is an empty text."""

# The groups are the parts of anon_core.spec.parts.PRESET_PARTS, in their order.
_POSTCODES = {
    Preset.POSTCODE_AT: r"([1-9])([0-9])([0-9]{2})",
    Preset.POSTCODE_CA: r"([ABCEGHJ-NPRSTVXY])([0-9][ABCEGHJ-NPRSTV-Z])([0-9][ABCEGHJ-NPRSTV-Z][0-9])",
    Preset.POSTCODE_CH: r"([1-9])([0-9])([0-9]{2})",
    Preset.POSTCODE_DE: r"([0-9])([0-9])([0-9]{3})",
    Preset.POSTCODE_ES: r"(0[1-9]|[1-4][0-9]|5[0-2])([0-9]{3})",
    # Overseas the department has three digits; Corsica (2A and 2B) has 20.
    Preset.POSTCODE_FR: r"(?=[0-9]{5}\Z)(9[78][0-9]|(?!9[78])[0-9]{2})([0-9]{2,3})",
    Preset.POSTCODE_IT: r"([0-9]{2})([0-9]{3})",
    Preset.POSTCODE_NL: r"([1-9][0-9])([0-9]{2})((?!S[ADS])[A-Z]{2})",
    # The inward code is always a digit and two letters, so the district is what is left between.
    Preset.POSTCODE_UK: r"([A-Z]{1,2})([0-9][0-9A-Z]?)([0-9])([ABD-HJLNP-UW-Z]{2})",
    Preset.POSTCODE_US: r"([0-9]{3})([0-9]{2})(?:-?([0-9]{4}))?",
}
_BLANKS = re.compile(r"\s")
_LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ODD_PLACES = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
"""What the letters A to Z are worth in the odd places; digits are worth as much as A to J."""
_MONTHS = "ABCDEHLMPRST"
_DAYS_OF_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DIGIT = "[0-9LMNP-V]"
_FORM = re.compile(rf"[A-Z]{{6}}{_DIGIT}{{2}}[{_MONTHS}]{_DIGIT}{{2}}[A-Z]{_DIGIT}{{3}}[A-Z]")
_SHARED_CODES = str.maketrans("LMNPQRSTUV", "0123456789")
"""Where two people would have one code, letters stand for some digits of the second (omocodia)."""
_OF_A_WOMAN = 40
"""Added to the day of birth of women."""


def split_values(values: Sequence[str], rule: Decompose) -> list[Parts | None]:
    """
    Return the parts of every value by the rule of a publication file.

    A value of which nothing but separators is left does not fit, for its parts would look like a gap.

    :raises InvalidInputError: the pattern cannot be matched in linear time, or there is no such telephone region.
    """
    if rule.pattern is not None:
        found = by_pattern(values, rule.pattern)
    else:
        split = _splitter(rule)
        found = [split(value) for value in values]
    return [parts if parts and any(parts) else None for parts in found]


def _splitter(rule: Decompose) -> Callable[[str], Parts | None]:
    if rule.widths is not None:
        widths, rest = rule.widths, len(rule.names) > len(rule.widths)
        return lambda value: by_widths(value, widths, rest=rest)
    if rule.separator is not None:
        between = len(rule.names) - 1
        separators = (rule.separator,) * between if isinstance(rule.separator, str) else rule.separator
        return lambda value: by_separators(value, separators)
    if rule.preset is None:
        raise InvalidInputError("a column is decomposed by exactly one of widths, separator, pattern and preset")
    return preset_splitter(rule.preset, rule.region)


def by_widths(value: str, widths: Sequence[int], *, rest: bool = False) -> Parts | None:
    """
    Cut a value into parts of so many characters (Unicode code points); with ``rest`` what is left is one more part.

    >>> by_widths("28496", [2, 3]), by_widths("284961", [2, 3]), by_widths("284961", [2], rest=True)
    (('28', '496'), None, ('28', '4961'))
    """
    whole = sum(widths)
    if len(value) < whole or (len(value) > whole and not rest):
        return None
    parts, start = [], 0
    for width in widths:
        parts.append(value[start : start + width])
        start += width
    return (*parts, value[start:]) if rest else tuple(parts)


def by_separators(value: str, separators: Sequence[str]) -> Parts | None:
    """
    Cut a value at the first of each separator, in their order; the last one must not come again.

    >>> by_separators("06-555-21", ["-", "-"]), by_separators("06-555", ["-", "-"]), by_separators("a-b-c", ["-"])
    (('06', '555', '21'), None, None)
    """
    parts, left = [], value
    for separator in separators:
        part, found, left = left.partition(separator)
        if not found:
            return None
        parts.append(part)
    return None if separators[-1] in left else (*parts, left)


def by_pattern(values: Sequence[str], pattern: str) -> list[Parts | None]:
    r"""
    Cut values that match a regular expression as a whole into its named groups; a group that took no part is empty.

    RE2, which Arrow has, matches it in time linear in the length of the value, so that no pattern and no value can stop
    a run from ending. RE2 has no lookaround and no back-references, and its ``\d`` and ``\w`` are ASCII.

    >>> by_pattern(["28496", "2849x"], r"(?P<state>\d{2})(?P<local>\d+)")
    [('28', '496'), None]

    :raises InvalidInputError: RE2 does not know a construct of the pattern, or it is too large.
    """
    try:
        found = pc.extract_regex(texts(values), rf"\A(?:{pattern})\z")
    except pa.ArrowInvalid as error:
        # The text of the error is about the pattern, which is in the publication file, never about a value.
        raise InvalidInputError(f"the pattern of a decomposed column cannot be used: {error}") from None
    groups = [found.field(at).to_pylist() for at in range(found.type.num_fields)]
    fits = found.is_valid().to_pylist()
    return [parts if fit else None for fit, parts in zip(fits, zip(*groups, strict=True), strict=True)]


def preset_splitter(preset: Preset, region: str | None) -> Callable[[str], Parts | None]:
    """
    Return what splits a value by a preset; ``region`` is the country of telephone numbers that do not name theirs.

    >>> preset_splitter(Preset.POSTCODE_UK, None)("sw1a 1aa")
    ('SW', '1A', '1', 'AA')

    :raises InvalidInputError: no telephone numbers are known for the region.
    """
    if preset is Preset.TELEPHONE:
        return _telephone(region)
    form = re.compile(_POSTCODES[preset]) if preset in _POSTCODES else None

    def split(value: str) -> Parts | None:
        if not value.isascii():  # In capitals, some other signs would become two Latin letters.
            return None
        code = _BLANKS.sub("", value).upper()
        if form is None:
            return italian_tax_code(code)
        match = form.fullmatch(code)
        return match.groups("") if match else None

    return split


def _telephone(region: str | None) -> Callable[[str], Parts | None]:
    """Return what splits telephone numbers, by the numbering plans that `phonenumbers` knows."""
    import phonenumbers

    if region is not None and region not in phonenumbers.SUPPORTED_REGIONS:
        raise InvalidInputError(f"no telephone numbers are known for the region {region!r}; name a country such as IT")

    def split(value: str) -> Parts | None:
        try:
            number = phonenumbers.parse(value, region)
        except phonenumbers.NumberParseException:
            return None
        if not phonenumbers.is_valid_number(number):
            return None
        digits = phonenumbers.national_significant_number(number)
        area = phonenumbers.length_of_geographical_area_code(number)
        if not area and phonenumbers.number_type(number) == phonenumbers.PhoneNumberType.MOBILE:
            area = phonenumbers.length_of_national_destination_code(number)
        return str(number.country_code), digits[:area], digits[area:]

    return split


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

    Letters that stand for digits are read as digits; the year has two digits, since the code does not show the century.
    A code with a wrong check letter, or without such a day, gives None. The check letter is no part: if it were
    published, it would give away parts that are left out or generalised.

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
    if not 1 <= born <= _DAYS_OF_MONTHS[month]:
        return None
    sex = "F" if woman else "M"
    return code[:3], code[3:6], year, str(month + 1), str(born), sex, code[11] + number
