"""Files that are written completely or not at all, their digests, and errors of the operating system in our words."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from anon_core.errors import StorageError


@contextlib.contextmanager
def storage(doing: str, path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a clear error."""
    try:
        yield
    except OSError as error:
        # Not error.strerror: Arrow puts a text of its own there.
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise StorageError(str(path), doing, reason) from None


def sync(path: Path) -> None:
    """Make a file, or the names in a folder, durable."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def whole_file(path: Path, doing: str = "writing", mode: int = 0o600) -> Iterator[Path]:
    """
    Give the path of an empty file to write; it then takes the place of the other, complete and durable, or not at all.

    :raises StorageError: the folder or disk does not take it.
    """
    part = path.with_name(f".{path.name}.part")
    with storage(doing, path):
        try:
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode))
            yield part
            sync(part)
            part.replace(path)
        except BaseException:  # An interrupt, too, must not leave half a file.
            with contextlib.suppress(OSError):  # The first error is the one to report.
                part.unlink(missing_ok=True)
            raise


def digest(content: bytes | str) -> str:
    """Return the sha256 of bytes, or of a text in UTF-8, in hexadecimal digits."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def stream_digest(stream: BufferedReader) -> str:
    """Return the sha256 of what is left of a stream, which then stands at its end."""
    return hashlib.file_digest(stream, "sha256").hexdigest()


def file_digest(path: Path) -> str:
    """Return the sha256 of the bytes of a file."""
    with path.open("rb") as stream:
        return stream_digest(stream)
