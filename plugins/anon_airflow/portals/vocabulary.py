"""Translate words of publication files to the vocabularies that catalogues share, such as those of the EU."""

from __future__ import annotations

import re

_AUTHORITY = "http://publications.europa.eu/resource/authority"
_IANA = "https://www.iana.org/assignments/media-types"

LICENCES = {
    "CC0-1.0": ("Creative Commons Zero 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "CC-BY-4.0": ("Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/"),
    "CC-BY-SA-4.0": ("Creative Commons Attribution-ShareAlike 4.0", "https://creativecommons.org/licenses/by-sa/4.0/"),
    "CC-BY-NC-4.0": (
        "Creative Commons Attribution-NonCommercial 4.0",
        "https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    "ODbL-1.0": ("Open Database License 1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    "ODC-By-1.0": ("Open Data Commons Attribution 1.0", "https://opendatacommons.org/licenses/by/1-0/"),
    "PDDL-1.0": ("Public Domain Dedication 1.0", "https://opendatacommons.org/licenses/pddl/1-0/"),
    "IODL-2.0": ("Italian Open Data Licence 2.0", "https://www.dati.gov.it/iodl/2.0/"),
}

_FREQUENCIES = {
    "annual": "ANNUAL",
    "annually": "ANNUAL",
    "yearly": "ANNUAL",
    "biannual": "ANNUAL_2",
    "biennial": "BIENNIAL",
    "continuous": "CONT",
    "daily": "DAILY",
    "hourly": "HOURLY",
    "irregular": "IRREG",
    "monthly": "MONTHLY",
    "never": "NEVER",
    "quarterly": "QUARTERLY",
    "weekly": "WEEKLY",
}
_LANGUAGES = {
    "bg": "BUL", "ca": "CAT", "cs": "CES", "da": "DAN", "de": "DEU", "el": "ELL", "en": "ENG", "es": "SPA",
    "et": "EST", "eu": "EUS", "fi": "FIN", "fr": "FRA", "ga": "GLE", "gl": "GLG", "hr": "HRV", "hu": "HUN",
    "is": "ISL", "it": "ITA", "lt": "LIT", "lv": "LAV", "mt": "MLT", "nl": "NLD", "no": "NOR", "pl": "POL",
    "pt": "POR", "ro": "RON", "sk": "SLK", "sl": "SLV", "sv": "SWE", "tr": "TUR", "uk": "UKR",
}  # fmt: skip
_THEMES = {
    "agriculture": "AGRI",
    "economy": "ECON",
    "education": "EDUC",
    "culture": "EDUC",
    "sport": "EDUC",
    "energy": "ENER",
    "environment": "ENVI",
    "government": "GOVE",
    "health": "HEAL",
    "international": "INTR",
    "justice": "JUST",
    "regions": "REGI",
    "cities": "REGI",
    "society": "SOCI",
    "population": "SOCI",
    "technology": "TECH",
    "science": "TECH",
    "transport": "TRAN",
}
_FILE_TYPES = {"text/csv": "CSV", "application/vnd.apache.parquet": "PARQUET"}


def frequency_of(text: str) -> str | None:
    """
    Return the address of a frequency, if it is in the vocabulary.

    >>> frequency_of("Monthly")
    'http://publications.europa.eu/resource/authority/frequency/MONTHLY'
    """
    return _address("frequency", _FREQUENCIES.get(text.strip().casefold()))


def language_of(text: str) -> str | None:
    """Return the address of a language given as ``en`` or ``en-GB``."""
    return _address("language", _LANGUAGES.get(text.strip().casefold().partition("-")[0]))


def theme_of(text: str) -> str | None:
    """Return the address of a theme, given by its name or its code; None for other words."""
    word = text.strip()
    code = _THEMES.get(word.casefold()) or (word.upper() if word.upper() in _THEMES.values() else None)
    return _address("data-theme", code)


def file_type_of(media_type: str) -> str | None:
    """Return the address of a file type."""
    return _address("file-type", _FILE_TYPES.get(media_type))


def media_type_of(media_type: str) -> str | None:
    """Return the address of a media type, if the text is one."""
    return f"{_IANA}/{media_type}" if re.fullmatch(r"[a-z]+/[a-z0-9.+-]+", media_type) else None


def _address(kind: str, code: str | None) -> str | None:
    return f"{_AUTHORITY}/{kind}/{code}" if code else None
