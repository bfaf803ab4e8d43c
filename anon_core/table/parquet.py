"""Parquet as text cells, some rows at a time: every type in its one text, a NaN as a gap."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from anon_core.errors import TableError
from anon_core.table.arrays import texts
from anon_core.table.assembling import Piece, assemble
from anon_core.table.model import Table, piece_of
from anon_core.table.options import ReadOptions, check_lengths, check_names, columns_at
from anon_core.table.parquet_sizes import check_columns, check_footer, check_sizes
from anon_core.table.unpacking import most_unpacked, out_of_proportion

_ROWS = 1 << 18


def read_parquet(path: Path, options: ReadOptions) -> Table:
    """
    Read a Parquet file. Only codes and distinct values are kept of the rows that were read.

    :raises TableError: it is damaged, or has a column whose cells are not one value each.
    """
    names = _names(path, options)
    waiting: list[list[Piece]] = [[] for _ in names]
    rows = 0
    for pieces in _pieces(path, names, options):
        rows += len(pieces[0].codes)
        for at, piece in enumerate(pieces):
            waiting[at].append(piece.narrow())
    columns = []
    for at, name in enumerate(names):
        columns.append(assemble(name, waiting[at]))
        waiting[at] = []
    return Table(columns=tuple(columns), rows=rows)


def text_batches(path: Path, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Yield the rows as batches of texts, gaps as null; raises as :func:`read_parquet` does."""
    names = _names(path, options)
    for pieces in _pieces(path, names, options):
        yield pa.RecordBatch.from_arrays([piece.cells for piece in pieces], names=names)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError):  # A damaged page decodes to indices and keys that are not there.
        advice = (
            "it may be cut short, or hold texts in an encoding that is neither plain nor a dictionary: write it again"
        )
        raise TableError(str(path), "is not a readable Parquet file", advice) from None


def _names(path: Path, options: ReadOptions) -> list[str]:
    """Return the names of the columns of a file whose sizes are within the limits."""
    # Imported here: most tables are CSV, and a command should answer at once.
    import pyarrow.parquet as pq

    with _explained(path):
        check_footer(path)
        with _texts_checked(path), pq.ParquetFile(path) as file:
            schema, described = file.schema_arrow, file.metadata
            check_columns(path, len(schema), described.num_columns)
            names = _names_in(path, schema)
            check_names(path, names)
            _check_types(path, schema)
            check_sizes(path, described, any_expansion=options.any_expansion)
    return names


def _names_in(path: Path, schema: pa.Schema) -> list[str]:
    """Return the names in a schema, which may hold any bytes in their place."""
    names, odd = [], []
    for at, field in enumerate(schema, 1):
        try:
            names.append(str(field.name))
        except UnicodeDecodeError:
            odd.append(at)
    if odd:
        raise TableError(
            str(path), f"the name of {columns_at(odd)} is not UTF-8 text", "have the export write the names as UTF-8"
        )
    return names


@contextlib.contextmanager
def _texts_checked(path: Path) -> Iterator[None]:
    """:raises TableError: a name is not UTF-8; pyarrow's reader of Parquet ends at it without saying where."""
    try:
        yield
    except UnicodeDecodeError:
        import pyarrow.dataset

        _names_in(path, pyarrow.dataset.ParquetFileFormat().inspect(pa.OSFile(str(path))))
        what = "a name inside a column is not UTF-8 text"
        raise TableError(str(path), what, "have the export write the names as UTF-8") from None


def _pieces(path: Path, names: Sequence[str], options: ReadOptions) -> Iterator[list[Piece]]:
    """Yield some rows at a time, a piece for each column."""
    import pyarrow.parquet as pq

    size, unpacked = path.stat().st_size, 0
    most = most_unpacked(size)
    with _explained(path):
        # Texts are mostly stored as dictionaries; this leaves them so.
        texts = [field.name for field in pq.read_schema(path) if is_text(field.type)]
        with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
            for batch in file.iter_batches(_ROWS):
                columns = zip(names, batch.columns, strict=True)
                pieces = [_piece(path, name, values, options) for name, values in columns]
                check_lengths(path, [piece.words for piece in pieces])
                unpacked += sum(piece.text_bytes for piece in pieces)
                if unpacked > most and not options.any_expansion:
                    raise out_of_proportion(path, size)
                yield pieces


def _check_types(path: Path, schema: pa.Schema) -> None:
    nested = [field.name for field in schema if not is_scalar(field.type)]
    if nested:
        raise TableError(
            str(path), f"columns of nested or binary type: {', '.join(nested)}", "flatten them to one value per cell"
        )


def _piece(path: Path, name: str, values: pa.Array, options: ReadOptions) -> Piece:
    try:
        return piece_of_scalars(values, options.missing_words if options.quoted_missing else ())
    except pa.ArrowInvalid:
        raise TableError(
            str(path),
            f"column {name!r} has {_kind(values.type)} values that cannot be written as text",
            "have the export write them as text",
        ) from None


def _kind(kind: pa.DataType) -> str:
    """
    Return the name of a type without its parameters: a time zone is any text that the file gives.

    >>> _kind(pa.timestamp("ms", tz="Nowhere/At All")), _kind(pa.dictionary(pa.int32(), pa.string()))
    ('timestamp', 'string')
    """
    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type)
    if pa.types.is_timestamp(kind):
        return "timestamp"
    return str(kind) if pa.types.is_primitive(kind) or is_text(kind) or pa.types.is_decimal(kind) else "other"


def is_scalar(kind: pa.DataType) -> bool:
    """Whether cells of this type are one value with a text: no lists, structs, bytes or extension types."""
    if pa.types.is_dictionary(kind):
        return is_scalar(kind.value_type)
    return bool(
        pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind) or is_text(kind)
    ) and not pa.types.is_interval(kind)


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def text_of(values: pa.Array) -> pa.Array:
    """
    Return values as text, different ones as different texts; a NaN is a gap.

    >>> text_of(pa.array([1.0, -0.0, 1e20, float("nan"), None])).to_pylist()
    ['1', '-0', '1e+20', None, None]
    >>> text_of(pa.array([True, False])).to_pylist()
    ['true', 'false']

    :raises pyarrow.ArrowInvalid: a text is not UTF-8, or a time zone is not known here.
    """
    text = values.cast(pa.string())
    if is_text(values.type):
        text.validate(full=True)  # Parquet files can hold anything under the name of text.
    if pa.types.is_floating(values.type):
        numbers = values.cast(pa.float32()) if pa.types.is_float16(values.type) else values
        text = pc.if_else(pc.is_nan(numbers), pa.nulls(len(text), pa.string()), text)
    return text


def piece_of_scalars(values: pa.Array, missing_words: Sequence[str]) -> Piece:
    """Number the distinct values of an array of any scalar type, and put each into its text; missing words are gaps."""
    if pa.types.is_null(values.type):
        values = values.cast(pa.string())
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    words = text_of(encoded.dictionary)
    if missing_words:
        missing = pc.is_in(words, value_set=texts(missing_words))
        words = pc.if_else(missing, pa.nulls(len(words), pa.string()), words)
    return piece_of(pa.DictionaryArray.from_arrays(encoded.indices.cast(pa.int32()), words))
