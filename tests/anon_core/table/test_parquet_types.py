"""Every scalar type of Parquet has one text, that of Arrow's CSV writer, and no two values share it."""

from __future__ import annotations

import datetime
import decimal
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import TableError
from anon_core.table import read
from tests.anon_core.table.table_files import assert_same, column_of, parquet
from tests.properties.tables import Cell

DAY = datetime.datetime(2019, 5, 15)
ROME = pa.timestamp("ms", "Europe/Rome")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("typed")


COLUMNS: list[tuple[pa.Array, list[Cell]]] = [
    (pa.array([1, None, -2]), ["1", None, "-2"]),
    (pa.array([-128, 127], pa.int8()), ["-128", "127"]),
    (pa.array([2**64 - 1, 0], pa.uint64()), ["18446744073709551615", "0"]),
    (pa.array([True, False, None]), ["true", "false", None]),
    (pa.array([1.0, 1e20, 1e-7, 0.1, math.inf, None]), ["1", "1e+20", "1e-7", "0.1", "inf", None]),
    (pa.array([-0.0, 0.0, -math.inf, math.nan]), ["-0", "0", "-inf", None]),
    (pa.array([1.1, -0.0, math.nan, 16777216], pa.float32()), ["1.1", "-0", None, "16777216"]),
    (pa.array([np.float16(0.5), np.float16("nan"), np.float16(65504)], pa.float16()), ["0.5", None, "65504"]),
    (pa.array([decimal.Decimal("1.50"), decimal.Decimal("-0.00"), None]), ["1.50", "0.00", None]),
    (pa.array([decimal.Decimal("1.5")], pa.decimal256(50, 3)), ["1.500"]),
    (pa.array([datetime.date(2019, 5, 15), datetime.date(1, 1, 1), None]), ["2019-05-15", "0001-01-01", None]),
    (pa.array([datetime.date(2019, 5, 15)], pa.date64()), ["2019-05-15"]),
    (pa.array([DAY], pa.timestamp("ms")), ["2019-05-15 00:00:00.000"]),
    (pa.array([DAY], pa.timestamp("us")), ["2019-05-15 00:00:00.000000"]),
    (pa.array([0, 1], pa.timestamp("ns")), ["1970-01-01 00:00:00.000000000", "1970-01-01 00:00:00.000000001"]),
    (pa.array([0], pa.timestamp("ms", "UTC")), ["1970-01-01 00:00:00.000Z"]),
    # The hour that the clock goes through twice in autumn.
    (pa.array([1572134400000, 1572138000000], ROME), ["2019-10-27 02:00:00.000+0200", "2019-10-27 02:00:00.000+0100"]),
    (pa.array([datetime.time(10, 30), None], pa.time32("ms")), ["10:30:00.000", None]),
    (pa.array([1], pa.time64("ns")), ["00:00:00.000000001"]),
    (pa.array([90, None], pa.duration("s")), ["90", None]),
    (pa.array(["01", None], pa.large_string()), ["01", None]),
    (pa.array(["01", None, ""], pa.string_view()), ["01", None, None]),
    (pa.array(["x", "y", None, "x"]).dictionary_encode(), ["x", "y", None, "x"]),
    (pa.array([1.5, -0.0, 0.0, math.nan, None]).dictionary_encode(), ["1.5", "-0", "0", None, None]),
    (pa.array([7, None, 7]).dictionary_encode(), ["7", None, "7"]),
    (pa.nulls(2), [None, None]),
]


@pytest.mark.parametrize(("column", "cells"), COLUMNS, ids=[f"{n}-{c.type}" for n, (c, _) in enumerate(COLUMNS)])
def test_parquet_types_become_their_one_text(tmp_path: Path, column: pa.Array, cells: list[Cell]) -> None:
    assert column_of(parquet(tmp_path, column)) == cells


@pytest.mark.parametrize("column", [c for c, _ in COLUMNS], ids=[f"{n}-{c.type}" for n, (c, _) in enumerate(COLUMNS)])
def test_the_csv_that_arrow_writes_of_a_typed_table_is_the_same_table(tmp_path: Path, column: pa.Array) -> None:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    plain = column.cast(pa.string() if pa.types.is_string_view(kind) else kind)
    if pa.types.is_floating(kind):  # Arrow writes the word nan: a gap for us in Parquet, but a word like any in a CSV.
        plain = pa.array([None if n is not None and math.isnan(n) else n for n in plain.to_pylist()], kind)
    pyarrow.csv.write_csv(pa.table({"a": plain}), tmp_path / "table.csv")
    assert_same(read(tmp_path / "table.csv"), read(parquet(tmp_path, column)))


@pytest.mark.parametrize("bits", [16, 32, 64])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_floats_keep_every_bit_and_only_nan_is_a_gap(folder: Path, bits: int, data: st.DataObject) -> None:
    kind = {16: pa.float16(), 32: pa.float32(), 64: pa.float64()}[bits]
    numbers = data.draw(st.lists(st.floats(width=bits), min_size=1, max_size=20))  # type: ignore[arg-type]
    column = np.array(numbers, kind.to_pandas_dtype())
    cells = column_of(parquet(folder, pa.array(column)))
    assert [cell is None for cell in cells] == [math.isnan(n) for n in numbers]
    there = [at for at, cell in enumerate(cells) if cell is not None]
    back = np.array([float(str(cells[at])) for at in there]).astype(column.dtype)
    assert back.tobytes() == column[there].tobytes()


def test_composed_and_decomposed_letters_are_different_values(tmp_path: Path) -> None:
    texts = ["\u00e9", "e\u0301", "\u00c9", "E\u0301", "\ufb01", "fi", "ß", "ss", "ı", "i"]
    typed = read(parquet(tmp_path, pa.array(texts)))
    assert len(typed.columns[0].domain) == len(texts)
    (tmp_path / "table.csv").write_text("a\n" + "\n".join(texts) + "\n", encoding="utf-8")
    assert_same(read(tmp_path / "table.csv"), typed)


SCORES = pa.array([1.0, 2.0])
REFUSED: list[pa.Array] = [
    pa.array([["x"]]),
    pa.array([["x"]], pa.large_list(pa.string())),
    pa.array([["x"]], pa.list_(pa.string(), 1)),
    pa.array([{"x": "y"}]),
    pa.array([[("x", 1)]], pa.map_(pa.string(), pa.int8())),
    pa.array([b"x"]),
    pa.array([b"x"], pa.binary(1)),
    pa.array([b"x"], pa.large_binary()),
    pa.array([b"x"], pa.binary_view()),
    pa.array([b"x"]).dictionary_encode(),
    pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16))),
    pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"])),
    pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8())),
    pa.FixedShapeTensorArray.from_storage(
        pa.fixed_shape_tensor(pa.float64(), [2]), pa.FixedSizeListArray.from_arrays(SCORES, 2)
    ),
]


@pytest.mark.parametrize("column", REFUSED, ids=lambda column: str(column.type))
def test_nested_binary_and_extension_types_are_refused_by_the_name_of_their_column(
    tmp_path: Path, column: pa.Array
) -> None:
    path = parquet(tmp_path, pa.table({"fine": ["x"], "odd": column, "odd too": column}))
    with pytest.raises(TableError, match="columns of nested or binary type: odd, odd too; flatten them"):
        read(path)


def test_texts_that_are_not_utf_8_are_refused_by_column_and_not_quoted(tmp_path: Path) -> None:
    broken = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"x\xff"))
    path = parquet(tmp_path, pa.table({"fine": ["x", "y"], "odd": broken}))
    with pytest.raises(TableError, match=r"column 'odd' has .* values that cannot be written as text") as caught:
        read(path)
    assert "xff" not in str(caught.value)


@pytest.mark.parametrize("dictionary", [True, False])
def test_many_row_groups_with_dictionaries_of_their_own_are_one_column(tmp_path: Path, dictionary: bool) -> None:
    values = [f"v{n % 7}" if n % 5 else None for n in range(1_000)]
    pq.write_table(
        pa.table({"a": values}), tmp_path / "t.parquet", row_group_size=13, use_dictionary=dictionary, data_page_size=64
    )
    assert column_of(tmp_path / "t.parquet") == values
