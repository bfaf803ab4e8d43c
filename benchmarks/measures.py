"""How long it takes to say how useful and how safe a release is, against plain pandas.

Utility: non-uniform entropy of a million rows of nine columns like those of Adult, every tuple at levels of its own.
Safety: the four k's of the driver licences of Valle d'Aosta after their singletons' municipality became its province;
the file is looked for in the folder that ANON_REFERENCE_DATA names. Answers are compared before anything is timed.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: TID253 - the peer
import pyarrow as pa
from scipy.sparse import coo_matrix, csr_matrix  # noqa: TID253 - the peer
from scipy.sparse.csgraph import connected_components, maximum_flow  # noqa: TID253 - the peer
from timing import best_of

import anon_core.kernels.compiled  # noqa: F401, TID253 - what is measured is the work, not loading numba
from anon_core.comparison import Comparison, compare
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.measures.linkage.four_ks import four_k
from anon_core.measures.utility import utility
from anon_core.measures.utility.cells import RecodedCells, released
from anon_core.measures.utility.entropy import entropy
from anon_core.plan import RecodingPlan
from anon_core.table import Column, Table, from_arrow, read

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
K = 5
Answer = dict[str, tuple[int | None, int | None]]
QUASI = ("anno_nascita", "sesso", "comune_residenza")
# Values of each column, and by what the labels of each level are fewer than those below.
LIKE_ADULT = {
    "sex": (2, []),
    "age": (72, [5, 2, 2]),
    "race": (5, []),
    "marital-status": (7, [3]),
    "education": (16, [3, 2]),
    "native-country": (41, [9]),
    "workclass": (7, [3]),
    "occupation": (14, [3]),
    "salary-class": (2, []),
}


def people(rows: int) -> tuple[Table, list[Ladder]]:
    """Return a table like Adult of so many rows, always the same one, and its hierarchies."""
    draw = np.random.Generator(np.random.PCG64(1))
    columns, ladders = [], []
    for name, (values, steps) in LIKE_ADULT.items():
        share = 1 / np.arange(1, values + 1)
        codes = draw.choice(values, rows, p=share / share.sum()).astype(np.int32)
        columns.append(Column(name=name, codes=codes, domain=pa.array([f"{name} {n:02}" for n in range(values)])))
        widths = np.cumprod(steps, dtype=np.int64).tolist()
        paths = {f"{name} {n:02}": [f"{name} {n // w * w:02}+{w}" for w in widths] for n in range(values)}
        ladders.append(climb(name, columns[-1].domain, paths, [f"{w} each" for w in widths] + ["suppressed"]))
    return Table(columns=tuple(columns), rows=rows), ladders


def planned(frequencies: FrequencyTable, ladders: list[Ladder]) -> RecodingPlan:
    """Return a plan with half of the cells as collected, the others at any level, and every fiftieth tuple removed."""
    draw = np.random.Generator(np.random.PCG64(2))
    shape = (len(ladders), frequencies.tuples)
    any_level = np.stack([draw.integers(0, ladder.height + 1, shape[1]) for ladder in ladders])
    return RecodingPlan(
        frequencies=frequencies,
        ladders=tuple(ladders),
        levels=np.where(draw.random(shape) < 0.5, 0, any_level).astype(np.int8),
        removed=np.arange(shape[1]) % 50 == 0,
    )


def labelled(table: Table, plan: RecodingPlan) -> Table:
    """Return the released rows in the order of the original, removed ones at the root."""
    frequencies = plan.frequencies
    place = pd.MultiIndex.from_arrays(frequencies.codes).get_indexer(
        pd.MultiIndex.from_arrays([column.codes for column in table.columns])
    )
    cells = RecodedCells.by(plan)
    pairs = zip(plan.ladders, cells.labels, strict=True)
    arrays = [ladder.labels.take(pa.array(labels[place])) for ladder, labels in pairs]
    return from_arrow(pa.table(arrays, names=list(table.names)))


def plain_entropy(before: pd.DataFrame, after: pd.DataFrame, ladders: list[Ladder]) -> float:
    """Return NUE as one writes it down in pandas."""
    lost = most = 0.0
    for ladder in ladders:
        words, labels = before[ladder.column].cat.categories, np.array(ladder.labels.to_pylist())
        level_of = {label: level for level in reversed(range(len(ladder.maps))) for label in labels[ladder.maps[level]]}
        levels = after[ladder.column].map(level_of).astype(int)
        above = [before[ladder.column].map(dict(zip(words, labels[at], strict=True))) for at in ladder.maps]
        below = before[ladder.column]
        for level in sorted(levels.unique()):
            inside = levels >= level
            finer, coarser = below[inside], above[level][inside]
            ratio = finer.map(finer.value_counts()).astype(float) / coarser.map(coarser.value_counts()).astype(float)
            lost -= np.log2(ratio).sum()
            below = above[level]
        times = before[ladder.column].map(before[ladder.column].value_counts()).astype(float)
        most -= np.log2(times / len(before)).sum()
    return float(1 - lost / most)


def categories(table: Table) -> pd.DataFrame:
    return pd.DataFrame({c.name: pd.Categorical.from_codes(c.codes, c.domain.to_pylist()) for c in table.columns})


def nue() -> None:
    table, ladders = people(ROWS)
    plan = planned(FrequencyTable.of(table), ladders)
    release = labelled(table, plan)
    before, after = categories(table), categories(release)

    def of_plan() -> float:
        return entropy(RecodedCells.by(plan)).overall

    def counted_first() -> float:
        counted = FrequencyTable.of(table)
        again = RecodingPlan(frequencies=counted, ladders=plan.ladders, levels=plan.levels, removed=plan.removed)
        return entropy(RecodedCells.by(again)).overall

    def two_tables() -> float:
        cells = released(compare(table, release, ladders, same_order=True))
        assert isinstance(cells, RecodedCells)
        return entropy(cells).overall

    def by_pandas() -> float:
        return plain_entropy(before, after, ladders)

    answers = [way() for way in (of_plan, counted_first, two_tables, by_pandas)]
    if max(answers) - min(answers) > 1e-9:
        raise SystemExit(f"the answers differ: {answers}")
    theirs = best_of(3, by_pandas)
    print(f"NUE: {table.rows:,} rows, {plan.frequencies.tuples:,} tuples, {len(ladders)} columns, {answers[0]:.4f}")
    for name, way in (
        ("of a plan whose tuples are counted", of_plan),
        ("counting the tuples included", counted_first),
        ("of two tables, pairing their rows", two_tables),
    ):
        ours = best_of(7, way)
        print(f"  {name:<38}{ours:8.4f} s; pandas takes {theirs / ours:6.1f} times as long")
    print(f"  {'pandas on categories':<38}{theirs:8.4f} s")
    everything = best_of(2, lambda: utility(Comparison.of_plan(plan)))
    print(f"  {'all measures of utility, plan counted':<38}{everything:8.4f} s")


def licences(folder: Path) -> tuple[Table, list[Ladder], dict[str, str]]:
    """Return the complete rows of the quasi-identifiers, their hierarchies, and every municipality's province."""
    table = read(folder / "driver_licences_valle_aosta.csv.gz")
    table = table.keep(~np.logical_or.reduce([table.column(name).gaps for name in QUASI]))
    towns = table.select(["comune_residenza", "provincia_residenza"]).to_arrow()
    province = dict(zip(*(column.to_pylist() for column in towns.columns), strict=True))
    ladders = []
    for name in QUASI:
        town = name == "comune_residenza"
        paths = {v: [province[v]] if town else [] for v in table.column(name).domain.to_pylist()}
        ladders.append(climb(name, table.column(name).domain, paths, [*["province"] * town, "suppressed"]))
    top = ladders[-1].labels.to_pylist()
    words = table.column("comune_residenza").domain.to_pylist()
    return table.select(QUASI), ladders, dict(zip(words, (top[at] for at in ladders[-1].maps[1]), strict=True))


def plain_four_k(before: pd.DataFrame, after: pd.DataFrame, province: dict[str, str], *, paired: bool) -> Answer:
    """Return the four k's and the rows below K as one writes them down in pandas, and in SciPy what pandas has not."""
    names = list(QUASI)
    originals = before.groupby(names, observed=True).size().rename("people").reset_index()
    published = after.groupby(names, observed=True).size().rename("rows").reset_index()
    originals["person"], published["row"] = originals.index, published.index + len(originals)
    above = originals.assign(comune_residenza=originals["comune_residenza"].map(province))
    edges = pd.concat([originals.merge(published, on=names), above.merge(published, on=names)])
    link = edges.groupby("person")["rows"].sum().reindex(originals.index, fill_value=0)
    source = edges.groupby("row")["people"].sum().reindex(published["row"], fill_value=0)
    if paired:
        rows = pd.concat([before, after.add_suffix("_after")], axis=1).drop_duplicates()
        labels = published.rename(columns={name: f"{name}_after" for name in names})
        made = rows.merge(originals, on=names).merge(labels, on=[f"{name}_after" for name in names])
    else:
        made = edges[matched(edges, originals["people"], published["rows"]) > 0]
    size = len(originals) + len(published)
    start, end = (np.concatenate([edges[one], made[other]]) for one, other in (("person", "row"), ("row", "person")))
    graph = coo_matrix((np.ones(len(start)), (start, end)), shape=(size, size))
    part = connected_components(graph, connection="strong")[1]
    possible = edges[part[edges["person"]] == part[edges["row"]]]
    hidden = possible.groupby("person")["rows"].sum()
    people, rows = originals["people"], published.set_index("row")["rows"]
    return {
        "exact": (int(rows.min()), int(rows[rows < K].sum())),
        "link": (int(link.min()), int(people[link < K].sum())),
        "source": (int(source.min()), int(rows[source < K].sum())),
        "concealment": (int(hidden.min()), int(people[hidden[hidden < K].index].sum())),
    }


def matched(edges: pd.DataFrame, people: pd.Series, rows: pd.Series) -> np.ndarray:
    """Return how many people became which rows in one assignment of all rows to all people."""
    first, last = len(people) + len(rows), len(people) + len(rows) + 1
    start = np.concatenate([edges["person"], np.full(len(people), first), np.arange(len(people), first)])
    end = np.concatenate([edges["row"], np.arange(len(people)), np.full(len(rows), last)])
    most = np.concatenate([np.minimum(edges["people"], edges["rows"]), people, rows]).astype(np.int32)
    flow = maximum_flow(csr_matrix((most, (start, end)), shape=(last + 1, last + 1)), first, last)
    if flow.flow_value != rows.sum():
        raise SystemExit("the rows cannot be assigned to the people")
    return np.asarray(flow.flow[edges["person"].to_numpy(), edges["row"].to_numpy()]).ravel()


def four(folder: Path) -> None:
    table, ladders, province = licences(folder)
    frequencies = FrequencyTable.of(table)
    unchanged = RecodingPlan.unchanged(frequencies, ladders)
    levels = np.where(frequencies.weights == 1, np.array([[0], [0], [1]]), 0).astype(np.int8)
    release = labelled(table, replace(unchanged, levels=levels))
    before, after = categories(table).astype(str), categories(release).astype(str)
    print(f"the four k's: {table.rows:,} rows, {frequencies.tuples:,} tuples, {frequencies.singletons:,} rows recoded")
    for paired in (True, False):

        def ours(paired: bool = paired) -> Answer:
            found = four_k(compare(table, release, ladders, same_order=paired), k=K)
            return {name: (getattr(found, name), below) for name, below in found.rows_below.items()}

        def by_pandas(paired: bool = paired) -> Answer:
            return plain_four_k(before, after, province, paired=paired)

        if ours() != by_pandas():
            raise SystemExit(f"the answers differ: {ours()}, {by_pandas()}")
        mine, theirs = best_of(7, ours), best_of(3, by_pandas)
        known = "knowing which row became which" if paired else "not knowing"
        print(f"  {known:<38}{mine:8.4f} s; pandas and SciPy {theirs:.4f} s, {theirs / mine:.1f} times as long")
        print("    " + "; ".join(f"{name} {k}, {below:,} rows below {K}" for name, (k, below) in ours().items()))


def main() -> None:
    print(
        f"python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pandas", "pyarrow", "scipy"))
    )
    nue()
    folder = os.environ.get("ANON_REFERENCE_DATA")
    if folder:
        four(Path(folder))
    else:
        print("the four k's: ANON_REFERENCE_DATA is not set, left out")


if __name__ == "__main__":
    main()
