"""A table as batches of rows, for figures that one pass can give: memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from anon_core.errors import TableError
from anon_core.table import sniff
from anon_core.table.delimited import (
    Layout,
    Ragged,
    block_for,
    check_header,
    check_line_breaks,
    check_whole,
    codec_of,
    explained,
    holds_its_name,
    holds_line_breaks,
    layout_of,
    meaning,
    open_quotes_explained,
    row_block,
)
from anon_core.table.options import ReadOptions, check_lengths
from anon_core.table.parquet import text_batches
from anon_core.table.reading import check_different, files_of, is_parquet, readable, refuse_foreign
from anon_core.table.unpacking import is_packed


def batches(path: Path, options: ReadOptions | None = None) -> Iterator[pa.RecordBatch]:
    """
    Yield the rows of a file, or of every file that a pattern matches, as batches of texts; gaps are null.

    A cell means what it means to :func:`anon_core.table.read`, and what that refuses is refused here: mostly before the
    first batch, but rows of another width, cells with line breaks and a first line that is data are known after the
    last one. Only then the figures are worth anything.

    :raises TableError: as :func:`anon_core.table.read` does.
    """
    options = options or ReadOptions()
    files = files_of(path)
    check_different(files)
    names: list[str] | None = None
    for file in files:
        with readable(file):
            for batch in text_batches(file, options) if is_parquet(file) else _delimited(file, options):
                names = names or batch.schema.names
                if set(batch.schema.names) != set(names):
                    raise TableError(str(file), "has other columns than the first file", "profile them one by one")
                yield batch.select(names)
    if names is None:
        raise TableError(str(path), "has a header but no rows", "there is nothing to publish: check the export")


def _delimited(path: Path, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    refuse_foreign(path)
    layout = layout_of(path, options)
    with explained(path, layout.encoding, layout.delimiter):
        if not sniff.has_rows(path, layout.encoding, layout.delimiter):
            return
        quotes = sniff.quotes_in(path, layout.encoding)
        block = block_for(path, layout, quotes, row_block())
    ragged = Ragged()
    own: set[str] = set()
    broken: set[int] = set()
    rows = 0
    with (
        explained(path, layout.encoding, layout.delimiter),
        open_quotes_explained(path, layout, quotes),
        _stream(path, layout) as stream,
    ):
        reader = pyarrow.csv.open_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(
                column_names=layout.names, skip_rows_after_names=1, block_size=block, use_threads=False
            ),
            parse_options=ragged.options(layout.delimiter, len(layout.names), quotes),
            convert_options=meaning(options, dict.fromkeys(layout.names, pa.string())),
        )
        for batch in reader:
            rows += batch.num_rows
            check_lengths(path, batch.columns)
            own |= {n for n in layout.names if n not in own and holds_its_name(n, batch.column(n))}
            if not options.line_breaks:
                broken |= {at for at, cells in enumerate(batch.columns, 1) if holds_line_breaks(cells)}
            if batch.num_rows:
                yield batch
    check_whole(path, layout, ragged.rows, quotes)
    check_line_breaks(path, broken)
    if rows >= options.headless_from:
        check_header(path, len(own), len(layout.names))


def _stream(path: Path, layout: Layout) -> pa.NativeFile:
    """Open a file in UTF-8 without holding it in memory."""
    stream: pa.NativeFile = pa.OSFile(str(path))
    if is_packed(path):
        stream = pa.CompressedInputStream(stream, "gzip")
    codec = codec_of(path, layout.encoding)
    return stream if codec == "utf8" else pa.transcoding_input_stream(stream, codec, "utf8")
