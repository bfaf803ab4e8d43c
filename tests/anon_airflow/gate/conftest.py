"""What the gate makes of a publication in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.anon_airflow.gate.gate_publications import publisher


@pytest.fixture
def publish(tmp_path: Path) -> Callable[..., Any]:
    return publisher(tmp_path)
