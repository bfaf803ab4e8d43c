"""The files to publish: their digests, their content, and whether two of them hold the same rows."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from anon_core.files.storage import stream_digest

if TYPE_CHECKING:
    from anon_core.frequency import FrequencyTable
    from anon_core.table import Table


class MeasuredFile(NamedTuple):
    """One file to publish, as it was measured: its name, digest, size and rows."""

    name: str
    sha256: str
    bytes: int
    rows: int


def digest_of(path: Path) -> tuple[str, int]:
    """Return the sha256 of a file's bytes, and how many there are."""
    with path.open("rb") as stream:
        return stream_digest(stream), stream.tell()


def reread(path: Path) -> Table:
    """
    Read a distribution back exactly as it was written.

    The core's reader accepts patterns; a path that looks like one is escaped, so that only the file whose digest was
    taken is read.
    """
    from anon_core.table import RELEASED, read

    return read(Path(glob.escape(str(path))) if glob.has_magic(str(path)) else path, RELEASED)


def same_rows(one: FrequencyTable, other: FrequencyTable) -> bool:
    """
    Whether two files hold the same rows under the same columns, each as often, in any order.

    Both come from the core's reader. Its domains hold exactly the values that occur, sorted, and its tuples are in the
    order of their codes; so equal content has equal codes.
    """
    import numpy as np

    return bool(
        one.names == other.names
        and np.array_equal(one.weights, other.weights)
        and all(a.equals(b) for a, b in zip(one.domains, other.domains, strict=True))
        and all(np.array_equal(a, b) for a, b in zip(one.codes, other.codes, strict=True))
    )
