"""CSV as text cells: nothing inferred, nothing merged, nothing swallowed."""

from __future__ import annotations

import codecs
import contextlib
import csv
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from anon_core.errors import TableError
from anon_core.limits import ROW
from anon_core.table import sniff
from anon_core.table.arrays import texts
from anon_core.table.model import Table
from anon_core.table.options import ReadOptions, check_lengths, check_names, columns_at
from anon_core.table.unpacking import is_packed, open_binary

LARGE_FILE = 1 << 22
"""From this size on, threads are worth starting."""

_BLOCK = 1 << 22
"""What a thread parses at a time. Every block has dictionaries of its own, which are put together afterwards."""
_MAX_BLOCK = (1 << 31) - 1
_IN_MEMORY = "lz4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a delimited file is written, and its columns."""

    encoding: str
    delimiter: str
    names: list[str]


def layout_of(path: Path, options: ReadOptions) -> Layout:
    """
    Return how a file is written, sniffed where the options leave it open.

    :raises TableError: it is not text, or its first line does not name the columns.
    """
    encoding = sniff.encoding_of(path) if options.encoding == "auto" else options.encoding
    with explained(path, encoding, options.delimiter):
        delimiter = sniff.delimiter_of(path, encoding) if options.delimiter == "auto" else options.delimiter
        _check_delimiter(path, encoding, delimiter)
        names = sniff.header_of(path, encoding, delimiter)
        if "\0" in "".join(names):  # UTF-16 without a byte order mark, read as something narrower.
            raise _not_text(path, encoding)
        check_names(path, names)
    return Layout(encoding=encoding, delimiter=delimiter, names=names)


def read_csv(path: Path, options: ReadOptions) -> pa.Table:
    """
    Read the cells of a file as text, every column a dictionary.

    :raises TableError: it cannot be read as what the options say it is.
    """
    layout = layout_of(path, options)
    with explained(path, layout.encoding, layout.delimiter):
        return _parse_csv(path, options, layout)


@contextlib.contextmanager
def explained(path: Path, encoding: str, delimiter: str) -> Iterator[None]:
    """Say in our own words what a parser found wrong: in theirs they quote cells."""
    try:
        yield
    except UnicodeError:
        raise _not_text(path, encoding) from None
    except (pa.ArrowInvalid, csv.Error) as error:
        if "UTF8" in str(error):
            raise _not_text(path, encoding) from None
        if "straddl" in str(error):
            raise TableError(str(path), f"has a row beyond {ROW.words()}; is every quote closed?", ROW.advice) from None
        raise TableError(
            str(path),
            f"cannot be read as text separated by {sniff.DELIMITER_NAMES.get(delimiter, repr(delimiter))}",
            "give its real delimiter and encoding (source.delimiter, source.encoding)",
        ) from None


def _not_text(path: Path, encoding: str) -> TableError:
    return TableError(
        str(path), f"is not {encoding} text", "give its real encoding (source.encoding, or encoding=), such as cp1252"
    )


def _check_delimiter(path: Path, encoding: str, delimiter: str) -> None:
    """Refuse what cannot be a delimiter, and one that leaves a single column where another splits every line."""
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise TableError(
            str(path),
            "its delimiter is not one ASCII character that can separate fields",
            "set source.delimiter, such as ;",
        )
    if len(sniff.header_of(path, encoding, delimiter)) == 1:
        other = sniff.delimiter_of(path, encoding)
        if other != delimiter and len(sniff.header_of(path, encoding, other)) > 1:
            raise TableError(
                str(path),
                f"its fields seem to be separated by {sniff.DELIMITER_NAMES[other]}, "
                f"not by {sniff.DELIMITER_NAMES.get(delimiter, repr(delimiter))}",
                "set the delimiter (source.delimiter, or delimiter=) or `auto`; quote the name of an only column",
            )


def meaning(options: ReadOptions, kinds: dict[str, pa.DataType]) -> pyarrow.csv.ConvertOptions:
    """What a cell means: its own text, or a gap."""
    return pyarrow.csv.ConvertOptions(
        column_types=kinds,
        null_values=list(options.missing_words),
        strings_can_be_null=bool(options.missing_words),
        quoted_strings_can_be_null=options.quoted_missing,
    )


def _parse_csv(path: Path, options: ReadOptions, layout: Layout) -> pa.Table:
    """Have pyarrow parse all of it, and refuse what it would skip or swallow."""
    names = layout.names
    if not sniff.has_rows(path, layout.encoding, layout.delimiter):
        return pa.table({name: texts([]) for name in names})  # Pyarrow sees no header without its end.
    quotes = sniff.quotes_in(path, layout.encoding)

    def parse(block_size: int) -> tuple[pa.Table, int]:
        ragged = Ragged()  # One for each try: threads of a parse that failed may still be counting.
        with _utf8_stream(path, codec_of(path, layout.encoding)) as stream:
            table = pyarrow.csv.read_csv(
                stream,
                # The names are given, so that every column has a type here and pyarrow infers none.
                read_options=pyarrow.csv.ReadOptions(
                    column_names=names,
                    skip_rows_after_names=1,
                    block_size=block_size,
                    use_threads=path.stat().st_size >= LARGE_FILE,
                ),
                parse_options=ragged.options(layout.delimiter, len(names), quotes),
                convert_options=meaning(options, dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string()))),
            )
        return table, ragged.rows

    with open_quotes_explained(path, layout, quotes):
        try:
            table, ragged = parse(block_for(path, layout, quotes, _BLOCK))
        except pa.ArrowInvalid:
            table, ragged = parse(block_for(path, layout, quotes, row_block()))  # A row must fit into a block.
    check_whole(path, layout, ragged, quotes)
    return table


def row_block() -> int:
    """Return the size of a block that takes in the longest row there may be; pyarrow counts it in 31 bits."""
    return min(max(ROW.value(), _BLOCK), _MAX_BLOCK)


def block_for(path: Path, layout: Layout, quotes: int, size: int) -> int:
    """
    Return a size of blocks, this one or a little more, at which no cell loses a line feed.

    Pyarrow takes a block that ends with a carriage return for the end of a row, even inside quotes, and drops the line
    feed at the start of the next block. A line break is inside quotes where their number before it is odd.
    """
    codec = codec_of(path, layout.encoding)
    while quotes and _cuts_line_break(path, codec, size):
        size += 1
    return size


def _cuts_line_break(path: Path, codec: str, size: int) -> bool:
    quotes, returned = 0, False
    with _utf8_stream(path, codec) as stream:
        while block := stream.read(size):
            if returned and quotes % 2 and block.startswith(b"\n"):
                return True
            quotes += block.count(b'"')
            returned = block.endswith(b"\r")
    return False


@contextlib.contextmanager
def open_quotes_explained(path: Path, layout: Layout, quotes: int) -> Iterator[None]:
    """Raise the error of an open quote, if there is one, in place of pyarrow's error of a row that is too long."""
    try:
        yield
    except pa.ArrowInvalid:
        check_whole(path, layout, 0, quotes)
        raise


class Ragged:
    """Counts the rows that have another number of fields than the header: pyarrow would only skip them."""

    def __init__(self) -> None:
        self.rows = 0

    def options(self, delimiter: str, columns: int, quotes: int) -> pyarrow.csv.ParseOptions:
        """Return how pyarrow takes a file apart."""
        return pyarrow.csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=quotes > 0,
            # With one column an empty line is a row with a gap, not a blank line.
            ignore_empty_lines=columns > 1,
            invalid_row_handler=self._note,
        )

    def _note(self, _: Any) -> str:
        self.rows += 1
        return "skip"


def check_whole(path: Path, layout: Layout, ragged: int, quotes: int) -> None:
    """:raises TableError: rows were skipped for their number of fields, or an open quote has swallowed some."""
    if ragged:
        lines = sniff.ragged_lines(path, layout.encoding, layout.delimiter, len(layout.names))
        where = f" (lines {', '.join(map(str, lines[:5]))}{', ...' if len(lines) > 5 else ''})" if lines else ""
        raise TableError(
            str(path),
            f"{ragged} rows do not have the {len(layout.names)} fields of the header{where}",
            "repair the export, or set source.delimiter if another character separates the fields",
        )
    if quotes % 2:
        raise TableError(
            str(path),
            "has an odd number of quotes: one is never closed, and swallows the rows after it",
            "repair the export that writes it",
        )


def _utf8_stream(path: Path, codec: str) -> pa.NativeFile:
    """
    Open a file as a stream of pyarrow's own, unpacked and in UTF-8.

    Its threads may hold a stream a little longer than the reading lasts. If they hold one of Python's when the process
    ends, the process aborts.
    """
    if codec == "utf8":
        return pa.CompressedInputStream(pa.OSFile(str(path)), "gzip") if is_packed(path) else pa.OSFile(str(path))
    memory, decoder = pa.BufferOutputStream(), codecs.getincrementaldecoder(codec)()
    # Packed, a register takes a quarter of the memory.
    with open_binary(path) as stream, pa.CompressedOutputStream(memory, _IN_MEMORY) as packed:
        while block := stream.read(_BLOCK):
            packed.write(decoder.decode(block).encode())
        packed.write(decoder.decode(b"", final=True).encode())
    return pa.CompressedInputStream(pa.BufferReader(memory.getvalue()), _IN_MEMORY)


def check_cells(path: Path, table: Table, options: ReadOptions) -> None:
    """
    Refuse a table whose cells show that the file was not read as it was meant.

    :raises TableError: a cell is too long or holds line breaks where none are expected, or the first line looks like
        data.
    """
    check_lengths(path, [column.domain for column in table.columns])
    if not options.line_breaks:
        check_line_breaks(path, {at for at, column in enumerate(table.columns, 1) if holds_line_breaks(column.domain)})
    if table.rows >= options.headless_from:
        check_header(path, sum(holds_its_name(c.name, c.domain) for c in table.columns), len(table.columns))


def holds_line_breaks(values: pa.Array) -> bool:
    """Whether a cell goes on in a second line."""
    return bool(pc.any(pc.match_substring_regex(values, "[\r\n]")).as_py())


def check_line_breaks(path: Path, broken: Collection[int]) -> None:
    """:raises TableError: there are columns with line breaks; by position, for without a header the names are cells."""
    if broken:
        raise TableError(
            str(path),
            f"cells of {columns_at(sorted(broken))} hold line breaks; a pair of stray quotes may have swallowed rows",
            "repair the export, or have it write such texts on one line",
        )


def holds_its_name(name: str, values: pa.Array) -> bool:
    """Whether a column's own name is among its values."""
    return bool(pc.any(pc.is_in(values, value_set=texts([name]))).as_py())


def check_header(path: Path, own: int, columns: int) -> None:
    """:raises TableError: several columns hold their own names as values, so the first line was data."""
    if own > 1:
        raise TableError(
            str(path),
            f"its first line looks like data: {own} of its {columns} names occur as values below them",
            "its first line, and no other, must name the columns",
        )


def codec_of(path: Path, encoding: str) -> str:
    """Return pyarrow's own name for UTF-8, so that it does not transcode, else Python's."""
    name = sniff.codec_of(path, encoding)
    return "utf8" if name in ("utf-8", "utf-8-sig") else name
