"""Tables that cannot be used: the message says what, where and what to do, and never quotes a cell."""

from __future__ import annotations

import gzip
import traceback
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from anon_core.errors import TableError
from anon_core.table import ReadOptions, read
from tests.anon_core.table.table_files import parquet, write

CANARY = "CANARY-7319"


def refusal(path: Path, options: ReadOptions | None = None) -> TableError:
    """Read a bad table and return the error, having looked through all of it for the planted cell."""
    with pytest.raises(TableError) as caught:
        read(path, options)
    error = caught.value
    told = "".join(traceback.format_exception(error)) + repr(error.args) + repr(vars(error))
    assert CANARY not in told
    assert str(error).startswith(f"{path}: ")
    assert error.advice
    return error


UTF16 = f"a,b\n{CANARY},é\n".encode("utf-16")


WIDTH = "rows do not have the 2 fields of the header"

CASES: list[tuple[str | bytes, dict[str, Any], str, str]] = [
    (b"", {}, "is empty", "check the export"),
    (b"\n\n", {}, "has no header", "first line must name the columns"),
    (b"\xef\xbb\xbf", {}, "has no header", "first line must name the columns"),
    (b"a,b\n", {}, "has a header but no rows", "check the export"),
    (b"a,b", {}, "has a header but no rows", "check the export"),
    (b"a", {}, "has a header but no rows", "check the export"),
    (f"a,b,a,b,c\n{CANARY},1,2,3,4\n", {}, "column 3, 4 is named like one before it", "its own name"),
    (f"a,,c, \n{CANARY},1,2,3\n", {}, "column 2, 4 has no name", "name every column"),
    (f"a,b\n1,2\n{CANARY}\n3,4\n5,6,7\n", {}, f"2 {WIDTH} (lines 3, 5)", "repair"),
    # Blank lines and line breaks inside quotes count as lines, so that people find the row in their editor.
    (f'a,b\n\n"1\n1",2\n\n{CANARY}\n', {}, f"1 {WIDTH} (lines 6)", "repair"),
    ("a,b\n" + f"{CANARY}\n" * 9, {"delimiter": ","}, f"9 {WIDTH} (lines 2, 3, 4, 5, 6, ...)", "repair"),
    (f'a,b\n1,2\n"{CANARY},3\n4,5\n', {}, f"1 {WIDTH} (lines 3)", "repair"),
    (f'a\nx\n"{CANARY}\ny\n', {}, "has an odd number of quotes: one is never closed", "repair"),
    (f'a\nx\n"{CANARY}\ny\n'.encode("utf-16"), {"encoding": "utf-16"}, "has an odd number of quotes", "repair"),
    (f"{CANARY},{CANARY}\n1,2\n", {}, "column 2 is named like one before it", "its own name"),
    (f"a,b\n{CANARY}\r1,2\n", {}, f"1 {WIDTH} (lines 2)", "repair"),
    (f"a;b\n{CANARY};2\n3;4\n", {"delimiter": ","}, "separated by semicolon, not by comma", "auto"),
    (f"a,b\n{CANARY},2\n3,4\n", {"delimiter": ";"}, "separated by comma, not by semicolon", "auto"),
    (f"a\n1\n{CANARY},2\n", {"delimiter": ","}, "1 rows do not have the 1 fields of the header (lines 3)", "repair"),
    (f"a,b\n{CANARY},2\n", {"delimiter": "§"}, "its delimiter is not one ASCII character", "source.delimiter"),
    (f"a,b\n{CANARY},2\n", {"delimiter": "\0"}, "its delimiter is not one ASCII character", "source.delimiter"),
    (f"a,b\n{CANARY},2\n", {"delimiter": ",,"}, "its delimiter is not one ASCII character", "source.delimiter"),
    (f"a,b\n{CANARY},é\n".encode("latin-1"), {}, "is not utf-8 text", "source.encoding"),
    (f"é,b\n{CANARY},1\n".encode("latin-1"), {}, "is not utf-8 text", "source.encoding"),
    (("a,b\n" + "1,2\n" * 50_000 + f"{CANARY},é\n").encode("latin-1"), {}, "is not utf-8 text", "source.encoding"),
    (f"a,b\n{CANARY},".encode() + b"\x81\n", {"encoding": "cp1252"}, "is not cp1252 text", "source.encoding"),
    (UTF16, {}, "is not utf-8 text", "source.encoding"),
    (UTF16[2:], {}, "is not utf-8 text", "source.encoding"),
    (UTF16[:-1], {"encoding": "utf-16"}, "is not utf-16 text", "source.encoding"),
    (f"a,b\n{CANARY},2\n", {"encoding": "klingon"}, "cannot be read as 'klingon': no such encoding", "utf-8"),
    (f"a,b\n{CANARY},2\n", {"encoding": "punycode"}, "cannot be read as 'punycode': no such encoding", "utf-8"),
    (f"a,b\n{CANARY},2\n", {"encoding": "unicode_escape"}, "cannot be read as 'unicode_escape'", "utf-8"),
    (f"a,b\n{CANARY},2\n", {"encoding": "base64"}, "cannot be read as 'base64': no such encoding", "utf-8"),
    (gzip.compress(f"a,b\n{CANARY},2\n".encode() * 999)[:-30], {}, "is not a whole gzip file", "cut short"),
    (b"\x1f\x8b" + f"a,b\n{CANARY},2\n".encode(), {}, "is not a whole gzip file", "cut short"),
    (b"PAR1" + CANARY.encode(), {}, "is not a readable Parquet file", "cut short"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "options", "what", "advice"), CASES, ids=[f"{n}-{c[2]}" for n, c in enumerate(CASES)])
def test_a_bad_file_is_refused_in_words(
    tmp_path: Path, raw: str | bytes, options: dict[str, Any], what: str, advice: str
) -> None:
    error = refusal(write(tmp_path, raw), ReadOptions(**options))
    assert what in error.what
    assert advice in error.advice


def test_a_missing_file_a_folder_and_a_pattern_without_match_are_told_apart(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nowhere.csv").what == "no such file"
    assert refusal(tmp_path).what == "is a folder"
    assert refusal(tmp_path / "*.csv").what == "no file matches this pattern"


def test_a_parquet_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = parquet(tmp_path, pa.array([CANARY, "x"] * 500)).read_bytes()
    for length in [4, 5, 12, len(whole) // 2, len(whole) - 4, len(whole) - 1]:
        assert refusal(write(tmp_path, whole[:length], "cut.parquet")).what == "is not a readable Parquet file"


def test_a_parquet_file_with_any_one_byte_changed_is_read_or_refused_in_words(tmp_path: Path) -> None:
    path = parquet(tmp_path, pa.array([CANARY, None, "b", CANARY, "c"]))
    whole = path.read_bytes()
    refused = 0
    for at in range(len(whole)):
        for bit in (1, 16, 128):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            try:
                read(path)
            except TableError as error:
                refused += 1
                assert CANARY not in "".join(traceback.format_exception(error))
    assert refused > len(whole) // 2


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[CANARY]]),
        pa.array([{"x": CANARY}]),
        pa.array([[(CANARY, 1)]], pa.map_(pa.string(), pa.int8())),
        pa.array([CANARY.encode()]),
        pa.array([CANARY.encode()], pa.binary(len(CANARY))),
    ],
    ids=lambda column: str(column.type),
)
def test_nested_and_binary_parquet_columns_are_named(tmp_path: Path, column: pa.Array) -> None:
    path = parquet(tmp_path, pa.table({"fine": ["x"], "odd": column}))
    error = refusal(path)
    assert error.what == "columns of nested or binary type: odd"
    assert "flatten" in error.advice


def test_a_parquet_table_without_rows_or_with_double_names_is_refused(tmp_path: Path) -> None:
    assert refusal(parquet(tmp_path, pa.array([], pa.string()))).what == "has a header but no rows"
    double = pa.table([pa.array([CANARY]), pa.array(["x"])], names=["a", "a"])
    assert refusal(parquet(tmp_path, double)).what == "column 2 is named like one before it"
