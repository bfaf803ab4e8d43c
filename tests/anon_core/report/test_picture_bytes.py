"""Every picture has the same bytes whenever it is drawn, in both formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anon_core.report import test_measure_plots, test_plots
from tests.anon_core.report.test_plots import Drawing


@pytest.mark.parametrize("draw", [*test_plots.DRAWINGS, *test_measure_plots.DRAWINGS])
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_picture_is_the_same_bytes_every_time(tmp_path: Path, draw: Drawing, suffix: str) -> None:
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    draw(first)
    draw(second)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")
