"""The picture of rows that are alone before and after a column was decomposed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anon_core.decompose import Decomposition, measure_effect, split_column
from anon_core.frequency import FrequencyTable
from anon_core.report.plots import plot_decomposition
from tests.anon_core.decompose.decomposing import rule_of, table_of

CANARY = "canary7731"


def measured(others: int) -> Decomposition:
    columns = {f"c{n}": [f"{CANARY}{row % (n + 2)}" for row in range(9)] for n in range(others)}
    table = table_of(code=[f"{CANARY}-{row % 4}" for row in range(9)], **columns)
    rule = rule_of(separator="-", names=["left", "right"], publish=["right"])
    return measure_effect(
        table, split_column(table.column("code"), rule, Path()), list(columns), count=FrequencyTable.of
    )


def texts(path: Path) -> list[str]:
    """What is written in an SVG: matplotlib puts every text it draws into a comment as well."""
    return re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_picture_is_the_same_every_time(tmp_path: Path, kind: str) -> None:
    for name in ("one", "two"):
        plot_decomposition(measured(2), tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_it_names_every_set_and_no_value(tmp_path: Path) -> None:
    found = measured(2)
    plot_decomposition(found, tmp_path / "p.svg")
    drawn = texts(tmp_path / "p.svg")
    assert {"code", "code, c0", "code, c0, c1", "c0, c1", "before: code", "after: right"} <= set(drawn)
    assert CANARY not in " ".join(drawn)
    for effect in found.effect:
        for counts in (effect.before, effect.after):
            assert f"{counts.outliers:,}  ({counts.share:.2%})" in drawn


def test_of_very_many_sets_it_draws_some_and_says_so(tmp_path: Path) -> None:
    plot_decomposition(measured(6), tmp_path / "p.svg")
    assert any("40 of 65 sets" in text for text in texts(tmp_path / "p.svg"))
