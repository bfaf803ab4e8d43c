"""The files of a release: what is written is what is reread, byte for byte the same every time, and nothing besides."""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import StorageError
from anon_core.files.name_rules import has_bad_characters
from anon_core.publishing.distribution import write_csv, write_parquet
from anon_core.table import RELEASED, Table, read
from tests.anon_core.table.table_files import assert_same, cells
from tests.properties.tables import Row, table_of

Writer = Callable[[Table, Path], None]

NAMES = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), min_size=3, max_size=3, unique=True)

both = pytest.mark.parametrize(("write", "name"), [(write_csv, "r.csv"), (write_parquet, "r.parquet")])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("release")


@both
@settings(max_examples=80, deadline=None)
@given(rows=cells(), names=NAMES.filter(lambda names: all(n.strip() and not has_bad_characters(n) for n in names)))
def test_what_is_written_is_what_is_reread_and_twice_the_same_bytes(
    folder: Path, write: Writer, name: str, rows: list[Row], names: list[str]
) -> None:
    table = table_of(names[: len(rows[0])], rows)
    write(table, folder / name)
    assert_same(read(folder / name, RELEASED), table)
    write(table, folder / f"again-{name}")
    assert (folder / f"again-{name}").read_bytes() == (folder / name).read_bytes()


def test_in_csv_a_gap_is_bare_and_an_empty_text_is_quoted(tmp_path: Path) -> None:
    write_csv(table_of(["a", "b"], [("", None), (None, 'x"y')]), tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == b'"a","b"\r\n"",\r\n,"x""y"\r\n'


def test_parquet_holds_plain_text_columns_and_no_metadata_of_any_program(tmp_path: Path) -> None:
    write_parquet(table_of(["a", "b"], [("x", None), ("y", "z")]), tmp_path / "r.parquet")
    schema = pq.ParquetFile(tmp_path / "r.parquet").schema_arrow
    assert schema.types == [pa.string(), pa.string()]
    assert schema.metadata is None
    assert pq.read_metadata(tmp_path / "r.parquet").metadata is None


@both
def test_no_byte_of_a_file_tells_of_a_row_that_was_removed(tmp_path: Path, write: Writer, name: str) -> None:
    rows: list[Row] = [(f"PUBLISHED-{n % 7}", f"KEPT-{n}") for n in range(500)]
    rows += [(f"CANARY-{n}", f"CANARY-{n}") for n in range(100)]
    kept = table_of(["a", "b"], rows).keep(np.array([not str(row[0]).startswith("CANARY") for row in rows]))
    write(kept, tmp_path / name)
    content = everything_in(tmp_path / name)
    assert b"PUBLISHED-3" in content
    assert b"KEPT-499" in content
    assert b"CANARY" not in content


def test_the_search_above_would_find_a_value_that_only_a_dictionary_page_remembers(tmp_path: Path) -> None:
    words = pa.array([f"CANARY-{n}" for n in range(300)])
    careless = pa.DictionaryArray.from_arrays(pa.array([1, 2] * 50), words)
    pq.write_table(pa.table({"a": careless}), tmp_path / "r.parquet", compression="zstd")
    assert b"CANARY-299" in everything_in(tmp_path / "r.parquet")


def everything_in(path: Path) -> bytes:
    """The bytes of a file, and of every compressed page in it once more, unpacked."""
    raw = path.read_bytes()
    content = [raw]
    at = raw.find(magic := b"\x28\xb5\x2f\xfd")
    while at >= 0:
        stream = pa.CompressedInputStream(pa.BufferReader(raw[at:]), "zstd")
        try:
            while piece := stream.read(1):
                content.append(piece)
        except OSError:  # The page has ended, what follows is not compressed.
            pass
        at = raw.find(magic, at + 1)
    return b"".join(content)


@both
def test_a_file_is_private_and_leaves_no_half_written_one_beside_it(tmp_path: Path, write: Writer, name: str) -> None:
    write(table_of(["a"], [("x",)]), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


@both
def test_a_full_disk_is_said_and_the_earlier_file_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Writer, name: str
) -> None:
    write(table_of(["a"], [("x",)]), tmp_path / name)
    before = (tmp_path / name).read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pyarrow.csv, "write_csv", full)
    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(StorageError, match="No space left on device") as caught:
        write(table_of(["a"], [("CANARY",)]), tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "CANARY" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@both
def test_a_device_that_takes_nothing_is_an_error_of_storage(tmp_path: Path, write: Writer, name: str) -> None:
    """The real thing: the kernel refuses the bytes while the writer flushes."""
    (tmp_path / f".{name}.part").symlink_to("/dev/full")
    with pytest.raises(StorageError, match="No space left on device"):
        write(table_of(["a"], [("x",)]), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@both
def test_a_missing_folder_is_named(tmp_path: Path, write: Writer, name: str) -> None:
    with pytest.raises(StorageError, match=r"writing failed at .*nowhere.*No such file or directory"):
        write(table_of(["a"], [("x",)]), tmp_path / "nowhere" / name)
