"""The figures of a column from one pass over a table that does not fit into memory [Chia2019]_.

Chia et al.: KHyperLogLog: Estimating Reidentifiability and Joinability of Large Data at Scale, 2019. As there, the
values with the smallest hashes are kept (a bottom-k sketch, a uniform sample of the distinct values). We count their
rows exactly: a value that is kept at the end was kept from its first row on. Values of many rows are counted separately
(Misra and Gries 1982), because a sample of distinct values mostly misses them, and the entropy depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.kernels import Integers, Words
from anon_core.kernels.splitmix import STEP, mixed
from anon_core.measures.profile import ColumnProfile, type_of
from anon_core.table.arrays import integers, nulls, numbers

MAX_KEPT_VALUES = 16_384
"""So many values are kept: then the standard error of the number of distinct values is 0.8 %."""
_GROUPS = 16
_MAX_CHARACTERS = 1000
"""So many characters of a value are kept; longer values are still told apart by their hashes."""


def hashes_of(texts: pa.Array) -> Words:
    """
    Return one number of 64 bits for each text, spread evenly; equal texts have equal numbers.

    Every byte is mixed with its position; the results are added up and mixed once more with the length (with the mixer
    of SplitMix64). In one of 40 tables with a billion different texts, two texts have the same number.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketched:
    """
    Estimated figures, and their standard errors: relative for ``distinct``, else absolute.

    If no more distinct values occur than are kept, the figures are exact and the errors 0. ``values`` are those that
    were kept, ``weights`` their rows.
    """

    profile: ColumnProfile
    rows: int
    distinct_error: float
    unique_share_error: float
    entropy_error: float
    values: pa.Array
    weights: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entropy:
    """An estimated entropy in bits, and its standard error."""

    bits: float
    error: float


@dataclass(slots=True)
class ColumnSketch:
    """The sketch of one column, to which batches are added; its memory does not grow with the rows."""

    name: str
    kept: int = MAX_KEPT_VALUES
    rows: int = 0
    missing: int = 0
    overflowed: bool = False
    type: str = "empty"
    hashes: Words = field(default_factory=lambda: np.zeros(0, np.uint64))
    counts: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    values: pa.Array = field(default_factory=lambda: pa.array([], pa.large_string()))
    heavy_hashes: Words = field(default_factory=lambda: np.zeros(0, np.uint64))
    heavy_counts: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    uncounted: int = 0

    def add(self, batch: pa.Array | pa.ChunkedArray) -> None:
        """Add the next texts of the column; gaps are null."""
        times = batch.value_counts()
        values, counts = times.field("values"), numbers(times.field("counts"))
        gaps = nulls(values)
        self.rows += len(batch)
        self.missing += int(counts[gaps].sum())
        values, counts = values.drop_null().cast(pa.large_string()), counts[~gaps]
        if not len(values):
            return
        self.type = _joined(self.type, type_of(values))
        hashes = hashes_of(values)
        self._count_heavy(hashes, counts)
        self._keep(hashes, counts, values)

    def _keep(self, hashes: Words, counts: Integers, values: pa.Array) -> None:
        """Keep the values with the smallest hashes; a value with a larger hash was never kept before."""
        if self.overflowed:
            near = np.flatnonzero(hashes <= self.hashes[-1])
            hashes, counts, values = hashes[near], counts[near], values.take(integers(near))
        values = pc.utf8_slice_codeunits(values, 0, _MAX_CHARACTERS)
        every, first, which = np.unique(np.concatenate([self.hashes, hashes]), return_index=True, return_inverse=True)
        total = np.bincount(which, np.concatenate([self.counts, counts]), len(every)).astype(np.int64)
        self.overflowed |= len(every) > self.kept
        self.hashes, self.counts = every[: self.kept], total[: self.kept]
        self.values = pa.concat_arrays([self.values, values]).take(integers(first[: self.kept]))

    def _count_heavy(self, hashes: Words, counts: Integers) -> None:
        """Add to the counters; if there are too many, subtract the next largest count from all, and note how much."""
        every, which = np.unique(np.concatenate([self.heavy_hashes, hashes]), return_inverse=True)
        total = np.bincount(which, np.concatenate([self.heavy_counts, counts]), len(every)).astype(np.int64)
        if len(every) > self.kept:
            taken = int(np.partition(total, len(total) - self.kept - 1)[len(total) - self.kept - 1])
            total -= taken
            self.uncounted += taken
            every, total = every[total > 0], total[total > 0]
        self.heavy_hashes, self.heavy_counts = every, total

    def figures(self) -> Sketched:
        """Return the figures of all batches so far."""
        distinct = float(len(self.hashes))
        if self.overflowed:
            # The largest of the k smallest hashes, spread evenly from 0 to 1, is near k/distinct.
            distinct = (self.kept - 1) / (float(self.hashes[-1]) + 1) * 2.0**64
        alone = int(np.count_nonzero(self.counts == 1)) / max(len(self.counts), 1)
        share = min((alone * distinct + (self.missing == 1)) / max(self.rows, 1), 1.0)
        entropy = self._entropy()
        relative = (self.kept - 2) ** -0.5 if self.overflowed else 0.0
        of_sample = (alone * (1 - alone) / len(self.counts)) ** 0.5 * distinct if self.overflowed else 0.0
        profile = ColumnProfile(
            name=self.name,
            type=self.type,
            distinct=round(distinct),
            missing=self.missing,
            entropy=entropy.bits,
            unique_share=share,
        )
        return Sketched(
            profile=profile,
            rows=self.rows,
            distinct_error=relative,
            unique_share_error=((share * relative) ** 2 + (of_sample / max(self.rows, 1)) ** 2) ** 0.5,
            entropy_error=entropy.error,
            values=self.values,
            weights=self.counts,
        )

    def _entropy(self) -> _Entropy:
        """
        Return the entropy and its standard error.

        H = log2 N - (1/N) * sum of c log2 c

        where: N is the number of rows, and c runs over the rows of each value; a gap is a value. Values are heavy if
        their counter is twenty times what was subtracted from all counters, and are counted exactly. The rows of all
        other values get the mean log2 c of the kept values that are not heavy.
        """
        if not self.rows:
            return _Entropy(bits=0.0, error=0.0)
        heavy = self.heavy_counts > 20 * self.uncounted
        large = self.heavy_counts[heavy] + self.uncounted / 2
        light = ~np.isin(self.hashes, self.heavy_hashes[heavy])
        rest = max(self.rows - self.missing - float(large.sum()), 0.0) if self.overflowed else 0.0
        sure = large if self.overflowed else self.counts
        known = _weighted(np.append(sure, self.missing))
        counts = self.counts[light]
        if not rest or not len(counts):
            return _Entropy(bits=max(0.0, float(np.log2(self.rows)) - known / self.rows), error=0.0)
        mean = _weighted(counts) / counts.sum()
        groups = [_weighted(counts[at::_GROUPS]) / counts[at::_GROUPS].sum() for at in range(min(_GROUPS, len(counts)))]
        spread = float(np.std(groups, ddof=1)) / len(groups) ** 0.5 if len(groups) > 1 else mean
        off = float((self.uncounted / 2 * (np.log2(large) + 1.5)).sum()) / self.rows if len(large) else 0.0
        entropy = float(np.log2(self.rows)) - (known + rest * mean) / self.rows
        return _Entropy(bits=max(0.0, entropy), error=spread * rest / self.rows + off)


def sketch(batches: Iterable[pa.RecordBatch | pa.Table], *, kept: int = MAX_KEPT_VALUES) -> list[Sketched]:
    """
    Return the estimated figures of every column of a stream of batches of texts.

    Batches may be of any size: as long as no counter had to be reduced, the figures depend on the rows only. Without
    any batch there are no columns.
    """
    columns: list[ColumnSketch] = []
    for batch in batches:
        columns = columns or [ColumnSketch(name=name, kept=kept) for name in batch.schema.names]
        for at, column in enumerate(columns):
            column.add(batch.column(at))
    return [column.figures() for column in columns]


def _weighted(counts: Integers) -> float:
    counts = counts[counts > 0]
    return float((counts * np.log2(counts)).sum())


def _joined(one: str, other: str) -> str:
    """Return the common type of two types: whole numbers are decimals too, all other pairs are text."""
    if "empty" in (one, other) or one == other:
        return other if one == "empty" else one
    return "decimal" if {one, other} == {"integer", "decimal"} else "text"
