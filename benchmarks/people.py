"""How long it takes to count people, who have several rows each, against counting rows, in one run from the same table.

A million rows of 300,000 people: three columns are a person's own, two change from row to row. Answers are compared
with plain pandas before anything is timed. The allowed ratio is from the file to the figures, as `anon check` goes;
beside it stands what counting alone takes. Then how long the figures of several rows of one person take. Restored
values and pairs of sensitive columns, of as many rows and people, take two seconds at most; `published.py` compares
their answers.
"""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: TID253 - the peer
import pyarrow as pa
from published import FEW, MANY, paired, table_of
from timing import best_of

import anon_core.kernels.compiled  # noqa: F401, TID253 - what is measured is the work, not loading numba
from anon_core.detection.shared_values import shared_values
from anon_core.engines.arrow import ArrowEngine
from anon_core.measures.classes import sensitive_classes
from anon_core.measures.diversity.common_values import common_values
from anon_core.measures.diversity.diversity import distinct_diversity
from anon_core.measures.dominance import contribution, dominance
from anon_core.measures.linkage.four_ks import k_anonymity
from anon_core.measures.restored import restored
from anon_core.measures.row_sets import row_sets
from anon_core.publishing.distribution import write_csv
from anon_core.table import Column, Table, read

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
PEOPLE = ROWS * 3 // 10
QUASI = ("born", "sex", "town", "ward", "month")
K, L, RUNS = 5, 3, 5
AT_MOST = 2.0
"""Counting people may take so many times as long as counting rows."""
SECONDS = 2.0
"""What is published together may take so long to judge."""


def visits(coarse: int) -> Table:
    """Return the rows, always the same ones; a larger ``coarse`` makes classes larger."""
    draw = np.random.Generator(np.random.PCG64(1))
    who = np.concatenate([np.arange(PEOPLE), draw.integers(0, PEOPLE, ROWS - PEOPLE)])
    draw.shuffle(who)
    own = {"born": max(90 // coarse, 1), "sex": 2, "town": max(60 // coarse, 1), "blood": 8}
    columns = [_column(name, draw.integers(0, values, PEOPLE)[who], values) for name, values in own.items()]
    changing = {"ward": 8, "month": max(12 // coarse, 1), "illness": 40}
    columns += [_column(name, draw.integers(0, values, ROWS), values) for name, values in changing.items()]
    return Table(columns=(*columns, _column("person", who, PEOPLE)), rows=ROWS)


def _column(name: str, codes: np.ndarray, values: int) -> Column:
    return Column(name=name, codes=codes.astype(np.int32), domain=pa.array([f"{name} {n:07}" for n in range(values)]))


def of_rows(table: Table) -> tuple[object, ...]:
    return _measured(ArrowEngine.of(table).count)


def of_people(table: Table) -> tuple[object, ...]:
    return _measured(ArrowEngine.of(table, unit="person").people)


def _measured(count: Callable[..., object]) -> tuple[object, ...]:
    """Measure k and singletons over five columns, and distinct l-diversity of the illness."""
    k = k_anonymity(count(QUASI), QUASI, k=K)
    classes = sensitive_classes(count((*QUASI, "illness")), QUASI, "illness")
    return k.k, k.singletons, k.rows_below, distinct_diversity(classes, l=L).classes_failing


def by_pandas(table: Table) -> tuple[int, int]:
    """Return k and the people who are alone, counted by pandas."""
    frame = pd.DataFrame({column.name: column.codes for column in table.columns})
    pairs = frame[[*QUASI, "person"]].drop_duplicates()
    sizes = pairs.groupby(list(QUASI))["person"].transform("size")
    return int(sizes.min()), int(pairs.loc[sizes == 1, "person"].nunique())


def main() -> None:
    print(f"{platform.python_implementation()} {platform.python_version()}, {ROWS:,} rows of {PEOPLE:,} people")
    worst = 0.0
    for coarse in (1, 4, 30):
        table = visits(coarse)
        found = of_people(table)
        assert found[:2] == by_pandas(table), "people are not counted as pandas counts them"
        of_rows(table)
        with tempfile.TemporaryDirectory() as folder:
            write_csv(table, Path(folder) / "visits.csv")
            works = {
                "rows": lambda table=table: of_rows(table),
                "people": lambda table=table: of_people(table),
                "rows, read": lambda folder=folder: of_rows(read(Path(folder) / "visits.csv")),
                "people, read": lambda folder=folder: of_people(read(Path(folder) / "visits.csv")),
            }
            took = dict.fromkeys(works, float("inf"))
            for _ in range(RUNS):  # In turns: the machine is shared.
                took = {name: min(took[name], best_of(1, work)) for name, work in works.items()}
        ratio = took["people, read"] / took["rows, read"]
        worst = max(worst, ratio)
        counted = ArrowEngine.of(table).count(QUASI).tuples
        whole = f"rows {took['rows, read']:.3f} s, people {took['people, read']:.3f} s, {ratio:.2f} times"
        alone = f"{took['rows']:.3f} s, {took['people']:.3f} s, {took['people'] / took['rows']:.1f} times"
        print(f"{counted:9,} classes: from the file {whole}; counting alone {alone}")
        _several_rows(table)
    slowest = _published_together()
    print(f"from the file people take at most {worst:.2f} times as long as rows; {AT_MOST:g} are allowed")
    print(f"what is published together takes at most {slowest:.2f} s; {SECONDS:g} are allowed")
    sys.exit(worst > AT_MOST or slowest > SECONDS)


def _published_together() -> float:
    """Measure restored values of one column beside eleven, and pairs of ten sensitive columns; return the slowest."""
    town, code = paired(code=False, people=True), paired(code=True, people=True)
    few, many = table_of(FEW), table_of(MANY)
    works = {
        "restored values": lambda: restored(town),
        "restored values beside a code": lambda: restored(code),
        "pairs of columns of few values": lambda: shared_values(few, few.names, k=K),
        "pairs of columns of many values": lambda: shared_values(many, many.names, k=K),
    }
    took = {name: best_of(3, work) for name, work in works.items()}
    print(", ".join(f"{name} {seconds:.2f} s" for name, seconds in took.items()))
    return max(took.values())


def _several_rows(table: Table) -> None:
    engine = ArrowEngine.of(table, unit="person")
    people, with_blood = engine.people(QUASI), engine.people((*QUASI, "blood"))
    figures = {
        "half of class": lambda: dominance(people),
        "common values": lambda: common_values(with_blood, QUASI, "blood", L),
        "row sets": lambda: row_sets(people, K),
        "rows per person": lambda: contribution(people, 10),
    }
    print(" " * 9, ", ".join(f"{name} {best_of(2, work):.2f} s" for name, work in figures.items()))


if __name__ == "__main__":
    main()
