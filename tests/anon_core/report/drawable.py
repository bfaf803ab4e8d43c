"""What pictures are made of, by hand: rows in classes of given sizes, and rows with given values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anon_core.measures.risk.rows_by_size import RowsBySize, RowsOrPeople
from anon_core.measures.risk.value_risk import ValueRisk
from tests.properties.tables import Cell


def classes(sizes: dict[int, int], counted: RowsOrPeople = RowsOrPeople.ROWS) -> RowsBySize:
    """So many rows in classes of each size."""
    ordered = sorted(sizes)
    return RowsBySize(
        sizes=np.array(ordered, np.int64),
        rows=np.array([sizes[size] for size in ordered], np.int64),
        classes=sum(rows // size for size, rows in sizes.items()),
        counted=counted,
    )


def by_value(
    values: list[Cell], safe: list[int], at_risk: list[int], counted: RowsOrPeople = RowsOrPeople.ROWS
) -> ValueRisk:
    numbers = [np.array(side, np.int64) for side in (safe, at_risk)]
    return ValueRisk(
        column="town", k=5, counted=counted, values=pa.array(values, pa.string()), safe=numbers[0], at_risk=numbers[1]
    )
