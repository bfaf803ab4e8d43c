"""A table as batches of rows, for figures that one pass can give: memory does not grow with the file."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from anon_core.errors import TableError
from anon_core.table import sniff
from anon_core.table.delimited import Layout, check_whole, codec_of, explained, layout_of, meaning
from anon_core.table.options import ReadOptions
from anon_core.table.parquet import text_batches
from anon_core.table.reading import files_of, is_parquet, readable

_BLOCK = 1 << 24


def batches(path: Path, options: ReadOptions | None = None) -> Iterator[pa.RecordBatch]:
    """
    Yield the rows of a file, or of every file that a pattern matches, as batches of texts; gaps are null.

    A cell means what it means to :func:`anon_core.table.read`. Whether rows were skipped is known when the last batch
    has been taken: only then the figures are worth anything.

    :raises TableError: as :func:`anon_core.table.read` does.
    """
    options = options or ReadOptions()
    names: list[str] | None = None
    for file in files_of(path):
        with readable(file):
            for batch in text_batches(file, options) if is_parquet(file) else _delimited(file, options):
                names = names or batch.schema.names
                if set(batch.schema.names) != set(names):
                    raise TableError(str(file), "has other columns than the first file", "profile them one by one")
                yield batch.select(names)
    if names is None:
        raise TableError(str(path), "has a header but no rows", "there is nothing to publish: check the export")


def _delimited(path: Path, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    layout = layout_of(path, options)
    if not sniff.has_rows(path, layout.encoding, layout.delimiter):
        return
    quotes = sniff.quotes_in(path, layout.encoding)
    ragged = 0

    def note(_: Any) -> str:
        nonlocal ragged
        ragged += 1
        return "skip"

    with explained(path, layout.encoding, layout.delimiter), _stream(path, layout) as stream:
        reader = pyarrow.csv.open_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(
                column_names=layout.names, skip_rows_after_names=1, block_size=_BLOCK, use_threads=False
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=layout.delimiter,
                newlines_in_values=quotes > 0,
                ignore_empty_lines=len(layout.names) > 1,
                invalid_row_handler=note,
            ),
            convert_options=meaning(options, dict.fromkeys(layout.names, pa.string())),
        )
        for batch in reader:
            if batch.num_rows:
                yield batch
    check_whole(path, layout, ragged, quotes)


def _stream(path: Path, layout: Layout) -> pa.NativeFile:
    """Open a file in UTF-8 without holding it in memory."""
    stream: pa.NativeFile = pa.OSFile(str(path))
    with sniff.open_binary(path) as opened:
        if isinstance(opened, gzip.GzipFile):
            stream = pa.CompressedInputStream(stream, "gzip")
    codec = codec_of(path, layout.encoding)
    return stream if codec == "utf8" else pa.transcoding_input_stream(stream, codec, "utf8")
