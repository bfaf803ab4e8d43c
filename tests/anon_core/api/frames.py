"""The same rows as every kind of frame and file. Polars is not installed here: `Stream` has what its frames have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

SPEC = """
unit: person
columns:
  person: {role: identifier}
  age: {role: quasi, hierarchy: {intervals: [5, 10]}}
  sex: {role: quasi}
  disease: {role: sensitive}
privacy: {k: 3, suppression_limit: 0.2}
"""


class Stream:
    """An object with the Arrow stream interface and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def every_kind(table: pa.Table, folder: Path) -> dict[str, Any]:
    """Return the rows of an Arrow table as frames of all kinds, and as files."""
    pyarrow.csv.write_csv(table, folder / "t.csv")
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    return {
        "pyarrow": table,
        "chunks": pa.concat_tables([table.slice(0, 1), table.slice(1)]),
        "pandas": table.to_pandas(),
        "pandas on arrow": table.to_pandas(types_mapper=lambda kind: None if kind is None else _arrow_type(kind)),
        "a stream": Stream(table),
        "a dictionary": table.set_column(0, table.column_names[0], table.column(0).dictionary_encode()),
        "csv": folder / "t.csv",
        "parquet": str(folder / "t.parquet"),
    }


def _arrow_type(kind: pa.DataType) -> Any:
    import pandas

    return pandas.ArrowDtype(kind)


def people(count: int = 60) -> pa.Table:
    """Return two rows for each of some people."""
    ages = [20 + (7 * at) % 17 for at in range(count)]
    return pa.table(
        {
            "person": [f"p{at:03}" for at in range(count)] * 2,
            "age": ages * 2,
            "sex": ["F" if at % 3 else "M" for at in range(count)] * 2,
            "disease": (["flu", "cold", "gout", None] * count)[: 2 * count],
        }
    )
