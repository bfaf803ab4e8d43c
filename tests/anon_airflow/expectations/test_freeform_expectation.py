"""Freeform anonymity as the gate measures it: labels within labels, and everything that makes it refuse."""

from __future__ import annotations

import hashlib
import json

import pandas as pd
import pytest

from anon_airflow.expectations import OURS
from anon_airflow.expectations.evaluation import batch_of
from anon_airflow.expectations.inputs import hierarchies_in

CANARY = "CANARY-7f3a"
# As in the paper's Example 1.1: flu and AIDS are viral infections.
ILLNESS = "Flu;VI\nAIDS;VI\nUlcer;Stomach\nGastritis;Stomach\n"
TOWNS = "Alba;North\nBria;North\nElva;South\n"
GUARD = {"guard": ["AIDS"], "sensitivity": "aggregate", "observability": "sensitivity"}
FILES = {"illness": ILLNESS, "town": TOWNS}
KWARGS = {
    "columns": ["sex", "town", "illness"],
    "hierarchies": {
        "sex": {"root": "any"},
        **{
            name: {"file": f"{name}.csv", "sha256": hashlib.sha256(text.encode()).hexdigest()}
            for name, text in FILES.items()
        },
    },
    "guards": {"illness": GUARD},
    "sigma_o": 1,
    "sigma_t": 0.5,
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def measured(folder, *rows, **changes):
    """Judge rows of (sex, town, illness), and the frequency table of them: they say the same."""
    table = pd.DataFrame(rows, columns=["sex", "town", "illness"], dtype="object")
    counted = table.groupby(list(table.columns), dropna=False, sort=False).size().reset_index(name="n")
    kind = OURS["expect_no_freeform_breach"]
    with hierarchies_in(folder):
        one = batch_of(table).validate(kind(**KWARGS | changes, weight_column=None), result_format="BASIC")
        other = batch_of(counted).validate(kind(**KWARGS | changes, weight_column="n"), result_format="BASIC")
    assert one.success is other.success
    assert one.result == other.result
    assert CANARY not in json.dumps(one.to_json_dict(), allow_nan=False)
    return one


def test_whoever_is_known_to_have_a_guarded_value_is_a_breach(folder):
    found = measured(folder, ("M", "Alba", "AIDS"), ("M", "Alba", "AIDS"), ("F", "Alba", "Flu"), ("F", "Elva", "Ulcer"))
    assert not found.success
    assert found.result["observed_value"] == {
        "breaches": 1,
        "rows": 4,
        "rows_concerned": 2,
        "threat": 1.0,
        "column": "illness",
    }
    assert found.result["sentence"] == (
        "freeform anonymity: 1 way to infer a guarded value of illness, 2 of 4 rows concerned, largest threat 1 "
        "(illness), 0.5 allowed: use `recode.method: freeform`, or guard fewer values"
    )


def test_generalised_it_is_none(folder):
    found = measured(folder, ("M", "Alba", "VI"), ("M", "Alba", "VI"), ("F", "Alba", "VI"), ("F", "Elva", "Ulcer"))
    assert found.success
    assert found.result["observed_value"]["threat"] == 0.0


def test_a_label_within_another_is_placed_below_it(folder):
    """Somebody known to be from the North may be in either row, so AIDS is not sure; from Alba it is."""
    within = [("M", "North", "AIDS"), ("M", "Alba", "Flu"), ("M", "Bria", "Flu")]
    assert measured(folder, *within).success
    assert measured(folder, *within).result["observed_value"]["threat"] == pytest.approx(1 / 3)
    assert not measured(folder, ("M", "North", "Flu"), ("M", "Alba", "AIDS"), ("M", "Bria", "Flu")).success


def test_a_root_says_nothing_and_a_gap_is_a_leaf(folder):
    assert measured(folder, ("any", "*", "AIDS"), ("F", "*", "Flu"), ("M", None, None)).success
    assert not measured(folder, ("any", "*", "Flu"), (None, "*", "AIDS"), ("M", "*", None)).success


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("M", "Alba", CANARY), "of illness does not know 1 label, in 1 row"),
        (("M", CANARY, "Flu"), "of town does not know 1 label, in 1 row"),
        (("any (level 1)", "Alba", "Flu"), "read like its root"),
        (("M", "Alba", 3), "of illness does not know 1 label, in 1 row"),
    ],
)
def test_a_label_without_a_place_is_refused(folder, row, words):
    found = measured(folder, ("M", "Alba", "Flu"), row)
    assert not found.success
    assert words in found.result["sentence"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"hierarchies": {**KWARGS["hierarchies"], "sex": {"file": "gone.csv", "sha256": "0"}}},
            "sex is missing or has changed",
        ),
        (
            {"hierarchies": {**KWARGS["hierarchies"], "town": {"file": "town.csv", "sha256": "0"}}},
            "town is missing or has changed",
        ),
        ({"hierarchies": {**KWARGS["hierarchies"], "sex": {"intervals": "5"}}}, "is wrong; write it as"),
        ({"hierarchies": {**KWARGS["hierarchies"], "illness": {"root": "*"}}}, "without a hierarchy file"),
        ({"hierarchies": {"sex": {"root": "any"}}}, "must name exactly the columns that are measured"),
        ({"guards": {}}, "guard at least one column"),
        ({"guards": {"age": GUARD}}, "only columns that are measured"),
        ({"guards": {"illness": {**GUARD, "guard": ["Aids"]}}}, "1 of 1 name found neither"),
        ({"guards": {"illness": {**GUARD, "sensitivity": "frequency"}}}, "needs the originals"),
        ({"guards": {"illness": {**GUARD, "guards": ["AIDS"]}}}, "unexpected ValidationError"),
    ],
)
def test_what_cannot_be_measured_is_refused(folder, changes, words):
    found = measured(folder, ("M", "Alba", "Flu"), **changes)
    assert not found.success
    assert words in found.result["sentence"]


def test_a_file_that_was_changed_or_broken_since_is_refused(folder):
    assert measured(folder, ("M", "Alba", "Flu")).success
    (folder / "illness.csv").write_text(ILLNESS + "Cold;VI\n")
    assert "has changed" in measured(folder, ("M", "Alba", "Flu")).result["sentence"]
    broken = "Flu;VI\nFlu;Stomach\n"
    (folder / "illness.csv").write_text(broken)
    same = {"file": "illness.csv", "sha256": hashlib.sha256(broken.encode()).hexdigest()}
    found = measured(folder, ("M", "Alba", "Flu"), hierarchies={**KWARGS["hierarchies"], "illness": same})
    assert "`anon hierarchy check` says why" in found.result["sentence"]
    assert str(folder) not in json.dumps(found.to_json_dict())


def test_rules_for_numbers_cannot_be_counted(folder):
    rules = "[0, 10) => low\n[10, 20) => high\n"
    (folder / "town.csv").write_text(rules)
    numbers = {"file": "town.csv", "sha256": hashlib.sha256(rules.encode()).hexdigest()}
    found = measured(folder, ("M", "low", "Flu"), hierarchies={**KWARGS["hierarchies"], "town": numbers})
    assert not found.success
    assert found.result["observed_value"] is None


def test_without_a_folder_nothing_is_measured(folder):
    table = pd.DataFrame([("M", "Alba", "Flu")], columns=["sex", "town", "illness"])
    found = batch_of(table).validate(OURS["expect_no_freeform_breach"](**KWARGS, weight_column=None))
    assert not found.success
    assert "within `hierarchies_in`" in found.result["sentence"]


def test_guards_that_guard_nothing_are_not_measured(folder):
    """Found in review: all that is guarded can be observed by belief, so no threat is left to find."""
    known = {"belief": {"AIDS": 1, "Flu": 1, "Ulcer": 1, "Gastritis": 1}, "boost": 0}
    guard = {"guard": ["AIDS"], "sensitivity": "aggregate", "observability": known}
    found = measured(folder, *[("M", "Alba", "AIDS"), ("F", "Elva", "Flu")] * 3, guards={"illness": guard})
    assert not found.success
    assert "not measured" in found.result["sentence"] and "so the guard has no effect" in found.result["sentence"]
