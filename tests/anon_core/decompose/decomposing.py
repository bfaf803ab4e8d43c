"""Columns and rules for the tests of decomposing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from anon_core.decompose import Split, split_column
from anon_core.spec import Decompose
from anon_core.spec.parts import rule_problems
from anon_core.table import Table, from_arrow

Cell = str | None


def rule_of(**given: Any) -> Decompose:
    """A rule that is right, as a publication file would have it."""
    assert list(rule_problems(given)) == []
    return Decompose.model_validate(given)


def table_of(**columns: list[Cell]) -> Table:
    return from_arrow(pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}))


def split_of(cells: list[Cell], folder: Path = Path(), **given: Any) -> Split:
    return split_column(table_of(code=cells).column("code"), rule_of(**given), folder)


def parts_of(cells: list[Cell], folder: Path = Path(), **given: Any) -> list[tuple[Cell, ...]]:
    """The parts of every row."""
    split = split_of(cells, folder, **given)
    rows = Table(columns=split.parts, rows=len(cells)).to_arrow().to_pylist()
    return [tuple(row.values()) for row in rows]
