"""Files in, dictionary codes out: the only reader of CSV and Parquet in the product.

Everything is read as text and nothing is inferred, so no two different cells are ever merged: ``01`` is not ``1``, and
``NA`` is a word unless the caller lists it as missing. The gate rereads releases through the same function. A gap is
``null`` in Arrow and the last code of its column; Parquet types become their canonical text (a NaN becomes a gap).
"""

from __future__ import annotations

import csv
import glob
import gzip
import hashlib
import mmap
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from anon_core import sniff
from anon_core.errors import TableError, UnknownColumnError

Codes = np.ndarray[Any, np.dtype[np.int32]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

_BLOCK, _LARGE_BLOCK = 1 << 20, 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read a file.

    ``quoted_missing=False`` keeps a quoted cell as text even if its content is a missing word; for Parquet, where
    every text is as good as quoted, missing words then do not apply at all. ``line_breaks=False`` refuses a CSV in
    which a cell holds a line break: where none is expected, a stray pair of quotes has swallowed rows.
    """

    delimiter: str = "auto"
    encoding: str = "utf-8"
    missing_words: tuple[str, ...] = ("",)
    quoted_missing: bool = True
    line_breaks: bool = True


RELEASED = ReadOptions(delimiter=",", quoted_missing=False)
"""How to reread what :mod:`anon_core.distribution` wrote: a bare empty cell is a gap, a quoted one an empty text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column as codes into its sorted domain; where there are gaps, the last domain entry is null."""

    name: str
    codes: Codes
    domain: pa.Array

    @property
    def has_gaps(self) -> bool:
        return bool(self.domain.null_count)

    @property
    def gaps(self) -> Mask:
        """Which rows have a gap here."""
        return np.asarray(self.codes == len(self.domain) - 1) if self.has_gaps else np.zeros(len(self.codes), np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table in memory, one :class:`Column` each."""

    columns: tuple[Column, ...]
    rows: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """:raises UnknownColumnError: there is no such column."""
        return self.select([name]).columns[0]

    def select(self, names: Sequence[str]) -> Table:
        """Return these columns, in this order."""
        known = {column.name: column for column in self.columns}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UnknownColumnError(unknown, self.names)
        return Table(columns=tuple(known[name] for name in names), rows=self.rows)

    def keep(self, rows: Mask) -> Table:
        """Return the rows where the mask holds; domains keep no value that no row has any more."""
        return Table(columns=tuple(_compact(c, c.codes[rows]) for c in self.columns), rows=int(np.count_nonzero(rows)))

    def to_arrow(self) -> pa.Table:
        """Return plain text arrays, gaps as null: a dictionary would carry values that no row has."""
        arrays = [column.domain.take(pa.array(column.codes)) for column in self.columns]
        return pa.table(arrays, names=list(self.names))


def read(path: Path, options: ReadOptions | None = None) -> Table:
    """
    Read a CSV (gzip too) or Parquet file, or every file that a glob pattern matches, one below the other.

    Parquet is recognised by its magic number. Rows keep their order; files of a pattern are taken in order of name and
    must have the same columns.

    :raises TableError: a missing or empty file, no rows, no or double column names, ragged rows, the wrong encoding, a
        nested type: the message says which and never quotes a cell.
    """
    options = options or ReadOptions()
    files = [path]
    if glob.has_magic(str(path)) and not path.exists():  # A file may be called `a[1].csv`.
        files = [Path(name) for name in sorted(glob.glob(str(path)))]  # noqa: PTH207 - the pattern may be absolute
    if not files:
        raise TableError(
            str(path), "no file matches this pattern", "check source.file and the period it is rendered for"
        )
    tables = [_read_one(file, options) for file in files]
    _check_different([file for file, table in zip(files, tables, strict=True) if table.num_rows])
    for file, table in zip(files[1:], tables[1:], strict=True):
        if set(table.column_names) != set(tables[0].column_names):
            raise TableError(str(file), f"has other columns than {files[0].name}", "publish them as separate datasets")
    whole = pa.concat_tables([table.select(tables[0].column_names) for table in tables])
    if not whole.num_rows:
        raise TableError(str(path), "has a header but no rows", "there is nothing to publish: check the export")
    return from_arrow(whole)


def from_arrow(table: pa.Table) -> Table:
    """Encode an Arrow table of text columns."""
    return Table(
        columns=tuple(_encode(name, table.column(at)) for at, name in enumerate(table.column_names)),
        rows=table.num_rows,
    )


def _read_one(path: Path, options: ReadOptions) -> pa.Table:
    if not path.exists():
        raise TableError(str(path), "no such file", "check source.file (relative paths start at the include folder)")
    if path.is_dir():
        raise TableError(str(path), "is a folder", "name a file, or a pattern such as folder/*.csv")
    if not path.stat().st_size:
        raise TableError(str(path), "is empty", "check the export that writes it")
    try:
        with path.open("rb") as stream:
            parquet = stream.read(4) == b"PAR1"
        return _read_parquet(path, options) if parquet else _read_csv(path, options)
    except PermissionError:
        raise TableError(str(path), "may not be read by this user", "change its permissions") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise TableError(
            str(path), "is not a whole gzip file", "it may be cut short: copy or export it again"
        ) from None


def _read_csv(path: Path, options: ReadOptions) -> pa.Table:
    encoding = sniff.encoding_of(path) if options.encoding == "auto" else options.encoding
    try:
        delimiter = sniff.delimiter_of(path, encoding) if options.delimiter == "auto" else options.delimiter
        _check_delimiter(path, encoding, delimiter)
        names = sniff.header_of(path, encoding, delimiter)
        if "\0" in "".join(names):  # UTF-16 without a byte order mark, read as something narrower.
            raise _not_text(path, encoding)
        _check_names(path, names)
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
                "set source.delimiter, or `delimiter: auto`; quote the name if it is the only column",
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
    return table


def _check_different(files: Sequence[Path]) -> None:
    """Refuse a pattern that finds the same content twice: every person in it would count for two."""
    seen: dict[str, Path] = {}
    for file in files if len(files) > 1 else ():
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest in seen:
            raise TableError(str(file), f"has the same content as {seen[digest].name}", "remove one of the two")
        seen[digest] = file


def _check_line_breaks(path: Path, table: pa.Table) -> None:
    broken = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        words = pa.chunked_array([chunk.dictionary for chunk in column.chunks], pa.string())
        if pc.any(pc.match_substring_regex(words, "[\r\n]")).as_py():
            broken.append(name)
    if broken:
        raise TableError(
            str(path),
            f"cells of {', '.join(broken)} hold line breaks; a pair of stray quotes may have swallowed rows",
            "repair the export, or have it write such texts on one line",
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


def _check_names(path: Path, names: Sequence[str]) -> None:
    if not names:
        raise TableError(str(path), "has no header", "its first line must name the columns")
    unnamed = [str(at) for at, name in enumerate(names, 1) if not name.strip()]
    if unnamed:
        raise TableError(str(path), f"column {', '.join(unnamed)} has no name", "name every column in the first line")
    double = [str(at) for at, name in enumerate(names, 1) if names.index(name) < at - 1]
    if double:
        # By position: where the header is missing, the names are somebody's cells.
        raise TableError(
            str(path), f"column {', '.join(double)} is named like one before it", "give each column its own name"
        )


def _read_parquet(path: Path, options: ReadOptions) -> pa.Table:
    try:
        file = pq.ParquetFile(path)
        _check_names(path, file.schema_arrow.names)
        table = file.read()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        raise TableError(str(path), "is not a readable Parquet file", "it may be cut short: write it again") from None
    nested = [field.name for field in table.schema if not _is_scalar(field.type)]
    if nested:
        raise TableError(
            str(path), f"columns of nested or binary type: {', '.join(nested)}", "flatten them to one value per cell"
        )
    words = options.missing_words if options.quoted_missing else ()
    return pa.table([_text(column, words) for column in table.columns], names=table.column_names)


def _is_scalar(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_scalar(kind.value_type)
    return bool(
        pa.types.is_primitive(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    )


def _text(column: pa.ChunkedArray, missing_words: Sequence[str]) -> pa.ChunkedArray:
    """Return a Parquet column as text: NaN is a gap, minus zero is zero, missing words are gaps."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())  # Exact, and pyarrow can compute with it.
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, pc.add(column, pa.scalar(0.0, column.type)))
    column = column.cast(pa.string())
    if missing_words:
        column = pc.if_else(pc.is_in(column, value_set=pa.array(missing_words, pa.string())), None, column)
    return column.dictionary_encode()


def _encode(name: str, values: pa.ChunkedArray) -> Column:
    """Return codes into the sorted distinct values, so that codes do not depend on the order of the rows."""
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    encoded = values.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], values.type)
    words = encoded.dictionary
    indices = encoded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    domain = pa.concat_arrays([words, pa.nulls(1, words.type)])
    return _compact(Column(name=name, codes=indices, domain=domain), indices)


def _compact(column: Column, codes: Codes) -> Column:
    """Return the codes renumbered over the sorted values that occur."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(column.domain)))
    values = column.domain.take(pa.array(used))
    order = pc.sort_indices(values).to_numpy()
    renumber = np.zeros(len(column.domain), np.int32)
    renumber[used[order]] = np.arange(len(used), dtype=np.int32)
    return Column(name=column.name, codes=renumber[codes], domain=values.take(pa.array(order)))
