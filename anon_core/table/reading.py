"""The only reader of CSV and Parquet in the product."""

from __future__ import annotations

import contextlib
import glob
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from anon_core.errors import TableError
from anon_core.files.name_rules import BAD_CHARACTERS, has_bad_characters
from anon_core.files.regular import kind_of, open_regular
from anon_core.files.storage import stream_digest
from anon_core.table.assembling import stack
from anon_core.table.delimited import check_cells, read_csv
from anon_core.table.model import Table, from_arrow
from anon_core.table.options import ReadOptions
from anon_core.table.parquet import read_parquet
from anon_core.table.unpacking import open_binary
from anon_core.wording import counted

_START_BYTES = 4096
_EXPORT = "export the table as CSV or Parquet"
_UNPACK = "unpack it first; only gzip is unpacked here"
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Office file (.xls)", _EXPORT),
    (b"%PDF-", "a PDF document", "a PDF holds no table to read: ask for the data as CSV or Parquet"),
    (b"SQLite format 3\0", "an SQLite database", _EXPORT),
    (b"ARROW1\0\0", "an Arrow (Feather) file", "write it as Parquet"),
    (b"FEA1", "a Feather file", "write it as Parquet"),
    (b"Obj\x01", "an Avro file", _EXPORT),
    (b"PARE", "an encrypted Parquet file", "write it without encryption"),
    (b"$FL2@(#)", "an SPSS file (.sav)", _EXPORT),
    (b"$FL3@(#)", "an SPSS file (.zsav)", _EXPORT),
    (b"<stata_dta>", "a Stata file (.dta)", _EXPORT),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\xfd7zXZ\0", "an xz archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
)
_BZIP = re.compile(rb"BZh[1-9]1AY&SY")
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|\?xml)\b", re.IGNORECASE)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def read(path: Path, options: ReadOptions | None = None) -> Table:
    """
    Read a CSV (gzip too) or Parquet file, or every file that a glob pattern matches, one below the other.

    Parquet is recognised by its magic number. Rows keep their order; files of a pattern are taken in order of name and
    must have the same columns.

    :raises TableError: a missing or empty file, no rows, no or double column names, ragged rows, the wrong encoding, a
        nested type: the message says which and never quotes a cell.
    """
    options = options or ReadOptions()
    files = files_of(path)
    tables = [_read_one(file, options) for file in files]
    check_different([file for file, table in zip(files, tables, strict=True) if table.rows])
    for file, table in zip(files[1:], tables[1:], strict=True):
        if set(table.names) != set(tables[0].names):
            raise TableError(str(file), f"has other columns than {files[0].name}", "publish them as separate datasets")
    rows = sum(table.rows for table in tables)
    if not rows:
        raise TableError(str(path), "has a header but no rows", "there is nothing to publish: check the export")
    if len(tables) == 1:
        return tables[0]
    return Table(columns=tuple(stack([table.column(name) for table in tables]) for name in tables[0].names), rows=rows)


def files_of(path: Path) -> list[Path]:
    """
    Return the files that a pattern matches, or the one file.

    :raises TableError: none matches.
    """
    files = [path]
    if glob.has_magic(str(path)) and not path.exists():  # A file may be called `a[1].csv`.
        files = [Path(name) for name in sorted(glob.glob(str(path)))]  # noqa: PTH207 - the pattern may be absolute
    if not files:
        raise TableError(
            str(path), "no file matches this pattern", "check source.file and the period it is rendered for"
        )
    if path not in files:
        _check_file_names(path, files)
    return files


def _check_file_names(pattern: Path, files: Sequence[Path]) -> None:
    """:raises TableError: a file has a name that no message should repeat; the message gives its place in the order."""
    odd = [str(at) for at, file in enumerate(files, 1) if has_bad_characters(file.name)]
    if odd:
        raise TableError(
            str(pattern),
            f"of the {counted(len(files), 'file')} that this pattern matches, in order of name, the name of number "
            f"{', '.join(odd[:20])}{', ...' if len(odd) > 20 else ''} has {BAD_CHARACTERS}",
            "rename the file, or write a narrower pattern",
        )


def check_different(files: Sequence[Path]) -> None:
    """:raises TableError: two files have the same content: every person in it would count for two."""
    seen: dict[str, Path] = {}
    for file in files if len(files) > 1 else ():
        with readable(file), open_regular(file) as stream:
            digest = stream_digest(stream)
        if digest in seen:
            raise TableError(str(file), f"has the same content as {seen[digest].name}", "remove one of the two")
        seen[digest] = file


def _read_one(path: Path, options: ReadOptions) -> Table:
    with readable(path):
        if is_parquet(path):
            return read_parquet(path, options)
        refuse_foreign(path)
        table = from_arrow(read_csv(path, options))
    check_cells(path, table, options)
    return table


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its magic number."""
    with open_regular(path) as stream:
        return stream.read(4) == b"PAR1"


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """:raises TableError: the file is missing, empty, a folder, not permitted, or not a whole gzip file."""
    if not path.exists():
        raise TableError(
            str(path),
            "no such file",
            "check the path (from where a publication file's paths start: docs/publication-file.md)",
        )
    # A device never ends, and opening a FIFO waits for a writer.
    if kind := kind_of(path.stat().st_mode):
        raise TableError(str(path), f"is {kind}", "name a file, or a pattern such as folder/*.csv")
    if not path.stat().st_size:
        raise TableError(str(path), "is empty", "check the export that writes it")
    try:
        yield
    except PermissionError:
        raise TableError(str(path), "may not be read by this user", "change its permissions") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise TableError(
            str(path), "is not a whole gzip file", "it may be cut short: copy or export it again"
        ) from None


def refuse_foreign(path: Path) -> None:
    """:raises TableError: the file is neither CSV nor Parquet but, by its first bytes, something else that is known."""
    with open_binary(path) as stream:
        start = stream.read(_START_BYTES)
    found = _known(start)
    if found:
        raise TableError(str(path), f"is {found[0]}, not CSV or Parquet", found[1])


def _known(start: bytes) -> tuple[str, str] | None:
    """
    Return what a file is that begins so, and what to do.

    >>> _known(b"PK" + bytes([3, 4]) + b"...[Content_Types].xml...xl/workbook.xml")
    ('an Excel workbook (.xlsx)', 'export the table as CSV or Parquet')
    >>> _known(b"PK,name")
    """
    if start.startswith(_ZIP):
        if b"mimetypeapplication/vnd.oasis.opendocument" in start:
            return "an OpenDocument file (.ods)", _EXPORT
        if b"[Content_Types].xml" in start or b"xl/" in start:
            return "an Excel workbook (.xlsx)" if b"word/" not in start else "an Office document", _EXPORT
        return "a zip archive", _UNPACK
    for magic, what, advice in _MAGIC:
        if start.startswith(magic):
            return what, advice
    if _BZIP.match(start):
        return "a bzip2 archive", _UNPACK
    if start[257:262] == b"ustar":
        return "a tar archive", _UNPACK
    return ("an HTML or XML document", _EXPORT) if _MARKUP.match(start) else None
