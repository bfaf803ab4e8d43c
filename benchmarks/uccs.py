"""All minimal unique column combinations: ours against Desbordante's algorithms, on the same codes in one run.

Ours is timed from codes in memory to the answer; the peer's search after it has loaded the table, and with the load.
Real tables come from the folder named by ANON_REFERENCE_DATA; without it only the tables made here are searched.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: TID253 - what the peer reads
import pyarrow as pa
from timing import best_of

from anon_core.detection.unique_columns import unique_column_combinations
from anon_core.detection.unique_columns.combinations import search_compiled
from anon_core.detection.unique_columns.interpreted import search_interpreted
from anon_core.detection.unique_columns.problem import reduced
from anon_core.frequency import FrequencyTable
from anon_core.table import ReadOptions, Table, from_arrow, read

PEERS = ("HPIValid", "HyUCC", "PyroUCC")
PATIENCE = float(os.environ.get("PEER_SECONDS", "60"))
ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 150_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A table to search, and up to which size."""

    name: str
    table: Table
    max_size: int | None = None
    repeats: int = 15


def profiles(rows: int) -> Table:
    """
    A table shaped like a social network's profiles: an id, two times, region, age, and 51 mostly optional fields.

    Values are unequally frequent, and up to 95 % of a field are gaps.
    """
    draw = np.random.Generator(np.random.PCG64(1))

    def skewed(values: int, slope: float, gaps: float) -> np.ndarray:
        weights = 1 / np.arange(1, values + 1) ** slope
        codes = draw.choice(values, rows, p=weights / weights.sum())
        codes[draw.random(rows) < gaps] = -1
        return codes

    columns = {
        "id": draw.permutation(rows),
        "public": skewed(2, 0.5, 0),
        "gender": skewed(2, 0.1, 0.001),
        "region": skewed(180, 0.8, 0),
        "age": np.clip(np.round(draw.normal(25, 9, rows)), 0, 89).astype(np.int64),
        "completion": skewed(90, 0.6, 0),
        "registered_hour": draw.integers(0, 9 * 365 * 24, rows),
        "last_login_minute": np.minimum(draw.exponential(20 * 24 * 60, rows).astype(np.int64), 365 * 24 * 60),
    }
    for number in range(51):
        values = round(3 * 10 ** (draw.random() * 2.6))
        columns[f"field_{number:02}"] = skewed(values, 0.5 + 0.6 * draw.random(), 0.95 * draw.random())
    text = {name: pa.array(codes.astype(str), mask=codes < 0) for name, codes in columns.items()}
    return from_arrow(pa.table(text))


def register(rows: int) -> Table:
    """A small table like a municipal register, for runs without the real tables."""
    draw = np.random.Generator(np.random.PCG64(2))
    columns = {f"c{i:02}": draw.integers(0, 2 + 3 * i, rows).astype(str) for i in range(16)}
    return from_arrow(pa.table({name: pa.array(values) for name, values in columns.items()}))


def cases() -> Iterator[Case]:
    folder = os.environ.get("ANON_REFERENCE_DATA")
    if folder:
        known = Path(folder)
        for name in ("uccs/letter_dedup.csv.gz", "adult.csv.gz", "uccs/german_credit.csv"):
            yield Case(name=name, table=without_duplicates(read(known / name, ReadOptions(delimiter=","))))
    else:
        print("ANON_REFERENCE_DATA is not set: only tables made here are searched\n")
    yield Case(name="register, made here", table=without_duplicates(register(20_000)))
    yield Case(name="profiles, made here", table=profiles(ROWS), max_size=5, repeats=3)


def without_duplicates(table: Table) -> Table:
    frequencies = FrequencyTable.of(table)
    arrays = [d.take(pa.array(c)) for c, d in zip(frequencies.codes, frequencies.domains, strict=True)]
    return from_arrow(pa.table(arrays, names=list(frequencies.names)))


def peer_search(pipe: Connection, algorithm: str, frame: pd.DataFrame, repeats: int) -> None:
    """In a process of its own, so that it can be stopped: the best search, the best load and search, the answer."""
    import desbordante

    search, whole = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        peer = getattr(desbordante.ucc.algorithms, algorithm)()
        peer.load_data(table=frame)
        loaded = time.perf_counter()
        peer.execute()
        search.append(time.perf_counter() - loaded)
        whole.append(time.perf_counter() - start)
    pipe.send((min(search), min(whole), {tuple(one.indices) for one in peer.get_uccs()}))


def ask_peer(algorithm: str, frame: pd.DataFrame, repeats: int) -> tuple[float, float, set[tuple[int, ...]]] | None:
    """Return what a peer took and found; None if it was not ready within the time limit or gave up."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=peer_search, args=(there, algorithm, frame, repeats))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(PATIENCE) else None  # type: ignore[no-any-return]
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def measure(case: Case, peers: bool) -> None:
    frequencies = FrequencyTable.of(case.table)
    found = unique_column_combinations(frequencies, max_size=case.max_size)  # Compiles, the first time.
    seconds = best_of(case.repeats, lambda: unique_column_combinations(frequencies, max_size=case.max_size))
    problem = reduced(frequencies, np.zeros(frequencies.tuples, np.bool_), 0, case.max_size)
    only_search = best_of(case.repeats, lambda: search_compiled(problem, _quiet))
    limit = f", up to size {case.max_size}" if case.max_size else ""
    sizes = ", ".join(f"{count:,} of {size}" for size, count in sorted(Counter(map(len, found.sets)).items()))
    print(f"{case.name}: {frequencies.rows:,} x {len(frequencies.names)}{limit}; {len(found.sets):,} sets ({sizes})")
    print(f"  anonflow, codes to answer          {seconds * 1000:10.2f} ms")
    print(f"  anonflow, search only              {only_search * 1000:10.2f} ms")
    if frequencies.rows < 10_000:
        plain = best_of(5, lambda: search_interpreted(problem, 10**9, _quiet))
        print(f"  anonflow, search in plain Python   {plain * 1000:10.2f} ms")
    tracemalloc.start()
    unique_column_combinations(frequencies, max_size=case.max_size)
    more = tracemalloc.get_traced_memory()[1] / sum(codes.nbytes for codes in frequencies.codes)
    tracemalloc.stop()
    print(f"  anonflow, memory at most           {more:10.2f} times the encoded table, beside the table itself")
    if peers:
        compare(case, frequencies, found.sets, seconds)
    print(flush=True)


def compare(case: Case, frequencies: FrequencyTable, sets: tuple[tuple[str, ...], ...], seconds: float) -> None:
    # The peer gets words without gaps: its own meaning of a gap is another matter.
    frame = pd.DataFrame(
        {name: codes.astype(str) for name, codes in zip(frequencies.names, frequencies.codes, strict=True)}
    )
    ours = {tuple(frequencies.positions(one)) for one in sets}
    for algorithm in PEERS if case.max_size is None else PEERS[:1]:
        answer = ask_peer(algorithm, frame, min(case.repeats, 5))
        if answer is None:
            print(f"  desbordante {algorithm:<9} not finished in {PATIENCE:.0f} s (it has no limit on the size)")
            continue
        search, whole, theirs = answer
        if {one for one in theirs if case.max_size is None or len(one) <= case.max_size} != ours:
            raise SystemExit(f"{algorithm} and ours do not agree on {case.name}")
        print(
            f"  desbordante {algorithm:<9} search       {search * 1000:10.2f} ms {search / seconds:7.2f} times ours"
            f"   with load {whole * 1000:10.2f} ms {whole / seconds:7.2f} times"
        )


def _quiet(_: int) -> None:
    pass


def main() -> None:
    peers = find_spec("desbordante") is not None
    packages = ["numpy", "numba", *(["desbordante"] if peers else [])]
    print(f"python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in packages))
    print("best of several runs each; equal answers are checked")
    if not peers:
        print("desbordante cannot be imported (benchmarks/requirements.txt): ours only, nothing to compare with")
    print()
    for case in cases():
        measure(case, peers)


if __name__ == "__main__":
    main()
