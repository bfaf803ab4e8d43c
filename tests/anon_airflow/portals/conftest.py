"""An empty portal, and releases: made by hand, and by thirty runs of random publications."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anon_airflow.portals.folder_releases import Maker, maker
from tests.anon_airflow.portals.random_releases import Random, several_published

RELEASES = 30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "portal"


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    return maker(tmp_path)


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> list[Random]:
    """Thirty random releases, each published by a run of its own; several modules look at them."""
    return several_published(range(4 * RELEASES), RELEASES, tmp_path_factory)
