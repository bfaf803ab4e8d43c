"""Files of other formats are refused by name, and a delimiter inside a text is not taken for one."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from anon_airflow.cli import anon
from anon_core.errors import TableError
from anon_core.table import ReadOptions, read
from anon_core.table.streaming import batches
from tests.anon_core.table.table_files import write


def zipped(*names: str, first: bytes = b"<xml/>") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, first)
    return stream.getvalue()


EXPORT = "export the table as CSV or Parquet"
FILES = {
    "xlsx": (zipped("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"), "an Excel workbook (.xlsx)", EXPORT),
    "ods": (
        zipped("mimetype", first=b"application/vnd.oasis.opendocument.spreadsheet"),
        "an OpenDocument file (.ods)",
        EXPORT,
    ),
    "zip": (zipped("table.csv", first=b"a,b\n1,2\n"), "a zip archive", "unpack it first"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old Excel or Office file (.xls)", EXPORT),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document", "ask for the data as CSV or Parquet"),
    "html": (b"\n <!DOCTYPE html><table><tr><td>1</td></tr></table>", "an HTML or XML document", EXPORT),
    "sqlite": (b"SQLite format 3\0" + bytes(100), "an SQLite database", EXPORT),
    "bzip2": (b"BZh91AY&SY" + bytes(30), "a bzip2 archive", "unpack it first"),
    "xz": (b"\xfd7zXZ\0" + bytes(30), "an xz archive", "unpack it first"),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_of_another_format_is_called_by_its_name(tmp_path: Path, kind: str, packed: bool) -> None:
    content, what, advice = FILES[kind]
    path = write(tmp_path, gzip.compress(content) if packed else content)
    for encoding in ("auto", "utf-8", "cp1252"):
        for call in (read, lambda file, options: list(batches(file, options))):
            with pytest.raises(TableError) as caught:
                call(path, ReadOptions(encoding=encoding))
            assert caught.value.what == f"is {what}, not CSV or Parquet"
            assert advice in caught.value.advice


def test_a_table_whose_first_name_is_like_a_magic_number_is_read(tmp_path: Path) -> None:
    for first in ("PK", "BZh9", "Obj", "FEA", "7z", "Rar!"):
        assert read(write(tmp_path, f"{first},b\n1,2\n")).names == (first, "b")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('id,"p|q|r"\n1,"a|b|c"\n2,"d|e|f"\n', ("id", "p|q|r")),
        ('id;"p,q,r"\n1;"a,b,c"\n2;"d,e,f"\n', ("id", "p,q,r")),
        ('"p|q|r",id\n"a|b|c",1\n"d|e|f",2\n', ("p|q|r", "id")),
        ('id|"say ""a,b,c"""\n1|"x ""d,e,f"" y"\n', ("id", 'say "a,b,c"')),
        ("id,p|q|r\n1,a|b|c\n", ("id,p", "q", "r")),
        ('id;size\n1;5" x 3"\n2;4" x 2"\n', ("id", "size")),
        ('id;text\n1;one, two\n2;"three"\n', ("id", "text")),
    ],
)
def test_a_delimiter_inside_quotes_does_not_win(tmp_path: Path, text: str, names: tuple[str, ...]) -> None:
    assert read(write(tmp_path, text), ReadOptions(delimiter="auto")).names == names


@pytest.mark.parametrize("encoding", ["undefined", "no-such", "base64", "a\0b", "x" * 1000])
def test_an_encoding_that_reads_no_text_is_a_clear_error(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path, "a,b\n1,2\n")
    ended = CliRunner().invoke(anon, ["profile", str(path), "--encoding", encoding])
    assert ended.exit_code == 2
    assert "no encoding is called" in ended.output
    with pytest.raises(TableError, match="no such encoding"):
        read(path, ReadOptions(encoding=encoding))


@pytest.mark.parametrize("arguments", [["profile", "\udcff.csv"], ["check", "t.csv", "--quasi", "a,\udce9"]])
def test_an_argument_that_is_no_text_is_a_clear_error(arguments: list[str]) -> None:
    ended = CliRunner().invoke(anon, arguments)
    assert ended.exit_code == 2
    assert f"argument {len(arguments)} is not text" in ended.output
