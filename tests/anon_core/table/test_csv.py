"""CSV files as they come: every quoting, line end, encoding and delimiter, and nothing inferred."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import TableError
from anon_core.table import RELEASED, ReadOptions, delimited, read
from tests.anon_core.table.table_files import cells, column_of, csv_text, write
from tests.properties.tables import Cell, Row, rows_of

PLACES = "comune,sigla\nSaint-Rhémy,01\nRhêmes-Notre-Dame,1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@settings(max_examples=80, deadline=None)
@given(rows=cells(), delimiter=st.sampled_from(",;\t|"), end=st.sampled_from(["\n", "\r\n"]))
def test_every_cell_of_a_csv_file_is_in_the_table_as_it_stands(
    folder: Path, rows: list[Row], delimiter: str, end: str
) -> None:
    path = write(folder, csv_text(rows, delimiter=delimiter, end=end))
    table = read(path, ReadOptions(delimiter=delimiter, quoted_missing=False))
    assert rows_of(table) == rows
    for at, column in enumerate(table.columns):
        assert len(column.domain) == len({row[at] for row in rows}), "two different cells were merged, or one split"


def test_texts_that_a_clever_reader_would_merge_stay_apart(tmp_path: Path) -> None:
    alike = [
        "01",
        "1",
        "1.0",
        "+1",
        "1e0",
        " 1",
        "1 ",
        "NA",
        "N/A",
        "null",
        "NULL",
        "None",
        "nan",
        "NaN",
        "true",
        "True",
    ]
    assert column_of(write(tmp_path, "a\n" + "\n".join(alike) + "\n")) == alike


@pytest.mark.parametrize(
    ("options", "bare", "in_quotes", "word", "quoted_word"),
    [
        (ReadOptions(), None, None, "NA", "NA"),
        (RELEASED, None, "", "NA", "NA"),
        (ReadOptions(missing_words=("NA",)), "", "", None, None),
        (ReadOptions(missing_words=("", "NA")), None, None, None, None),
        (ReadOptions(missing_words=("", "NA"), quoted_missing=False), None, "", None, "NA"),
        (ReadOptions(missing_words=()), "", "", "NA", "NA"),
    ],
)
def test_what_counts_as_a_gap_is_what_the_caller_says(
    tmp_path: Path, options: ReadOptions, bare: Cell, in_quotes: Cell, word: Cell, quoted_word: Cell
) -> None:
    path = write(tmp_path, 'n,a\n1,\n2,""\n3,NA\n4,"NA"\n')
    assert [row[1] for row in rows_of(read(path, options))] == [bare, in_quotes, word, quoted_word]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_in_a_file_of_one_column_a_blank_line_is_a_row_with_a_gap(tmp_path: Path, end: str) -> None:
    path = write(tmp_path, end.join(["a", "1", "", "2", "", ""]))
    assert column_of(path) == ["1", None, "2", None]
    assert column_of(write(tmp_path, end.join(["a", "", "", ""]))) == [None, None]


def test_where_no_line_breaks_are_expected_a_cell_with_one_is_refused_by_column(tmp_path: Path) -> None:
    path = write(tmp_path, 'a,b,c\n1,"x\ny","z\r"\n2,x,y\n')
    assert read(path).rows == 2
    with pytest.raises(
        TableError, match="cells of column 2, 3 hold line breaks; a pair of stray quotes may have swallowed"
    ):
        read(path, ReadOptions(line_breaks=False))
    assert read(write(tmp_path, 'a,b\n1,"x,y"\n'), ReadOptions(line_breaks=False)).rows == 1


def test_with_several_columns_a_blank_line_is_no_row(tmp_path: Path) -> None:
    assert rows_of(read(write(tmp_path, "a,b\n\n1,2\n\n,\n\n"))) == [("1", "2"), (None, None)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "end"])
def test_lines_end_in_any_of_the_three_ways_and_the_last_one_need_not(tmp_path: Path, end: str, last: str) -> None:
    path = write(tmp_path, end.join(["a,b", "01,x", "1,y"]) + (end if last else ""))
    assert rows_of(read(path)) == [("01", "x"), ("1", "y")]


def test_names_may_hold_quotes_and_delimiters(tmp_path: Path) -> None:
    assert read(write(tmp_path, '"a""b","c,d",e f\n1,2,3\n')).names == ('a"b', "c,d", "e f")


def test_a_column_of_gaps_alone_has_one_value_the_gap(tmp_path: Path) -> None:
    column = read(write(tmp_path, "a,b\n1,\n2,\n")).column("b")
    assert (column.domain.to_pylist(), column.codes.tolist()) == ([None], [0, 0])


def test_a_header_longer_than_any_sample_is_read_whole_and_as_text(tmp_path: Path) -> None:
    names = [f"a_rather_long_name_of_a_column_with_number_{n}" for n in range(2_000)]
    table = read(write(tmp_path, f"{','.join(names)}\n{','.join(['01'] * 2_000)}\n{','.join(['1'] * 2_000)}\n"))
    assert table.names == tuple(names)
    assert all(column.domain.to_pylist() == ["01", "1"] for column in table.columns)


def test_a_cell_may_be_longer_than_a_block_of_the_file(tmp_path: Path) -> None:
    long = "é" * 1_500_000
    assert rows_of(read(write(tmp_path, f"a,b\n1,{long}\n2,x\n"))) == [("1", long), ("2", "x")]


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (PLACES.encode(), "utf-8"),
        (PLACES.encode("utf-8-sig"), "utf-8"),
        (PLACES.encode("utf-8-sig"), "utf-8-sig"),
        (PLACES.encode("latin-1"), "latin-1"),
        (PLACES.replace("01", "€").encode("cp1252"), "cp1252"),
        (PLACES.encode("utf-16"), "utf-16"),
        (PLACES.encode("utf-16-le"), "utf-16-le"),
        (("\ufeff" + PLACES).encode("utf-16-le"), "utf-16-le"),
        (("\ufeff" + PLACES).encode("utf-16-be"), "utf-16-be"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_in_any_encoding_packed_or_not_gives_the_same_text(
    tmp_path: Path, raw: bytes, encoding: str, packed: bool
) -> None:
    path = write(tmp_path, gzip.compress(raw) if packed else raw)
    table = read(path, ReadOptions(encoding=encoding))
    assert table.names == ("comune", "sigla")
    last = "€" if "€".encode("cp1252") in raw and encoding == "cp1252" else "01"
    assert rows_of(table) == [("Saint-Rhémy", last), ("Rhêmes-Notre-Dame", "1")]


@pytest.mark.parametrize(
    ("raw", "codec"),
    [(PLACES.encode(), "utf8"), (gzip.compress(PLACES.encode()), "utf8"), (PLACES.encode("cp1252"), "cp1252")],
    ids=["plain", "packed", "another encoding"],
)
def test_pyarrow_is_given_no_stream_of_python_for_its_threads_outlive_the_reading(
    tmp_path: Path, raw: bytes, codec: str
) -> None:
    """Holding one when the process ends, about one process in thirty aborted."""
    with delimited._utf8_stream(write(tmp_path, raw), codec) as stream:
        assert type(stream) in (pa.OSFile, pa.BufferReader, pa.CompressedInputStream)
        assert stream.read() == PLACES.encode()


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_by_hand_the_encoding_may_be_found_out(tmp_path: Path, codec: str) -> None:
    table = read(write(tmp_path, PLACES.encode(codec)), ReadOptions(encoding="auto"))
    assert rows_of(table)[0] == ("Saint-Rhémy", "01")


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from(["01", "x y", "3.5", "", "Aosta"])] * 3), min_size=2, max_size=8),
    delimiter=st.sampled_from(",;\t|"),
)
def test_the_delimiter_is_found_where_one_splits_every_line(folder: Path, rows: list[Row], delimiter: str) -> None:
    text = "\n".join(delimiter.join(map(str, row)) for row in [("p", "q", "r"), *rows]) + "\n"
    assert rows_of(read(write(folder, text))) == [tuple(cell or None for cell in row) for row in rows]


def test_a_comma_inside_a_single_column_does_not_split_it(tmp_path: Path) -> None:
    assert column_of(write(tmp_path, 'address\nVia Roma\n"Via Aosta, 3"\nPiazza\n')) == [
        "Via Roma",
        "Via Aosta, 3",
        "Piazza",
    ]


def test_no_cell_loses_a_line_feed_where_a_block_ends_inside_a_line_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pyarrow takes a carriage return at the end of a block for the end of a row, even inside quotes."""
    head = 'a,b\r\n"'
    for block in range(20, 40):
        monkeypatch.setattr(delimited, "_BLOCK", block)
        cell = "x" * (block - len(head) - 1) + "\r\ny"
        path = write(tmp_path, f'{head}{cell}",1\r\n')
        assert rows_of(read(path)) == [(cell, "1")]
