"""Gong et al. 2020: the worked example, with the two values that the paper misprints corrected by its own equations."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.detect.singletons import detect
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.score.sensitivity import sensitivities
from anon_core.table import ReadOptions, read
from tests.properties.tables import Row, table_of

NAMES = ["MINum", "Sex", "Age", "Zip Code", "Birthday", "Disease"]

TABLE_1: list[Row] = [
    ("EN569244", "Female", "19", "721001", "1230", "Fever"),
    ("EF863453", "Male", "23", "121000", "0422", "Pneumonia"),
    ("EX756421", "Female", "56", "831100", "0719", "Fever"),
    ("EA556754", "Female", "14", "201100", "0926", "Appendicitis"),
    ("EP974423", "Male", "23", "012000", "1111", "Leukemia"),
    ("EN540305", "Female", "67", "831100", "1230", "Fever"),
    ("EY775612", "Male", "19", "721001", "0717", "Leukemia"),
]

TABLE_2 = [
    {"MINum"},
    {"Age", "Disease"},
    {"Age", "Birthday"},
    {"Birthday", "Zip Code"},
    {"Age", "Sex", "Zip Code"},
]

HALF = dict.fromkeys(NAMES, 0.5)


def test_the_unique_column_combinations_of_table_1_are_those_of_table_2() -> None:
    found = detect(FrequencyTable.of(table_of(NAMES, TABLE_1)))
    assert sorted(map(sorted, found.identifiers)) == sorted(map(sorted, TABLE_2))


def test_sensitivities_of_the_worked_example() -> None:
    identifiers = detect(FrequencyTable.of(table_of(NAMES, TABLE_1))).identifiers
    assert sensitivities(NAMES, identifiers, HALF) == {
        "MINum": 0.5,
        "Sex": 0.125,
        "Age": 0.40625,
        "Zip Code": 0.3125,
        "Birthday": 0.375,  # The paper prints .438.
        "Disease": 0.25,  # The paper prints .375.
    }


def test_without_any_unique_set_there_is_no_sensitivity_and_never_zero() -> None:
    twice = FrequencyTable.of(table_of(NAMES, [*TABLE_1, TABLE_1[0]]))
    assert detect(twice).identifiers == ()
    assert sensitivities(NAMES, detect(twice).identifiers, HALF) is None


def test_a_probability_outside_0_and_1_is_refused_by_column() -> None:
    with pytest.raises(InvalidInputError, match="between 0 and 1: Sex, Age"):
        sensitivities(["MINum", "Sex", "Age"], [["MINum"]], {"MINum": 1.0, "Sex": 1.1, "Age": -0.1})


@settings(max_examples=60, deadline=None)
@given(
    sets=st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=4),
    reveal=st.fixed_dictionaries({name: st.sampled_from([0.0, 0.25, 0.5, 1.0]) for name in "abcd"}),
)
def test_it_is_an_upper_bound_of_knowing_a_column_and_the_rest_of_a_unique_set(
    sets: list[set[str]], reveal: dict[str, float]
) -> None:
    """Equation 1 takes overlapping sets for independent; summing over all that an adversary may know does not."""
    minimal = [one for one in sets if not any(other < one for other in sets)]
    unique_sets = [list(one) for one in {frozenset(one) for one in minimal}]
    found = sensitivities("abcd", unique_sets, reveal)
    assert found is not None
    for column in "abcd":
        exact = 0.0
        for knows in product([False, True], repeat=4):
            known = {name for name, yes in zip("abcd", knows, strict=True) if yes}
            chance = 1.0
            for name in "abcd":
                chance *= reveal[name] if name in known else 1 - reveal[name]
            if column in known and any(column in one and set(one) <= known for one in unique_sets):
                exact += chance
        assert exact <= found[column] + 1e-12
        assert found[column] <= reveal[column]


@pytest.mark.reference
@pytest.mark.parametrize(("name", "size"), [("iris_dedup", 5), ("abalone", 9), ("bridges", 13), ("german_credit", 3)])
def test_identifiers_of_real_tables_are_those_that_two_other_programs_found(
    reference_data: Path, name: str, size: int
) -> None:
    folder = reference_data / "uccs"
    table = read(folder / f"{name}.csv", ReadOptions(delimiter=","))
    known = json.loads((folder / f"{name}.uccs.json").read_text())
    expected = [ucc for ucc in known["minimal_uccs"] if len(ucc) <= size]
    found = detect(FrequencyTable.of(table), max_size=size)
    assert table.rows == known["rows"]
    assert sorted(map(sorted, found.identifiers)) == sorted(map(sorted, expected))


@pytest.mark.reference
@pytest.mark.parametrize("name", ["abalone", "bridges", "german_credit", "hepatitis", "iris_dedup", "letter_dedup"])
def test_sensitivities_of_real_tables_are_those_of_the_equations(reference_data: Path, name: str) -> None:
    known = json.loads((reference_data / "uccs" / f"{name}.uccs.json").read_text())
    expected = json.loads((reference_data / "uccs" / f"{name}.sensitivity.json").read_text())
    reveal = dict.fromkeys(known["columns"], expected["p"])
    found = sensitivities(known["columns"], known["minimal_uccs"], reveal)
    assert found == pytest.approx(expected["sensitivity"], abs=1e-9)
