"""Files that are far too large, or unpack to far too much, are refused while they are read: memory stays small."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml

from anon_core import limits
from anon_core.decompose.columns import read_lookup
from anon_core.errors import AnonError, InvalidInputError, SpecError, TableError
from anon_core.hierarchy.files.reading import read_levels
from anon_core.limits import COLUMNS, Limit
from anon_core.spec import load_spec
from anon_core.table import RELEASED, ReadOptions, read
from anon_core.table.assembling import Piece
from anon_core.table.streaming import batches
from tests.faults.anon_process import anon
from tests.faults.measured import measured, reading, streaming

LARGE = 1 << 27
MAX_MIB = 150
"""Memory that a refusal may take beyond what importing takes."""


def sparse(path: Path, start: bytes, size: int = LARGE) -> Path:
    """A file that begins so and goes on with zeros, without taking room on the disk."""
    path.write_bytes(start)
    os.truncate(path, size)
    return path


def bomb(path: Path, start: bytes, block: bytes, size: int = LARGE) -> Path:
    """A gzip file that unpacks to so many bytes of one block again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with path.open("wb") as stream:
        stream.write(packer.compress(start))
        for _ in range(size // len(block)):
            stream.write(packer.compress(block))
        stream.write(packer.flush())
    return path


def header_of_columns(path: Path) -> Path:
    path.write_text(",".join(f"c{n}" for n in range(100_000)) + "\n" + ",".join(["1"] * 100_000) + "\n")
    return path


def one_long_cell(path: Path) -> Path:
    with path.open("wb") as stream:
        stream.write(b"a,b\n1,")
        for _ in range(100):
            stream.write(b"x" * (1 << 20))
        stream.write(b"\n")
    return path


def parquet_of_columns(path: Path) -> Path:
    pq.write_table(pa.table({f"c{n}": ["x"] for n in range(20_000)}), path)
    return path


def parquet_of_one_value(path: Path) -> Path:
    """Eighty million rows in some kilobytes: a run of one dictionary code."""
    writer = pq.ParquetWriter(path, pa.schema([("a", pa.dictionary(pa.int32(), pa.string()))]), compression="zstd")
    zeros = pa.Array.from_buffers(pa.int32(), 1 << 22, [None, pa.py_buffer(bytes(1 << 24))])
    rows = pa.table({"a": pa.DictionaryArray.from_arrays(zeros, ["x"])})
    for _ in range(20):
        writer.write_table(rows)
    writer.close()
    return path


def parquet_of_one_page(path: Path) -> Path:
    """One cell of 140 MB that zstd packs into some kilobytes."""
    pq.write_table(pa.table({"a": ["x" * 140_000_000]}), path, compression="zstd", use_dictionary=False)
    return path


def parquet_of_packed_pages(path: Path) -> Path:
    """Many pages of the allowed size, which are packed into nearly nothing."""
    cells = pa.array(["x" * 4_000_000]).take(pa.array([0] * 20, pa.int64()))
    pq.write_table(
        pa.table({"a": cells}), path, compression="zstd", use_dictionary=False, data_page_size=1, write_batch_size=1
    )
    return path


def parquet_of_a_dictionary(path: Path) -> Path:
    """Three long texts that stand in the file once each, and 300 rows that are one of them each."""
    words = pa.array(["x" * 1_000_000 + str(n) for n in range(3)])
    cells = pa.DictionaryArray.from_arrays(pa.array([n % 3 for n in range(300)], pa.int32()), words)
    pq.write_table(pa.table({"a": cells}), path, compression="zstd", dictionary_pagesize_limit=1 << 28)
    return path


FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "columns": (header_of_columns, "100,000 columns, beyond the limit of 2,000 columns.*ANON_MAX_COLUMNS"),
    "header": (lambda path: sparse(path, b"a,b"), "its first row is longer than the limit.*ANON_MAX_HEADER_LENGTH"),
    "row": (lambda path: sparse(path, b"a,b\n1,"), "a row is longer than the limit.*ANON_MAX_ROW_BYTES"),
    "cell": (one_long_cell, "a row is longer than the limit.*ANON_MAX_ROW_BYTES"),
    "packed zeros": (
        lambda path: bomb(path, b"", bytes(1 << 20)),
        "unpacks to more than 200 times.*ANON_MAX_EXPANSION",
    ),
    "packed header": (lambda path: bomb(path, b"a,b", b"x" * (1 << 20)), "unpacks to more than 200 times"),
    "packed rows": (lambda path: bomb(path, b"a,b\n", b"1,2\n" * (1 << 18)), "unpacks to more than 200 times"),
    "packed empty lines": (lambda path: bomb(path, b"a\n", b"\n" * (1 << 20)), "unpacks to more than 200 times"),
    "Parquet columns": (parquet_of_columns, "20,000 columns, beyond the limit of 2,000 columns.*ANON_MAX_COLUMNS"),
    "Parquet rows": (parquet_of_one_value, "unpacks to more than 200 times.*ANON_MAX_EXPANSION"),
    "Parquet page": (parquet_of_one_page, "has a page of 140,000,0.. bytes, beyond the limit.*ANON_MAX_PARQUET_PAGE"),
    "Parquet pages": (parquet_of_packed_pages, "unpacks to more than 200 times.*ANON_MAX_EXPANSION"),
    "Parquet dictionary": (parquet_of_a_dictionary, "unpacks to more than 200 times.*ANON_MAX_EXPANSION"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_table_beyond_a_limit_is_refused_before_the_memory_is_gone(tmp_path: Path, name: str) -> None:
    make, message = FILES[name]
    path = make(tmp_path / "table")
    for statement in (reading, streaming):
        found = measured(statement(path))
        assert re.search(message, found.refusal), found.refusal
        assert found.memory < MAX_MIB


def test_with_the_encoding_given_a_packed_header_is_refused_by_its_length(tmp_path: Path) -> None:
    found = measured(reading(bomb(tmp_path / "table", b"a,b", b"x" * (1 << 20)), "encoding='utf-8'"))
    assert "its first row is longer than the limit of 1,048,576 characters" in found.refusal
    assert found.memory < MAX_MIB


def test_a_row_that_is_too_long_far_into_the_file_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    with path.open("wb") as stream:
        stream.write(b"a,b\n" + b"1,2\n" * 300_000 + b"1,")
    os.truncate(path, 1 << 27)
    found = measured(reading(path))
    assert "has a row beyond the limit of 16,777,216 bytes" in found.refusal
    # It is not packed, so it may be in memory: once, and as much again for what the threads that look at it hold.
    assert found.memory < 2 * (LARGE >> 20) + MAX_MIB


def test_a_long_cell_within_a_row_is_refused_by_the_position_of_its_column(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(f"a,b\n1,{'x' * 5_000_000}\n")
    pq.write_table(pa.table({"a": ["1"], "b": ["x" * 5_000_000]}), tmp_path / "table.parquet")
    for name in ("table.csv", "table.parquet"):
        for call in (read, lambda path: list(batches(path))):
            with pytest.raises(TableError, match=r"column 2 has a cell beyond the limit of 4,194,304 bytes"):
                call(tmp_path / name)


def test_an_open_quote_is_reported_and_not_a_long_row(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(b'a,b\n1,"2\n' + b"1,2\n" * 10_000_000)
    with pytest.raises(TableError, match="has an odd number of quotes"):
        read(tmp_path / "table.csv")


def test_a_table_that_packs_well_is_read(tmp_path: Path) -> None:
    """Up to the floor however well it packs; beyond it in proportion."""
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000))
    assert path.stat().st_size * 200 < 4_000_000
    assert read(path).rows == 1_000_000


def test_a_release_of_equal_rows_is_reread_however_well_it_packs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_MAX_EXPANSION_FLOOR_BYTES", "1000")
    monkeypatch.setenv("ANON_MAX_EXPANSION", "1")
    path = tmp_path / "released.parquet"
    pq.write_table(pa.table({"a": ["x"] * 100_000}), path)
    assert read(path, RELEASED).rows == 100_000
    with pytest.raises(TableError, match="beyond the limit of expansion"):
        read(path)


def lying_parquet(path: Path) -> Path:
    """A file whose page header gives 8,191 bytes, more than its footer does; a decoder goes by the header."""
    pq.write_table(pa.table({"a": ["x" * 5000]}), path, compression="zstd", use_dictionary=False)
    raw = path.read_bytes()
    at = pq.read_metadata(path).row_group(0).column(0).data_page_offset
    header = raw[at:]
    # 15 00: the type; 15 and a number in base 128: the size unpacked, 5010 bytes as an example.
    assert header[:3] == bytes([0x15, 0x00, 0x15])
    length = 1 + next(n for n, byte in enumerate(header[3:]) if byte < 128)
    assert length == 2
    path.write_bytes(raw[: at + 3] + bytes([0xFE, 0x7F]) + raw[at + 5 :])
    return path


def test_a_page_that_is_larger_than_the_footer_says_is_held_against_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_MAX_PARQUET_PAGE_BYTES", "8000")
    with pytest.raises(TableError, match=r"has a page of 8,191 bytes, beyond the limit of 8,000 bytes"):
        read(lying_parquet(tmp_path / "table.parquet"))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_files_with_every_kind_of_page_pass(tmp_path: Path, version: str, compression: str) -> None:
    table = pa.table({"a": [f"value {n}" for n in range(5000)], "b": [None, 1.5, 2.5, 3.5, None] * 1000})
    for dictionary in (True, False):
        path = tmp_path / f"{dictionary}.parquet"
        pq.write_table(
            table,
            path,
            data_page_version=version,
            compression=compression,
            use_dictionary=dictionary,
            data_page_size=1000,
            row_group_size=1500,
            write_page_checksum=True,
            write_statistics=True,
        )
        assert read(path).rows == 5000


@pytest.mark.parametrize(
    "call",
    [
        read,
        lambda path: list(batches(path)),
        read_levels,
        read_lookup,
        load_spec,
        lambda path: load_spec(path, partial=True),
    ],
    ids=["table", "stream", "hierarchy", "lookup", "publication", "partial publication"],
)
@pytest.mark.parametrize("kind", ["/dev/zero", "fifo", "socket"])
def test_only_regular_files_are_read(tmp_path: Path, call: Callable[[Path], object], kind: str) -> None:
    import socket

    path = Path(kind)
    if kind == "fifo":
        path = tmp_path / kind
        os.mkfifo(path)
    if kind == "socket":
        path = tmp_path / kind
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
    link = tmp_path / "link"
    link.symlink_to(path)
    for each in (path, link):
        with pytest.raises(AnonError, match=r"a (device|FIFO|socket), not a regular file"):
            call(each)


def test_a_publication_does_not_read_a_device_for_its_digest(tmp_path: Path) -> None:
    spec = tmp_path / "include/publications/people.yaml"
    spec.parent.mkdir(parents=True)
    spec.write_text(
        "dataset: people\ntitle: People\n"
        'unit: row\nreviewed: {by: Ada, "on": 2026-01-02}\n'
        "source: {file: people.csv}\nprivacy: {k: 2}\nportal: {folder: portal}\n"
        "columns:\n  town: {role: quasi, hierarchy: {file: /dev/zero}}\n"
    )
    found = measured(f"anon_core.spec.load_spec(Path({str(spec)!r})).digest()")
    assert "a device, not a regular file" in found.refusal
    assert found.memory < MAX_MIB


@pytest.mark.parametrize(
    "call", ["anon_core.hierarchy.files.reading.read_levels", "anon_core.decompose.columns.read_lookup"]
)
def test_a_file_that_is_read_whole_has_a_limit_of_size(tmp_path: Path, call: str) -> None:
    path = sparse(tmp_path / "towns.csv", b"a;b\n")
    found = measured(f"{call}(Path({str(path)!r}))")
    assert "has 134,217,728 bytes, beyond the limit of 16,777,216 bytes" in found.refusal
    assert "ANON_MAX_HIERARCHY_BYTES" in found.refusal
    assert found.memory < MAX_MIB


@pytest.mark.parametrize("limit", limits.ALL, ids=lambda limit: limit.setting)
def test_every_limit_is_documented_and_read_from_its_variable_when_it_is_used(
    limit: Limit, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (Path(__file__).parents[2] / "docs/limits.md").read_text()
    (line,) = [line for line in text.splitlines() if f"`{limit.setting}`" in line and line.startswith("|")]
    assert f"{limit.default:,}" in line
    monkeypatch.setenv(limit.setting, "17")
    assert limit.value() == 17
    monkeypatch.setenv(limit.setting, "")
    assert limit.value() == limit.default


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "1e6", "²", "9" * 30])
def test_a_setting_that_is_no_positive_number_is_a_clear_error(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("ANON_MAX_COLUMNS", text)
    with pytest.raises(InvalidInputError, match="ANON_MAX_COLUMNS is not a positive whole number"):
        COLUMNS.value()


def test_a_wrong_setting_breaks_one_publication_file_and_not_the_parsing_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.yaml").write_text("columns: {town: {role: quasi}}\n")
    for setting in ("ANON_MAX_PUBLICATION_BYTES", "ANON_MAX_NAME_LENGTH"):
        with monkeypatch.context() as patched, pytest.raises(SpecError, match=f"{setting} is not a positive"):
            patched.setenv(setting, "none")
            load_spec(tmp_path / "people.yaml")


def test_a_raised_limit_lets_the_file_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    path.write_text(",".join(f"c{n}" for n in range(2001)) + "\n" + ",".join(["1"] * 2001) + "\n")
    with pytest.raises(TableError, match=r"2,001 columns, beyond the limit of 2,000 columns"):
        read(path)
    monkeypatch.setenv("ANON_MAX_COLUMNS", "2001")
    assert len(read(path, ReadOptions(encoding="auto")).names) == 2001


def test_more_combinations_of_levels_than_a_float_holds_are_no_internal_error(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(300)]
    (tmp_path / "table.csv").write_text(",".join(names) + "\n" + (",".join(["1234567890"] * 300) + "\n") * 4)
    columns = "".join(
        f"  {name}: {{role: quasi, hierarchy: {{prefix: [9, 8, 7, 6, 5, 4, 3, 2, 1]}}}}\n" for name in names
    )
    policy = "privacy: {k: 2, published_uniqueness: {max_size: 1}}"
    (tmp_path / "spec.yaml").write_text(f"{policy}\nrecode: {{method: global}}\ncolumns:\n{columns}")
    ended = anon(
        *("recode", tmp_path / "table.csv", "--spec", tmp_path / "spec.yaml", "--output", tmp_path / "out.csv"),
        home=tmp_path / "home",
    )
    assert ended.code == 0, ended.err


def test_a_run_whose_searches_would_not_end_is_refused_before_it_searches(tmp_path: Path) -> None:
    """Both searches are named, with the size that fits."""
    names = [f"c{n}" for n in range(300)]
    (tmp_path / "table.csv").write_text(",".join(names) + "\n" + (",".join(["1"] * 300) + "\n") * 4)
    columns = "".join(f"  {name}: {{role: quasi}}\n" for name in names)
    head = (
        "dataset: wide\ntitle: Wide\n"
        'unit: row\nreviewed: {by: Ada, "on": 2026-01-02}\n'
        "source: {file: table.csv}\nportal: {folder: portal}\nprivacy: {k: 2}\n"
    )
    (tmp_path / "wide.yaml").write_text(f"{head}columns:\n{columns}")
    ended = anon("run", tmp_path / "wide.yaml", home=tmp_path / "home")
    assert ended.code == 2
    assert "300 columns have 335,291,425 sets of up to 4 columns: lower `detect.max_size` to 3" in ended.err
    assert "searching" not in ended.err
    ended = anon("run", tmp_path / "wide.yaml", home=tmp_path / "home", environ={"ANON_MAX_COLUMN_SETS": "500"})
    assert "lower `detect.max_size` to 1; " in ended.err
    assert "lower `privacy.published_uniqueness.max_size` to 1. " in ended.err
    ended = anon("run", tmp_path / "wide.yaml", home=tmp_path / "home", environ={"ANON_MAX_COLUMN_SETS": "100"})
    assert ended.err.count("publish fewer columns") == 2


@pytest.mark.parametrize("words", [[f"a{n}" for n in range(33_000)], ["x" * 400_000]], ids=["many", "long"])
def test_more_missing_words_than_the_reader_takes_are_refused(tmp_path: Path, words: list[str]) -> None:
    """The reader of CSV files ended the process without a word."""
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    ended = anon("profile", tmp_path / "table.csv", *(f"--missing-word={word}" for word in words), home=tmp_path / "h")
    assert ended.code == 2
    assert "up to 1,000 words with 20,000 characters together" in ended.err
    source = {"file": "table.csv", "missing_words": words}
    columns = {"a": {"role": "quasi"}, "b": {"role": "other"}}
    spec = {
        "dataset": "t",
        "title": "T",
        "unit": "row",
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "source": source,
        "privacy": {"k": 2},
        "columns": columns,
    }
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(spec))
    with pytest.raises(SpecError, match="up to 1,000 words with 20,000 characters together"):
        load_spec(tmp_path / "t.yaml")


@pytest.mark.thorough
def test_a_column_of_more_text_than_one_array_holds_is_written_out(tmp_path: Path) -> None:
    piece = Piece(codes=np.zeros(2200, np.int32), words=pa.array(["x" * 1_000_000]))
    assert piece.text_bytes == 2_200_000_000
    assert pc.sum(pc.binary_length(piece.cells)).as_py() == piece.text_bytes
