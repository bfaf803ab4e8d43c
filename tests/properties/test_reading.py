"""Whichever way a file is read, and whichever format it has: the same table, or the same refusal."""

from __future__ import annotations

import datetime
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from anon_core.errors import TableError
from anon_core.frequency import FrequencyTable
from anon_core.publishing.distribution import write_csv
from anon_core.table import RELEASED, ReadOptions, Table, delimited, numbering, read, sniff
from tests.anon_core.table.table_files import CELLS, assert_same, cells, csv_text, parquet, write
from tests.properties.tables import Row, rows_of, subsets

OPTIONS = (
    ReadOptions(delimiter=","),
    ReadOptions(delimiter=",", line_breaks=False),
    ReadOptions(delimiter=",", missing_words=()),
    ReadOptions(delimiter=",", missing_words=("x", "", "é")),
    ReadOptions(delimiter=",", missing_words=("x",), quoted_missing=False),
    RELEASED,
)

# Whatever has a meaning in a delimited file, halves of a character, and a word of more than eight bytes or sixteen.
PARTS = (
    *(
        part.encode()
        for part in [",", ",", "\n", "\n", "\r\n", "\r", '"', '"', '""', "x", "y", "é", "😀", "\0", "\ufeff"]
    ),
    *(b"long-word", b"a-much-longer-word", b"a-much-longer-work", b"\xc3", b"\x80", b'"x"', b'"a,b"', b'"a\nb"'),
)
HEADERS = (b"a\n", b"a,b\n", b"a,b\r\n", b"\xef\xbb\xbfa,b\n", b'"a","b\nb",c\n', b"a,b")


def read_in_blocks(path: Path, options: ReadOptions, block: int) -> Table | str:
    """Read a file in blocks of some bytes, which make every block boundary happen; what refuses it, where it does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_BLOCK", block)
        patch.setattr(delimited, "LARGE_FILE", 0)
        return outcome(path, options)


def outcome(path: Path, options: ReadOptions) -> Table | str:
    try:
        return read(path, options)
    except TableError as error:
        return str(error)


def assert_same_outcome(one: Table | str, other: Table | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
    else:
        assert_same(one, other)
        assert all(column.codes.dtype == np.int32 and column.codes.flags.c_contiguous for column in one.columns)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@settings(max_examples=600, deadline=None)
@given(
    header=st.sampled_from(HEADERS),
    parts=st.lists(st.sampled_from(PARTS), max_size=40),
    options=st.sampled_from(OPTIONS),
    block=st.integers(1, 40),
)
@example(header=b"a,b\n", parts=[b"x,y\n"] * 3 + [b"\xef\xbb\xbfx,y\n"] * 5, options=OPTIONS[0], block=8)
@example(header=b"a\n", parts=[b"\n"] * 9, options=OPTIONS[0], block=2)
@example(header=b"a,b\n", parts=[b'"x"', b","], options=RELEASED, block=1)
@example(header=b"a,b\n", parts=[b"\n"] * 9, options=OPTIONS[0], block=2)
@example(header=b"a,b\n", parts=[b'x"y,"x\ny"\n'] * 3, options=OPTIONS[0], block=7)
def test_any_bytes_give_the_same_table_or_the_same_refusal_in_blocks_of_any_size(
    folder: Path, header: bytes, parts: list[bytes], options: ReadOptions, block: int
) -> None:
    content = header + b"".join(parts)
    # Where quotes stand inside of cells, their number does not say whether a line break is inside quotes.
    assume(b"\r\n" not in content or b'"' not in sniff._quoted_field(",").sub("", content.decode("latin-1")).encode())
    path = write(folder, content)
    assert_same_outcome(read_in_blocks(path, options, block), outcome(path, options))


@settings(max_examples=150, deadline=None)
@given(
    rows=cells(),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    packed=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le"]),
    block=st.integers(1, 60),
)
def test_every_cell_of_a_well_formed_file_is_in_the_table_whatever_the_blocks(
    folder: Path, rows: list[Row], delimiter: str, end: str, packed: bool, encoding: str, block: int
) -> None:
    raw = csv_text(rows, delimiter=delimiter, end=end).encode(encoding)
    options = ReadOptions(delimiter=delimiter, quoted_missing=False, encoding=encoding)
    table = read_in_blocks(write(folder, gzip.compress(raw) if packed else raw), options, block)
    assert isinstance(table, Table)
    assert rows_of(table) == rows


@pytest.mark.parametrize("name", ["cp1252", "latin-1", "utf-8", "utf-16", "gbk"])
def test_a_table_with_thousands_of_different_cells_is_the_same_in_small_blocks(tmp_path: Path, name: str) -> None:
    letters = "号码" if name == "gbk" else "éx"
    rows = [f"{n % 9001},{letters * (n % 41)}{n % 7},{'' if n % 3 else n}" for n in range(20_000)]
    path = write(tmp_path, ("a,b,c\n" + "\n".join(rows) + "\n").encode(name))
    options = ReadOptions(delimiter=",", encoding=name)
    one = read_in_blocks(path, options, 5_000)
    assert isinstance(one, Table)
    assert len(one.column("a").domain) == 9001
    assert_same_outcome(one, outcome(path, options))


def test_a_row_longer_than_a_block_is_read_too(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1," + "x" * 100_000 + '\n2,"' + "y\n" * 50_000 + '"\n3,z\n')
    one = read_in_blocks(path, ReadOptions(), 64)
    assert isinstance(one, Table)
    assert [len(cell or "") for _, cell in rows_of(one)] == [100_000, 100_000, 1]


WORDS = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.text("ab", max_size=20),
    st.sampled_from(["abc", "abc\0", "shared beginning 1", "shared beginning 2", "shared beginning 1\0"]),
)


@settings(max_examples=200, deadline=None)
@given(words=st.lists(WORDS, max_size=30), before=st.integers(0, 2), loops=st.booleans())
def test_many_words_get_the_same_numbers_as_few(words: list[str | None], before: int, loops: bool) -> None:
    array = pa.array(["before"] * before + words, pa.string()).slice(before)
    few = numbering.number(array)
    assert few.domain.to_pylist() == sorted({w for w in words if w is not None}, key=str.encode) + [None] * (
        None in words
    )
    assert [few.domain[int(at)].as_py() for at in few.numbers] == words
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "MIN_WORDS_TO_SORT", 0)
        patch.setattr(numbering, "spend", lambda codes: loops)
        many = numbering.number(array)
    assert many.domain.equals(few.domain)
    assert many.numbers.tolist() == few.numbers.tolist()


def test_reading_a_small_table_loads_neither_numba_nor_pandas_nor_what_its_format_does_not_need(tmp_path: Path) -> None:
    write(tmp_path, "a,b\n" + "x,\n" * 9_999)
    parquet(tmp_path, pa.table({"a": ["x", None], "b": [1.5, None]}))
    check = (
        "import sys; from pathlib import Path; from anon_core.table import read; "
        "read(Path(sys.argv[1])).keep(read(Path(sys.argv[1])).column('b').gaps).to_arrow(); "
        "print(sorted({'numba', 'pandas', 'pyarrow.parquet'} & set(sys.modules)))"
    )
    for name, loaded in (("table.csv", "[]"), ("table.parquet", "['pyarrow.parquet']")):
        ended = subprocess.run(
            [sys.executable, "-c", check, str(tmp_path / name)], capture_output=True, text=True, check=True
        )
        assert ended.stdout.strip() == loaded


KINDS: dict[pa.DataType, st.SearchStrategy[object]] = {
    # Pandas does not quote a lone carriage return, so that a cell becomes two rows.
    pa.string(): CELLS.map(lambda cell: cell and cell.replace("\r", "")),
    pa.int64(): st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1),
    pa.uint8(): st.integers(0, 255),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float64(): st.floats() | st.sampled_from([1.0, 0.0, -0.0, 0.1, 1e20]),
    pa.float32(): st.floats(width=32) | st.sampled_from([1.0, 0.0, -0.0]),
    pa.bool_(): st.booleans(),
    pa.decimal128(9, 2): st.decimals(-9999, 9999, places=2),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1)),
    pa.timestamp("ms", "UTC"): st.integers(-(10**12), 10**12),
    pa.time64("us"): st.times(),
}
# Arrow writes a NaN as a word, pandas as nothing.
TYPED = ReadOptions(delimiter=",", missing_words=("", "nan", "NaN"))


@st.composite
def typed_tables(draw: st.DrawFn) -> pa.Table:
    """Up to three columns of any kinds, with gaps, and with values that repeat."""
    rows = draw(st.integers(1, 12))
    columns = {}
    for at in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(sorted(KINDS, key=str)))
        pool = draw(st.lists(st.none() | KINDS[kind], min_size=1, max_size=5))
        columns[f"c{at}"] = pa.array(draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows)), kind)
    return pa.table(columns)


def answers(table: Table) -> dict[tuple[str, ...], list[int]]:
    """The class sizes of every set of columns: all that detection looks at."""
    return {
        chosen: sorted(FrequencyTable.of(table, chosen).class_sizes().tolist())
        for chosen in subsets(table.names, len(table.names))
    }


@settings(max_examples=150, deadline=None)
@given(arrow=typed_tables(), data=st.data())
def test_csv_and_parquet_of_a_typed_table_give_identical_answers_in_any_row_order(
    folder: Path, arrow: pa.Table, data: st.DataObject
) -> None:
    typed = read(parquet(folder, arrow), TYPED)
    shuffled = arrow.take(pa.array(data.draw(st.permutations(range(arrow.num_rows)))))
    pyarrow.csv.write_csv(shuffled, folder / "arrow.csv")
    by_arrow = read(folder / "arrow.csv", TYPED)
    assert [column.domain for column in by_arrow.columns] == [column.domain for column in typed.columns]
    shuffled.to_pandas(types_mapper=pd.ArrowDtype).to_csv(folder / "pandas.csv", index=False)
    by_pandas = read(folder / "pandas.csv", TYPED)
    assert answers(typed) == answers(by_arrow) == answers(by_pandas) == answers(read(parquet(folder, shuffled), TYPED))


@settings(max_examples=60, deadline=None)
@given(arrow=typed_tables())
def test_what_we_write_of_a_typed_table_is_reread_as_the_same_table(folder: Path, arrow: pa.Table) -> None:
    typed = read(parquet(folder, arrow), RELEASED)
    write_csv(typed, folder / "released.csv")
    assert_same(read(folder / "released.csv", RELEASED), typed)
