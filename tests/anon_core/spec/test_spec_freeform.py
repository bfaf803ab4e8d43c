"""What `privacy.freeform` asks of a publication file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anon_core.policy import Sensitivity
from tests.anon_core.spec.spec_files import changed, folder, load, problems

__all__ = ["folder"]

COLUMNS = {
    "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
    "illness": {"role": "sensitive", "hierarchy": {"file": "hierarchies/illness.csv"}},
}
STATED = {"max_share_with_sensitive": 0.5}
GUARD = {"guard": ["AIDS"]}
HERE = "privacy.freeform.columns.illness"


def freeform(*, columns: Any = COLUMNS, guards: Any = None, recode: Any = None) -> str:
    policy = {"sigma_o": 1, "sigma_t": 0.5, "columns": {"illness": GUARD} if guards is None else guards}
    return changed(
        columns=columns,
        privacy={"k": 2, "freeform": policy, "published_uniqueness": STATED},
        recode=recode or {"method": "freeform"},
    )


def illness(**column: Any) -> dict[str, Any]:
    return {**COLUMNS, "illness": {**COLUMNS["illness"], **column}}


@pytest.mark.parametrize("recode", [{"method": "freeform"}, {"method": "freeform", "then": "prioritised"}])
def test_a_guarded_column_with_a_hierarchy_file_may_be_run(folder: Path, recode: Any) -> None:
    loaded = load(folder, freeform(recode=recode))
    assert loaded.recode.method == "freeform"
    assert loaded.privacy.freeform.columns["illness"].guard == ("AIDS",)


def test_other_columns_are_generalised_only_if_they_are_guarded(folder: Path) -> None:
    columns = {**COLUMNS, "note": {"role": "other", "hierarchy": {"root": "any"}}}
    assert "guard values" in problems(folder, freeform(columns=columns))["columns.note.hierarchy"][1]


@pytest.mark.parametrize(
    ("columns", "where", "words"),
    [
        (illness(hierarchy=None), HERE, "needs a hierarchy"),
        (illness(role="drop", hierarchy=None), HERE, "never published"),
        (illness(role="identifier", hierarchy=None), HERE, "never published"),
        (illness(hierarchy={"file": "a.csv", "unmapped": "suppress"}), HERE, "unmapped: suppress"),
    ],
)
@pytest.mark.parametrize("partial", [False, True])
def test_a_guarded_column_is_published_and_has_a_hierarchy(
    folder: Path, columns: Any, where: str, words: str, partial: bool
) -> None:
    found = problems(folder, freeform(columns=columns), partial=partial)
    assert found.keys() == {where}
    assert words in found[where][1]


@pytest.mark.parametrize("hierarchy", [{"root": "any"}, {"intervals": [5]}, {"prefix": [2]}, {"date": ["year"]}])
def test_in_a_run_the_gate_must_know_every_label(folder: Path, hierarchy: Any) -> None:
    guarded = freeform(columns=illness(hierarchy=hierarchy))
    quasi = freeform(columns={**COLUMNS, "age": {"role": "quasi", "hierarchy": hierarchy}})
    assert "anon hierarchy build" in problems(folder, guarded)[HERE][1]
    load(folder, guarded, partial=True)
    load(folder, quasi, partial=True)
    if "root" in hierarchy:
        load(folder, quasi)
    else:
        assert "anon hierarchy build" in problems(folder, quasi)["columns.age.hierarchy"][1]


def test_parts_of_a_column_are_placed_too(folder: Path) -> None:
    split = {"widths": [2, 3], "names": ["area", "place"]}
    columns = {**COLUMNS, "code": {"role": "quasi", "hierarchy": {"prefix": [1]}, "decompose": split}}
    assert "anon hierarchy build" in problems(folder, freeform(columns=columns))["columns.code.decompose"][1]
    load(folder, freeform(columns=columns), partial=True)


def test_frequency_needs_the_originals(folder: Path) -> None:
    text = freeform(guards={"illness": {**GUARD, "sensitivity": "frequency"}})
    assert "originals" in problems(folder, text)[f"{HERE}.sensitivity"][1]
    loaded = load(folder, text, partial=True)
    assert loaded.privacy.freeform.columns["illness"].sensitivity is Sensitivity.FREQUENCY


def test_the_method_needs_guards_and_then_needs_the_method(folder: Path) -> None:
    assert "needs `privacy.freeform`" in problems(folder, changed(recode={"method": "freeform"}))["recode.method"][1]
    found = problems(folder, freeform(recode={"method": "global", "then": "prioritised"}))
    assert "belongs to `method: freeform`" in found["recode.then"][1]
    alone = {"illness": COLUMNS["illness"]}
    load(folder, freeform(columns=alone))
    found = problems(folder, freeform(columns=alone, recode={"method": "freeform", "then": "prioritised"}))
    assert "role quasi" in found["recode.then"][1]


def test_groups_of_numbers_have_no_place_in_a_hierarchy(folder: Path) -> None:
    recode = {"method": "best", "singletons": {"years": {"column": "sex", "size": 5}}}
    assert "place them" in problems(folder, freeform(recode=recode))["recode.singletons.years"][1]
