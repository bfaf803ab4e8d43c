"""Tables written as people and programs write them, for tests of the reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from anon_core.table import ReadOptions, Table, read
from tests.properties.tables import Cell, Row, rows_of

CELLS = st.one_of(
    st.none(),
    st.sampled_from(
        ["01", "1", "NA", "x,y", "x;y", 'say "hi"', "two\nlines", "a\r\nb", "a\rb", " x ", "\t", "é€😀", ""]
    ),
    st.text(st.characters(codec="utf-8"), max_size=5),
)
"""Texts that are hard to write and read, and gaps."""


@st.composite
def cells(draw: st.DrawFn, *, min_size: int = 1) -> list[Row]:
    """Rows of such cells, all of one width."""
    width = draw(st.integers(1, 3))
    return draw(st.lists(st.tuples(*[CELLS] * width), min_size=min_size, max_size=6))


def quoted(cell: Cell) -> str:
    """A text in quotes, a gap as nothing at all."""
    return "" if cell is None else '"' + cell.replace('"', '""') + '"'


def csv_text(rows: Sequence[Row], *, delimiter: str = ",", end: str = "\n") -> str:
    names = tuple(f"c{i}" for i in range(len(rows[0])))
    return "".join(delimiter.join(map(quoted, row)) + end for row in [names, *rows])


def write(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def parquet(folder: Path, column: pa.Array | pa.Table, name: str = "table.parquet") -> Path:
    pq.write_table(column if isinstance(column, pa.Table) else pa.table({"a": column}), folder / name)
    return folder / name


def column_of(path: Path, options: ReadOptions | None = None) -> list[Cell]:
    table = read(path, options)
    assert len(table.columns) == 1
    return [cell for (cell,) in rows_of(table)]


def assert_same(one: Table, other: Table) -> None:
    assert (one.names, one.rows) == (other.names, other.rows)
    for a, b in zip(one.columns, other.columns, strict=True):
        assert a.domain.equals(b.domain)
        assert a.codes.tolist() == b.codes.tolist()
