"""Opening a file that may be packed: regular files only, and of gzip no more than is in proportion to the file."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any, BinaryIO, cast

from anon_core.errors import TableError
from anon_core.files.regular import NotRegularError, open_regular
from anon_core.limits import EXPANSION, EXPANSION_FLOOR
from anon_core.wording import counted

_GZIP = b"\x1f\x8b"


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, as long as it is in proportion to the file."""

    def __init__(self, path: Path, packed: BinaryIO) -> None:
        self._path = path
        self._packed = packed
        self._stream = gzip.GzipFile(fileobj=packed, mode="rb")
        self._size = os.fstat(packed.fileno()).st_size
        self._most = most_unpacked(self._size)
        self._done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        """:raises TableError: it unpacks to more than is in proportion."""
        done = self._stream.readinto(target)
        self._done += done
        if self._done > self._most:
            raise out_of_proportion(self._path, self._size)
        return done

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._packed.close()
        super().close()


def open_binary(path: Path) -> BinaryIO:
    """
    Open a file for reading bytes, unpacking gzip by its magic number, not by its name.

    :raises TableError: it is no regular file; while reading, it unpacks to more than is in proportion to its size.
    """
    try:
        stream = open_regular(path)
    except NotRegularError as error:
        raise TableError(str(path), f"is {error.kind}", "name a file, or a pattern such as folder/*.csv") from None
    packed = stream.read(len(_GZIP)) == _GZIP
    stream.seek(0)
    return cast("BinaryIO", io.BufferedReader(_Unpacked(path, stream), 1 << 16)) if packed else stream


def is_packed(path: Path) -> bool:
    """Whether a file is gzip, by its magic number."""
    with open_regular(path) as stream:
        return stream.read(len(_GZIP)) == _GZIP


def most_unpacked(size: int) -> int:
    """Return to how many bytes a packed file of a size may unpack."""
    return max(EXPANSION_FLOOR.value(), EXPANSION.value() * size)


def out_of_proportion(path: Path, size: int) -> TableError:
    """Return the error to raise where a packed file unpacks to more than is in proportion to its size."""
    return TableError(
        str(path),
        f"has {counted(size, 'byte')} and unpacks to more than {EXPANSION.value():,} times as much, beyond the "
        f"limit of expansion for more than {counted(EXPANSION_FLOOR.value(), 'byte')}",
        EXPANSION.advice,
    )
