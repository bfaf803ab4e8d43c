"""Gong et al. 2020: the unique column combinations of the worked example and of real tables."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from anon_core.detection.unique_columns import unique_column_combinations
from anon_core.frequency import FrequencyTable
from anon_core.table import ReadOptions, read
from tests.papers.gong import NAMES, TABLE_1
from tests.properties.tables import table_of
from tests.properties.tiers import TIERS, tier


@pytest.mark.parametrize("way", TIERS)
def test_the_worked_example_has_the_sets_of_table_2_smallest_first_in_the_order_of_the_columns(way: str) -> None:
    with tier(way):
        found = unique_column_combinations(FrequencyTable.of(table_of(NAMES, TABLE_1)))
    assert found.sets == (
        ("MINum",),
        ("Age", "Birthday"),
        ("Age", "Disease"),
        ("Zip Code", "Birthday"),
        ("Sex", "Age", "Zip Code"),
    )


@pytest.mark.parametrize("way", TIERS)
def test_one_repeated_row_leaves_the_worked_example_with_no_exact_set_but_with_approximate_ones(way: str) -> None:
    table = FrequencyTable.of(table_of(NAMES, [*TABLE_1, TABLE_1[0]]))
    with tier(way):
        assert unique_column_combinations(table).sets == ()
        assert ("MINum",) in unique_column_combinations(table, approximate=0.25).sets
        assert len(unique_column_combinations(table, ignore_duplicates=True).sets) == 5


def frequencies_of(folder: Path, name: str) -> FrequencyTable:
    (file,) = (folder / "uccs").glob(f"{name}.csv*")
    return FrequencyTable.of(read(file, ReadOptions(delimiter=",")))


@pytest.mark.reference
@pytest.mark.parametrize("name", ["abalone", "bridges", "german_credit", "hepatitis", "iris_dedup", "letter_dedup"])
@pytest.mark.parametrize("way", TIERS)
@pytest.mark.parametrize("max_size", [None, 3, 6])
def test_the_sets_of_real_tables_are_those_that_two_other_programs_found(
    reference_data: Path, name: str, way: str, max_size: int | None
) -> None:
    known = json.loads((reference_data / "uccs" / f"{name}.uccs.json").read_text())
    with tier(way):
        found = unique_column_combinations(frequencies_of(reference_data, name), max_size=max_size)
    expected = [one for one in known["minimal_uccs"] if max_size is None or len(one) <= max_size]
    assert found.rows == known["rows"]
    assert sorted(map(sorted, found.sets)) == sorted(map(sorted, expected))


@pytest.mark.reference
@pytest.mark.parametrize(("name", "share"), [("hepatitis", 0.02), ("bridges", 0.1), ("abalone", 0.01)])
def test_both_tiers_find_the_same_approximate_sets_of_real_tables(
    reference_data: Path, name: str, share: float
) -> None:
    table = frequencies_of(reference_data, name)
    with tier("numpy"):
        one = unique_column_combinations(table, approximate=share)
    with tier("compiled"):
        other = unique_column_combinations(table, approximate=share)
    assert one == other
    assert one.sets


@pytest.mark.reference
@pytest.mark.parametrize("name", ["abalone", "bridges", "german_credit", "hepatitis"])
def test_small_real_tables_are_searched_in_plain_python_in_well_under_a_second(reference_data: Path, name: str) -> None:
    """A generous limit, so that only another order of magnitude breaks it: alone on a machine it is below 0.05 s."""
    table = frequencies_of(reference_data, name)
    with tier("numpy"):
        seconds = []
        for _ in range(3):
            start = time.process_time()
            unique_column_combinations(table)
            seconds.append(time.process_time() - start)
    assert min(seconds) < 0.4
