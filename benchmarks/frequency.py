"""Counting distinct tuples: FrequencyTable against pandas and pyarrow group-by, on the same columns in one run."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import combinations

import numpy as np
import pandas as pd  # noqa: TID253 - the peer
import pyarrow as pa

from anon_core.frequency import FrequencyTable
from anon_core.table import Table, from_arrow

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000


def register(rows: int) -> Table:
    """A table shaped like a region's register: 88 years, 300 towns of unequal size, 2 sexes, 40 countries."""
    draw = np.random.Generator(np.random.PCG64(1))
    towns = np.minimum((draw.pareto(0.8, rows) * 3).astype(np.int64), 299)
    countries = np.minimum((draw.pareto(1.5, rows) * 2).astype(np.int64), 39)
    columns = {
        "birth_year": draw.integers(1916, 2004, rows).astype(str),
        "municipality": np.char.add("town ", towns.astype(str)),
        "sex": np.array(["F", "M"])[draw.integers(0, 2, rows)],
        "nationality": np.char.add("country ", countries.astype(str)),
    }
    return from_arrow(pa.table({name: pa.array(values) for name, values in columns.items()}))


def best_of(runs: int, work: Callable[[], object]) -> float:
    """Return the fastest of a few runs: the machine is shared."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    table = register(ROWS)
    subsets = [list(s) for size in range(1, 5) for s in combinations(table.names, size)]
    frame = pd.DataFrame({c.name: pd.Categorical.from_codes(c.codes, c.domain.to_pylist()) for c in table.columns})
    arrow = table.to_arrow()

    def ours() -> list[int]:
        whole = FrequencyTable.of(table)
        return [whole.project(columns).singletons for columns in subsets]

    def pandas_categorical() -> list[int]:
        return [int((frame.groupby(s, observed=True, dropna=False).size() == 1).sum()) for s in subsets]

    def pyarrow_text() -> list[int]:
        return [
            int((np.asarray(arrow.group_by(s).aggregate([([], "count_all")])["count_all"]) == 1).sum()) for s in subsets
        ]

    if not ours() == pandas_categorical() == pyarrow_text():
        raise SystemExit("the three do not agree on the singletons")
    mine = best_of(3, ours)
    print(
        f"python {platform.python_version()}, " + ", ".join(f"{p} {version(p)}" for p in ("numpy", "pandas", "pyarrow"))
    )
    print(f"singletons of all {len(subsets)} subsets of 4 columns, {ROWS:,} rows (equal answers checked):")
    print(f"  FrequencyTable      {mine:8.3f} s")
    for name, work in (("pandas categorical", pandas_categorical), ("pyarrow group_by", pyarrow_text)):
        peer = best_of(2, work)
        print(f"  {name:<19} {peer:8.3f} s  {peer / mine:6.1f} times ours")


if __name__ == "__main__":
    main()
