"""How much recoding leaves of Adult and how long it takes, beside the programs of its authors, ARX and plain pandas.

Adult: 9 quasi-identifiers, ARX's hierarchies, four orders of priorities, k = 2, 5, 10, at most 1 % of the rows removed;
the folder adult_arx is looked for in the one that ANON_REFERENCE_DATA names. Then Adult 33 times below itself, and 10
million made-up rows: counting, recoding and applying the plan. All of it takes about ten minutes; a part, a mode
or a cell can be chosen (--help). Seconds are after loading and compiling.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: TID253 - the peer
import pyarrow as pa
from timing import best_of, grown_by

import anon_core.kernels.compiled  # noqa: F401, TID253 - what is measured is the work, not loading numba
from anon_core.comparison import Comparison
from anon_core.engines.arrow import ArrowEngine
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.measures.linkage.four_ks import four_k
from anon_core.plan import RecodingPlan
from anon_core.policy import Policy
from anon_core.recoding.methods import recode
from anon_core.recoding.prioritised.encoding import Encoded
from anon_core.recoding.prioritised.node_order import by_node_order, mean_prices, nodes_of
from anon_core.recoding.prioritised.prices import Objective, costs_beside
from anon_core.recoding.task import Task
from anon_core.spec import Hierarchy, Mode, Recode
from anon_core.table import Column, Table, read

LIMIT = 0.01
# The most important column first; columns in one entry have the same priority.
PRIORITIES = {
    1: "sex salary-class, race, workclass marital-status, occupation, education, native-country, age",
    2: "age, native-country, education, occupation, workclass marital-status, race, sex salary-class",
    3: "age, sex, native-country, salary-class, education, race, occupation, workclass, marital-status",
    4: "sex, age, salary-class, native-country, race, education, workclass, occupation, marital-status",
}
# From adult_arx/BASELINE.md, by experiment and k: NUE and wNUE of the program of Bampoulidis et al. (PP), of ARX's
# local recoding, and the CPU seconds of PP there; ARX's local recoding took 374 to 492 there.
REPORTED = {
    (1, 2): (0.8575, 0.9388, 0.8707, 0.9396, "48"),
    (1, 5): (0.7495, 0.8831, 0.7514, 0.8751, "71-88"),
    (1, 10): (0.6819, 0.8425, 0.6800, 0.8293, "124"),
    (2, 2): (0.8937, 0.9300, 0.8935, 0.9256, "76"),
    (2, 5): (0.7961, 0.8606, 0.7624, 0.8338, "180"),
    (2, 10): (0.7251, 0.8105, 0.6794, 0.7717, "300"),
    (3, 2): (0.8844, 0.9393, 0.8861, 0.9370, "50"),
    (3, 5): (0.7845, 0.8805, 0.7527, 0.8579, "142"),
    (3, 10): (0.7098, 0.8352, 0.6711, 0.8059, "100"),
    (4, 2): (0.8788, 0.9377, 0.8838, 0.9359, "39"),
    (4, 5): (0.7808, 0.8819, 0.7462, 0.8581, "137"),
    (4, 10): (0.7021, 0.8395, 0.6653, 0.8091, "128"),
}
MODES = {"paper": Mode.PAPER, "safe0": Mode.SAFE, "safe": Mode.SAFE, "link": Mode.LINK}
PROMISED = {Mode.PAPER: ("source",), Mode.SAFE: ("exact",), Mode.LINK: ("link", "source")}
# Values of each column, and by what the labels of each level are fewer than those below.
MADE_UP = {
    "age": (90, [5, 2, 3]),
    "sex": (2, []),
    "town": (300, [10, 6]),
    "education": (12, [3]),
    "occupation": (20, [5]),
    "country": (40, [8]),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Adult:
    """The table, its hierarchies and its distinct tuples."""

    table: Table
    ladders: list[Ladder]
    frequencies: FrequencyTable

    @classmethod
    def loaded(cls, folder: Path) -> Adult:
        table = read(folder / "adult.csv")
        ladders = [ladder(one, Hierarchy(file=f"hierarchy_{one.name}.csv"), folder) for one in table.columns]
        return cls(table=table, ladders=ladders, frequencies=FrequencyTable.of(table))

    def task(self, experiment: int, k: int, settings: Recode, frequencies: FrequencyTable | None = None) -> Task:
        ranks = PRIORITIES[experiment].split(", ")
        weights = {name: 1 - at / len(ranks) for at, entry in enumerate(ranks) for name in entry.split()}
        counted = frequencies or self.frequencies
        return Task.of(counted, self.ladders, Policy(k=k, suppression_limit=LIMIT), weights=weights, settings=settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What is left in one cell of the table, by one mode, in how many seconds, and the least k that it promises."""

    nue: float
    wnue: float
    seconds: float
    k: int


def settings_of(mode: str, improve: int | str = "auto") -> Recode:
    fixed: dict[str, int | str] = {"safe0": 0, "paper": "auto"}  # The paper's method has no improvement search.
    return Recode(method="prioritised", mode=MODES[mode], improve=fixed.get(mode, improve))


def timed(task: Task) -> tuple[RecodingPlan, float]:
    start = time.perf_counter()
    plan = recode(task).plan
    return plan, time.perf_counter() - start


def result(task: Task) -> Result:
    start = time.perf_counter()
    recoding = recode(task)
    seconds = time.perf_counter() - start
    found = four_k(Comparison.of_plan(recoding.plan), k=task.k)
    least = min(getattr(found, name) for name in PROMISED[task.settings.mode])
    if least < task.k or found.removed > task.allowed:
        raise SystemExit(
            f"k={least} and {found.removed} rows removed where k={task.k} and {task.allowed} were promised"
        )
    elected = next(one for one in recoding.candidates if one.elected)
    return Result(nue=elected.nue or 0.0, wnue=elected.wnue or 0.0, seconds=seconds, k=least)


def marks(cell: tuple[int, int], mode: str, found: Result) -> str:
    """Say what a result reaches, by the four digits that are reported of the peers."""
    nue, wnue, arx_nue, arx_wnue, _ = REPORTED[cell]
    own_nue, own_wnue = round(found.nue, 4), round(found.wnue, 4)
    above = "A" if mode != "paper" and own_nue > arx_nue and own_wnue > arx_wnue else ""
    return above + ("P" if own_wnue >= wnue else "") + ("N" if own_wnue >= wnue and own_nue >= nue else "")


def quality(adult: Adult, cells: Sequence[tuple[int, int]], modes: Sequence[str], improve: int | str) -> None:
    """Print the table, a line as soon as it is there."""
    rows, tuples = adult.table.rows, adult.frequencies.tuples
    print(f"Adult: {rows:,} rows, {tuples:,} tuples; by mode NUE, wNUE, seconds, the least k promised, what is reached")
    print("promised: paper source k, safe exact k, link link k and source k; safe0 is safe without improvement")
    print("A above ARX's local recoding in both; P at least PP's wNUE, N its NUE too; PP is not k-anonymous, ARX is")
    print("reported: PP with its CPU seconds, and ARX (whose local recoding takes 374 to 492), all on another machine")
    head = "".join(f" | {mode:<26}" for mode in modes)
    print(f"{'exp':>3} {'k':>2} | {'PP, reported':<19} | {'ARX, reported':<13}{head}", flush=True)
    reached: dict[str, list[tuple[str, float]]] = {mode: [] for mode in modes}
    for cell in cells:
        nue, wnue, arx_nue, arx_wnue, cpu = REPORTED[cell]
        print(
            f"{cell[0]:>3} {cell[1]:>2} | {nue:.4f} {wnue:.4f} {cpu:>5} | {arx_nue:.4f} {arx_wnue:.4f}",
            end="",
            flush=True,
        )
        for mode in modes:
            found = result(adult.task(*cell, settings_of(mode, improve)))
            told = marks(cell, mode, found)
            reached[mode].append((told, found.seconds))
            print(
                f" | {found.nue:.4f} {found.wnue:.4f} {found.seconds:5.1f} {found.k:>2} {told:<3}", end="", flush=True
            )
        print(flush=True)
    for mode, told in reached.items():
        counts = ", ".join(f"{mark} in {sum(mark in one for one, _ in told)}" for mark in "APN")
        print(f"  {mode:<6} of {len(told)} cells {counts}; at most {max(seconds for _, seconds in told):.1f} s")


def plain_node_order(task: Task, levels: np.ndarray, k: int, open_tuples: np.ndarray) -> np.ndarray:
    """Return the classes by the order of nodes as one writes it down in pandas."""
    weights = pd.Series(task.frequencies.weights)
    lifted = [
        [pd.Series(level[codes]) for level in one.maps]
        for one, codes in zip(task.ladders, task.frequencies.codes, strict=True)
    ]
    left, classes, found = pd.Index(open_tuples), np.full(len(weights), -1), 0
    for node in levels:
        frame = pd.DataFrame({at: lifted[at][level].loc[left] for at, level in enumerate(node)})
        groups = frame.assign(rows=weights.loc[left]).groupby(list(range(len(node))), sort=False)
        frozen = groups["rows"].transform("sum") >= k
        if frozen.any():
            numbers = groups.ngroup()[frozen]
            classes[numbers.index] = found + numbers
            found, left = classes.max() + 1, left[~frozen.to_numpy()]
    return classes


def peer(adult: Adult) -> None:
    """Print how long one pass of mode safe takes over the same nodes, ours and in pandas; answers are compared."""
    task = adult.task(2, 10, settings_of("safe0"))
    encoded = Encoded.of(task)
    prices = mean_prices(encoded, costs_beside(encoded, Objective.of(encoded, task.settings.nue_weight)))
    nodes = nodes_of(encoded.heights, prices, encoded.base, len(encoded.open), np.random.default_rng(0))
    some = np.arange(len(nodes.levels) - 1, -1, -40)[::-1]
    order = some[np.argsort(np.round(nodes.costs(encoded.base, prices)[some], 12), kind="stable")]

    def ours() -> np.ndarray:
        return by_node_order(encoded, nodes, prices, some).partition.classes

    def by_pandas() -> np.ndarray:
        return plain_node_order(task, nodes.levels[order], task.k, encoded.open)

    pairs = len(np.unique(np.stack([ours(), by_pandas()]), axis=1)[0])
    if not pairs == len(np.unique(ours())) == len(np.unique(by_pandas())):
        raise SystemExit("pandas finds other classes")
    mine, theirs = best_of(5, ours), best_of(1, by_pandas)
    print(
        f"one pass by the order of every 40th node ({len(some)} of {len(nodes.levels):,}), experiment 2, k = 10, equal"
    )
    print(
        f"  ours {mine:.4f} s, pandas with a group-by for each node {theirs:.2f} s, {theirs / mine:.0f} times as long",
        flush=True,
    )


def million(adult: Adult, times: int = 33) -> None:
    """Print what many rows cost where the tuples are those of Adult."""
    columns = (Column(name=c.name, codes=np.tile(c.codes, times), domain=c.domain) for c in adult.table.columns)
    table = Table(columns=tuple(columns), rows=times * adult.table.rows)
    counted = FrequencyTable.of(table)
    print(f"Adult {times} times: {table.rows:,} rows, {counted.tuples:,} tuples, experiment 1")
    print(f"  counting {best_of(3, lambda: FrequencyTable.of(table)):.4f} s")
    for k in (5, 5 * times):
        for mode in ("paper", "safe0"):
            once = best_of(2, lambda mode=mode: recode(adult.task(1, 5, settings_of(mode))))
            plan, seconds = timed(adult.task(1, k, settings_of(mode), counted))
            applied = best_of(3, lambda plan=plan: ArrowEngine(table=table).apply(plan, table.names))
            print(
                f"  k = {k:<3} {mode:<5} recoding {seconds:6.2f} s (Adult once, k = 5: {once:.2f} s), applying "
                f"{applied:.3f} s, {table.rows / applied / 1e6:.1f} million rows a second",
                flush=True,
            )


def made_up(rows: int, tuples: int) -> tuple[Table, list[Ladder]]:
    """Return a table with so many distinct tuples, always the same one, and its hierarchies; pay is none of them."""
    draw = np.random.Generator(np.random.PCG64(1))
    shares = [1 / np.arange(1, values + 1) ** 0.8 for values, _ in MADE_UP.values()]
    drawn = np.unique([draw.choice(len(share), 4 * tuples, p=share / share.sum()) for share in shares], axis=1)
    drawn = drawn[:, draw.permutation(drawn.shape[1])[:tuples]].astype(np.int32)
    share = 1 / np.arange(1, tuples + 1) ** 1.25  # Three quarters of the tuples have fewer than five rows.
    which = np.concatenate([np.arange(tuples), draw.choice(tuples, rows - tuples, p=share / share.sum())])
    draw.shuffle(which)
    columns, ladders = [], []
    for (name, (values, steps)), codes in zip(MADE_UP.items(), drawn, strict=True):
        words = [f"{name} {n:03}" for n in range(values)]
        columns.append(Column(name=name, codes=codes[which], domain=pa.array(words)))
        widths = np.cumprod(steps, dtype=np.int64).tolist()
        paths = {word: [f"{name} {n // w * w:03}+{w}" for w in widths] for n, word in enumerate(words)}
        ladders.append(climb(name, columns[-1].domain, paths, [f"{w} each" for w in widths] + ["suppressed"]))
    pay = pa.array([f"{n:04}" for n in range(1000)])
    columns.append(Column(name="pay", codes=draw.integers(0, len(pay), rows, np.int32), domain=pay))
    return Table(columns=tuple(columns), rows=rows), ladders


def plain_apply(table: Table, plan: RecodingPlan, published: Sequence[str]) -> Callable[[], pd.DataFrame]:
    """Return the way of pandas from rows to sorted labels: categories, a merge and a sort."""
    names = list(plan.frequencies.names)
    rows = pd.DataFrame({column.name: column.codes for column in table.columns})
    new = {}
    for at, one in enumerate(plan.ladders):
        rank = np.argsort(np.argsort(np.array(one.labels.to_pylist())))
        new[f"{one.column} published"] = rank[plan.released_codes(at)].astype(np.int32)
    tuples = pd.DataFrame(dict(zip(names, plan.frequencies.codes, strict=True)) | new)[~plan.removed]
    columns = [f"{name} published" if name in names else name for name in published]
    return lambda: rows.merge(tuples, on=names)[columns].sort_values(columns, ignore_index=True)


def ten_million(rows: int = 10_000_000, tuples: int = 200_000) -> None:
    table, ladders = made_up(rows, tuples)
    names = list(MADE_UP)
    encoded = sum(column.codes.nbytes for column in table.columns)
    counted = FrequencyTable.of(table, names)
    unsafe = int((counted.weights < 5).sum())
    print(f"made-up rows: {rows:,}, {counted.tuples:,} tuples of {len(names)} columns, {unsafe:,} of them below 5 rows")
    print(f"  counting {best_of(3, lambda: FrequencyTable.of(table, names)):.3f} s")
    task = Task.of(counted, ladders, Policy(k=5, suppression_limit=LIMIT), settings=settings_of("safe0"))
    plan, seconds = timed(task)
    print(f"  recoding, safe0, k = 5: {seconds:.1f} s", flush=True)
    for told, published in (("these columns", names), ("and one of 1,000 values", [*names, "pay"])):
        for keep_order in (False, True):

            def ours(published: list[str] = published, keep_order: bool = keep_order) -> Table:
                return ArrowEngine(table=table).apply(plan, published, keep_order=keep_order)

            mine, grown = best_of(5, ours), grown_by(ours)
            print(
                f"  applying, {told}, {'order kept' if keep_order else 'sorted'}: {mine:.3f} s, "
                f"{rows / mine / 1e6:.1f} million rows a second; memory grows by {grown / 1e6:.0f} MB "
                f"beside the {encoded / 1e6:.0f} MB of the table",
                flush=True,
            )
            if not keep_order:
                theirs = plain_apply(table, plan, published)
                start = time.perf_counter()
                answer = theirs()
                took = time.perf_counter() - start
                if not all(same_words(one, other) for one, other in zip(ours().columns, answer.values.T, strict=True)):
                    raise SystemExit("pandas publishes other rows")
                print(f"    pandas, merge and sort of the same codes: {took:.1f} s, {took / mine:.1f} times as long")


def same_words(column: Column, ranks: np.ndarray) -> bool:
    """Whether ranks among all labels are those of the words of a column: ranks that occur, in order, are its codes."""
    return np.array_equal(np.unique(ranks, return_inverse=True)[1], column.codes)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--parts", default="adult,million,ten-million")
    options.add_argument("--modes", default=",".join(MODES), help="safe0 is safe without improvement")
    options.add_argument("--cells", default=",".join(f"{one}:{k}" for one, k in REPORTED), help="experiment:k")
    options.add_argument("--improve", default="auto", help="attempts to improve safe and link")
    chosen = options.parse_args()
    parts, modes = chosen.parts.split(","), chosen.modes.split(",")
    cells = [(int(one), int(k)) for one, k in (cell.split(":") for cell in chosen.cells.split(","))]
    improve = chosen.improve if chosen.improve == "auto" else int(chosen.improve)
    packages = ("numpy", "numba", "pandas", "pyarrow")
    print(f"python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in packages))
    if cells == list(REPORTED) and set(modes) == set(MODES) and "adult" in parts:
        print("about ten minutes; for less see --help", flush=True)
    folder = os.environ.get("ANON_REFERENCE_DATA")
    if folder and {"adult", "million"} & set(parts):
        adult = Adult.loaded(Path(folder) / "adult_arx")
        for mode in MODES:
            recode(adult.task(1, 2, settings_of(mode, 3)))  # Compiles what is not yet.
        if "adult" in parts:
            quality(adult, cells, modes, improve)
            peer(adult)
        if "million" in parts:
            million(adult)
    elif not folder:
        print("Adult: ANON_REFERENCE_DATA is not set, left out")
    if "ten-million" in parts:
        ten_million()


if __name__ == "__main__":
    main()
