"""A delimited file as blocks of whole rows in UTF-8, for several threads to take in turns."""

from __future__ import annotations

import codecs
import io
import threading
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from anon_core.limits import ROW

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

_PADDING = 8  # The compiled loops look at eight bytes at a time.
_RETURN = 13


class UnusualError(Exception):
    """There is something in the file that only the careful reader can judge: a stray quote, a lone carriage return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Whole rows: the bytes of ``buffer`` from ``start`` to ``end``, no more of them than ``most_rows``."""

    number: int
    buffer: Bytes
    start: int
    end: int
    most_rows: int


class Recoded(io.RawIOBase):
    """A stream of text in another encoding, as UTF-8."""

    def __init__(self, stream: BinaryIO, codec: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(codec)()
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        """:raises UnicodeError: the bytes are not text in this encoding."""
        while not self._ready and not self._ended:
            raw = self._stream.read(1 << 20)
            self._ended = not raw
            self._ready = self._decoder.decode(raw, final=self._ended).encode()
        taken = self._ready[: len(target)]
        target[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)


class Blocks:
    """
    Hand out the rows of a stream, without its header, a block at a time to whichever thread asks next.

    A block ends at a line feed before which the quotes are even in number. Where quotes are used as they should be, a
    row ends there; where they are not, whoever cuts that block comes upon a quote that stays open.
    """

    def __init__(self, stream: BinaryIO | io.RawIOBase, delimiter: str, size: int) -> None:
        self.stopped = False
        self.size = size
        self._longest = 2 * max(size, ROW.value())
        self._stream = stream
        self._delimiter = ord(delimiter)
        self._lock = threading.Lock()
        self._rest: Bytes = np.empty(0, np.uint8)
        self._ended = False
        self._taken = 0

    def take(self, buffer: Bytes) -> Block | None:
        """
        Return the next block, in this buffer or in a larger one if a row needs it; none at the end of the file.

        :raises UnusualError: quotes or line ends are not what they should be.
        """
        from anon_core.kernels.compiled import encoding

        with self._lock:
            end = have = 0
            while not end:
                if self.stopped or (self._ended and not len(self._rest) + have):
                    return None
                buffer, have = self._fill(buffer, have)
                quotes, feeds, returns = encoding.marks(buffer, have)
                last = int(buffer[have - 1]) if have else 0
                # The line feed of the last carriage return may be in the next block.
                if returns > (not self._ended and last == _RETURN):
                    raise UnusualError
                # Pyarrow takes an empty cell at the very end for quoted, if the one before it is.
                if self._ended and (quotes % 2 or last == self._delimiter):
                    raise UnusualError
                end = have if self._ended else encoding.last_row_end(buffer, have, quotes)
            self._rest = buffer[end:have].copy()
            start = 0 if self._taken else self._behind_header(buffer, end)
            self._taken += 1
            return Block(number=self._taken, buffer=buffer, start=start, end=end, most_rows=feeds + 1)

    def _fill(self, buffer: Bytes, have: int) -> tuple[Bytes, int]:
        """Return the buffer filled up, with what it holds or with the rest of the last block in front, and how far."""
        kept = buffer[:have].copy() if have else self._rest
        room = max(self.size, 2 * len(kept))
        if room > self._longest:
            raise UnusualError
        if len(buffer) < room + _PADDING:
            buffer = np.empty(room + _PADDING, np.uint8)
        buffer[: len(kept)] = kept
        have, self._rest = len(kept), self._rest[:0]
        view = memoryview(buffer)  # type: ignore[arg-type]
        while have < room and not self._ended:
            got = self._stream.readinto(view[have:room]) or 0  # type: ignore[union-attr]
            self._ended = not got
            have += got
        buffer[have : have + _PADDING] = 0
        return buffer, have

    def _behind_header(self, buffer: Bytes, end: int) -> int:
        from anon_core.kernels.compiled import encoding

        mark = len(codecs.BOM_UTF8) if buffer[:3].tobytes() == codecs.BOM_UTF8 else 0
        start = encoding.row_end(buffer, mark, end, self._delimiter)
        if start < 0:
            raise UnusualError
        return int(start)
