"""
From a CSV file to the answer: the sample register read and its distinct tuples counted, each time in a fresh process.

    python benchmarks/reading.py [rows ...]

A process is cold with an empty cache of compiled loops, then with a full one; its second turn is warm. CPU seconds
count, for the machine may be shared; the imports are part of the first turn. Peak memory is the high-water mark of the
process (VmHWM, so Linux only). Beside it stands what pyarrow takes to read every column as text and count nothing.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROWS = (1_000_000, 10_000_000)
SAMPLE = Path(__file__).parent.parent / "include" / "samples" / "driver_licences.py"
FOUR = ("birth_year", "municipality", "sex", "licence_category")

TURNS = """
import json, sys, time
from pathlib import Path

def turn(began, work):
    tuples = work()
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024
    return {"wall": time.perf_counter() - began[0], "cpu": time.process_time() - began[1], "peak": peak, "n": tuples}

def now():
    return time.perf_counter(), time.process_time()

def ours():
    from anon_core.frequency import FrequencyTable
    from anon_core.table import read
    return len(FrequencyTable.of(read(Path(sys.argv[1])), sys.argv[3:] or None).weights)

def pyarrow():
    import pyarrow as pa, pyarrow.csv
    names = pyarrow.csv.open_csv(sys.argv[1]).schema.names
    texts = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    return pyarrow.csv.read_csv(sys.argv[1], convert_options=texts).num_rows

began, work = now(), globals()[sys.argv[2]]
turns = [turn(began, work)]
turns.append(turn(now(), work))
print(json.dumps(turns))
"""


def turns(path: Path, cache: Path, reader: str, columns: tuple[str, ...]) -> list[dict[str, float]]:
    """Return what the first and the second turn of a fresh process took."""
    ended = subprocess.run(
        [sys.executable, "-c", TURNS, path, reader, *columns],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    found: list[dict[str, float]] = json.loads(ended.stdout)
    return found


def shown(what: str, found: dict[str, float]) -> None:
    print(f"  {what:<38} {found['wall']:7.2f} s wall {found['cpu']:7.2f} s CPU {found['peak']:7,.0f} MB at most")


def compare(path: Path, folder: Path) -> None:
    for name, columns in (("all columns", ()), ("four columns", FOUR)):
        cache = folder / f"loops of {path.stem} {name}"
        empty, _ = turns(path, cache, "ours", columns)
        full, warm = turns(path, cache, "ours", columns)
        print(f"  {name}: {full['n']:,.0f} distinct tuples")
        for what, found in (("empty cache", empty), ("full cache", full), ("warm", warm)):
            shown(f"{name}, {what}", found)
    for what, found in zip(("fresh", "warm"), turns(path, folder, "pyarrow", ()), strict=True):
        shown(f"pyarrow, texts only, {what}", found)


def main() -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pyarrow"))
    print(f"python {platform.python_version()}, {packages}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in map(int, sys.argv[1:] or ROWS):
            path = folder / f"{rows}.csv"
            subprocess.run([sys.executable, SAMPLE, "--rows", str(rows), "--output", path], check=True)
            print(f"{rows:,} rows, {path.stat().st_size / 1e6:.0f} MB:")
            compare(path, folder)
            path.unlink()


if __name__ == "__main__":
    main()
