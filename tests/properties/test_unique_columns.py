"""Unique column combinations, against every subset of the columns; both tiers, and a search that is starved of luck."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from itertools import combinations
from random import Random
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anon_core.detection.unique_columns import combinations as tiers
from anon_core.detection.unique_columns import interpreted, unique_column_combinations
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from tests.properties.tables import Row, Small, small_tables, table_of
from tests.properties.tiers import TIERS, tier

Sets = tuple[tuple[str, ...], ...]


def by_trying_all(
    names: tuple[str, ...], rows: list[Row], *, max_size: int | None, approximate: str, ignore_duplicates: bool
) -> Sets:
    """All subsets in order of size and position; one that contains an earlier result is not minimal."""
    rows = list(dict.fromkeys(rows)) if ignore_duplicates else rows
    found: list[tuple[int, ...]] = []
    for size in range(1, min(max_size or len(names), len(names)) + 1):
        for chosen in combinations(range(len(names)), size):
            if any(set(one) <= set(chosen) for one in found):
                continue
            counts = Counter(tuple(row[i] for i in chosen) for row in rows)
            alone = sum(times == 1 for times in counts.values())
            if alone >= (1 - Fraction(approximate)) * len(rows):
                found.append(chosen)
    return tuple(tuple(names[i] for i in chosen) for chosen in found)


@contextmanager
def starved() -> Iterator[None]:
    """Look at few pairs, keep few edges, have little room and pause at every step: all must come by the long way."""
    from anon_core.kernels.compiled import unique_columns as driver

    little = {"NODES": 1, "WORK": 1, "PAIRS": 1, "SAMPLE": 1, "SPARE_BLOCKS": 0, "RESULTS": 1, "ROOM": 1}
    with (
        mock.patch.multiple(driver, **little),
        mock.patch.multiple(interpreted, MAX_PAIRS=1, MAX_EDGES_ADDED=1, MAX_EDGES_COMPARED=1),
    ):
        yield


@settings(max_examples=300, deadline=None)
@given(
    small=small_tables(max_columns=6, max_rows=14),
    max_size=st.none() | st.integers(1, 7),
    approximate=st.sampled_from(["0", "0", "0.1", "0.2", "0.25", "0.3", "0.5", "0.75", "0.99"]),
    ignore_duplicates=st.booleans(),
    way=st.sampled_from(TIERS),
)
@example(
    small=Small(names=("p", "q"), rows=(("a", None),)),
    max_size=None,
    approximate="0",
    ignore_duplicates=False,
    way="numpy",
)
@example(
    small=Small(names=("p", "q"), rows=(("a", None),) * 3),
    max_size=2,
    approximate="0.5",
    ignore_duplicates=True,
    way="compiled",
)
def test_the_sets_found_are_those_that_trying_all_subsets_finds(
    small: Small, max_size: int | None, approximate: str, ignore_duplicates: bool, way: str
) -> None:
    with tier(way):
        found = unique_column_combinations(
            FrequencyTable.of(small.table),
            max_size=max_size,
            approximate=float(approximate),
            ignore_duplicates=ignore_duplicates,
        )
    distinct = len(set(small.rows))
    assert found.sets == by_trying_all(
        small.names,
        list(small.rows),
        max_size=max_size,
        approximate=approximate,
        ignore_duplicates=ignore_duplicates,
    )
    assert found.rows == (distinct if ignore_duplicates else len(small.rows))
    assert found.duplicate_rows == len(small.rows) - distinct
    assert (found.max_size, found.approximate) == (max_size, float(approximate))


def skewed(seed: int, columns: int, rows: int) -> list[Row]:
    """Rows with some rare values in every column, and now and then a copy of an earlier row with one cell changed."""
    draw = Random(seed)
    values = [draw.choice([2, 3, 5, 8, rows]) for _ in range(columns)]
    table: list[list[str | None]] = []
    for _ in range(rows):
        row: list[str | None] = [str(int(size * draw.random() ** 2)) for size in values]
        if table and draw.random() < 0.5:
            row = list(draw.choice(table))
            row[draw.randrange(columns)] = draw.choice([None, "0", "1", "2"])
        table.append(row)
    return [tuple(row) for row in table]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    columns=st.integers(5, 9),
    rows=st.integers(20, 70),
    max_size=st.none() | st.integers(2, 5),
    approximate=st.sampled_from(["0", "0", "0", "0.02", "0.1", "0.4"]),
    way=st.sampled_from(TIERS),
    poor=st.booleans(),
)
def test_edges_that_come_late_lose_nothing(
    seed: int, columns: int, rows: int, max_size: int | None, approximate: str, way: str, poor: bool
) -> None:
    names = tuple("abcdefghi"[:columns])
    table = skewed(seed, columns, rows)
    ignore = approximate == "0"
    with tier(way), starved() if poor else nullcontext():
        found = unique_column_combinations(
            FrequencyTable.of(table_of(names, table)),
            max_size=max_size,
            approximate=float(approximate),
            ignore_duplicates=ignore,
        )
    assert found.sets == by_trying_all(
        names, table, max_size=max_size, approximate=approximate, ignore_duplicates=ignore
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32), spared=st.integers(0, 20), max_size=st.sampled_from([2, 3]), way=st.sampled_from(TIERS)
)
def test_repeated_rows_use_up_exactly_what_they_are_of_the_share(
    seed: int, spared: int, max_size: int, way: str
) -> None:
    """Many columns that tell little apart, so that most sets fail at the limit, and just so many rows to spare."""
    draw = Random(seed)
    names = tuple("abcdefghi")
    distinct = [tuple(draw.choice("aaabcd") for _ in names) for _ in range(24)]
    table: list[Row] = [row for row in distinct for _ in range(draw.choice([1, 1, 1, 1, 1, 3]))]
    approximate = f"{spared / len(table):.3f}"
    with tier(way):
        found = unique_column_combinations(
            FrequencyTable.of(table_of(names, table)), max_size=max_size, approximate=float(approximate)
        )
    assert found.sets == by_trying_all(
        names, table, max_size=max_size, approximate=approximate, ignore_duplicates=False
    )


@settings(max_examples=24, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    columns=st.sampled_from([63, 64, 65, 70, 130]),
    rows=st.integers(2, 12),
    approximate=st.sampled_from(["0", "0.2"]),
    way=st.sampled_from(TIERS),
)
def test_tables_wider_than_a_machine_word(seed: int, columns: int, rows: int, approximate: str, way: str) -> None:
    draw = Random(seed)
    names = tuple(f"c{i:03}" for i in range(columns))
    table: list[Row] = [tuple(draw.choice("aaaaab") for _ in names) for _ in range(rows)]
    with tier(way):
        found = unique_column_combinations(
            FrequencyTable.of(table_of(names, table)), max_size=2, approximate=float(approximate)
        )
    assert found.sets == by_trying_all(names, table, max_size=2, approximate=approximate, ignore_duplicates=False)


def hitting_sets(edges: list[set[int]]) -> set[frozenset[int]]:
    """All minimal hitting sets, edge by edge (Berge): an algorithm that has nothing in common with the search."""
    found = {frozenset[int]()}
    for edge in edges:
        larger = {one if one & edge else one | {v} for one in found for v in ([0] if one & edge else edge)}
        found = {one for one in larger if not any(other < one for other in larger)}
    return found


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), way=st.sampled_from(TIERS))
def test_large_sets_of_wide_tables_without_a_limit(seed: int, way: str) -> None:
    """Every row differs from the first in a few columns of its own, some shared, in the first word or the second."""
    draw = Random(seed)
    columns, names = 100, tuple(f"c{i:03}" for i in range(100))
    edges = [{24 * k, 24 * k + 1 + draw.randrange(2), draw.randrange(columns)} for k in range(4)]
    table: list[Row] = [("a",) * columns, *(tuple("b" if i in edge else "a" for i in range(columns)) for edge in edges)]
    pairs = [{i for i in range(columns) if one[i] != other[i]} for one, other in combinations(table, 2)]
    with tier(way):
        found = unique_column_combinations(FrequencyTable.of(table_of(names, table)), max_size=columns)
    expected = hitting_sets(pairs)
    assert {frozenset(names.index(c) for c in one) for one in found.sets} == expected
    assert max(map(len, found.sets)) >= 3


@settings(max_examples=30, deadline=None)
@given(small=small_tables(max_columns=5), seed=st.integers(0, 99), approximate=st.sampled_from([0.0, 0.3]))
def test_the_order_of_the_rows_does_not_matter(small: Small, seed: int, approximate: float) -> None:
    shuffled = list(small.rows)
    Random(seed).shuffle(shuffled)
    one = unique_column_combinations(FrequencyTable.of(small.table), approximate=approximate)
    other = unique_column_combinations(FrequencyTable.of(table_of(small.names, shuffled)), approximate=approximate)
    assert one == other


def test_the_share_is_the_decimal_that_was_written() -> None:
    """29 of 100 rows agree with another: 0.29 allows it, although the float 0.29 * 100 is 28.999..."""
    rows: list[Row] = [(f"{n:03}" if n >= 29 else "same",) for n in range(100)]
    table = FrequencyTable.of(table_of(["p"], rows))
    assert unique_column_combinations(table, approximate=0.29).sets == (("p",),)
    assert unique_column_combinations(table, approximate=0.2899).sets == ()


def test_two_equal_rows_leave_no_exact_set_and_are_counted() -> None:
    rows: list[Row] = [("1", "a"), ("2", "a"), ("3", "b"), ("3", "b")]
    table = FrequencyTable.of(table_of(["p", "q"], rows))
    with mock.patch.object(tiers, "_search", side_effect=AssertionError("searched in vain")):
        exact = unique_column_combinations(table)
    assert (exact.sets, exact.rows, exact.duplicate_rows) == ((), 4, 1)
    ignoring = unique_column_combinations(table, ignore_duplicates=True)
    assert (ignoring.sets, ignoring.rows, ignoring.duplicate_rows) == ((("p",),), 3, 1)
    assert unique_column_combinations(table, approximate=0.5).sets == (("p",),)
    assert unique_column_combinations(table, approximate=0.4).sets == ()


@pytest.mark.parametrize("way", TIERS)
def test_a_column_of_gaps_and_a_constant_one_are_in_no_set_but_a_lone_gap_tells_a_row_apart(way: str) -> None:
    rows: list[Row] = [(None, "x", "1", None), (None, "x", "2", "b"), (None, "x", "2", "c"), (None, "x", "3", "c")]
    with tier(way):
        found = unique_column_combinations(FrequencyTable.of(table_of(["gaps", "same", "p", "q"], rows)))
    assert found.sets == (("p", "q"),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_size": 0}, "at least 1 column, not 0"),
        ({"approximate": 1.0}, "below 1, not 1.0"),
        ({"approximate": -0.1}, "at least 0"),
        ({"approximate": float("nan")}, "at least 0"),
    ],
)
def test_a_limit_or_a_share_out_of_range_is_refused(options: dict[str, float], message: str) -> None:
    table = FrequencyTable.of(table_of(["p"], [("a",), ("b",)]))
    with pytest.raises(InvalidInputError, match=message):
        unique_column_combinations(table, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("names", "rows"), [([], []), (["p"], [])])
def test_a_table_without_columns_or_rows_is_refused(names: list[str], rows: list[Row]) -> None:
    with pytest.raises(InvalidInputError, match="nothing to search"):
        unique_column_combinations(FrequencyTable.of(table_of(names, rows)))


def noise(rows: int, columns: int, values: int) -> FrequencyTable:
    draw = np.random.Generator(np.random.PCG64(1))
    codes = [draw.integers(0, values, rows) for _ in range(columns)]
    return FrequencyTable.from_codes([f"c{i}" for i in range(columns)], codes, [pa.array(range(values))] * columns)


class EnoughError(Exception):
    pass


@pytest.mark.parametrize("way", TIERS)
@pytest.mark.parametrize("approximate", [0.0, 0.05])
def test_a_search_without_end_can_be_stopped_and_tells_how_far_it_is(way: str, approximate: float) -> None:
    told: list[int] = []

    def stop(nodes: int) -> None:
        told.append(nodes)
        if len(told) == 5:
            raise EnoughError

    with tier(way), pytest.raises(EnoughError):
        unique_column_combinations(noise(300, 200, 2), max_size=200, approximate=approximate, progress=stop)
    assert told == sorted(told)
    assert told[-1] > 0


def test_a_search_that_takes_long_moves_to_the_compiled_loops_and_finds_the_same() -> None:
    table = noise(60, 12, 3)
    with tier("numpy"):
        patient = unique_column_combinations(table)
        with (
            mock.patch.object(tiers, "MAX_INTERPRETED_STEPS", 20),
            mock.patch.object(tiers, "search_compiled", wraps=tiers.search_compiled) as moved,
        ):
            impatient = unique_column_combinations(table)
    assert moved.call_count == 1
    assert len(patient.sets) > 20
    assert impatient == patient


def test_a_small_table_is_searched_without_loading_the_compiled_loops() -> None:
    """In a process of its own, because others here have loaded them."""
    script = (
        "import sys, numpy as np, pyarrow as pa\n"
        "from anon_core.detection.unique_columns import unique_column_combinations\n"
        "from anon_core.frequency import FrequencyTable\n"
        "codes = [np.random.default_rng(i).integers(0, 9, 900) for i in range(9)]\n"
        "table = FrequencyTable.from_codes('abcdefghi', codes, [pa.array(range(9))] * 9)\n"
        "assert unique_column_combinations(table, ignore_duplicates=True).sets\n"
        "assert unique_column_combinations(table, approximate=0.1, max_size=4).max_size == 4\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_the_table_is_left_as_it_was() -> None:
    table = noise(50, 6, 4)
    before = [codes.copy() for codes in table.codes], table.weights.copy()
    unique_column_combinations(table, approximate=0.1)
    assert all(np.array_equal(a, b) for a, b in zip(before[0], table.codes, strict=True))
    assert np.array_equal(before[1], table.weights)
