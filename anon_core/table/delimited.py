"""CSV as text cells: nothing inferred, nothing merged, nothing swallowed."""

from __future__ import annotations

import csv
import mmap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from anon_core.errors import TableError
from anon_core.table import sniff
from anon_core.table.options import ReadOptions, check_names

_BLOCK, _LARGE_BLOCK = 1 << 20, 1 << 28


def read_csv(path: Path, options: ReadOptions) -> pa.Table:
    encoding = sniff.encoding_of(path) if options.encoding == "auto" else options.encoding
    try:
        delimiter = sniff.delimiter_of(path, encoding) if options.delimiter == "auto" else options.delimiter
        _check_delimiter(path, encoding, delimiter)
        names = sniff.header_of(path, encoding, delimiter)
        if "\0" in "".join(names):  # UTF-16 without a byte order mark, read as something narrower.
            raise _not_text(path, encoding)
        check_names(path, names)
        return _parse_csv(path, options, encoding, delimiter, names)
    except UnicodeError:
        raise _not_text(path, encoding) from None
    except (pa.ArrowInvalid, csv.Error) as error:
        if "UTF8" in str(error):
            raise _not_text(path, encoding) from None
        raise TableError(
            str(path),
            f"cannot be read as text separated by {sniff.NAMED.get(delimiter, repr(delimiter))}",
            "give its real delimiter and encoding (source.delimiter, source.encoding)",
        ) from None


def _not_text(path: Path, encoding: str) -> TableError:
    return TableError(
        str(path), f"is not {encoding} text", "give its real encoding (source.encoding, --encoding), such as cp1252"
    )


def _check_delimiter(path: Path, encoding: str, delimiter: str) -> None:
    """Refuse what cannot be a delimiter, and one that leaves a single column where another splits every line."""
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise TableError(str(path), "its delimiter is not one ASCII character", "set source.delimiter, such as ;")
    if len(sniff.header_of(path, encoding, delimiter)) == 1:
        other = sniff.delimiter_of(path, encoding)
        if other != delimiter and len(sniff.header_of(path, encoding, other)) > 1:
            raise TableError(
                str(path),
                f"its fields seem to be separated by {sniff.NAMED[other]}, "
                f"not by {sniff.NAMED.get(delimiter, repr(delimiter))}",
                "set the delimiter (source.delimiter, --delimiter) or `auto`; quote the name if it is the only column",
            )


def _parse_csv(path: Path, options: ReadOptions, encoding: str, delimiter: str, names: list[str]) -> pa.Table:
    kinds = dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string()))
    if not sniff.has_rows(path, encoding, delimiter):
        return pa.schema(kinds).empty_table()  # pyarrow does not see a header that no line break ends.
    ragged = 0

    def note(_: Any) -> str:
        nonlocal ragged
        ragged += 1
        return "skip"

    def parse(block_size: int) -> pa.Table:
        with sniff.open_binary(path) as stream:
            return pyarrow.csv.read_csv(
                stream,
                # The names are given, so that every column has a type here and pyarrow infers none.
                read_options=pyarrow.csv.ReadOptions(
                    encoding=_codec(path, encoding), column_names=names, skip_rows_after_names=1, block_size=block_size
                ),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=delimiter,
                    newlines_in_values=_has_quotes(path),
                    # With one column an empty line is a row with a gap, not a blank line.
                    ignore_empty_lines=len(names) > 1,
                    invalid_row_handler=note,
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=kinds,
                    null_values=list(options.missing_words),
                    strings_can_be_null=bool(options.missing_words),
                    quoted_strings_can_be_null=options.quoted_missing,
                ),
            )

    try:
        table = parse(_BLOCK)
    except pa.ArrowInvalid:
        ragged = 0
        table = parse(_LARGE_BLOCK)  # A row must fit into a block.
    if ragged:
        lines = sniff.ragged_lines(path, encoding, delimiter, len(names))
        where = f" (lines {', '.join(map(str, lines[:5]))}{', ...' if len(lines) > 5 else ''})" if lines else ""
        raise TableError(
            str(path),
            f"{ragged} rows do not have the {len(names)} fields of the header{where}",
            "repair the export, or set source.delimiter if another character separates the fields",
        )
    if sniff.quotes_in(path, encoding) % 2:
        raise TableError(
            str(path),
            "has an odd number of quotes: one is never closed, and swallows the rows after it",
            "repair the export that writes it",
        )
    if not options.line_breaks:
        _check_line_breaks(path, table)
    _check_header(path, table)
    return table


def _check_line_breaks(path: Path, table: pa.Table) -> None:
    broken = []
    for at, column in enumerate(table.columns, 1):
        words = pa.chunked_array([chunk.dictionary for chunk in column.chunks], pa.string())
        if pc.any(pc.match_substring_regex(words, "[\r\n]")).as_py():
            broken.append(str(at))  # By position: where the header is missing, the names are somebody's cells.
    if broken:
        raise TableError(
            str(path),
            f"cells of column {', '.join(broken)} hold line breaks; a pair of stray quotes may have swallowed rows",
            "repair the export, or have it write such texts on one line",
        )


def _check_header(path: Path, table: pa.Table) -> None:
    """Refuse a first line that looks like data: where columns hold their own names as values, the header is missing."""
    own = sum(
        any(pc.index(chunk.dictionary, name).as_py() >= 0 for chunk in column.chunks)
        for name, column in zip(table.column_names, table.columns, strict=True)
    )
    if own > 1:
        raise TableError(
            str(path),
            f"its first line looks like data: {own} of its {len(table.column_names)} names occur as values below them",
            "its first line, and no other, must name the columns",
        )


def _codec(path: Path, encoding: str) -> str:
    """Return pyarrow's own name for UTF-8, so that it does not transcode, else Python's."""
    name = sniff.codec_of(path, encoding)
    return "utf8" if name in ("utf-8", "utf-8-sig") else name


def _has_quotes(path: Path) -> bool:
    """Whether a line break could hide inside quotes; looking is far cheaper than parsing on one thread."""
    with path.open("rb") as stream:
        if stream.read(2) == b"\x1f\x8b":
            return True
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as view:
            return view.find(b'"') >= 0
