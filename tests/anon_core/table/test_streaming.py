"""A table in batches holds the same cells as the table read whole, and is refused for the same reasons."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.errors import TableError
from anon_core.measures.profile import profile
from anon_core.measures.sketch import sketch
from anon_core.table import ReadOptions, from_arrow, read
from anon_core.table.streaming import batches
from tests.properties.tables import rows_of

TEXT = 'a;b\n1;"x;y"\n;NA\nß;"two\nlines"\n'


def cells(path: Path, options: ReadOptions) -> list[tuple[str | None, ...]]:
    return rows_of(from_arrow(pa.Table.from_batches(list(batches(path, options)))))


@pytest.mark.parametrize("kind", ["plain", "gzip", "cp1252", "utf-16"])
def test_batches_hold_the_same_cells_as_reading_whole(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.csv"
    encoding = kind if kind in ("cp1252", "utf-16") else "utf-8"
    raw = TEXT.encode(encoding)
    path.write_bytes(gzip.compress(raw) if kind == "gzip" else raw)
    options = ReadOptions(delimiter=";", encoding=encoding, missing_words=("", "NA"))
    assert cells(path, options) == rows_of(read(path, options))


def test_batches_of_parquet_hold_the_same_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"n": [1.5, None, float("nan")], "s": ["x", "", None]}), path)
    assert cells(path, ReadOptions()) == rows_of(read(path)) == [("1.5", "x"), (None, None), (None, None)]


def test_every_file_of_a_pattern_comes_and_must_have_the_same_columns(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("b,a\n4,3\n")
    assert cells(tmp_path / "*.csv", ReadOptions()) == [("1", "2"), ("3", "4")]
    (tmp_path / "2b.csv").write_text("b,a\n4,3\n")
    with pytest.raises(TableError, match=r"same content as 2\.csv"):
        cells(tmp_path / "*.csv", ReadOptions())
    (tmp_path / "2b.csv").rename(tmp_path / "2b.txt")
    (tmp_path / "3.csv").write_text("c\n1\n")
    with pytest.raises(TableError, match="other columns"):
        cells(tmp_path / "*.csv", ReadOptions())


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,a\n1,2\n", "named like one before it"),
        (b"a,b\n1,2\n3\n", r"1 rows do not have the 2 fields of the header \(lines 3\)"),
        (b'a,b\n1,2"\n3,4\n', "odd number of quotes"),
        (b"a,b\n\xff\xfe,1\n", "is not utf-8 text"),
        (b"Ann,1950\n" + b"Bob,1960\nAnn,1950\n" * 30, "first line looks like data: 2 of its 2 names"),
        (gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-12], "gzip"),
    ],
    ids=range(8),
)
def test_what_cannot_be_read_whole_cannot_be_streamed(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(raw)
    with pytest.raises(TableError, match=said):
        list(batches(path, ReadOptions()))


def test_a_cell_with_a_line_break_is_refused_in_batches_where_it_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,"x\ny"\n')
    options = ReadOptions(line_breaks=False)
    for reading in (lambda: list(batches(path, options)), lambda: read(path, options)):
        with pytest.raises(TableError, match="cells of column 2 hold line breaks"):
            reading()


def test_a_character_cut_at_the_end_of_a_long_file_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 50_000 + "é".encode("gb18030")[:1])
    with pytest.raises(TableError, match="is not gb18030 text"):
        list(batches(path, ReadOptions(encoding="gb18030")))


def test_a_sketch_of_a_small_file_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,sex\n" + "".join(f"{n},{'FM'[n % 2]}\n" for n in range(500)) + ",F\n")
    whole = [profile(column) for column in read(path).columns]
    found = sketch(batches(path))
    assert [one.distinct_error for one in found] == [0.0, 0.0]
    for one, exact in zip(found, whole, strict=True):
        assert (one.profile.distinct, one.profile.missing) == (exact.distinct, exact.missing)
        assert one.profile.unique_share == exact.unique_share
        assert one.profile.entropy == pytest.approx(exact.entropy)
