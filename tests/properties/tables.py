"""Small random tables and ladders, and the few lines of brute force that several properties are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import pyarrow as pa
from hypothesis import strategies as st

from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.table import Table, from_arrow

Cell = str | None
Row = tuple[Cell, ...]

# Labels of all levels are drawn from here too, so that collisions between levels are the rule.
WORDS = ("a", "b", "c", "d", "*", "a (level 1)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """A table as plain rows."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def table(self) -> Table:
        return table_of(self.names, self.rows)

    def project(self, columns: Iterable[str]) -> list[Row]:
        at = [self.names.index(name) for name in columns]
        return [tuple(row[i] for i in at) for row in self.rows]


def table_of(names: Sequence[str], rows: Sequence[Row]) -> Table:
    arrays = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(names))]
    return from_arrow(pa.table(arrays, names=list(names)))


def rows_of(table: Table) -> list[Row]:
    if not table.columns:
        return [()] * table.rows
    return list(zip(*(column.to_pylist() for column in table.to_arrow().columns), strict=True))


def singletons(rows: Iterable[Row]) -> int:
    return sum(times == 1 for times in Counter(rows).values())


def subsets(names: Sequence[str], largest: int) -> list[tuple[str, ...]]:
    return [chosen for size in range(1, largest + 1) for chosen in combinations(names, size)]


@st.composite
def small_tables(
    draw: st.DrawFn, *, max_columns: int = 4, max_rows: int = 12, values: Sequence[Cell] = ("a", "b", "c", None)
) -> Small:
    """Tables with gaps and duplicate rows; a column may be constant, unique, or follow from the one before it."""
    rows = draw(st.integers(1, max_rows))
    columns: list[list[Cell]] = []
    for _ in range(draw(st.integers(1, max_columns))):
        kind = draw(st.sampled_from(["free", "free", "free", "constant", "unique", "follows"]))
        if kind == "constant":
            columns.append([draw(st.sampled_from(values))] * rows)
        elif kind == "unique":
            columns.append(list(draw(st.permutations([f"{n:02}" for n in range(rows)]))))
        elif kind == "follows" and columns:
            known = sorted(set(columns[-1]), key=str)
            image = {cell: draw(st.sampled_from(values)) for cell in known}
            columns.append([image[cell] for cell in columns[-1]])
        else:
            columns.append(draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows)))
    if draw(st.booleans()):
        columns = [column * 2 for column in columns]
    # The order of the names is not the order of the columns: ties are broken by name somewhere.
    names = draw(st.permutations("pqrstu"[: len(columns)]))
    return Small(names=tuple(names), rows=tuple(zip(*columns, strict=True)))


@st.composite
def paths_for(draw: st.DrawFn, values: Sequence[Cell], *, max_depth: int = 2) -> dict[Cell, list[str]]:
    """Paths of one length for every value (a gap may have none), in which a label has one parent."""
    depth = draw(st.integers(0, max_depth))
    known = [value for value in values if value is not None]
    if None in values and draw(st.integers(0, 3)) == 0:
        known.append(None)
    paths: dict[Cell, list[str]] = {value: [] for value in known}
    below: dict[Cell, str] = dict.fromkeys(known, "")
    for level in range(depth):
        labels = known if level == 0 else sorted(set(below.values()))
        parent = {label: draw(st.sampled_from(WORDS)) for label in labels}
        below = {value: parent[value if level == 0 else below[value]] for value in known}
        for value in known:
            paths[value].append(below[value])
    return paths


@st.composite
def ladders_for(draw: st.DrawFn, small: Small, *, unmapped: bool = True) -> tuple[Ladder, ...]:
    """One random ladder for every column; with ``unmapped`` some values may be left out of it."""
    built = []
    for column in small.table.columns:
        paths = draw(paths_for(column.domain.to_pylist()))
        depth = len(next(iter(paths.values()), []))
        if unmapped:
            strangers = draw(st.sets(st.sampled_from(sorted(paths, key=str)), max_size=1)) if paths else set()
            paths = {value: path for value, path in paths.items() if value is None or value not in strangers}
        root = draw(st.sampled_from(["*", "*", "any"]))
        names = [f"level {n}" for n in range(1, depth + 1)] + ["root"]
        built.append(climb(column.name, column.domain, paths, names, root))
    return tuple(built)


def spelled(ladder: Ladder) -> list[list[Cell]]:
    """The label of every level and code."""
    words = ladder.labels.to_pylist()
    return [[words[code] for code in level] for level in ladder.maps.tolist()]


def label(ladder: Ladder, level: int, code: int) -> Cell:
    return spelled(ladder)[level][code]


def covers(ladder: Ladder) -> dict[Cell, frozenset[int]]:
    """Which codes each label can stand for, at any level."""
    found: dict[Cell, set[int]] = {}
    for level in spelled(ladder):
        for code, name in enumerate(level):
            found.setdefault(name, set()).add(code)
    return {name: frozenset(codes) for name, codes in found.items()}
