"""Codes whose structure is public: telephone numbers, postcodes by country, and a tax code.

Cases and blanks that people write differently are evened out first, so one number written in two ways is one number;
a hyphen is read only where the country writes one. Postcodes are cut as their operator defines them; whether such a
code was given out is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from anon_core.errors import InvalidInputError
from anon_core.hierarchy.decompose.tax_codes import italian_tax_code
from anon_core.spec import Preset

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
