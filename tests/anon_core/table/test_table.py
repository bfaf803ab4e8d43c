"""Files in, dictionary codes out: what is in the file is in the table, no more and no less."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import TableError, UnknownColumnError
from anon_core.table import RELEASED, ReadOptions, from_arrow, read
from tests.anon_core.table.table_files import assert_same, cells, column_of, csv_text, parquet, write
from tests.properties.tables import Row, Small, rows_of, small_tables, table_of


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


def test_a_dictionary_in_the_source_leaves_no_unused_value_in_the_domain(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0], pa.int8()), pa.array(["x", "NOBODY", "y"]))
    assert read(parquet(tmp_path, column)).column("a").domain.to_pylist() == ["x", "y"]


@pytest.mark.parametrize("rows", [9, 40_000])
def test_keeping_rows_gives_the_same_in_numpy_and_in_the_compiled_loops(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.Generator(np.random.PCG64(5))
    table = from_arrow(pa.table({"a": pa.array(draw.integers(0, 50, rows)).cast(pa.string())}))
    mask = draw.integers(0, 2, rows).astype(np.bool_)
    kept = []
    for pays in (False, True):
        monkeypatch.setattr("anon_core.table.assembling.spend", lambda codes, pays=pays: pays)
        kept.append(table.keep(mask))
    assert_same(*kept)
    assert rows_of(kept[1]) == [row for row, keep in zip(rows_of(table), mask, strict=True) if keep]
    assert all(k.columns[0].codes.dtype == np.int32 for k in kept)
