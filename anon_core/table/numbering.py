"""Words numbered by the sorted order of their distinct values, a gap last."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.kernels import spend
from anon_core.table.arrays import flags, integers, nulls, numbers
from anon_core.table.column import Codes, Mask

MIN_WORDS_TO_SORT = 1 << 18
"""So many words are mostly different ones: sorting them is cheaper than looking for equal ones first."""

_SORTING = 16
"""To sort a text takes as long as to handle so many codes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbering:
    """The sorted distinct values of some words, a gap last, and which of them each word is."""

    domain: pa.Array
    numbers: Codes


def number(words: pa.Array) -> Numbering:
    """
    Number words by the sorted order of their distinct values: the bytes of their UTF-8 are compared.

    >>> numbering = number(pa.array(["b", None, "a", "b"]))
    >>> numbering.domain.to_pylist(), numbering.numbers.tolist()
    (['a', 'b', None], [1, 2, 0, 1])
    """
    if len(words) >= MIN_WORDS_TO_SORT and words.null_count < len(words):
        return _number_many(words)
    encoded = words.dictionary_encode(null_encoding="encode")
    order = pc.sort_indices(encoded.dictionary)
    rank = np.empty(len(order), np.int32)
    rank[numbers(order)] = np.arange(len(order), dtype=np.int32)
    return Numbering(domain=encoded.dictionary.take(order), numbers=rank[numbers(encoded.indices)])


def number_used(words: pa.Array, used: Mask) -> Numbering:
    """
    Number those of some words that are used; the others have no place in the domain, and 0 for a number.

    >>> numbering = number_used(pa.array(["b", "c", "a"]), np.array([True, False, True]))
    >>> numbering.domain.to_pylist(), numbering.numbers.tolist()
    (['a', 'b'], [1, 0, 0])
    """
    at = np.flatnonzero(used)
    some = number(words.take(integers(at)))
    every = np.zeros(len(words), np.int32)
    every[at] = some.numbers
    return Numbering(domain=some.domain, numbers=every)


def _number_many(words: pa.Array) -> Numbering:
    """Sort all words, and give each run of equal ones its number."""
    if words.null_count:
        gaps = nulls(words)
        some = _number_many(words.take(integers(np.flatnonzero(~gaps))))
        rank = np.full(len(words), len(some.domain), np.int32)
        rank[~gaps] = some.numbers
        return Numbering(domain=pa.concat_arrays([some.domain, pa.nulls(1, pa.string())]), numbers=rank)
    order = _sorted(words)
    values = words.take(integers(order))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = flags(pc.not_equal(values.slice(1), values.slice(0, len(values) - 1)))
    rank = np.empty(len(words), np.int32)
    rank[order] = np.cumsum(fresh, dtype=np.int32) - 1
    domain = values if fresh.all() else values.take(integers(np.flatnonzero(fresh)))
    return Numbering(domain=domain, numbers=rank)


def _sorted(words: pa.Array) -> Codes:
    """
    Return the order of words, none of them null.

    Numbers are sorted many times faster than texts: the first eight bytes in which words differ at all. Only words that
    these leave equal are sorted as texts.
    """
    if not spend(_SORTING * len(words)):
        return numbers(pc.sort_indices(words)).astype(np.int32)
    from anon_core.kernels.compiled import encoding

    ends = pc.min_max(words).as_py()
    shared = len(os.path.commonprefix([ends["min"].encode(), ends["max"].encode()]))  # noqa: RUF071 - bytes, no paths
    _, offsets, text = words.buffers()
    text = b"\0" if text is None or not text.size else text  # All words may be empty.
    starts = np.frombuffer(offsets, np.int32)[words.offset : words.offset + len(words) + 1]
    letters = np.frombuffer(text, np.uint8)
    # Arrow's memory may be written to or not. As the loop only reads, it is compiled for memory that may not.
    starts.flags.writeable = letters.flags.writeable = False
    keys = encoding.eight_bytes(letters, starts, shared)
    order = np.argsort(keys).astype(np.int32)
    keys = keys[order]
    equal = keys[1:] == keys[:-1]
    del keys
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    if len(tied):
        again = pc.sort_indices(words.take(integers(order[tied])))
        order[tied] = order[tied][numbers(again)]
    return order
