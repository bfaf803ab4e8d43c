"""Parquet as text cells: every type in its canonical text, a NaN as a gap."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anon_core.errors import TableError
from anon_core.table.options import ReadOptions, check_names


def read_parquet(path: Path, options: ReadOptions) -> pa.Table:
    try:
        file = pq.ParquetFile(path)
        check_names(path, file.schema_arrow.names)
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
