"""``datapackage.json``: a version as a Frictionless Data Package, so that programs can check and load it."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from anon_airflow.portals.manifest import Manifest
from anon_airflow.portals.vocabulary import LICENCES
from anon_airflow.portals.words import address, is_email

FILE = "datapackage.json"
_TYPES: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer"},
    "decimal": {"type": "number"},
    "date": {"type": "date"},
    "timestamp": {"type": "datetime", "format": "any"},
    "boolean": {"type": "boolean", "trueValues": ["true", "True", "TRUE"], "falseValues": ["false", "False", "FALSE"]},
}


def datapackage_of(manifest: Manifest, report: dict[str, Any]) -> dict[str, Any]:
    """
    Return the package of a version.

    Only a CSV is a table to a package. Of Parquet, which carries its own schema, it has size and digest.
    """
    metadata = manifest.get("metadata") or {}
    package: dict[str, Any] = {
        "profile": "data-package",
        "name": manifest["dataset"],
        "id": manifest["content_digest"],
        "title": manifest["title"],
        "version": manifest["version"],
        "created": manifest["published_at"],
        "resources": [_resource(each, report) for each in manifest["distributions"]],
    }
    if metadata.get("description"):
        package["description"] = metadata["description"]
    if metadata.get("keywords"):
        package["keywords"] = list(metadata["keywords"])
    if metadata.get("licence"):
        package["licenses"] = [_licence(str(metadata["licence"]))]
    if metadata.get("publisher"):
        package["contributors"] = [_publisher(metadata)]
    return package


def _resource(file: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    path = PurePath(file["name"])
    resource: dict[str, Any] = {
        "name": f"{path.stem}-{path.suffix[1:]}".lower(),
        "path": file["name"],
        "format": path.suffix[1:].lower(),
        "mediatype": file["media_type"],
        "bytes": file["bytes"],
        "hash": f"sha256:{file['sha256']}",
    }
    columns = (report.get("recoding") or {}).get("columns") or ()
    if file["media_type"] != "text/csv" or not columns:
        return resource | {"type": "file"}  # Or size and digest would not be looked at.
    return resource | {
        "type": "table",
        "profile": "tabular-data-resource",
        "encoding": "utf-8",
        "dialect": {"delimiter": ",", "quoteChar": '"', "doubleQuote": True, "lineTerminator": "\r\n", "header": True},
        "schema": {"fields": [_field(each) for each in columns], "missingValues": [""]},
    }


def _field(column: dict[str, Any]) -> dict[str, Any]:
    field = {"name": column["name"], **_TYPES.get(str(column.get("type")), {"type": "string"})}
    return field | ({"description": column["description"]} if column.get("description") else {})


def _licence(text: str) -> dict[str, str]:
    title, link = LICENCES.get(text, (text, address(text)))
    licence = {"name": text, "title": title, "path": link}
    # Only names of the known kind are names; a licence in words is a title.
    return {key: value for key, value in licence.items() if value and (key != "name" or text in LICENCES)}


def _publisher(metadata: dict[str, Any]) -> dict[str, str]:
    contact = str(metadata.get("contact") or "")
    publisher = {"title": str(metadata["publisher"]), "role": "publisher"}
    if is_email(contact):
        return publisher | {"email": contact}
    return publisher | ({"path": contact} if address(contact) else {})
