"""Gong et al. 2020: the worked example, with the two values that the paper misprints corrected by its own equations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_core.detection.unique_columns import unique_column_combinations
from anon_core.engines.arrow import ArrowEngine
from anon_core.frequency import FrequencyTable
from anon_core.measures.sensitivity.exposure import exposure
from anon_core.measures.sensitivity.scores import Scores, score_columns
from anon_core.measures.sensitivity.sensitivity import sensitivities
from anon_core.measures.sensitivity.sweeps import sweep_adversary, sweep_rows
from anon_core.table import ReadOptions, Table, read
from anon_core.table.masking import mask
from tests.papers.gong import NAMES, TABLE_1
from tests.properties.tables import table_of

TABLE_2 = [
    {"MINum"},
    {"Age", "Disease"},
    {"Age", "Birthday"},
    {"Birthday", "Zip Code"},
    {"Age", "Sex", "Zip Code"},
]

# The unique sets of RPI, a table that the authors did not publish.
TABLE_5 = [
    one.split()
    for one in (
        "Id",
        "CtfId",
        "Birth Hp Zip",
        "Gender Hp Name",
        "Addr Hp Name Tel",
        "Addr District3 Hp Name",
        "Addr District4 Hp Name",
        "Addr Fax Hp Name",
        "Addr Hp Name Zip",
        "Birth District3 Hp",
        "Birth District4 Hp",
        "Birth Hp Name",
        "Birth CtfTp Gender Hp",
        "Birth Gender Hp Tel",
        "Addr Birth Hp",
    )
]

HALF = dict.fromkeys(NAMES, 0.5)
REAL = ["abalone", "bridges", "german_credit", "hepatitis", "iris_dedup", "letter_dedup"]


def scored(table: Table, **options: Any) -> Scores:
    unique = unique_column_combinations(FrequencyTable.of(table), **options)
    return score_columns(ArrowEngine(table=table), unique, HALF)


def by_name(scores: Scores) -> dict[str, float | None]:
    return {one.name: one.sensitivity for one in scores.columns}


def test_the_unique_column_combinations_of_table_1_are_those_of_table_2() -> None:
    found = unique_column_combinations(FrequencyTable.of(table_of(NAMES, TABLE_1)))
    assert sorted(map(sorted, found.sets)) == sorted(map(sorted, TABLE_2))


def test_sensitivities_of_the_worked_example() -> None:
    scores = scored(table_of(NAMES, TABLE_1))
    assert by_name(scores) == {
        "MINum": 0.5,
        "Sex": 0.125,
        "Age": 0.40625,
        "Zip Code": 0.3125,
        "Birthday": 0.375,  # The paper prints .438.
        "Disease": 0.25,  # The paper prints .375.
    }
    assert scores.average == pytest.approx(1.96875 / 6)
    assert [one.ranks["sensitivity"] for one in scores.columns] == [1, 6, 2, 4, 3, 5]


def test_in_the_worked_example_no_sets_of_a_column_overlap_beside_it_so_the_formula_is_exact() -> None:
    scores = scored(table_of(NAMES, TABLE_1))
    assert scores.exact_method == "enumeration"
    for one in scores.columns:
        assert one.exact == pytest.approx(one.sensitivity, abs=1e-15)


def test_baselines_of_the_worked_example() -> None:
    columns = {one.name: one for one in scored(table_of(NAMES, TABLE_1)).columns}
    assert [columns[name].cardinality for name in NAMES] == [7, 2, 5, 5, 6, 4]
    assert columns["MINum"].unique_share == 1.0
    assert columns["Zip Code"].unique_share == pytest.approx(3 / 7)
    assert columns["MINum"].entropy == pytest.approx(2.807354922)
    assert columns["Sex"].entropy == pytest.approx(0.985228136)
    assert {(one.type, one.distinct - one.cardinality, one.missing) for one in columns.values()} == {
        ("text", 0, 0),
        ("integer", 0, 0),
    }
    assert [columns[name].ranks["cardinality"] for name in NAMES] == [1, 6, 3, 3, 2, 5]


def test_rpi_ranks_gender_above_telephone_as_figure_5_says() -> None:
    names = sorted({name for one in TABLE_5 for name in one})
    found = sensitivities(names, TABLE_5, dict.fromkeys(names, 0.5))
    assert found is not None
    assert found["Id"] == found["CtfId"] == max(found.values()) == 0.5
    assert found["Gender"] == pytest.approx(0.5 * (1 - 0.75 * 0.875**2))
    assert found["Tel"] == pytest.approx(0.5 * (1 - 0.875**2))


def test_masking_a_key_lowers_its_sensitivity_and_raises_that_of_its_new_partners() -> None:
    """Figure 2: six characters masked, two people share the rest; age or zip code tells them apart."""
    table = table_of(NAMES, TABLE_1)
    before, after = by_name(scored(table)), by_name(scored(mask(table, {"MINum": 6})))
    assert before["MINum"] == 0.5
    assert after["MINum"] == 0.375
    assert after["Age"] == pytest.approx(0.5 * (1 - 0.5**3 * 0.75))
    assert after["Zip Code"] == pytest.approx(0.5 * (1 - 0.5**2 * 0.75))
    for untouched in ("Sex", "Birthday", "Disease"):
        assert after[untouched] == before[untouched]


def test_masking_a_key_completely_takes_it_out_of_every_set() -> None:
    after = by_name(scored(mask(table_of(NAMES, TABLE_1), {"MINum": 8})))
    assert after["MINum"] == 0.0
    assert after["Age"] == 0.40625


def test_without_any_unique_set_there_is_no_sensitivity_and_never_zero() -> None:
    scores = scored(table_of(NAMES, [*TABLE_1, TABLE_1[0]]))
    assert scores.average is None
    assert scores.unique_sets == 0
    assert scores.duplicate_rows > 0
    for one in scores.columns:
        assert one.sensitivity is one.exact is one.ranks["sensitivity"] is None
        assert one.ranks["cardinality"] is not None
    assert scores.reason is not None
    assert "(1 of 8 rows repeats an earlier one)" in scores.reason
    assert "(approximate)" in scores.reason
    assert "(ignore_duplicates)" in scores.reason


def test_duplicates_that_are_ignored_already_are_not_given_as_the_reason() -> None:
    scores = scored(table_of(NAMES, [*TABLE_1, TABLE_1[0]]).select(NAMES[1:]), ignore_duplicates=True, max_size=1)
    assert scores.reason is not None
    assert "ignore_duplicates" not in scores.reason


def test_duplicates_ignored_or_approximate_sets_give_sensitivities_again() -> None:
    table = table_of(NAMES, [*TABLE_1, TABLE_1[0]])
    assert by_name(scored(table, ignore_duplicates=True)) == by_name(scored(table_of(NAMES, TABLE_1)))
    loose = scored(table, approximate=0.25)
    assert loose.reason is None
    assert by_name(loose)["MINum"] == 0.5


def test_below_the_smallest_unique_set_an_adversary_is_certain_of_nobody() -> None:
    """There are unique sets, only none within the limit: that is 0, and not unknown."""
    scores = scored(table_of(NAMES, TABLE_1).select(NAMES[1:]), max_size=1)
    assert [(c.sensitivity, c.exact) for c in scores.columns] == [(0.0, 0.0)] * 5
    assert scores.average == 0.0
    assert scores.reason == (
        "every unique set has more than 1 column: an adversary who knows no more identifies no person for sure"
    )


def test_with_equal_rows_a_limit_changes_nothing_about_there_being_no_set() -> None:
    scores = scored(table_of(NAMES, [*TABLE_1, TABLE_1[0]]), max_size=1)
    assert scores.average is None
    assert scores.reason is not None
    assert "no set of up to 1 column makes" in scores.reason
    assert "(ignore_duplicates)" in scores.reason


def test_a_stronger_adversary_raises_all_sensitivities_but_that_of_the_key() -> None:
    """Figure 4b."""
    unique = unique_column_combinations(FrequencyTable.of(table_of(NAMES, TABLE_1)))
    sweep = sweep_adversary(NAMES, unique, HALF)
    assert [point.at for point in sweep.points] == [1, 2, 3]
    assert [point.unique_sets for point in sweep.points] == [1, 4, 5]
    found = [point.sensitivities for point in sweep.points if point.sensitivities]
    assert [one["MINum"] for one in found] == [0.5, 0.5, 0.5]
    assert [one["Sex"] for one in found] == [0.0, 0.0, 0.125]
    assert sweep.points[2].average == pytest.approx(1.96875 / 6)


def test_a_sweep_over_rows_ends_with_the_whole_table() -> None:
    """Figure 4a."""
    table = table_of(NAMES, TABLE_1)
    sweep = sweep_rows(ArrowEngine(table=table), HALF, search=unique_column_combinations, steps=[2, 4, 7])
    assert [point.at for point in sweep.points] == [2, 4, 7]
    assert sweep.points[-1].sensitivities == by_name(scored(table))
    assert all(point.sensitivities and point.sensitivities["MINum"] == 0.5 for point in sweep.points)


@pytest.mark.reference
@pytest.mark.parametrize("name", REAL)
def test_sensitivities_of_real_tables_are_those_of_the_equations(reference_data: Path, name: str) -> None:
    known = json.loads((reference_data / "uccs" / f"{name}.uccs.json").read_text())
    expected = json.loads((reference_data / "uccs" / f"{name}.sensitivity.json").read_text())
    reveal = dict.fromkeys(known["columns"], expected["p"])
    found = sensitivities(known["columns"], known["minimal_uccs"], reveal)
    assert found == pytest.approx(expected["sensitivity"], abs=1e-9)
    small = [one for one in known["minimal_uccs"] if len(one) <= 5]
    limited = sensitivities(known["columns"], small, reveal, larger_exist=True)
    assert limited == pytest.approx(expected["sensitivity_uccs_of_size_at_most_5"], abs=1e-9)


@pytest.mark.reference
@pytest.mark.parametrize("name", REAL)
def test_the_formula_bounds_the_exact_probability_on_real_tables(reference_data: Path, name: str) -> None:
    known = json.loads((reference_data / "uccs" / f"{name}.uccs.json").read_text())
    reveal = dict.fromkeys(known["columns"], 0.5)
    found = sensitivities(known["columns"], known["minimal_uccs"], reveal)
    exact = exposure(known["columns"], known["minimal_uccs"], reveal, generator=np.random.default_rng(0))
    assert found is not None
    assert exact is not None
    assert (exact.method, exact.error) == ("enumeration", 0.0)
    assert all(exact.probabilities[column] <= found[column] for column in known["columns"])
    in_sets = {column for one in known["minimal_uccs"] for column in one}
    assert {column for column in known["columns"] if exact.probabilities[column] > 0} == in_sets


@pytest.mark.reference
@pytest.mark.parametrize("name", ["abalone", "bridges", "german_credit", "hepatitis", "iris_dedup"])
def test_from_the_file_to_the_sensitivities_of_the_equations(reference_data: Path, name: str) -> None:
    table = read(reference_data / "uccs" / f"{name}.csv", ReadOptions(delimiter=","))
    expected = json.loads((reference_data / "uccs" / f"{name}.sensitivity.json").read_text())
    unique = unique_column_combinations(FrequencyTable.of(table))
    scores = score_columns(ArrowEngine(table=table), unique, dict.fromkeys(table.names, expected["p"]))
    assert scores.unique_sets == expected["n_uccs"]
    assert by_name(scores) == pytest.approx(expected["sensitivity"], abs=1e-9)
