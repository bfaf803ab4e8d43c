"""The footer of a Parquet file, as we read it: the same column chunks that pyarrow finds in it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.errors import TableError
from anon_core.table import read
from anon_core.table.parquet_sizes import Chunk, MalformedError, chunks


def footer(content: bytes) -> bytes:
    return content[-8 - int.from_bytes(content[-8:-4], "little") : -8]


def described(path: Path) -> list[Chunk]:
    """Return the column chunks as pyarrow gives them."""
    metadata = pq.read_metadata(path)
    found = []
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            one = metadata.row_group(group).column(at)
            begin = one.dictionary_page_offset if one.has_dictionary_page else one.data_page_offset
            found.append(Chunk(values=one.num_values, begin=begin, end=begin + one.total_compressed_size))
    return found


@pytest.mark.parametrize("settings", [{}, {"use_dictionary": False}, {"write_statistics": False, "version": "1.0"}])
def test_every_column_chunk_is_found_where_pyarrow_finds_it(tmp_path: Path, settings: dict[str, object]) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table(
        {
            **{f"c{at}": [str(n % 7) for n in range(300)] for at in range(20)},
            "when": pa.array(range(300), pa.timestamp("us", "UTC")),
            "price": pa.array(range(300), pa.decimal128(20, 3)),
        }
    )
    pq.write_table(table, path, row_group_size=100, **settings)
    assert list(chunks(footer(path.read_bytes()))) == described(path)


def test_a_footer_that_says_twice_where_a_chunk_is_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x"]}), path)
    groups = bytes([0x49, 0x1C, 0x19, 0x0C, 0])  # Field 4: a list of one row group, whose list of columns is empty.
    assert list(chunks(groups + b"\0")) == []
    with pytest.raises(MalformedError):
        list(chunks(groups + bytes([0x09, 0x08]) + groups[1:] + b"\0"))
    content = path.read_bytes()
    longer = footer(content)[:-1] + bytes([0x09, 0x08]) + groups[1:] + b"\0"
    path.write_bytes(content[: -8 - len(footer(content))] + longer + len(longer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(TableError, match="is not a readable Parquet file"):
        read(path)


def test_damaged_statistics_of_sizes_do_not_end_the_process(tmp_path: Path) -> None:
    """Pyarrow aborts the process when it reads a chunk whose histogram has the wrong length."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x", None, "b"]}), path)
    content = path.read_bytes()
    optional = content.index(b"\x25\x02\x18\x01a")  # The column may have gaps; without, its levels do not fit.
    path.write_bytes(content[: optional + 1] + b"\x00" + content[optional + 2 :])
    with pytest.raises(TableError, match="is not a readable Parquet file"):
        read(path)
