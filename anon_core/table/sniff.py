"""Look at the beginning of a delimited file: its encoding, its delimiter, its header."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from anon_core.errors import TableError
from anon_core.limits import HEADER, NAME, ROW
from anon_core.table.unpacking import open_binary

DELIMITERS = (",", ";", "\t", "|")
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_SAMPLE = 1 << 16
_QUOTES_SAMPLE = 1 << 14
_MIN_SHARE_OF_LINES = 0.5
_CODECS_NOT_OF_FILES = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Codecs for names and literals; read in pieces, as files are, some of them give another text."""
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


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

    :raises TableError: there is no such encoding, or no file is written in it.
    """
    try:
        "".encode(encoding)  # Unlike codecs.lookup it also refuses codecs that do not encode text, such as base64.
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        name = ""
    if not name or name.replace("_", "-") in _CODECS_NOT_OF_FILES:
        what = f"cannot be read as {encoding!r}: no such encoding of files"
        raise TableError(str(path), what, "name one such as utf-8 or cp1252")
    return name


def rows_of(path: Path, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line it starts on; it is slow, for headers and for finding the line of a mistake.

    A byte order mark is no part of the first name, whichever encoding the caller gives.

    :raises TableError: the first row, or another one, is longer than its limit.
    """
    with open_binary(path) as stream, io.TextIOWrapper(stream, codec_of(path, encoding), newline="") as text:
        lines = _Lines(path, text)
        reader = csv.reader(lines, delimiter=delimiter)
        line = 1
        for row in reader:
            yield line, row
            line = reader.line_num + 1
            lines.begin_row()


class _Lines:
    """The lines of a text, as long as the rows they make keep to their limits."""

    def __init__(self, path: Path, text: io.TextIOWrapper) -> None:
        self._path = path
        self._text = text
        self._limit, self._what = HEADER, "its first row"
        self._left = HEADER.value()
        self._began = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self._left + 1)
        self._left -= len(line)
        if self._left < 0:
            raise TableError(
                str(self._path),
                f"{self._what} is longer than {self._limit.words()}; is it a table, and is every quote closed?",
                self._limit.advice,
            )
        if not line:
            raise StopIteration
        if not self._began:
            self._began = True
            return line.removeprefix("\ufeff")
        return line

    def begin_row(self) -> None:
        """Let the next row be as long as a row may be."""
        self._limit, self._what, self._left = ROW, "a row", ROW.value()


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
    """
    Return the delimiter that splits most lines into the same number (above one) of fields; a comma if none does.

    A quote inside a field shows that the file was written with another delimiter: in ``1,"a|b"`` the bar is text.
    """
    text = _sample(path, encoding)
    few = text[: text.rfind("\n", 0, _QUOTES_SAMPLE) + 1] or text[:_QUOTES_SAMPLE]
    best: tuple[bool, float, bool, int] = (False, 0.0, False, 0)
    found = ","
    for candidate in DELIMITERS:
        lines_of_text = io.StringIO(text, newline="")  # A lone carriage return ends a line too.
        widths = Counter(len(row) for row in csv.reader(lines_of_text, delimiter=candidate) if row)
        if not widths:
            continue
        width, lines = widths.most_common(1)[0]
        share = lines / widths.total() if width > 1 else 0.0
        clean = share > 0 and '"' not in _quoted_field(candidate).sub("", few)
        score = (clean and share > _MIN_SHARE_OF_LINES, share, clean, width)
        if share and score > best:
            best, found = score, candidate
    return found


def _quoted_field(delimiter: str) -> re.Pattern[str]:
    """Return what matches a field in quotes, from the end of the field before it."""
    between = re.escape(delimiter)
    return re.compile(rf'(?:(?<=[{between}\r\n])|\A)"[^"]*+(?:""[^"]*+)*+"(?=[{between}\r\n]|\Z)')


def header_of(path: Path, encoding: str, delimiter: str) -> list[str]:
    """
    Return the names in the first row; an empty list for a file without one.

    :raises TableError: it is longer than a first row may be.
    """
    try:
        return next((row for _, row in rows_of(path, encoding, delimiter)), [])
    except csv.Error:  # The one thing that this reader refuses is a field of more than 131,072 characters.
        raise TableError(
            str(path),
            f"a name in its first row is longer than {NAME.words()}; is every quote closed?",
            "its first line must name the columns: repair the export",
        ) from None


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
