"""An empty portal, and releases: made by hand, and by runs of random publications."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anon_airflow.portals.folder_releases import Maker, maker
from tests.anon_airflow.portals.random_releases import Random, several_published
from tests.parameters import parameters

RELEASES = parameters([15, 30], always=[15])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "portal"


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    return maker(tmp_path)


@pytest.fixture(scope="session", params=RELEASES)
def releases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Random]:
    """Random releases, each published by a run of its own; several modules look at them."""
    found = several_published(range(4 * request.param), request.param, tmp_path_factory)
    assert len(found) == request.param
    return found
