"""Airflow connections of every type and backend, for the sources and portals of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.sdk import BaseHook

from anon_core.errors import InvalidInputError

FIELDS = ("conn_type", "host", "port", "schema", "login", "password", "extra")


def from_airflow(connection: str, example: str) -> Mapping[str, Any]:
    """
    Return the fields of a connection.

    :raises InvalidInputError: there is none; the message shows ``example``.
    """
    try:
        found = BaseHook.get_connection(connection)
    except Exception as error:  # noqa: BLE001 - A secrets backend may raise any error, and its text may hold a secret.
        raise InvalidInputError(
            f"connection {connection!r} cannot be read from Airflow ({type(error).__name__}); create it, "
            f"such as {example}"
        ) from None
    return {name: getattr(found, name) for name in FIELDS}
