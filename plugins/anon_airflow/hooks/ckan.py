"""The connection type ``ckan``: address and token of a CKAN, kept by Airflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseHook

from anon_airflow.hooks.connection import from_airflow
from anon_airflow.portals.ckan.server import MAX_NAME_LENGTH, TYPE, Server, server_of
from anon_core.errors import AnonError

if TYPE_CHECKING:
    from anon_airflow.portals.ckan.client import CkanClient


class CkanHook(BaseHook):
    """
    Open the CKAN server of a connection.

    :param ckan_conn_id: id of a connection of type ``ckan``: host is the address, password the API token.
    """

    conn_name_attr = "ckan_conn_id"
    default_conn_name = "ckan_default"
    conn_type = TYPE
    hook_name = "CKAN"

    def __init__(self, ckan_conn_id: str = default_conn_name, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.ckan_conn_id = ckan_conn_id

    def server(self) -> Server:
        """
        Return address and token.

        :raises InvalidInputError: there is no such connection, or it does not lead to a CKAN.
        """
        return server_of(self.ckan_conn_id, from_airflow)

    def get_conn(self) -> CkanClient:
        """Return a client."""
        from anon_airflow.portals.ckan.client import CkanClient

        return CkanClient(self.server())

    def test_connection(self) -> tuple[bool, str]:
        """Return whether the server is a CKAN that accepts the token; Airflow's test button shows the text."""
        from anon_airflow.portals.ckan import requests
        from anon_airflow.portals.ckan.client import CkanClient, RetryPolicy

        try:
            client = CkanClient(self.server(), RetryPolicy(attempts=1))
            status = client.ask(requests.status())
            who = client.ask(requests.whoami()) if status.ok else status
        except AnonError as error:
            return False, str(error)
        if not status.ok:
            return False, f"{client.server.url} does not answer like a CKAN server ({status.words})"
        version = str(status.result.get("ckan_version"))[:MAX_NAME_LENGTH]
        if not who.ok:
            return False, f"{client.server.url} is a CKAN {version}, but it does not accept this token"
        name = str(who.result.get("name"))[:MAX_NAME_LENGTH]
        return True, f"{client.server.url} is a CKAN {version}, and the token is that of {name!r}"
