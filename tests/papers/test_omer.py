"""Omer and Mohamad 2016, on the very tables of the paper."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from anon_core.decompose import Decomposition, measure_effect, split_column
from anon_core.detection.selective import select
from anon_core.frequency import FrequencyTable
from anon_core.report.plots import plot_decomposition
from anon_core.spec import Decompose
from anon_core.table import from_arrow, read

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


ZIPS = ("28496", "32214", "32275", "28781", "51618", "51835", "54835", "54352", "59496", "59951")


@pytest.mark.reference
def test_table_1_census_income(reference_data: Path) -> None:
    table = read(reference_data / "census_income_age_sex_race.csv.gz")
    found = select(FrequencyTable.of(table, ["age", "sex", "race"]))
    assert found.rows == 199_523
    assert {subset.columns: subset.distinct for subset in found.subsets} == CENSUS
    assert found.elected == ("age", "sex", "race")


@pytest.mark.reference
def test_table_2_adult(reference_data: Path) -> None:
    table = read(reference_data / "adult.csv.gz")
    found = select(FrequencyTable.of(table, ["sex", "race", "fnlwgt"]))
    assert found.rows == 32_561
    assert {subset.columns: subset.distinct for subset in found.subsets} == ADULT
    assert found.elected == ("sex", "race", "fnlwgt")


@pytest.mark.reference
def test_the_distinct_records_of_section_6_are_singletons(reference_data: Path) -> None:
    table = read(reference_data / "adult.csv.gz")
    found = select(FrequencyTable.of(table, ["sex", "race", "fnlwgt"]))
    assert found.subsets[-1].singletons == 16_080


def test_tables_3_and_4_split_ten_zips() -> None:
    table = from_arrow(pa.table({"zip": list(ZIPS)}))
    rule = Decompose(widths=(2, 3), names=("state", "local"))
    split = split_column(table.column("zip"), rule, Path())
    found = measure_effect(table, split, count=FrequencyTable.of)
    assert [column.domain.take(pa.array(column.codes)).to_pylist()[0] for column in split.parts] == ["28", "496"]
    assert found.effect[0].before.distinct == 10
    assert [(part.name, part.distinct) for part in found.parts] == [("state", 5), ("local", 8)]
    # What the paper does not say: side by side the parts still tell all ten apart.
    assert (found.effect[0].after.distinct, found.effect[0].after.outliers) == (10, 10)


def decomposed_adult(reference_data: Path, *publish: str) -> Decomposition:
    """Two digits as the state, and the rest: the paper's split, of what it calls Zip."""
    table = read(reference_data / "adult.csv.gz")
    rule = Decompose(widths=(2,), names=("state", "local"), publish=publish or None)
    return measure_effect(
        table, split_column(table.column("fnlwgt"), rule, Path()), ["sex", "race"], count=FrequencyTable.of
    )


@pytest.mark.reference
def test_figures_7_to_9_outliers_before_and_after(reference_data: Path, tmp_path: Path) -> None:
    """The paper draws these without printing them. Its outliers before are those of its own section 6."""
    found = decomposed_adult(reference_data, "state")
    outliers = {effect.columns: (effect.before.outliers, effect.after.outliers) for effect in found.effect}
    assert outliers[("fnlwgt", "sex", "race")] == (16_080, 100)
    assert outliers[("sex", "race")] == (0, 0)
    assert outliers[("fnlwgt",)] == (15_330, 0)
    assert [(part.name, part.distinct, part.outliers) for part in found.parts] == [
        ("state", 90, 0),
        ("local", 9_380, 2_230),
    ]
    plot_decomposition(found, tmp_path / "figures.svg")
    drawn = (tmp_path / "figures.svg").read_text()
    assert "<!-- 16,080  (49.38%) -->" in drawn and "<!-- 100  (0.31%) -->" in drawn


@pytest.mark.reference
def test_parts_published_side_by_side_are_no_protection(reference_data: Path) -> None:
    for effect in decomposed_adult(reference_data).effect:
        assert effect.after == effect.before
