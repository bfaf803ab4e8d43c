"""``unit`` and ``reviewed`` of a publication file: whose rows they are, and who has read the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_core.errors import SpecError
from anon_core.spec import PartialPublication, load_spec
from anon_core.spec.review import Review

WORD = {"reason": "Every row is one licence, and nobody has two", "by": "Ada", "until": "2027-01-31"}
SPEC: dict[str, Any] = {
    "dataset": "licences",
    "title": "Licences",
    "source": {"file": "licences.csv"},
    "unit": "row",
    "reviewed": {"by": "Ada", "on": "2026-01-02"},
    "columns": {
        "id": {"role": "identifier"},
        "office": {"role": "drop"},
        "born": {"role": "quasi"},
        "points": {"role": "sensitive"},
    },
    "privacy": {"k": 5, "published_uniqueness": {"max_share_with_sensitive": 0.5}},
    "recode": {"method": "none"},
    "portal": {"folder": "portal"},
}


def load(folder: Path, *, partial: bool = False, **changes: Any) -> PartialPublication:
    content = {key: value for key, value in {**SPEC, **changes}.items() if value != "absent"}
    path = folder / "licences.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return load_spec(path, partial=True) if partial else load_spec(path)


def problems(folder: Path, **changes: Any) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        load(folder, **changes)
    return {problem.where: problem.what for problem in caught.value.problems}


@pytest.mark.parametrize("key", ["unit", "reviewed"])
def test_a_file_that_is_run_says_whose_its_rows_are_and_who_has_read_it(tmp_path: Path, key: str) -> None:
    assert problems(tmp_path, **{key: "absent"}) == {key: "is required"}
    load(tmp_path, partial=True, **{key: "absent"})


@pytest.mark.parametrize(
    ("written", "columns"),
    [("row", ()), ("id", ("id",)), (["id"], ("id",)), (["office", "born"], ("office", "born"))],
)
def test_a_unit_is_rows_or_columns(tmp_path: Path, written: Any, columns: tuple[str, ...]) -> None:
    unit = load(tmp_path, unit=written).unit
    assert unit is not None and unit.columns == columns and not unit.answered
    assert str(unit) == (", ".join(columns) or "row")


def test_a_person_may_answer_for_rows_that_are_people_and_for_numbers_that_several_share(tmp_path: Path) -> None:
    rows = load(tmp_path, unit={"rows_are_people": WORD}).unit
    assert rows is not None and rows.columns == () and [one.by for one in rows.answered] == ["Ada"]
    shared = load(tmp_path, unit={"columns": ["id"], "may_span": [{"column": "office", **WORD}]}).unit
    assert shared is not None and [one.column for one in shared.may_span] == ["office"]


@pytest.mark.parametrize(
    ("unit", "where", "said"),
    [
        ("gone", "unit", "no column `gone`"),
        (["id", "gone"], "unit[1]", "no column `gone`"),
        ({"columns": ["gone"]}, "unit.columns[0]", "no column `gone`"),
        ({"columns": ["id"], "may_span": [{"column": "gone", **WORD}]}, "unit.may_span[0].column", "no column `gone`"),
        ("born", "unit", "give it the role identifier"),
        ("points", "unit", "give it the role identifier"),
        ([], "unit.columns", "should not be empty"),
        ({"rows_are_people": WORD, "columns": ["id"]}, "unit", "remove the others"),
        ({"rows_are_people": {**WORD, "reason": "it is so"}}, "unit.rows_are_people.reason", "at least 10 letters"),
        (5.5, "unit", "no column `5.5`"),
        (True, "unit", "should be `row`"),
    ],
)
def test_what_is_wrong_with_a_unit_is_told_at_its_place(tmp_path: Path, unit: Any, where: str, said: str) -> None:
    found = problems(tmp_path, unit=unit)
    assert list(found) == [where] and said in found[where]


def test_a_draft_is_read_and_says_that_nobody_has_reviewed_it(tmp_path: Path) -> None:
    assert load(tmp_path, reviewed=False).reviewed is False
    assert isinstance(load(tmp_path).reviewed, Review)


@pytest.mark.parametrize("written", [True, "yes", 3])
def test_reviewed_is_false_or_a_person_and_a_day(tmp_path: Path, written: Any) -> None:
    assert "should be `false`" in problems(tmp_path, reviewed=written)["reviewed"]
