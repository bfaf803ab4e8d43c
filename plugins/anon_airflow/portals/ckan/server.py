"""The address and token of a CKAN, read from the fields of a connection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from anon_core.errors import InvalidInputError
from anon_core.publishing.portal import Connect

TYPE = "ckan"
EXAMPLE = '{"conn_type": "ckan", "host": "https://...", "password": "the API token"}'
USUAL_TIMEOUT = 120.0
"""Seconds to wait for an answer. CKAN answers an upload only when it has stored and indexed all of it."""
MAX_NAME_LENGTH = 100
"""Maximum characters of a name or version from a server that a message shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """
    A CKAN server and the token for it; ``url`` has no slash at its end.

    ``download_hosts`` are other servers, such as an object store, that its downloads may be redirected to: each a
    scheme with a host, and a port if it is not the usual one.
    """

    url: str
    token: str = field(repr=False)
    timeout: float = USUAL_TIMEOUT
    download_hosts: tuple[str, ...] = ()

    @classmethod
    def of(cls, connection: str, fields: Mapping[str, Any]) -> Server:
        """
        Read the fields of a connection: ``host`` is the address, ``password`` the token, ``extra`` has the timeout.

        >>> Server.of("town", {"host": "https://data.example.org/", "password": "secret"}).url
        'https://data.example.org'

        :raises InvalidInputError: with all problems; never with the token.
        """
        problems = []
        if fields.get("conn_type") not in (None, TYPE):
            problems.append(f"its type is {fields['conn_type']!r}, not `{TYPE}`")
        url = _address(fields)
        if url is None:
            problems.append("its host is not an address such as https://data.example.org")
        token = str(fields.get("password") or "").strip()
        if not token or not token.isascii() or len(token.split()) > 1:
            problems.append(
                "its password is not an API token (CKAN shows one at /user/NAME/api-tokens, without `Bearer`)"
            )
        timeout = _timeout(fields.get("extra"))
        if timeout is None:
            problems.append("its extra is not JSON with a `timeout` in seconds, 1 to 3600")
        hosts = _download_hosts(fields.get("extra"))
        if hosts is None:
            problems.append(
                "`download_hosts` in its extra is not a list of addresses such as https://store.example.org (no path)"
            )
        if problems or url is None or timeout is None or hosts is None:
            raise InvalidInputError(f"connection {connection!r} does not name a CKAN: {'; '.join(problems)}")
        return cls(url=url, token=token, timeout=timeout, download_hosts=hosts)


def server_of(connection: str, connect: Connect) -> Server:
    """
    Return the server that a connection names.

    :raises InvalidInputError: there is no such connection, or it does not name a CKAN.
    """
    return Server.of(connection, connect(connection, EXAMPLE))


def _address(fields: Mapping[str, Any]) -> str | None:
    """Return the address of a CKAN without a slash at its end, or None."""
    host = str(fields.get("host") or "").strip().rstrip("/")
    try:
        parts = urlsplit(host if "://" in host else f"https://{host}")
        named = parts.port
    except ValueError:
        return None
    plain = (
        parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment or parts.username)
    )
    if not plain or " " in host:
        return None
    port = "" if named else f":{fields['port']}" if fields.get("port") else ""
    path = "/".join(each for each in (parts.path.strip("/"), str(fields.get("schema") or "").strip("/")) if each)
    return f"{parts.scheme}://{parts.netloc}{port}{'/' + path if path else ''}"


def origin(address: str) -> str | None:
    """
    Return scheme, host and port of an address in a uniform spelling; None if it has none.

    >>> origin("HTTPS://Data.example.org:443/dataset"), origin("ftp://data.example.org"), origin("/dataset")
    ('https://data.example.org:443', None, None)
    """
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.hostname}:{port}" if port and parts.hostname else None


def _content(extra: Any) -> Any:
    return json.loads(extra) if isinstance(extra, str) and extra.strip() else extra or {}


def _download_hosts(extra: Any) -> tuple[str, ...] | None:
    try:
        written = _content(extra).get("download_hosts") or ()
    except (ValueError, TypeError, AttributeError):
        return ()  # The check of the timeout, which is in the same JSON, reports it.
    several = [written] if isinstance(written, str) else list(written) if isinstance(written, list | tuple) else [None]
    found = [origin(one) if isinstance(one, str) and one.strip("/").count("/") == 2 else None for one in several]
    return tuple(one for one in found if one) if all(found) else None


def _timeout(extra: Any) -> float | None:
    try:
        value = _content(extra).get("timeout")
        seconds = USUAL_TIMEOUT if value in (None, "") else float(value)
    except (ValueError, TypeError, AttributeError):
        return None
    return seconds if 1 <= seconds <= 3600 else None
