"""One CKAN for all tests of the portal: CKAN_URL with CKAN_TOKEN if they are set, else one that is booted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.anon_airflow.portals.ckan.bad_network import BadNetwork, bad_network
from tests.anon_airflow.portals.ckan.boot import CkanServer, booted, packages_folder
from tests.anon_airflow.portals.ckan.portals import Place, Site, fresh


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """A CKAN with an organisation; the token's owner must be its administrator, and a sysadmin for the users."""
    url, token = os.environ.get("CKAN_URL"), os.environ.get("CKAN_TOKEN")
    if url and token:
        yield _with_organization(url.rstrip("/"), token, None)
        return
    with booted(packages_folder()) as server:
        yield _with_organization(server.url, server.token, server)


def _with_organization(url: str, token: str, server: CkanServer | None) -> Site:
    name = fresh("town")
    site = Site(url=url, token=token, organization=name, booted=server)
    site.call("organization_create", name=name, title="Città di Älvdalen")
    return site


@pytest.fixture
def booted_ckan(site: Site) -> CkanServer:
    """The server itself, for tests that kill it or look at its disk."""
    if site.booted is None:
        pytest.skip("the CKAN of CKAN_URL is not ours to kill or to look into")
    return site.booted


@pytest.fixture
def place(site: Site, tmp_path: Path) -> Place:
    """A name that is free, and a folder to make releases in."""
    return Place(site=site, folder=tmp_path / "made")


@pytest.fixture
def network(site: Site) -> Iterator[BadNetwork]:
    """A network in front of the CKAN that does as it is told."""
    with bad_network(site.url) as network:
        yield network
