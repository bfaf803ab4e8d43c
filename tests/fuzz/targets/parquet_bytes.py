"""The Parquet reader on files with some bytes changed: footers, pages, names that are not UTF-8."""

from __future__ import annotations

import functools
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anon_core.table import from_arrow, read, streaming
from tests.fuzz.drawing import Draw
from tests.fuzz.oracle import CANARY, judged
from tests.fuzz.target import Target
from tests.fuzz.targets.parquet_schemas import check_same


@functools.cache
def files() -> tuple[bytes, ...]:
    """Return small whole files, the same every time."""
    cells = [CANARY, None, "b", CANARY]
    tables = [
        (pa.table({"town": cells}), {"compression": "none"}),
        (pa.table({"a": cells, "n": [1, 2, None, 4]}), {"compression": "none", "use_dictionary": False}),
        (pa.table({"d": pa.array([1, 2, 3, 4], pa.timestamp("us")), "a": cells}), {"compression": "snappy"}),
        (pa.table({"x": pa.array(cells).dictionary_encode()}), {"compression": "zstd", "data_page_version": "2.0"}),
        (pa.table({"b": [True, None, False, True], "f": [0.5, None, 1e300, 2.0]}), {"compression": "gzip"}),
        (pa.table({"m": pa.array([1, 2, 3, 4], pa.decimal128(9, 2))}), {"store_schema": False}),
    ]
    return tuple(_written(table, settings) for table, settings in tables)


def _written(table: pa.Table, settings: dict[str, object]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **settings)
    return stream.getvalue()


def run(draw: Draw, folder: Path) -> None:
    content = bytearray(draw.pick(files()))
    for _ in range(draw.number(0, 4)):
        at, how = draw.number(0, 4095) % len(content), draw.number(0, 5)
        if how == 5:
            del content[at : at + draw.number(1, 64)]
        elif how == 4:
            content[at:at] = draw.some(draw.number(1, 8))
        elif how == 3:  # The footer is what decides, and it stands at the end.
            content[-1 - at % min(len(content), 300)] = draw.number(0, 255)
        else:
            content[at : at + 1] = draw.some(1)
    path = folder / "table.parquet"
    path.write_bytes(bytes(content) or b"PAR1")
    whole = judged(read, path)
    if draw.chance(4):
        check_same(whole, judged(lambda: from_arrow(pa.Table.from_batches(list(streaming.batches(path))))))


TARGET = Target(run=run, share=0.06, drawn=0.02, words=(b"PAR1", b"\xff", b"\x80", b"\x7f\xff\xff\xff"))
