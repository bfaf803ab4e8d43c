"""Singletons of a region's register: all subsets of 4 columns and the best set, against pandas and DuckDB.

6.4 million rows: 86 years of birth, 1,500 municipalities of unequal size, the 12 provinces they determine, 2 sexes.
The peers count each subset with their own group-by, on the same codes in memory. Then the way from a CSV file to the
answer, against the time that pyarrow needs to read the file. Answers are compared before anything is timed.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: TID253 - the peer
import pyarrow as pa
import pyarrow.csv
from timing import best_of, grown_by

import anon_core.kernels.compiled  # noqa: F401, TID253 - what is measured is the work, not loading numba
from anon_core.detection.selective import Selection, select
from anon_core.detection.singletons import detect
from anon_core.frequency import FrequencyTable
from anon_core.table import Column, Table, read

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 6_400_000
NAMES = ("birth_year", "municipality", "province", "sex")


def register(rows: int) -> Table:
    """Return a register of so many rows, always the same one."""
    draw = np.random.Generator(np.random.PCG64(1))
    share = 1 / np.arange(1, 1501) ** 0.9
    towns = draw.choice(1500, rows, p=share / share.sum())
    columns = {
        "birth_year": (draw.integers(0, 86, rows), [str(1916 + n) for n in range(86)]),
        "municipality": (towns, [f"Comune {n:04}" for n in range(1500)]),
        "province": (towns * 12 // 1500, [f"P{n:02}" for n in range(12)]),
        "sex": (draw.integers(0, 2, rows), ["F", "M"]),
    }
    return Table(
        columns=tuple(
            Column(name=name, codes=codes.astype(np.int32), domain=pa.array(words))
            for name, (codes, words) in columns.items()
        ),
        rows=rows,
    )


def counted(selection: Selection) -> list[tuple[int, int]]:
    return [(subset.distinct, subset.singletons) for subset in selection.subsets]


def best_sets(selection: Selection) -> list[int]:
    """Return the most singletons of a set of each size."""
    sizes = range(1, len(NAMES) + 1)
    return [max(s.singletons for s in selection.subsets if len(s.columns) == size) for size in sizes]


def peers(table: Table, subsets: Sequence[tuple[str, ...]]) -> dict[str, Callable[[], list[tuple[int, int]]]]:
    """Return each peer's way to the distinct tuples and singletons of every subset."""
    numbers = pd.DataFrame({column.name: column.codes for column in table.columns})
    words = pd.DataFrame({c.name: pd.Categorical.from_codes(c.codes, c.domain.to_pylist()) for c in table.columns})

    def by_pandas(frame: pd.DataFrame) -> list[tuple[int, int]]:
        sizes = [frame.groupby(list(s), observed=True, dropna=False, sort=False).size() for s in subsets]
        return [(len(size), int((size == 1).sum())) for size in sizes]

    ways: dict[str, Callable[[], list[tuple[int, int]]]] = {
        "pandas on codes": lambda: by_pandas(numbers),
        "pandas categorical": lambda: by_pandas(words),
    }
    try:
        import duckdb
    except ImportError:
        print("DuckDB is not installed (make bench installs it): left out")
        return ways
    connection = duckdb.connect()
    connection.register("coded", pa.table({column.name: column.codes for column in table.columns}))
    connection.execute("create table register as select * from coded")
    query = "select count(*), count(*) filter (n = 1) from (select count(*) as n from register group by {})"

    def by_duckdb() -> list[tuple[int, int]]:
        return [connection.execute(query.format(", ".join(s))).fetchall()[0] for s in subsets]

    ways["DuckDB on codes"] = by_duckdb
    return ways


def in_memory(table: Table) -> None:
    subsets = [s for size in range(1, 5) for s in combinations(NAMES, size)]

    def count() -> FrequencyTable:
        return FrequencyTable.of(table)

    def all_subsets() -> Selection:
        return select(count())

    answer = counted(all_subsets())
    ways = peers(table, subsets)
    for name, way in ways.items():
        if way() != answer:
            raise SystemExit(f"{name} does not agree on the counts")
    whole = count()
    best = detect(whole)
    if [each.singletons for each in best.best_by_size] != best_sets(all_subsets()):
        raise SystemExit("the best sets are not those with most singletons")
    mine = best_of(15, lambda: best_sets(all_subsets()))
    print(f"codes in memory: {table.rows:,} rows, {whole.tuples:,} tuples, {len(subsets)} subsets, equal answers")
    print(f"  counting the distinct tuples     {best_of(15, count):8.4f} s")
    print(f"  all subsets and the best of each size, counting included  {mine:8.4f} s")
    print(f"  the same best sets by the search of `anon detect`         {best_of(9, lambda: detect(count())):8.4f} s")
    for name, way in ways.items():
        seconds = best_of(3, way)
        print(f"  {name:<31}  {seconds:8.4f} s  {seconds / mine:7.1f} times ours for all subsets and the best")


def from_csv(folder: Path, table: Table) -> None:
    path = folder / "register.csv"
    pyarrow.csv.write_csv(table.to_arrow(), path, pyarrow.csv.WriteOptions(quoting_style="none"))

    def ours() -> Selection:
        return select(FrequencyTable.of(read(path)))

    def text_columns() -> pa.Table:
        options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(NAMES, pa.string()))
        return pyarrow.csv.read_csv(path, convert_options=options)

    if counted(ours()) != counted(select(FrequencyTable.of(table))):
        raise SystemExit("the file gives other counts than the codes")
    theirs = best_of(5, lambda: pyarrow.csv.read_csv(path))
    mine = best_of(5, ours)
    print(f"from a CSV file of {path.stat().st_size / 1e6:.0f} MB to the answer")
    print(f"  pyarrow reads the file           {theirs:8.4f} s (all as text: {best_of(3, text_columns):.4f} s)")
    print(f"  file to answer                   {mine:8.4f} s  {mine / theirs:7.2f} times pyarrow's reading")


def peak() -> None:
    """Print how much memory detection takes at its peak, the table included; run in a process of its own."""
    table = register(ROWS)
    encoded = sum(column.codes.nbytes + column.domain.nbytes for column in table.columns)
    some = tuple(Column(name=c.name, codes=c.codes[:300_000], domain=c.domain) for c in table.columns)
    small = FrequencyTable.of(Table(columns=some, rows=300_000))
    select(small), detect(small)  # What is loaded and compiled by now does not count.

    def everything() -> None:
        whole = FrequencyTable.of(table)
        select(whole), detect(whole)

    grown = grown_by(everything)
    print(
        f"  encoded table {encoded / 1e6:.0f} MB; at the peak of detection {(encoded + grown) / encoded:.2f} times that"
    )


def main() -> None:
    if "peak" in sys.argv:
        return peak()
    packages = [name for name in ("numpy", "numba", "pandas", "pyarrow", "duckdb") if find_spec(name)]
    print(f"python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in packages))
    table = register(ROWS)
    in_memory(table)
    print("memory", flush=True)
    subprocess.run([sys.executable, __file__, str(ROWS), "peak"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        from_csv(Path(folder), table)
    return None


if __name__ == "__main__":
    main()
