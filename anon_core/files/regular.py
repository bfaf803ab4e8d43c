"""Opening files that others wrote: regular files only, and of those that are read whole no more than a limit."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path

from anon_core.limits import Limit
from anon_core.wording import counted


class NotRegularError(Exception):
    """A path leads to no regular file; ``kind`` is what it leads to, in words."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class FileTooLargeError(Exception):
    """A file is larger than may be read whole: ``what`` is the finding in words, ``advice`` how to raise the limit."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what, advice)
        self.what = what
        self.advice = advice


def open_regular(path: Path) -> BufferedReader:
    """
    Open a regular file for reading bytes. A device never ends, and opening a FIFO waits for a writer.

    :raises NotRegularError: it is a folder, a device, a FIFO or a socket.
    :raises OSError: it is not there, or may not be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        if path.is_socket():  # A socket cannot even be opened.
            raise NotRegularError("a socket, not a regular file") from None
        raise
    try:
        kind = kind_of(os.fstat(handle).st_mode)
        if kind:
            raise NotRegularError(kind)
        return os.fdopen(handle, "rb")
    except BaseException:  # An interrupt, too, must not leave the handle open.
        os.close(handle)
        raise


def kind_of(mode: int) -> str:
    """Return in words what a file is by its mode; nothing for a regular one."""
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISDIR(mode):
        return "a folder"
    kind = "a FIFO" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return f"{kind}, not a regular file"


def read_whole(path: Path, limit: Limit) -> bytes:
    """
    Return the content of a regular file that is no larger than a limit.

    :raises NotRegularError: it is a folder, a device, a FIFO or a socket.
    :raises FileTooLargeError: it is larger, also where its size is given as 0, as below ``/proc``.
    :raises OSError: it is not there, or may not be read.
    :raises InvalidInputError: the setting of the limit is wrong.
    """
    most = limit.value()
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        content = stream.read(most + 1) if size <= most else b""
    if size > most or len(content) > most:
        found = f"has {counted(size, 'byte')}" if size > most else "goes on"
        raise FileTooLargeError(f"{found}, beyond {limit.words()} for a file that is read whole", limit.advice)
    return content
