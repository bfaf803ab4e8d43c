"""Files in, dictionary codes out: what is in the file is in the table, no more and no less."""

from __future__ import annotations

import datetime
import decimal
import math
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import TableError, UnknownColumnError
from anon_core.table import RELEASED, ReadOptions, read
from tests.core.table_files import assert_same, cells, column_of, csv_text, parquet, write
from tests.properties.tables import Cell, Row, Small, rows_of, small_tables, table_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@settings(max_examples=60, deadline=None)
@given(rows=cells(), options=st.sampled_from([ReadOptions(delimiter=","), RELEASED]))
def test_csv_and_parquet_with_the_same_cells_give_the_same_table(
    folder: Path, rows: list[Row], options: ReadOptions
) -> None:
    columns = {f"c{i}": pa.array([row[i] for row in rows], pa.string()) for i in range(len(rows[0]))}
    assert_same(
        read(write(folder, csv_text(rows)), options), read(parquet(folder, pa.table(columns), "same.parquet"), options)
    )


@settings(max_examples=60, deadline=None)
@given(small=small_tables(), order=st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_neither_codes_nor_domains(small: Small, order: Random) -> None:
    shuffled = list(enumerate(small.rows))
    order.shuffle(shuffled)
    table, other = small.table, table_of(small.names, [row for _, row in shuffled])
    for a, b in zip(table.columns, other.columns, strict=True):
        assert a.domain.equals(b.domain)
        assert a.codes[[at for at, _ in shuffled]].tolist() == b.codes.tolist()


@settings(max_examples=60, deadline=None)
@given(small=small_tables(), data=st.data())
def test_keeping_rows_leaves_no_value_behind_that_no_row_has(small: Small, data: st.DataObject) -> None:
    mask = data.draw(st.lists(st.booleans(), min_size=len(small.rows), max_size=len(small.rows)))
    kept = small.table.keep(np.array(mask, np.bool_))
    rows = [row for row, keep in zip(small.rows, mask, strict=True) if keep]
    assert kept.rows == len(rows)
    assert rows_of(kept) == rows
    for at, column in enumerate(kept.columns):
        values = {row[at] for row in rows}
        gap = [None] if None in values else []
        assert column.domain.to_pylist() == sorted(values - {None}) + gap
        assert column.has_gaps == bool(gap)
        assert column.gaps.tolist() == [row[at] is None for row in rows]


def test_a_table_leaves_as_plain_text_and_not_as_a_dictionary() -> None:
    table = table_of(["a"], [("x",), (None,), ("x",)])
    assert table.to_arrow().schema == pa.schema({"a": pa.string()})


def test_columns_are_selected_in_the_order_asked_for_and_unknown_ones_are_named() -> None:
    table = table_of(["a", "b"], [("x", "y")])
    assert table.select(["b", "a"]).names == ("b", "a")
    with pytest.raises(UnknownColumnError, match="no column named 'c', 'd' among the 2 of the table"):
        table.select(["a", "c", "d"])


def test_files_of_a_pattern_stand_below_each_other_in_order_of_name(tmp_path: Path) -> None:
    write(tmp_path, "a,b\n3,z\n", "part-2.csv")
    write(tmp_path, "b,a\nx,1\n", "part-1.csv")
    write(tmp_path, "a,b\n", "part-3.csv")
    parquet(tmp_path, pa.table({"a": [7], "b": ["x"]}), "part-4.parquet")
    table = read(tmp_path / "part-*")
    assert table.names == ("b", "a")
    assert rows_of(table) == [("x", "1"), ("z", "3"), ("x", "7")]
    assert table.column("b").domain.to_pylist() == ["x", "z"]


def test_files_with_other_columns_are_not_glued_together(tmp_path: Path) -> None:
    write(tmp_path, "a,b\n1,2\n", "part-1.csv")
    write(tmp_path, "a,c\n1,2\n", "part-2.csv")
    with pytest.raises(TableError, match=r"part-2\.csv: has other columns than part-1\.csv; publish them as separate"):
        read(tmp_path / "part-*.csv")


def test_the_same_content_twice_is_refused_for_everybody_would_count_for_two(tmp_path: Path) -> None:
    write(tmp_path, "a\n1\n", "part-1.csv")
    write(tmp_path, "a\n1\n", "copy-of-part-1.csv")
    with pytest.raises(TableError, match=r"part-1\.csv: has the same content as copy-of-part-1\.csv; remove one"):
        read(tmp_path / "*.csv")


def test_several_files_without_rows_are_no_copies_of_each_other(tmp_path: Path) -> None:
    for name, text in {"part-1.csv": "a\n", "part-2.csv": "a\n", "part-3.csv": "a\n1\n"}.items():
        write(tmp_path, text, name)
    assert column_of(tmp_path / "part-*.csv") == ["1"]


def test_a_folder_that_a_pattern_finds_is_refused_as_a_folder(tmp_path: Path) -> None:
    write(tmp_path, "a\n1\n", "part-1.csv")
    (tmp_path / "part-2.csv").mkdir()
    with pytest.raises(TableError, match=r"part-2\.csv: is a folder"):
        read(tmp_path / "part-*.csv")


def test_a_file_may_be_called_like_a_pattern(tmp_path: Path) -> None:
    assert column_of(write(tmp_path, "a\n1\n", "licences [2024].csv")) == ["1"]


def test_in_parquet_a_missing_word_is_a_gap_only_where_quoted_ones_are(tmp_path: Path) -> None:
    path = parquet(tmp_path, pa.array(["", "NA", "x", None]))
    assert column_of(path) == [None, "NA", "x", None]
    assert column_of(path, ReadOptions(missing_words=("NA",))) == ["", None, "x", None]
    assert column_of(path, RELEASED) == ["", "NA", "x", None]


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (pa.array([1, None, -2]), ["1", None, "-2"]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([1.5, -0.0, 0.0, math.nan, math.inf, None]), ["1.5", "0", "0", None, "inf", None]),
        (pa.array([1.1, -0.0, math.nan], pa.float32()), ["1.1", "0", None]),
        (pa.array([np.float16(1.5), np.float16("nan"), np.float16(-0.0)], pa.float16()), ["1.5", None, "0"]),
        (pa.array([decimal.Decimal("1.50"), decimal.Decimal("-0.00"), None]), ["1.50", "0.00", None]),
        (pa.array([datetime.date(2019, 5, 15), None]), ["2019-05-15", None]),
        (pa.array([datetime.datetime(2019, 5, 15)], pa.timestamp("ms")), ["2019-05-15 00:00:00.000"]),
        (pa.array([0], pa.timestamp("ms", "Europe/Rome")), ["1970-01-01 01:00:00.000+0100"]),
        (pa.array(["x", "y", None, "x"]).dictionary_encode(), ["x", "y", None, "x"]),
        (pa.array([1.5, -0.0, 0.0, None]).dictionary_encode(), ["1.5", "0", "0", None]),
        (pa.array(["01", None], pa.large_string()), ["01", None]),
        (pa.nulls(2), [None, None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_parquet_types_become_their_one_text(tmp_path: Path, column: pa.Array, cells: list[Cell]) -> None:
    assert column_of(parquet(tmp_path, column)) == cells


@pytest.mark.parametrize("bits", [32, 64])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_floats_are_merged_only_if_they_are_equal(folder: Path, bits: int, data: st.DataObject) -> None:
    kind = {32: pa.float32(), 64: pa.float64()}[bits]
    numbers = data.draw(st.lists(st.floats(width=bits), min_size=1, max_size=20))  # type: ignore[arg-type]
    cells = column_of(parquet(folder, pa.array(numbers, kind)))
    assert pa.array(cells, pa.string()).cast(kind).to_pylist() == [None if math.isnan(n) else n for n in numbers]
    assert len(set(cells) - {None}) == len({n for n in numbers if not math.isnan(n)})


def test_a_dictionary_in_the_source_leaves_no_unused_value_in_the_domain(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0], pa.int8()), pa.array(["x", "NOBODY", "y"]))
    assert read(parquet(tmp_path, column)).column("a").domain.to_pylist() == ["x", "y"]
