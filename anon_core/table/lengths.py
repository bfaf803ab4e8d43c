"""How long a cell may be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from anon_core.errors import TableError
from anon_core.limits import CELL
from anon_core.table.options import columns_at


def check_lengths(path: Path, columns: Sequence[pa.Array]) -> None:
    """:raises TableError: a cell is longer than a cell may be; the message gives the positions of the columns."""
    most = CELL.value()
    long = [at for at, cells in enumerate(columns, 1) if (pc.max(pc.binary_length(cells)).as_py() or 0) > most]
    if long:
        raise TableError(
            str(path), f"{columns_at(long)} has a cell beyond {CELL.words()}; is every quote closed?", CELL.advice
        )
