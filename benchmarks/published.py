"""How long it takes to judge what is published together, against plain pandas.

A table of a million rows of 300,000 people with ten sensitive columns: the people whose value in one, or whose pair of
values in two, fewer than five share; whom classes give away; and everybody who is alone over all columns. Columns have
few values, or up to a hundred thousand. Answers are compared before anything is timed.

And the cells of a recoded column that eleven others restore, alone and in twos: of a town published as its province,
beside columns that know nothing of it, and beside its code. Rows are counted, and people who have several.
"""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pandas as pd  # noqa: TID253 - the peer
import pyarrow as pa
from timing import best_of

import anon_core.kernels.compiled  # noqa: F401, TID253 - what is measured is the work, not loading numba
from anon_core.detection.shared_values import shared_values
from anon_core.frequency import FrequencyTable
from anon_core.measures.diversity.homogeneity import homogeneity
from anon_core.measures.restored import Paired, restored

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
PEOPLE = max(ROWS * 3 // 10, 1)
K = 5
FEW = [2, 3, 5, 7, 10, 16, 30, 60, 100, 400]
MANY = [2, 5, 10, 40, 100, 400, 1_000, 5_000, 20_000, 100_000]


def table_of(values: list[int]) -> FrequencyTable:
    """Return ten columns whose values become rarer from first to last, and the people behind the rows."""
    draw = np.random.Generator(np.random.PCG64(7))
    codes = [np.minimum(draw.exponential(size / 6, ROWS), size - 1).astype(np.int32) for size in values]
    domains = [pa.array([f"{at:06}" for at in range(size)]) for size in values]
    names = [f"s{at}" for at in range(len(values))]
    units = draw.integers(1, PEOPLE + 1, ROWS).astype(np.int32)
    return FrequencyTable.from_codes(names, codes, domains, units=units)


def with_pandas(table: FrequencyTable) -> int:
    """Return how many people have a value, or a pair of values, that fewer than five share."""
    frame = pd.DataFrame({**dict(zip(table.names, table.codes, strict=True)), "who": table.units})
    found = np.zeros(len(frame), np.bool_)
    for size in (1, 2):
        for names in combinations(table.names, size):
            people = frame[[*names, "who"]].drop_duplicates().groupby(list(names)).size().rename("people")
            found |= (
                frame[list(names)].merge(people, left_on=list(names), right_index=True)["people"] < K
            ).sort_index()
    return int(frame["who"][found].nunique())


def paired(*, code: bool, people: bool) -> Paired:
    """Return a town of 74 as its province of 5, beside the ten columns and its code, or one more column of chance."""
    table = table_of(FEW)
    draw = np.random.Generator(np.random.PCG64(8))
    town = np.minimum(draw.exponential(20, ROWS), 73).astype(np.int32)
    last = town if code else draw.integers(0, 74, ROWS).astype(np.int32)
    return Paired(
        column="town",
        levels=(town,),
        label=(74 + town // 16).astype(np.int32),
        names=(*table.names, "last"),
        codes=(*table.codes, last),
        sizes=(*FEW, 74),
        weights=np.ones(ROWS, np.int64),
        units=table.units if people else None,
    )


def restoring() -> None:
    for code in (False, True):
        for people in (False, True):
            one = paired(code=code, people=people)
            found = restored(one)
            assert (found.people == found.hidden) is code and (code or found.people == 0)
            seconds = best_of(3, lambda one=one: restored(one))
            counted, beside = "people" if people else "rows", "its code" if code else "no code"
            print(f"restored values of {ROWS:,} rows, {counted} counted, beside {beside}: {seconds:.2f} s")


def main() -> None:
    restoring()
    for what, values in (("few", FEW), ("many", MANY)):
        table = table_of(values)
        if what == "few" and ROWS <= 100_000:
            assert with_pandas(table) == shared_values(table, table.names, k=K).alone
        found = shared_values(table, table.names, k=K)
        seconds = best_of(3, lambda table=table: shared_values(table, table.names, k=K))
        print(
            f"{len(table.weights):,} rows of {table.rows:,} people, ten columns of {what} values: {found.alone:,} with "
            f"a value or a pair that fewer than {K} share, {seconds:.2f} s"
        )
        seconds = best_of(3, lambda table=table: homogeneity(table, table.names[:3], table.names[5]))
        print(f"  homogeneity of one column: {seconds:.2f} s")
        seconds = best_of(3, lambda table=table: table.singletons)
        print(f"  people alone over all columns: {seconds:.2f} s")


if __name__ == "__main__":
    main()
