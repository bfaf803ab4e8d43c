"""Promises of single expectations: what each argument does, what is not measured, and how the sentences read."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_airflow.expectations.inputs import hierarchies_in, originals
from tests.anon_airflow.expectations.expectation_engines import batch_of, judged, people

STARS = {"sex": {"root": "*"}, "town": {"root": "*"}}
BESIDE = {"columns": ["sex", "town"], "original": "register", "hierarchies": STARS}


def beside(release: pd.DataFrame, original: pd.DataFrame, **kwargs: Any) -> Any:
    with originals({"register": original}):
        return judged(batch_of(release), "expect_k_anonymity_beside_original", **{**BESIDE, "means": "link", **kwargs})


def test_rows_that_cannot_have_been_made_from_the_original_fail_however_large_k_is():
    """Nine rows of F were published of three: whoever looks for a woman finds many, and they are not from here."""
    original = people(("F", "Enna", 3), ("M", "Enna", 9)).frame()
    release = people(("F", "*", 9), ("M", "*", 3)).frame()
    found = beside(release, original, k=3)
    assert not found.success and found.result["observed_value"]["k"] >= 3
    assert found.result["observed_value"]["made_from_original"] is False
    assert "cannot all have been made from different rows of the original" in found.result["sentence"]


@pytest.mark.parametrize("side", ["release", "original"])
def test_cells_of_different_kinds_that_read_the_same_are_not_compared(side):
    plain = pd.DataFrame({"sex": ["1"] * 4, "town": ["Enna"] * 4})
    mixed = pd.DataFrame({"sex": pd.Series([1, 1, "1", "1"], dtype=object), "town": ["Enna"] * 4})
    found = beside(*((mixed, plain) if side == "release" else (plain, mixed)), k=2)
    assert not found.success
    assert "not measured, cells of different kinds read the same in sex" in found.result["sentence"]


def test_labels_that_no_hierarchy_leads_to_are_counted_and_no_option_is_advised():
    found = beside(people(("F", "North", 2)).frame(), people(("F", "Enna", 2)).frame(), k=2)
    said = found.result["sentence"]
    assert not found.success and "1 distinct label of town, in 2 rows; name the `hierarchies` that made them" in said
    assert "--" not in said


YEARS = "".join(f"{year};1950-1951\n" for year in range(1950, 1960))


def test_where_a_label_is_a_group_or_a_label_of_the_hierarchy_the_worse_is_measured(tmp_path):
    """The file calls ten years 1950-1951: by it everybody finds two rows more than by the range that it names."""
    (tmp_path / "years.csv").write_text(YEARS)
    named = {"file": "years.csv", "sha256": hashlib.sha256(YEARS.encode()).hexdigest()}
    original = pd.DataFrame({"born": ["1950", "1951", *(str(year) for year in range(1952, 1960))]})
    release = pd.DataFrame({"born": ["1950-1951"] * 2 + [str(year) for year in range(1952, 1960)]})
    measured = {}
    with hierarchies_in(tmp_path):
        for name, given in {"file": named, "perhaps groups": {**named, "groups": True}}.items():
            found = beside(release, original, columns=["born"], hierarchies={"born": given}, k=2)
            measured[name] = (found.success, found.result["observed_value"]["k"])
    assert measured == {"file": (True, 2), "perhaps groups": (False, 1)}


def test_a_grouped_column_is_measured_by_the_ranges_that_its_labels_name():
    original = pd.DataFrame({"born": ["1950", "1952", "1960", "1961"]})
    release = pd.DataFrame({"born": ["1950-1952"] * 2 + ["1960-1961"] * 2})
    given = {"born": {"intervals": [5], "groups": True}}
    found = beside(release, original, columns=["born"], hierarchies=given, k=2)
    assert found.success and found.result["observed_value"]["k"] == 2
    overlapping = pd.DataFrame({"born": ["1950-1960"] * 2 + ["1952-1961"] * 2})
    assert not beside(overlapping, original, columns=["born"], hierarchies=given, k=2).success


ILLNESSES = people(("F", "flu", 2), ("F", "cold", 2), ("M", "flu", 2), ("M", "gout", 2), names=("sex", "illness"))
SENSITIVE = {"columns": ["sex"], "sensitive": "illness"}


def closeness(folder: Path, lines: str, **words: Any) -> Any:
    (folder / "kinds.csv").write_text(lines)
    given = {"file": "kinds.csv", "sha256": hashlib.sha256(lines.encode()).hexdigest(), **words}
    with hierarchies_in(folder):
        return judged(
            batch_of(ILLNESSES.frame()),
            "expect_t_closeness",
            **SENSITIVE,
            t=1.0,
            distance="hierarchical",
            hierarchy=given,
        )


def test_values_that_the_hierarchy_of_closeness_does_not_know_are_not_measured_unless_it_says_so(tmp_path):
    found = closeness(tmp_path, "flu;mild\ncold;mild\n")
    assert not found.success and "the hierarchy of illness does not know 1 value" in found.result["sentence"]
    assert closeness(tmp_path, "flu;mild\ncold;mild\n", unmapped="suppress").success


def test_labels_above_values_are_as_near_as_what_is_below_them(tmp_path):
    """By hand: a quarter moves from cold to gout; gout is here the label above both, one level of two away."""
    found = closeness(tmp_path, "flu;mild\ncold;gout\nache;gout\n")
    assert found.result["observed_value"]["worst"] == pytest.approx(0.25 * 1 / 2)


def test_a_class_below_the_k_of_alpha_fails_and_is_told():
    asked = {**SENSITIVE, "values": "bands", "alpha": 0.5}
    assert judged(batch_of(ILLNESSES.frame()), "expect_alpha_anonymity", **asked, k=4).success
    found = judged(batch_of(ILLNESSES.frame()), "expect_alpha_anonymity", **asked, k=5)
    assert not found.success and "with 5 rows required and 4 in the smallest class" in found.result["sentence"]


def test_what_is_known_with_certainty_is_more_sensitive():
    table = batch_of(people(("F", "Enna", 1), ("M", "Enna", 1), ("F", "Noto", 1)).frame())
    asked = {"columns": ["sex", "town"], "max_size": 2, "approximate": 0.0, "ignore_duplicates": False, "limit": 0.3}
    throttled = judged(table, "expect_sensitivity_below", **asked, reveal={"sex": 0.5, "town": 0.5})
    often = judged(table, "expect_sensitivity_below", **asked, reveal={"sex": 1.0, "town": 0.5})
    assert throttled.success and throttled.result["observed_value"]["highest"] == 0.25
    assert not often.success and often.result["observed_value"]["highest"] == 0.5


RECURSIVE = {**SENSITIVE, "values": "bands", "kind": "recursive", "l": 2}


@pytest.mark.parametrize(
    ("c", "l", "holds", "said"),
    [
        (3, 2, True, "the worst class needs c above 1, 3 given"),
        (1, 2, False, "the worst class needs c above 1, 1 given; 2 of 2 classes fail, 8 of 8 rows: generalise"),
        (3, 3, False, "the worst class has too few values for any c, 3 given; 2 of 2 classes fail"),
    ],
)
def test_recursive_diversity_says_what_c_it_needs(c, l, holds, said):  # noqa: E741
    found = judged(batch_of(ILLNESSES.frame()), "expect_l_diversity", **{**RECURSIVE, "l": l}, c=c)
    assert found.success is holds
    assert f"recursive l-diversity of illness with l={l}: {said}" in found.result["sentence"]


def test_one_row_is_one_row():
    table = batch_of(people(("F", "Enna", 1), ("M", "Enna", 2)).frame())
    asked = {"columns": ["sex", "town"]}
    said = [
        judged(table, "expect_k_anonymity", **asked, k=2).result["sentence"],
        judged(table, "expect_risk_below", **asked, max_risk=0.5).result["sentence"],
    ]
    assert "smallest class has 1 row, 2 required" in said[0] and "1 row lies in classes below 2" in said[0]
    assert "1 row is above it" in said[1]
