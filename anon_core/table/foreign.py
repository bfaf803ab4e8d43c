"""Files that are no tables we read, known by how they begin: they are named, not called text in a wrong encoding."""

from __future__ import annotations

import re
from pathlib import Path

from anon_core.errors import TableError
from anon_core.table.unpacking import open_binary

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
