"""A hash of texts that is the same on every machine and in every run, for whole arrays at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anon_core.kernels import Words
from anon_core.kernels.splitmix import STEP, mixed


def hashes_of(texts: pa.Array) -> Words:
    """
    Return one number of 64 bits for each text, spread evenly; equal texts have equal numbers.

    Every byte is mixed with its place, what comes out is added up and mixed once more with the length (the mixer is
    that of SplitMix64). Two of a billion different texts have the same number in one of 40 tables.

    >>> hashes_of(pa.array(["a", "b", "a"])).tolist()[0] == hashes_of(pa.array(["a"])).tolist()[0]
    True
    """
    if not len(texts):
        return np.zeros(0, np.uint64)
    binary = texts.cast(pa.large_string()).cast(pa.large_binary())
    ends = np.frombuffer(binary.buffers()[1], np.int64, len(binary) + 1, binary.offset * 8)
    begin, end = int(ends[0]), int(ends[-1])
    raw = binary.buffers()[2]
    signs = np.frombuffer(raw, np.uint8, end - begin, begin) if end > begin else np.zeros(0, np.uint8)
    lengths = np.diff(ends)
    places = np.arange(end - begin, dtype=np.uint64) - np.repeat((ends[:-1] - begin).astype(np.uint64), lengths)
    sums = np.zeros(end - begin + 1, np.uint64)
    np.cumsum(mixed(places * np.uint64(256) + signs + STEP), out=sums[1:])
    return mixed(sums[ends[1:] - begin] - sums[ends[:-1] - begin] + lengths.astype(np.uint64) * STEP + STEP)
