"""The Parquet reader on whole files with odd schemas: every type, nested ones, odd names, metadata with canaries."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from anon_core.table import Table, from_arrow, read, streaming
from anon_core.table.options import ReadOptions
from tests.fuzz.drawing import Draw
from tests.fuzz.oddities import TEXTS
from tests.fuzz.oracle import CANARY, FindingError, judged
from tests.fuzz.target import Target

TYPES = (
    pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(4), pa.large_binary(), pa.binary_view(),
    pa.bool_(), pa.null(), pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.int64(), pa.uint64(), pa.float16(),
    pa.float32(), pa.float64(), pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("us"),
    pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("us", "Europe/Rome"),
    pa.timestamp("ms", "+02:00"), pa.decimal128(38, 0), pa.decimal128(9, -2), pa.decimal256(76, 30), pa.uuid(),
    pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.int64()), pa.list_(pa.string()),
    pa.struct([("a", pa.string())]), pa.map_(pa.string(), pa.int32()), pa.json_(), pa.bool8(),
    pa.list_(pa.list_(pa.int8())), pa.list_(pa.int8(), 2),
)  # fmt: skip
VALUES = (
    None, CANARY, "", "é", "\u0000", 0, 1, -1, 127, 2**31, 2**63 - 1, -(2**63), 0.5, float("nan"), float("inf"), True,
    CANARY.encode(), b"\xff", b"abcd", decimal.Decimal("1.10"), [CANARY], [], {"a": CANARY}, [(CANARY, 1)], 253402300800,
)  # fmt: skip


def run(draw: Draw, folder: Path) -> None:
    rows = draw.number(0, 5)
    columns: list[pa.Array] = []
    names: list[str] = []
    for at in range(draw.number(1, 4)):
        kind = draw.pick(TYPES)
        columns.append(_array([draw.pick(VALUES) for _ in range(rows)], kind))
        names.append(draw.pick(TEXTS).encode("utf-8", "replace").decode() if draw.chance(4) else f"n{at}")
    metadata = {"pandas": f'{{"index_columns": ["{CANARY}"]}}', CANARY: CANARY} if draw.chance(3) else None
    settings: dict[str, Any] = {
        "store_schema": not draw.chance(4),
        "use_dictionary": not draw.chance(3),
        "compression": draw.pick(("none", "snappy", "zstd", "gzip", "lz4", "brotli")),
        "data_page_version": draw.pick(("1.0", "2.0")),
        "row_group_size": draw.pick((1, 2, 100)),
        "use_deprecated_int96_timestamps": draw.chance(4),
    }
    path = folder / "table.parquet"
    try:
        table = pa.Table.from_arrays(columns, names=names).replace_schema_metadata(metadata)
        pq.write_table(table, path, **settings)
    except (pa.ArrowException, TypeError, ValueError, OSError):
        return  # Arrow cannot write it.
    options = ReadOptions(missing_words=("", "1"), quoted_missing=not draw.chance(3))
    found = judged(read, path, options)
    check_same(found, judged(lambda: from_arrow(pa.Table.from_batches(list(streaming.batches(path, options))))))


def check_same(whole: Table | None, in_batches: Table | None) -> None:
    """:raises FindingError: one way reads what the other refuses, or reads other cells."""
    found = [table and table.to_arrow().to_pydict() for table in (whole, in_batches)]
    if found[0] != found[1]:
        sizes = " and ".join("a refusal" if table is None else f"{table.rows} rows" for table in (whole, in_batches))
        raise FindingError("readers disagree", "streaming.py:batches", sizes)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Return those values that are of this type, and gaps for the others."""
    kept = []
    for value in values:
        try:
            pa.array([value], kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            value = None
        kept.append(value)
    try:
        return pa.array(kept, kind)
    except pa.ArrowException:
        return pa.nulls(len(kept))


TARGET = Target(run=run, share=0.02, drawn=0.1)
