"""Words and numbers for the pages: counts, sizes, days and names of checks, as people read them."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

from jinja2 import ChainableUndefined

from anon_core.registry import MODELS

NOTHING = "not stated"
_OF_THE_GATE = {
    "formulas": "No cell is a formula for a spreadsheet",
    "evaluated": "Every check was carried out",
    "site_policy": "The rules of the publisher are met",
    "smallest_table": "Enough people are in the table",
    "rows_capped": "Rows were left out only for people with too many rows",
    "same_content": "All files hold the same rows",
    "unchanged": "The files are those that were measured",
    "witness": "Every row belongs to a person whose data was collected",
}


def check(name: object) -> str:
    """
    Return a check in words, with the column and the limits that it is about.

    >>> check("k_anonymity"), check("l_diversity(illness, distinct)"), check("expect_column_to_exist")
    ('Every group is large enough', 'The values in every group differ enough (illness, distinct)', 'Column to exist')
    """
    plain, bracket, narrowed = str(name).removeprefix("expect_").partition("(")
    titles = dict(_OF_THE_GATE)
    for model in MODELS.members().values():
        titles |= model.page or {model.key: model.title}
    words = titles.get(plain) or f"{plain[:1].upper()}{plain[1:]}".replace("_", " ")
    return words + (f" ({narrowed}" if bracket else "")


def address(text: object) -> str:
    """Return the text if it is a web address, else nothing: a link must not run code."""
    return str(text) if re.fullmatch(r"https?://[^\s\"'<>{}|\\^`]+", str(text)) else ""


def is_email(text: object) -> bool:
    """Whether a text is an e-mail address, and nothing more."""
    return bool(re.fullmatch(r"[A-Za-z0-9_.+-]+@[A-Za-z0-9_.-]+", str(text)))


def figure(value: object) -> str:
    """
    Return a number as people write it, and other values as text.

    >>> figure(99340), figure(0.31), figure("yes"), figure(None)
    ('99,340', '0.31', 'yes', 'not stated')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4f}".rstrip("0").rstrip(".")
    return NOTHING if value is None or isinstance(value, ChainableUndefined) else str(value)


def rounded(count: object, step: object) -> str:
    """
    Return a count of the public report, which is rounded down; counts of earlier reports are exact.

    >>> rounded(0, 5), rounded(1500, 5), rounded(3, None)
    ('fewer than 5', '1,500 to 1,504', '3')
    """
    if isinstance(count, int) and isinstance(step, int) and step > 0:
        return f"{count:,} to {count + step - 1:,}" if count else f"fewer than {step:,}"
    return figure(count)


def percent(share: object) -> str:
    """
    Return a share in percent, never rounded to 0 % or 100 %.

    >>> percent(0.0066), percent(0.00001), percent(0.99999), percent(1)
    ('0.7 %', 'under 0.1 %', 'over 99.9 %', '100 %')
    """
    if not isinstance(share, int | float):
        return NOTHING
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def phrase(text: object) -> str:
    """
    Return a text for the middle of a sentence: it begins in lower case, unless with an abbreviation, without full stop.

    >>> phrase("Year of birth."), phrase("ISTAT code of the town"), phrase("Speaks German")
    ('year of birth', 'ISTAT code of the town', 'speaks German')
    """
    words = str(text).strip().removesuffix(".")
    return words[:1].lower() + words[1:] if words[1:2].islower() else words


def size(count: object) -> str:
    """
    Return a file size as people read it.

    >>> size(712), size(3_412_000)
    ('712 bytes', '3.4 MB')
    """
    if not isinstance(count, int):
        return NOTHING
    amount, units = float(count), ["kB", "MB", "GB", "TB"]
    if amount < 1000:
        return f"{count} bytes"
    unit = ""
    while amount >= 999.95 and units:
        amount, unit = amount / 1000, units.pop(0)
    return f"{amount:.1f} {unit}"


def file_format(distribution: dict[str, Any]) -> str:
    """
    Return the name of a file's format: by its media type, else by the end of its name.

    >>> file_format({"name": "a.csv", "media_type": "text/csv"})
    'CSV'
    """
    known = {
        "text/csv": "CSV",
        "application/vnd.apache.parquet": "Parquet",
        "application/gzip": "gzip",
        "application/json": "JSON",
    }
    name = str(distribution.get("name", ""))
    return known.get(str(distribution.get("media_type")), name.rpartition(".")[2].upper() if "." in name else "File")


def day(text: object) -> str:
    """
    Return a date in words; other text stays as it is.

    >>> day("2026-11-01"), day("2026-11"), day("winter")
    ('1 November 2026', 'November 2026', 'winter')
    """
    try:
        if re.fullmatch(r"\d{4}-\d\d", str(text)):
            return f"{date.fromisoformat(f'{text}-01'):%B %Y}"
        when = datetime.fromisoformat(str(text))
    except ValueError:
        return str(text)
    return f"{when.day} {when:%B %Y}"


def moment(text: object) -> str:
    """
    Return a time of publication, to the minute.

    >>> moment("2026-11-16T12:27:54.000001Z")
    '16 November 2026, 12:27 UTC'
    """
    try:
        when = datetime.fromisoformat(str(text))
    except ValueError:
        return str(text)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"
