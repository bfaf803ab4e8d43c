"""Releases that several modules look at."""

from __future__ import annotations

import random

import pytest

from tests.anon_airflow.portals.random_releases import Random, published

RELEASES = 30


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> list[Random]:
    """Thirty random releases, each published by a run of its own."""
    found: list[Random] = []
    for seed in range(4 * RELEASES):
        folder = tmp_path_factory.mktemp(f"release{seed}")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANON_HOME", str(folder / "home"))
            if one := published(random.Random(seed), folder):
                found.append(one)
        if len(found) == RELEASES:
            break
    return found
