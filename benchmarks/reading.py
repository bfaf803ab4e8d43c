"""
From a CSV file to dictionary codes, against the time that pyarrow takes to read the same file.

    python benchmarks/reading.py [rows]

The table is shaped like a region's register: 86 years, 1,500 municipalities of unequal size, 12 provinces that they
determine, 2 sexes. Peak memory is what the high-water mark of a fresh process (VmHWM, so Linux only) grows by while it
reads: numba and its loops are loaded before, and the file is read, not mapped, so that no page of it counts.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from anon_core.frequency import FrequencyTable
from anon_core.table import Table, read

PEAK = """
import sys
from pathlib import Path
import anon_core.kernels.compiled.encoding
from anon_core.table import read

def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

read(Path(sys.argv[1]))
before = kilobytes("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # The high-water mark starts anew.
table = read(Path(sys.argv[2]))
print(kilobytes("VmHWM") - before)
"""


def register(rows: int) -> pa.Table:
    draw = np.random.Generator(np.random.PCG64(1))
    share = 1 / np.arange(1, 1501) ** 0.9
    town = draw.choice(1500, rows, p=share / share.sum())
    domains = {
        "birth_year": ([str(year) for year in range(1916, 2002)], draw.integers(0, 86, rows)),
        "municipality": ([f"Comune {n:04}" for n in range(1500)], town),
        "province": ([f"P{n}" for n in range(12)], town * 12 // 1500),
        "sex": (["F", "M"], draw.integers(0, 2, rows)),
    }
    return pa.table({name: pa.array(words).take(pa.array(codes)) for name, (words, codes) in domains.items()})


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_in_turns(runs: int, *works: Callable[[], object]) -> list[float]:
    """Return the fastest run of each; they take turns, for the machine is shared."""
    seconds = [[timed(work) for work in works] for _ in range(runs)]
    return [min(column) for column in zip(*seconds, strict=True)]


def encoded_bytes(table: Table) -> int:
    return sum(column.codes.nbytes + column.domain.nbytes for column in table.columns)


def peak_bytes(head: Path, path: Path) -> int:
    ended = subprocess.run([sys.executable, "-c", PEAK, head, path], capture_output=True, text=True, check=True)
    return int(ended.stdout) * 1024


def compare(path: Path, head: Path, expected: pa.Table) -> None:
    table = read(path)  # It also compiles, if nothing is cached.
    if not table.to_arrow().equals(expected):
        raise SystemExit(f"{path.name}: the table that was read is not the one that was written")
    as_text = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(table.names, pa.string()))
    works: dict[str, Callable[[], object]] = {
        "ours, codes": lambda: read(path),
        "ours, codes and count": lambda: FrequencyTable.of(read(path)),
    }
    if path.suffix == ".csv":
        works["pyarrow, default"] = lambda: pyarrow.csv.read_csv(path)
        works["pyarrow, as text"] = lambda: pyarrow.csv.read_csv(path, convert_options=as_text)
    else:
        works["pyarrow, as text"] = lambda: pq.read_table(path)
    seconds = dict(zip(works, best_in_turns(7, *works.values()), strict=True))
    print(f"{path.name}, {path.stat().st_size / 1e6:.0f} MB (equal content checked):")
    for name, taken in seconds.items():
        ratios = [f"{taken / peer:5.2f} x {other}" for other, peer in seconds.items() if other.startswith("pyarrow")]
        print(f"  {name:<22} {taken:7.3f} s  " + ("  ".join(ratios) if name.startswith("ours") else ""))
    peak, encoded = peak_bytes(head, path), encoded_bytes(table)
    print(f"  peak memory {peak / 1e6:.0f} MB = {peak / encoded:.2f} x the encoded table ({encoded / 1e6:.0f} MB)")


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 6_400_000
    print(
        f"python {platform.python_version()}, " + ", ".join(f"{p} {version(p)}" for p in ("numpy", "numba", "pyarrow"))
    )
    table = register(rows)
    print(f"a register of {rows:,} rows and {table.num_columns} columns:")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = pyarrow.csv.WriteOptions(quoting_style="none")
        pyarrow.csv.write_csv(table.slice(0, 300_000), folder / "head.csv", plain)
        pyarrow.csv.write_csv(table, folder / "bare.csv", plain)
        pyarrow.csv.write_csv(table, folder / "quoted.csv")
        pq.write_table(table, folder / "register.parquet")
        for file in ("bare.csv", "quoted.csv", "register.parquet"):
            compare(folder / file, folder / "head.csv", table)


if __name__ == "__main__":
    main()
