"""The `approval` section: what it takes, and that nothing in it is accepted and ignored."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.anon_core.spec.spec_files import changed, folder, load, problems

__all__ = ["folder"]


def test_without_it_nobody_is_asked(folder: Path) -> None:
    assert load(folder, changed()).approval.required is False


def test_every_key_reaches_the_publication(folder: Path) -> None:
    section = {"required": True, "users": ["anna", "7"], "four_eyes": True, "timeout": "12h"}
    approval = load(folder, changed(approval=section)).approval
    assert (approval.required, approval.users, approval.four_eyes) == (True, ("anna", "7"), True)
    assert approval.wait == timedelta(hours=12)


@pytest.mark.parametrize(
    ("written", "wait"),
    [(None, timedelta(days=7)), ("1s", timedelta(seconds=1)), ("90m", timedelta(minutes=90)), ("365d", timedelta(365))],
)
def test_a_question_stands_for_so_long(folder: Path, written: str | None, wait: timedelta) -> None:
    assert load(folder, changed(approval={"required": True, "timeout": written})).approval.wait == wait


@pytest.mark.parametrize(
    "written", ["", "7", "0d", "-1d", "1.5h", "7 d", "7D", "1w", "366d", "99999999d", "d", 7, True]
)
def test_a_time_that_is_none_is_explained(folder: Path, written: Any) -> None:
    found = problems(folder, changed(approval={"required": True, "timeout": written}))
    assert found.keys() == {"approval.timeout"}
    assert "`7d`" in found["approval.timeout"][1] or "text" in found["approval.timeout"][1]


@pytest.mark.parametrize(("key", "value"), [("users", ["anna"]), ("four_eyes", True), ("timeout", "7d")])
@pytest.mark.parametrize("required", [{}, {"required": False}])
def test_what_has_no_effect_is_refused(folder: Path, required: dict[str, Any], key: str, value: Any) -> None:
    found = problems(folder, changed(approval={**required, key: value}))
    assert found.keys() == {f"approval.{key}"}
    assert "set `required: true` or remove it" in found[f"approval.{key}"][1]


def test_what_is_off_may_be_written_out(folder: Path) -> None:
    off = {"required": False, "users": [], "four_eyes": False, "timeout": None}
    assert load(folder, changed(approval=off)).approval.required is False


@pytest.mark.parametrize("users", [["anna", "anna"], [""], [" anna"], "anna", [True]])
def test_users_are_distinct_names(folder: Path, users: Any) -> None:
    found = problems(folder, changed(approval={"required": True, "users": users}))
    assert {name.partition("[")[0] for name in found} == {"approval.users"}


def test_who_approves_belongs_to_the_file_that_was_measured(folder: Path) -> None:
    plain, asking = load(folder, changed()), load(folder, changed(approval={"required": True}))
    assert plain.digest() != asking.digest()
