"""Connections from environment variables, read as Airflow reads them: for ``anon run`` and ``anon withdraw``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from anon_core.errors import InvalidInputError

PREFIX = "AIRFLOW_CONN_"


def from_environment(connection: str, example: str, environ: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """
    Return the fields of a connection from AIRFLOW_CONN_<ID>, as Airflow itself would: JSON or a URI.

    >>> environ = {"AIRFLOW_CONN_TOWN": "ckan://https://:secret@data.example.org"}
    >>> from_environment("town", "", environ)["host"]
    'https://data.example.org'

    :raises InvalidInputError: it is not set (the message shows ``example`` as a possible value), or cannot be read.
    """
    name = f"{PREFIX}{connection.upper()}"
    text = (os.environ if environ is None else environ).get(name, "").strip()
    if not text:
        raise InvalidInputError(
            f"connection {connection!r} is not known here: only Airflow's tasks can read Airflow's connections; set "
            f"{name} to {example}"
        )
    if not text.startswith("{"):
        return _of_uri(name, text)
    try:
        return dict(json.loads(text))
    except ValueError:
        raise InvalidInputError(
            f"{name} begins like JSON but is not valid JSON; its text is not shown, because it holds a secret"
        ) from None


def _of_uri(name: str, text: str) -> dict[str, Any]:
    """Read ``type://https://:token@host:port/path?timeout=60``; without the second scheme, the host has none."""
    kind, _, rest = text.partition("://")
    try:
        parts = urlsplit(rest if "://" in rest else f"//{rest}")
        port = parts.port
    except ValueError:
        raise InvalidInputError(
            f"{name} is not a URI; its text is not shown, because it holds a secret: write reserved characters as %XX, "
            "or use JSON"
        ) from None
    host = unquote(parts.hostname or "")
    return {
        "conn_type": kind,
        "host": f"{parts.scheme}://{host}" if parts.scheme else host,
        "port": port,
        "schema": unquote(parts.path.strip("/")),
        "login": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "extra": _typed(dict(parse_qsl(parts.query, keep_blank_values=True))),
    }


def _typed(query: dict[str, str]) -> Any:
    """Return the extra of a URI: its query, or all of it as JSON under ``__extra__``, as Airflow writes it."""
    if "__extra__" in query:
        return query["__extra__"]
    return {key: float(value) if value.replace(".", "", 1).isdigit() else value for key, value in query.items()}
