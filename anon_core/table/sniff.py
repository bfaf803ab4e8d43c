"""Look at the beginning of a delimited file: its encoding, its delimiter, its header."""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from anon_core.errors import TableError

DELIMITERS = (",", ";", "\t", "|")
NAMED = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_SAMPLE = 1 << 16
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading bytes, unpacking gzip by its magic number, not by its name."""
    stream = path.open("rb")
    if stream.read(2) == b"\x1f\x8b":
        stream.close()
        return cast("BinaryIO", gzip.open(path, "rb"))
    stream.seek(0)
    return stream


def encoding_of(path: Path) -> str:
    """Return the encoding a file seems to have: by its byte order mark, else UTF-8, else cp1252.

    UTF-8 is proved by decoding everything; a file that is not UTF-8 is taken for cp1252, which most administrations
    without UTF-8 use. It is a guess, so only commands run by hand sniff; a publication file names its encoding.
    """
    with open_binary(path) as stream:
        start = stream.read(4)
        for mark, name in _BOMS:
            if start.startswith(mark):
                return name
        decoder = codecs.getincrementaldecoder("utf-8")()
        block = start
        try:
            while block:
                decoder.decode(block)
                block = stream.read(1 << 20)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def codec_of(path: Path, encoding: str) -> str:
    """
    Return Python's name for a text encoding.

    :raises TableError: there is no such encoding.
    """
    try:
        "".encode(encoding)  # Unlike codecs.lookup it also refuses codecs that do not encode text, such as base64.
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise TableError(
            str(path), f"cannot be read as {encoding!r}: no such encoding", "name one such as utf-8 or cp1252"
        ) from None


def rows_of(path: Path, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line it starts on; it is slow, for headers and for finding the line of a mistake.

    A byte order mark is no part of the first name, whichever encoding the caller gives.
    """
    with open_binary(path) as stream, io.TextIOWrapper(stream, codec_of(path, encoding), newline="") as text:
        if text.read(1) != "\ufeff":
            text.seek(0)
        reader = csv.reader(text, delimiter=delimiter)
        line = 1
        for row in reader:
            yield line, row
            line = reader.line_num + 1


def quotes_in(path: Path, encoding: str) -> int:
    """
    Return how many double quotes a file has.

    :raises UnicodeError: it is not text in this encoding. Pyarrow looks only at the cells of rows it does not skip.
    """
    decoder = codecs.getincrementaldecoder(codec_of(path, encoding))()
    count = 0
    with open_binary(path) as stream:
        while block := stream.read(1 << 20):
            count += decoder.decode(block).count('"')
    decoder.decode(b"", final=True)
    return count


def _sample(path: Path, encoding: str) -> str:
    """Return the first lines as text, without the one that the sample cuts."""
    with open_binary(path) as stream:
        raw = stream.read(_SAMPLE)
        whole = not stream.read(1)
    text = codecs.getincrementaldecoder(codec_of(path, encoding))().decode(raw, final=whole).removeprefix("\ufeff")
    cut = text.rfind("\n")
    return text if whole or cut < 0 else text[: cut + 1]


def delimiter_of(path: Path, encoding: str) -> str:
    """Return the delimiter that splits most lines into the same number (above one) of fields; a comma if none does."""
    text = _sample(path, encoding)
    best = (0.0, 0)
    found = ","
    for candidate in DELIMITERS:
        lines_of_text = io.StringIO(text, newline="")  # A lone carriage return ends a line too.
        widths = Counter(len(row) for row in csv.reader(lines_of_text, delimiter=candidate) if row)
        if not widths:
            continue
        width, lines = widths.most_common(1)[0]
        score = (lines / widths.total() if width > 1 else 0.0, width)
        if score > best:
            best, found = score, candidate
    return found


def header_of(path: Path, encoding: str, delimiter: str) -> list[str]:
    """Return the names in the first row, however long it is; an empty list for a file without one."""
    return next((row for _, row in rows_of(path, encoding, delimiter)), [])


def has_rows(path: Path, encoding: str, delimiter: str) -> bool:
    """Whether anything follows the header."""
    rows = rows_of(path, encoding, delimiter)
    next(rows, None)
    try:
        return next(rows, None) is not None
    except csv.Error:  # A cell too long for this reader is a cell.
        return True


def ragged_lines(path: Path, encoding: str, delimiter: str, width: int) -> list[int]:
    """Return the lines where rows of another width start, up to six of them."""
    found: list[int] = []
    with contextlib.suppress(csv.Error, UnicodeError):
        for line, row in rows_of(path, encoding, delimiter):
            if row and len(row) != width:
                found.append(line)
            if len(found) > 5:
                break
    return found
