"""The metadata of a dataset for CKAN: title, licence, tags, and the fields of DCAT as extras; pure functions.

CKAN silently drops keys at the top level that it does not know, so everything but its own fields is an extra.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anon_airflow.portals.ckan.requests import Package
from anon_airflow.portals.vocabulary import LICENCES, frequency_of, language_of, theme_of
from anon_core.publishing.release import Release

DATASET, INCOMPLETE, WITHDRAWN = "anonflow_dataset", "anonflow_incomplete", "anonflow_withdrawn"
NOTICE = "> **Withdrawn**"
_TAG = re.compile(r"[\w \-.]{2,100}")
_COLUMN = re.compile(r'[^_"\s][^"]*')
_MAX_COLUMN_LENGTH = 63
_MAX_TEXT_LENGTH = 5_000
"""Maximum characters of a reason, or of another text about a withdrawal, that are read back from a portal."""
_STOCK_LICENCES = {
    "cc0-1.0": "cc-zero",
    "cc-by-4.0": "cc-by",
    "cc-by-sa-4.0": "cc-by-sa",
    "odbl-1.0": "odc-odbl",
    "odc-by-1.0": "odc-by",
    "pddl-1.0": "odc-pddl",
    "ogl-uk-3.0": "uk-ogl",
}
"""The ids of licences in CKAN's standard list, by their SPDX names."""


def package_fields(release: Release, package: Package | None, licence: str | None, shown: Mapping[str, Any]) -> Package:
    """
    Return the fields of the dataset of a release; extras of other users, and notices of withdrawals, stay unchanged.

    ``shown`` is the manifest of the newest version. A dataset is incomplete, and only its organisation sees it, until
    its first release is complete.
    """
    said = release.metadata
    contact = str(said.get("contact") or "")
    email = contact.removeprefix("mailto:") if "@" in contact else ""
    extras = {
        DATASET: release.dataset,
        "publisher_name": said.get("publisher"),
        "contact_email": email,
        "contact_name": said.get("publisher") if email else contact,
        "frequency": _known(frequency_of, said.get("frequency")),
        "language": _listed(_known(language_of, said.get("language"))),
        "theme": _listed(_known(theme_of, said.get("theme"))),
        "temporal_start": shown.get("period"),
        "modified": shown["published_at"],
        "identifier": release.dataset,
    }
    kept = {key: value for key, value in _extras(package).items() if key not in (*extras, INCOMPLETE)}
    return {
        "title": release.title,
        "notes": notes(said.get("description"), withdrawn(package)),
        "version": shown["version"],
        "license_id": licence or "",
        "tags": [{"name": word} for word in sorted(set(said.get("keywords") or ()))],
        "extras": _as_list({**kept, **{key: value for key, value in extras.items() if value}}),
    }


def tombstone_fields(package: Package, taken_off: Sequence[Mapping[str, str]], left: Mapping[str, str]) -> Package:
    """
    Return the fields of a dataset after versions were taken off, so that its page says so.

    ``left`` has version and period of the newest version that is left, if there is one.
    """
    known = withdrawn(package)
    seen = {one["version"] for one in known}
    all_of_them = [*known, *(dict(one) for one in taken_off if one["version"] not in seen)]
    extras = {**_extras(package), WITHDRAWN: json.dumps(all_of_them, ensure_ascii=False)}
    extras |= {"temporal_start": left.get("period") or ""}
    extras = {key: value for key, value in extras.items() if value}
    lines = str(package.get("notes") or "").split("\n")
    plain = "\n".join(line for line in lines if not line.startswith(NOTICE)).strip()
    return {"notes": notes(plain, all_of_them), "version": left.get("version", ""), "extras": _as_list(extras)}


def notes(description: str | None, gone: Iterable[Mapping[str, str]]) -> str:
    """Return the text of the dataset's page: notices of withdrawals, then the description."""
    notices = [
        f"{NOTICE} on {one['at'][:10]}: version {one['version']}. {' '.join(one['reason'].split())}" for one in gone
    ]
    return "\n\n".join([*notices, *([description] if description else [])])


def withdrawn(package: Package | None) -> list[dict[str, str]]:
    """Return the withdrawals of a dataset: version, digests of content and data, time, reason, head of the audit."""
    try:
        found = json.loads(_extras(package).get(WITHDRAWN) or "[]")
        keys = ("version", "content_digest", "at", "reason")
        return [
            {key: str(one[key])[:_MAX_TEXT_LENGTH] for key in keys}
            | {key: str(one.get(key, ""))[:_MAX_TEXT_LENGTH] for key in ("data_digest", "audit")}
            for one in found
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []


def own_extra(package: Package, key: str) -> str | None:
    """Return the value of an extra, or None."""
    return _extras(package).get(key)


def licence_id(wanted: str, known: Sequence[Mapping[str, Any]]) -> str | None:
    """
    Return the portal's id of a licence, found by id, title or address; None if the portal has no such licence.

    >>> licence_id("CC-BY-4.0", [{"id": "cc-by", "title": "Creative Commons Attribution", "url": ""}])
    'cc-by'
    """
    title, url = LICENCES.get(wanted, ("", ""))
    names = [wanted, title, url, _STOCK_LICENCES.get(wanted.casefold(), "")]
    for name in filter(None, (name.casefold().rstrip("/") for name in names)):
        for one in known:
            called = (str(one.get(key) or "").casefold().rstrip("/") for key in ("id", "title", "url"))
            if name in called and one.get("status", "active") == "active":
                return str(one.get("id"))
    return None


def metadata_problems(dataset: str, keywords: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return a sentence for each name that CKAN would reject; ``columns`` are those of a table for its DataStore."""
    problems = [] if len(dataset) >= 2 else [f"CKAN needs at least two characters in a dataset's name, not {dataset!r}"]
    if wrong := [word for word in keywords if not _TAG.fullmatch(word)]:
        problems.append(
            f"CKAN does not accept {', '.join(map(repr, wrong))} in metadata.keywords: letters, digits, spaces and "
            "- _ . are allowed, 2 to 100 of them"
        )
    long = _MAX_COLUMN_LENGTH
    if wrong := [
        name for name in columns if not _COLUMN.fullmatch(name) or len(name.encode()) > long or name != name.strip()
    ]:
        problems.append(
            f"the DataStore does not accept the column names {', '.join(map(repr, wrong))}: at most {long} bytes, no "
            "quote, no space at the ends and no underscore at the beginning are allowed"
        )
    return problems


def lost(wanted: Mapping[str, Any], shown: Package) -> list[str]:
    """Return the keys that were sent to CKAN and that it does not show: it silently drops unknown keys."""
    told = _extras({"extras": wanted.get("extras", [])})
    missing = [f"extras.{key}" for key, value in told.items() if _extras(shown).get(key) != value]
    plain = {key: value for key, value in wanted.items() if key not in ("extras", "tags", "resources")}
    missing += [key for key, value in plain.items() if (shown.get(key) or "") != (value or "")]
    tags = {tag["name"] for tag in wanted.get("tags", [])}
    return missing + (["tags"] if not tags <= {tag["name"] for tag in shown.get("tags", [])} else [])


def _known(address_of: Any, text: str | None) -> str | None:
    return (address_of(text) or text) if text else None


def _listed(text: str | None) -> str | None:
    return json.dumps([text], ensure_ascii=False) if text else None


def _extras(package: Mapping[str, Any] | None) -> dict[str, str]:
    return {one["key"]: one["value"] for one in (package or {}).get("extras") or ()}


def _as_list(extras: Mapping[str, Any]) -> list[dict[str, str]]:
    return [{"key": key, "value": str(value)} for key, value in sorted(extras.items())]
