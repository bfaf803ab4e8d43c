"""An empty portal, and releases for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anon_airflow.portals.folder_releases import Maker, maker


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "portal"


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    return maker(tmp_path)
