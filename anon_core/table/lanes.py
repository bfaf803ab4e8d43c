"""A large delimited file to codes: threads take blocks of rows in turns and number their cells.

The compiled loop only cuts a block into cells and tells them apart byte for byte, quotes included. What a cell means is
asked of pyarrow, once for each distinct one: distinct cells are a file of one column, read with the options of a small
file. So both ways give the same table. Whatever is unusual (a row of another width, a quote that stays
open, a lone carriage return) makes this way give up, and pyarrow reads the whole file and says what is wrong with it.

Of the file there is one block per thread in memory; of the table only codes and distinct cells.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from anon_core.kernels import AnyCodes, cores
from anon_core.table.arrays import integers
from anon_core.table.assembling import renumber
from anon_core.table.blocks import Block, Blocks, Bytes, UnusualError
from anon_core.table.column import Codes, Column
from anon_core.table.model import Table
from anon_core.table.numbering import number

BLOCK = 1 << 21
_MOST_LANES = 8
_ROWS, _ENTRIES, _USED = 2, 3, 4  # As in the compiled module, which is imported only where it is needed.
_BOM = np.frombuffer(b"\xef\xbb\xbf", np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One block as codes: an array per column, over the entries of one lane."""

    number: int
    lane: int
    rows: int
    codes: list[AnyCodes]


class Lane:
    """What one thread works with: its block, and the distinct cells that it has met."""

    def __init__(self, at: int, width: int, delimiter: str) -> None:
        self.at = at
        self.delimiter = ord(delimiter)
        self.text: Bytes = np.empty(1 << 16, np.uint8)
        self.starts: AnyCodes = np.empty((1 << 12) + 1, np.int64)
        self.columns: Codes = np.empty(1 << 12, np.int32)
        self.slots: AnyCodes = np.zeros(1 << 13, np.uint64)
        self.state: AnyCodes = np.zeros(5, np.int64)
        # One byte order mark is skipped by whoever reads the text: the first cell may start with another.
        self.text[: len(_BOM)] = _BOM
        self.starts[0] = self.state[_USED] = len(_BOM)
        self.scratch: Codes = np.empty((width, 0), np.int32)
        self.own: list[Codes] = []
        """Which entries belong to each column, known once :meth:`words` was called."""

    @property
    def entries(self) -> int:
        return int(self.state[_ENTRIES])

    def work(self, blocks: Blocks) -> list[Cut]:
        """
        Number the cells of blocks until there are none left.

        :raises UnusualError: the file is for the careful reader.
        """
        buffer: Bytes = np.empty(0, np.uint8)
        cuts = []
        try:
            while block := blocks.take(buffer):
                buffer = block.buffer
                cuts.append(self._cut(block))
        finally:
            blocks.stopped = True  # At the end of the file, or of all hope: nobody need go on.
        self.slots, self.scratch = self.slots[:0].copy(), self.scratch[:0].copy()
        return cuts

    def _cut(self, block: Block) -> Cut:
        from anon_core.kernels.compiled import encoding

        if self.scratch.shape[1] < block.most_rows:
            self.scratch = np.empty((len(self.scratch), block.most_rows), np.int32)
        self.state[:3] = block.start, block.end, 0
        ended = encoding.FULL
        while ended == encoding.FULL:
            words = (self.text, self.starts, self.columns, self.slots)
            ended = encoding.cut(block.buffer, self.state, self.delimiter, self.scratch, words)
            if ended == encoding.FULL:
                self._grow()
        if ended == encoding.ODD:
            raise UnusualError
        rows = int(self.state[_ROWS])
        kind = np.uint16 if self.entries <= 1 << 16 else np.int32  # Half the memory while the file is being read.
        return Cut(
            number=block.number, lane=self.at, rows=rows, codes=[codes[:rows].astype(kind) for codes in self.scratch]
        )

    def words(self, width: int, read_cells: Callable[[pa.Buffer], pa.Array]) -> list[list[pa.Array]]:
        """Return the texts of every column's entries, each in a list to take it from, and let go of their bytes."""
        texts = read_cells(pa.py_buffer(self.text[: self.state[_USED]]))
        if len(texts) != self.entries:
            raise UnusualError
        self.text, self.starts = self.text[:0].copy(), self.starts[:0].copy()
        columns = self.columns[: self.entries]
        order = np.argsort(columns, kind="stable").astype(np.int32)
        self.own = np.split(order, np.cumsum(np.bincount(columns, minlength=width))[:-1])
        self.columns = self.columns[:0].copy()
        return [[texts.take(integers(at))] for at in self.own]

    def _grow(self) -> None:
        from anon_core.kernels.compiled import encoding

        if self.entries < len(self.columns):
            self.text = _doubled(self.text)
            return
        self.columns = _doubled(self.columns)
        self.starts = np.append(self.starts, np.empty(len(self.columns) // 2, np.int64))
        twice = 2 * len(self.slots)
        self.slots = self.slots[:0].copy()  # Let go of the old ones before there are new ones.
        self.slots = np.zeros(twice, np.uint64)
        encoding.enter_again(self.state, (self.text, self.starts, self.columns, self.slots))


def _doubled(array: Any) -> Any:
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


def encode(
    stream: BinaryIO | io.RawIOBase,
    names: Sequence[str],
    delimiter: str,
    read_cells: Callable[[pa.Buffer], pa.Array],
    *,
    block: int = BLOCK,
    lanes: int | None = None,
) -> Table:
    """
    Encode the rows of a stream, whose first row is the header.

    ``read_cells`` is given distinct cells as a file of one column without a header, and returns their texts.

    :raises UnusualError: the file is for the careful reader.
    """
    blocks = Blocks(stream, delimiter, block)
    workers = [Lane(at, len(names), delimiter) for at in range(lanes or min(_MOST_LANES, cores()))]
    with ThreadPoolExecutor(len(workers)) as pool:
        try:
            running = [pool.submit(lane.work, blocks) for lane in workers]
            cuts = sorted((cut for lane in running for cut in lane.result()), key=lambda cut: cut.number)
        finally:
            blocks.stopped = True  # An interrupted main thread need not wait for the whole file.
        numbers, domains = _numbering(workers, len(names), read_cells)
        columns = pool.map(lambda at: _column(names[at], at, cuts, numbers, domains[at]), range(len(names)))
        return Table(columns=tuple(columns), rows=sum(cut.rows for cut in cuts))


def _numbering(
    lanes: Sequence[Lane], width: int, read_cells: Callable[[pa.Buffer], pa.Array]
) -> tuple[list[Codes], list[pa.Array]]:
    """Return, for every lane, the final code of each entry, and the domain of every column."""
    words = [lane.words(width, read_cells) for lane in lanes]
    new = [np.empty(lane.entries, np.int32) for lane in lanes]
    domains = []
    for column in range(width):
        numbering = number(pa.concat_arrays([columns[column].pop() for columns in words]))
        first = 0
        for lane, codes in zip(lanes, new, strict=True):
            own = lane.own[column]
            codes[own] = numbering.numbers[first : first + len(own)]
            first += len(own)
        domains.append(numbering.domain)
    return new, domains


def _column(name: str, at: int, cuts: Sequence[Cut], numbers: Sequence[Codes], domain: pa.Array) -> Column:
    """Put the blocks of a column below each other, and let go of them."""
    codes = np.empty(sum(cut.rows for cut in cuts), np.int32)
    row = 0
    for cut in cuts:
        renumber(cut.codes[at], numbers[cut.lane], codes[row : row + cut.rows])
        cut.codes[at] = cut.codes[at][:0].copy()
        row += cut.rows
    return Column(name=name, codes=codes, domain=domain)
