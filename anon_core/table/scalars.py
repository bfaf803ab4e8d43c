"""The one text of every scalar type: what Arrow's own CSV writer writes."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from anon_core.table.arrays import texts
from anon_core.table.assembling import Piece
from anon_core.table.model import piece_of


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
