"""The pages of the folder portal: plain HTML from manifests and public reports, the same bytes for the same input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import ChainableUndefined, Environment, FileSystemLoader

from anon_airflow.portals.manifest import Manifest
from anon_core.report.meant_k import meant_k

NOTHING = "not stated"
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
CHECKS = {
    "k_anonymity": "Every group is large enough",
    "link_k": "Whoever is looked for could be enough rows",
    "no_published_identifier": "No column names people by itself",
    "no_singletons": "Nobody is alone in a group",
    "no_undeclared_column": "Only the announced columns are published",
    "published_uniqueness": "No handful of columns singles anybody out",
    "evaluated": "Every check was carried out",
    "rows_suppressed_at_most": "Few enough rows were left out",
    "source_k": "Every row could be enough people",
    "same_content": "All files hold the same rows",
    "unchanged": "The files are those that were measured",
}


def index_page(datasets: Sequence[Sequence[Manifest]]) -> str:
    """The front page: every dataset with its newest version; each is a list of manifests, newest first."""
    ordered = sorted(datasets, key=lambda manifests: (manifests[0]["title"].casefold(), manifests[0]["dataset"]))
    entries = [{"manifest": each[0], "versions": len(each)} for each in ordered]
    publishers = {(each[0].get("metadata") or {}).get("publisher") for each in datasets}
    publisher = publishers.pop() if len(publishers) == 1 else None
    return _environment().get_template("index.html").render(entries=entries, publisher=publisher)


def dataset_page(manifests: Sequence[Manifest], report: dict[str, Any]) -> str:
    """The page of a dataset: its newest version with the report, and the versions before."""
    newest = manifests[0]
    privacy = report.get("privacy") or {}
    meant = meant_k(str(privacy.get("k_means")), privacy.get("k_required"), _mapping(privacy.get("k")))
    context = {
        "manifest": newest,
        "metadata": newest.get("metadata") or {},
        "report": report,
        "history": manifests,
        "checks": merged_checks(privacy.get("checks") or ()),
        "meant": {k.kind: k.measured for k in meant if k.measured is not None},
        "quasi_identifiers": [
            each for each in (report.get("recoding") or {}).get("columns") or () if each.get("role") == "quasi"
        ],
    }
    return _environment().get_template("dataset.html").render(context)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "address": address,
        "check": check,
        "day": day,
        "email": lambda text: text if re.fullmatch(r"[\w.+-]+@[\w.-]+", str(text)) else "",
        "figure": figure,
        "format": file_format,
        "language": lambda text: text if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", str(text)) else "en",
        "licence": lambda text: LICENCES.get(str(text), (str(text), "")),
        "moment": moment,
        "path": lambda text: quote(str(text), safe=""),
        "percent": percent,
        "size": size,
        "waived": waived,
    }
    environment.filters |= filters
    return environment


def merged_checks(checks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The checks in their order, one that said the same of several files only once."""
    merged: dict[tuple[str, ...], dict[str, Any]] = {}
    for each in checks:
        said = (
            each.get("message") or f"measured {figure(each.get('observed'))}, required {figure(each.get('required'))}"
        )
        found: dict[str, Any] = {
            "name": each.get("name"),
            "said": said,
            "passed": each.get("passed") is True,
            "waived_by": each.get("waived_by"),
            "files": [],
        }
        entry = merged.setdefault((str(each.get("name")), str(said), f"{found['passed']} {found['waived_by']}"), found)
        if (file := each.get("distribution")) and file != "all":
            entry["files"].append(file)
    return list(merged.values())


def check(name: object) -> str:
    """
    A check in words.

    >>> check("expect_k_anonymity"), check("expect_column_to_exist")
    ('Every group is large enough', 'column to exist')
    """
    plain = str(name).removeprefix("expect_")
    return CHECKS.get(plain, plain.replace("_", " "))


def waived(name: object) -> str:
    """
    A check as a waiver names it, in words, with the column it is narrowed to.

    >>> waived("rows_suppressed_at_most"), waived("t_closeness(illness)")
    ('Few enough rows were left out', 't closeness (illness)')
    """
    plain, bracket, column = str(name).partition("(")
    return check(plain) + (f" ({column}" if bracket else "")


def address(text: object) -> str:
    """The text if it is a web address, else nothing: a link must not run code."""
    return str(text) if re.fullmatch(r"https?://[^\s\"'<>]+", str(text)) else ""


def figure(value: object) -> str:
    """
    A number as people write it, anything else as it is.

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


def percent(share: object) -> str:
    """
    A share in percent, never rounded to nothing or to everything.

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


def size(count: object) -> str:
    """
    A file size as people read it.

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
    What to call a file's format: by its media type, else by the end of its name.

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
    A date in words; what is not one stays as it is.

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
    A time of publication, to the minute.

    >>> moment("2026-11-16T12:27:54.000001Z")
    '16 November 2026, 12:27 UTC'
    """
    try:
        when = datetime.fromisoformat(str(text))
    except ValueError:
        return str(text)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"
