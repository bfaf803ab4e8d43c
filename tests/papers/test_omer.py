"""Omer and Mohamad 2016, on the very tables of the paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.detect.selective import select
from anon_core.frequency import FrequencyTable
from anon_core.table import read

pytestmark = pytest.mark.reference

# The paper prints "Mace" for race.
CENSUS = {
    ("age",): 91,
    ("sex",): 2,
    ("race",): 5,
    ("age", "sex"): 182,
    ("age", "race"): 449,
    ("sex", "race"): 10,
    ("age", "sex", "race"): 881,
}

# Adult has no ZIP code: the paper's "Zip" is fnlwgt.
ADULT = {
    ("sex",): 2,
    ("race",): 5,
    ("sex", "race"): 10,
    ("fnlwgt",): 21_648,
    ("sex", "fnlwgt"): 22_019,
    ("race", "fnlwgt"): 21_942,
    ("sex", "race", "fnlwgt"): 22_188,
}


def test_table_1_census_income(reference_data: Path) -> None:
    table = read(reference_data / "census_income_age_sex_race.csv.gz")
    found = select(FrequencyTable.of(table, ["age", "sex", "race"]))
    assert found.rows == 199_523
    assert {subset.columns: subset.distinct for subset in found.subsets} == CENSUS
    assert found.elected == ("age", "sex", "race")


def test_table_2_adult(reference_data: Path) -> None:
    table = read(reference_data / "adult.csv.gz")
    found = select(FrequencyTable.of(table, ["sex", "race", "fnlwgt"]))
    assert found.rows == 32_561
    assert {subset.columns: subset.distinct for subset in found.subsets} == ADULT
    assert found.elected == ("sex", "race", "fnlwgt")


def test_the_distinct_records_of_section_6_are_singletons(reference_data: Path) -> None:
    table = read(reference_data / "adult.csv.gz")
    found = select(FrequencyTable.of(table, ["sex", "race", "fnlwgt"]))
    assert found.subsets[-1].singletons == 16_080
