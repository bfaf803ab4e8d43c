"""The proposals of made and of real tables: a floor for the share that is right, and what is wrong by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proposals.made_tables import held_out, tables
from tests.proposals.share_right import Proposed, Score, proposals, real_tables

NAMELESS = ("uccs/german_credit.csv", "uccs/hepatitis.csv")
"""Tables of people whose headers say nothing: sensitive columns are proposed as quasi-identifiers, and cannot else."""


def split(found: list[Proposed]) -> tuple[list[Proposed], list[Proposed]]:
    return [one for one in found if one.what != "unit"], [one for one in found if one.what == "unit"]


def told(wrong: list[Proposed]) -> str:
    return "\n".join(f"{one.table}: {one.what} is {one.right}, proposed {one.proposed}" for one in wrong)


def test_roles_and_units_of_twelve_made_tables_are_right() -> None:
    found = [one for made in tables() for one in proposals(made.name, made.table, made.roles, made.unit)]
    roles, units = split(found)
    print(f"\nmade tables, roles: {Score.of(roles)}\nmade tables, units: {Score.of(units)}")
    print(told([one for one in found if not one.is_right]))
    assert Score.of(units).right == len(units)
    assert Score.of(roles).right >= 0.95 * len(roles)
    assert Score.of(roles).dangerous == 0


def test_of_five_tables_that_the_lexicon_was_not_made_for_only_sensitive_columns_are_wrong_on_the_dangerous_side() -> (
    None
):
    found = [one for made in held_out() for one in proposals(made.name, made.table, made.roles, made.unit)]
    roles, units = split(found)
    print(f"\nheld-out tables, roles: {Score.of(roles)}\nheld-out tables, units: {Score.of(units)}")
    print(told([one for one in found if not one.is_right]))
    assert Score.of(units).right == len(units)
    assert Score.of(roles).right >= 0.75 * len(roles)
    dangerous = {(one.right, one.proposed) for one in roles if not one.is_right and not one.is_safe}
    assert dangerous == {("sensitive", "quasi")}


@pytest.mark.reference
def test_roles_and_units_of_real_tables_are_right_where_headers_say_something(reference_data: Path) -> None:
    found = [one for name, table, roles in real_tables(reference_data) for one in proposals(name, table, roles, ())]
    named, units = split([one for one in found if one.table not in NAMELESS])
    nameless, others = split([one for one in found if one.table in NAMELESS])
    print(f"\nreal tables, roles: {Score.of(named)}\nreal tables, units: {Score.of([*units, *others])}")
    print(f"real tables of people without headers, roles: {Score.of(nameless)}")
    print(told([one for one in [*named, *units, *others] if not one.is_right]))
    assert Score.of(named).dangerous == 0
    assert Score.of([*units, *others]).dangerous == 0
    assert {one.proposed for one in nameless if not one.is_right} <= {"quasi", "identifier"}, "never as collected"
