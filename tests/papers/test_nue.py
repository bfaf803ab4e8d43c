"""Non-uniform entropy on Adult (Bampoulidis et al. 2019): against a row-by-row reading of the formula, and against ARX.

The other implementation knows nothing of ours: it reads the files as text and loops over rows.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import log2
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from anon_core.comparison import Comparison, compare
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.ladder import Ladder
from anon_core.measures.utility import utility
from anon_core.measures.utility.cells import RecodedCells
from anon_core.measures.utility.entropy import entropy
from anon_core.plan import RecodingPlan
from anon_core.spec import Hierarchy
from anon_core.table import Table, from_arrow, read

pytestmark = pytest.mark.reference

# The most important column first; columns in one entry have the same priority.
PRIORITIES = {
    "E1": "sex salary-class, race, workclass marital-status, occupation, education, native-country, age",
    "E2": "age, native-country, education, occupation, workclass marital-status, race, sex salary-class",
    "E3": "age, sex, native-country, salary-class, education, race, occupation, workclass, marital-status",
    "E4": "sex, age, salary-class, native-country, race, education, workclass, occupation, marital-status",
}

# Levels of sex, age, race, marital-status, education, native-country, workclass, occupation and salary-class; rows in
# smaller classes than this are removed.
FIXED = {
    "as collected": ("000000000", 1),
    "mixed": ("010210120", 1),
    "mixed, the unique removed": ("010210120", 2),
    "another mixture, small classes removed": ("121032011", 5),
    "one column at its root": ("000030000", 2),
    "at the roots": ("141232221", 1),
    "nothing left": ("000000000", 31_000),
}

# The best of all 12,960 vectors of levels by NUE: the smallest class, the levels, the rows removed, and the NUE that
# ARX reaches when it may remove 0, 2 and 100 % of the rows.
ARX_GLOBAL = [
    (2, "111132211", 0, 0.3204),
    (5, "121132211", 0, 0.2705),
    (10, "111132221", 0, 0.2351),
    (2, "001132201", 451, 0.5820),
    (5, "001132211", 309, 0.4885),
    (10, "101132211", 353, 0.4397),
    (2, "001112200", 3263, 0.6427),
    (5, "001132200", 3659, 0.5525),
    (10, "101122210", 2437, 0.4990),
]

Row = tuple[str, ...]
Paths = dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adult:
    """The file and its hierarchies as text, and as ours."""

    names: Row
    rows: list[Row]
    paths: list[Paths]
    table: Table
    ladders: list[Ladder]


@pytest.fixture(scope="module")
def adult(reference_data: Path) -> Adult:
    folder = reference_data / "adult_arx"
    names, *rows = read_text(folder / "adult.csv")
    table = read(folder / "adult.csv")
    return Adult(
        names=names,
        rows=rows,
        paths=[{line[0]: list(line) for line in read_text(folder / f"hierarchy_{name}.csv")} for name in names],
        table=table,
        ladders=[ladder(table.column(name), Hierarchy(file=f"hierarchy_{name}.csv"), folder) for name in names],
    )


def read_text(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return [tuple(line) for line in csv.reader(file, delimiter=";")]


def weights(priorities: str) -> dict[str, float]:
    ranks = [entry.split() for entry in priorities.split(", ")]
    return {name: (len(ranks) - rank) / len(ranks) for rank, names in enumerate(ranks) for name in names}


def levels_of(digits: str) -> list[int]:
    return [int(digit) for digit in digits]


def published(adult: Adult, levels: Sequence[Sequence[int]], smallest: int) -> list[Row | None]:
    """Every row at its levels, as text; None for those in too small classes."""
    rows = [
        tuple(path[cell][level] for path, cell, level in zip(adult.paths, row, own, strict=True))
        for row, own in zip(adult.rows, levels, strict=True)
    ]
    times = Counter(rows)
    return [row if times[row] >= smallest else None for row in rows]


def lost_and_most(values: list[str], labels: list[str], paths: Paths) -> tuple[float, float]:
    """The formula of one column, as it is written."""
    top = len(next(iter(paths.values()))) - 1

    @cache
    def lowest(label: str) -> int:
        return min(level for level in range(top + 1) for path in paths.values() if path[level] == label)

    level_of_row = [lowest(label) for label in labels]
    lost = 0.0
    previous: int | None = None
    for level in sorted(set(level_of_row)):
        inside = [value for value, own in zip(values, level_of_row, strict=True) if own >= level]
        before = [value if previous is None else paths[value][previous] for value in inside]
        after = [paths[value][level] for value in inside]
        finer, coarser = Counter(before), Counter(after)
        for one, other in zip(before, after, strict=True):
            lost -= log2(finer[one] / coarser[other])
        previous = level
    times = Counter(values)
    return lost, -sum(log2(times[value] / len(values)) for value in values)


def parts(adult: Adult, release: list[Row | None]) -> Iterator[tuple[str, float, float]]:
    """The loss and the maximum of every column."""
    for at, (name, paths) in enumerate(zip(adult.names, adult.paths, strict=True)):
        labels = ["*" if row is None else row[at] for row in release]
        yield name, *lost_and_most([row[at] for row in adult.rows], labels, paths)


def agree(adult: Adult, comparison: Comparison, release: list[Row | None]) -> None:
    columns = list(parts(adult, release))
    for priorities in PRIORITIES.values():
        weigh = weights(priorities)
        found = utility(comparison, weigh).entropy
        assert found is not None
        assert found.by_column == pytest.approx({name: 1 - lost / most for name, lost, most in columns}, abs=1e-9)
        assert found.overall == pytest.approx(1 - sum(c[1] for c in columns) / sum(c[2] for c in columns), abs=1e-9)
        lost, most = (sum(weigh[name] * part[side] for name, *part in columns) for side in (0, 1))
        assert found.weighted == pytest.approx(1 - lost / most, abs=1e-9)


def plan_for(adult: Adult, levels: Sequence[int], smallest: int) -> RecodingPlan:
    frequencies = FrequencyTable.of(adult.table)
    plan = RecodingPlan(
        frequencies=frequencies,
        ladders=tuple(adult.ladders),
        levels=np.repeat(np.array(levels, np.int8)[:, None], frequencies.tuples, axis=1),
        removed=np.zeros(frequencies.tuples, np.bool_),
    )
    pairs = Comparison.of_plan(plan).pairs
    assert pairs is not None
    small = plan.released().weights < smallest
    return RecodingPlan(frequencies=frequencies, ladders=plan.ladders, levels=plan.levels, removed=small[pairs.after])


@pytest.mark.parametrize("case", FIXED)
def test_one_level_per_column_gives_what_the_formula_gives_row_by_row(adult: Adult, case: str) -> None:
    levels, smallest = levels_of(FIXED[case][0]), FIXED[case][1]
    comparison = Comparison.of_plan(plan_for(adult, levels, smallest))
    release = published(adult, [levels] * len(adult.rows), smallest)
    assert comparison.rows_removed == release.count(None)
    agree(adult, comparison, release)


def test_a_release_whose_rows_stand_at_many_levels_gives_what_the_formula_gives_row_by_row(adult: Adult) -> None:
    draw = np.random.default_rng(4)
    heights = [len(next(iter(paths.values()))) for paths in adult.paths]
    levels = np.where(draw.random((len(adult.rows), 9)) < 0.6, 0, draw.integers(0, heights, (len(adult.rows), 9)))
    release = published(adult, levels.tolist(), 2)
    kept = [n for n, row in enumerate(release) if row is not None]
    assert 1000 < len(kept) < len(adult.rows) - 1000
    original = numbered(adult, range(len(adult.rows)), adult.rows)
    agree(adult, compare(original, numbered(adult, kept, [release[n] for n in kept]), adult.ladders, key="n"), release)


@pytest.mark.parametrize(("k", "levels", "removed", "reached"), ARX_GLOBAL)
def test_the_best_global_recodings_reach_what_arx_reaches(
    adult: Adult, k: int, levels: str, removed: int, reached: float
) -> None:
    plan = plan_for(adult, levels_of(levels), k)
    assert plan.rows_removed == removed
    assert entropy(RecodedCells.by(plan)).overall == pytest.approx(reached, abs=0.00005)


def numbered(adult: Adult, numbers: Sequence[int], rows: Sequence[Row | None]) -> Table:
    columns = zip(*(row for row in rows if row is not None), strict=True)
    arrays = [pa.array([str(n) for n in numbers]), *(pa.array(column) for column in columns)]
    return from_arrow(pa.table(arrays, names=["n", *adult.names]))
