"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder with the real tables, which are no part of the project."""
    folder = os.environ.get("ANON_REFERENCE_DATA")
    if not folder:
        pytest.skip("set ANON_REFERENCE_DATA to the folder with the reference tables")
    return Path(folder)
