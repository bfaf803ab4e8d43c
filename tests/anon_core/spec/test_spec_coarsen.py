"""``coarsen`` of a publication file: what goes together, what does not, and what it does to digests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_core.errors import SpecError
from anon_core.policy import CountedValues
from anon_core.spec import PartialPublication, load_spec, publication

SPEC: dict[str, Any] = {
    "dataset": "pay",
    "title": "Pay",
    "source": {"file": "pay.csv"},
    "unit": "row",
    "reviewed": {"by": "Ada", "on": "2026-01-02"},
    "columns": {"id": {"role": "identifier"}, "born": {"role": "quasi"}, "income": {"role": "sensitive"}},
    "privacy": {"k": 5, "published_uniqueness": {"max_share_with_sensitive": 0.5}},
    "recode": {"method": "none"},
    "portal": {"folder": "portal"},
}


def load(
    folder: Path, column: dict[str, Any] | None = None, name: str = "income", **changes: Any
) -> PartialPublication:
    columns = {**SPEC["columns"], name: {**SPEC["columns"][name], **(column or {})}}
    path = folder / "pay.yaml"
    path.write_text(yaml.safe_dump({**SPEC, "columns": columns, **changes}, sort_keys=False))
    return load_spec(path)


def problems(folder: Path, column: dict[str, Any], name: str = "income", **changes: Any) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        load(folder, column, name, **changes)
    assert all(problem.line > 1 for problem in caught.value.problems)
    return {problem.where.removeprefix("columns."): problem.what for problem in caught.value.problems}


@pytest.mark.parametrize(
    "rule",
    [
        {"round": 1000, "top": 150000, "bottom": 0},
        {"round": 0.1, "top": 0.3},
        {"round": 5, "bottom": -10},
        {"date": "quarter"},
        {"round": 5, "unmapped": "suppress"},
    ],
)
def test_rules_that_are_taken(tmp_path: Path, rule: dict[str, Any]) -> None:
    assert load(tmp_path, {"coarsen": rule}).columns["income"].coarsen is not None


@pytest.mark.parametrize(
    ("rule", "where", "what"),
    [
        ({}, "income.coarsen", "needs exactly one of round, date, level; it has none"),
        ({"round": 5, "date": "year"}, "income.coarsen", "it has round and date"),
        ({"round": 0}, "income.coarsen.round", "should be more than 0"),
        ({"round": -5}, "income.coarsen.round", "should be more than 0"),
        ({"round": "much"}, "income.coarsen.round", "should be a number"),
        ({"round": 1000, "top": 1500}, "income.coarsen.top", "should be a multiple of `round`"),
        ({"round": 0.1, "bottom": 0.25}, "income.coarsen.bottom", "should be a multiple of `round`"),
        ({"round": 10, "top": 10, "bottom": 10}, "income.coarsen.top", "should be above `bottom`"),
        ({"round": 10, "top": -10, "bottom": 10}, "income.coarsen.top", "-10 is not above 10"),
        ({"date": "year", "top": 10}, "income.coarsen.top", "`top` goes with `round`"),
        ({"date": "day"}, "income.coarsen.date", "should be 'month', 'quarter', 'year' or 'decade'"),
        ({"level": 0}, "income.coarsen.level", "should be at least 1"),
        ({"level": 1}, "income.coarsen.level", "set `hierarchy: {file: ...}`"),
        ({"rond": 5}, "income.coarsen.rond", "did you mean `round`?"),
    ],
)
def test_rules_that_are_wrong_in_themselves(tmp_path: Path, rule: dict[str, Any], where: str, what: str) -> None:
    assert what in problems(tmp_path, {"coarsen": rule})[where]


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    rule = {"round": 1000, "top": 1500, "bottom": 2500, "unmapped": "suppress"}
    found = problems(tmp_path, {"coarsen": rule, "type": "date"})
    assert {"income.coarsen.top", "income.coarsen.bottom", "income.type"} <= set(found)


@pytest.mark.parametrize("role", ["quasi", "identifier", "drop"])
def test_only_what_is_published_as_it_is_can_be_coarsened(tmp_path: Path, role: str) -> None:
    found = problems(tmp_path, {"role": role, "coarsen": {"round": 5}})
    assert f"a column of role `{role}`" in found["income.coarsen"]


@pytest.mark.parametrize(
    ("rule", "kind", "fits"),
    [
        ({"round": 1000, "top": 9000}, "integer", True),
        ({"round": 0.5}, "integer", False),
        ({"round": 0.5}, "decimal", True),
        ({"round": 5}, "date", False),
        ({"date": "month"}, "date", False),
        ({"date": "year"}, "integer", True),
        ({"date": "month"}, "text", True),
        ({"round": 5, "unmapped": "suppress"}, "integer", False),
        ({"round": 5, "unmapped": "suppress"}, "text", True),
    ],
)
def test_a_declared_type_must_hold_for_what_is_published(
    tmp_path: Path, rule: dict[str, Any], kind: str, fits: bool
) -> None:
    if fits:
        load(tmp_path, {"coarsen": rule, "type": kind})
    else:
        assert "income.type" in problems(tmp_path, {"coarsen": rule, "type": kind})


def test_what_else_uses_the_values_of_a_column_is_refused_by_name(tmp_path: Path) -> None:
    column = {"coarsen": {"level": 1}, "hierarchy": {"file": "ill.csv"}}
    close = {"t_closeness": [{"column": "income", "t": 0.3, "distance": "hierarchical"}]}
    guard = {"freeform": {"sigma_o": 1, "sigma_t": 0.5, "columns": {"income": {"guard": ["much"]}}}}
    assert "not supported yet" in problems(tmp_path, column, privacy={"k": 5, **close})["income.coarsen"]
    assert "privacy.freeform" in problems(tmp_path, column, privacy={"k": 5, **guard})["income.coarsen"]
    assert "the unit" in problems(tmp_path, {"coarsen": {"round": 5}}, unit=["income", "born"])["income.coarsen"]


def test_coarsening_makes_another_release_and_its_absence_changes_no_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, null = load(tmp_path), load(tmp_path, {"coarsen": None})
    by_thousand, by_hundred = (load(tmp_path, {"coarsen": {"round": width}}) for width in (1000, 100))
    assert plain.digest() == null.digest()
    assert len({one.digest() for one in (plain, by_thousand, by_hundred)}) == 3
    monkeypatch.setattr(publication, "digest", lambda text: text)
    assert "coarsen" not in plain.digest() and "coarsen" in by_hundred.digest()


def test_what_counts_as_one_value_follows_from_the_file(tmp_path: Path) -> None:
    assert load(tmp_path).counted_values["income"] is CountedValues.BANDS
    assert load(tmp_path, {"type": "text"}).counted_values["income"] is CountedValues.EACH
    assert load(tmp_path, {"coarsen": {"round": 1000}}).counted_values["income"] is CountedValues.COARSENED
