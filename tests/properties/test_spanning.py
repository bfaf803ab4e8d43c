"""Columns that contradict a unit, against sets of rows."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.detection import groups
from anon_core.detection.unit import SpanningColumn, spanning_columns
from anon_core.role import Role
from anon_core.table import Column, Table
from anon_core.table.people import person_column
from tests.properties.tables import Cell, Row, table_of

NAMES = ("u", "c1", "tax_code", "surname", "case_no", "postal_code")
CELLS = st.sampled_from(["1", "2", "3", "4", "ab", None])
ROLES = st.sampled_from([*Role, None])


def brute(rows: list[Row], roles: dict[str, Role], units: list[str | None] | None) -> list[SpanningColumn]:
    """Say it again with plain sets, from the words of the definition."""
    persons = [f"row {n}" for n in range(len(rows))] if units is None else units
    found = []
    for at, name in enumerate(NAMES):
        of: dict[str, set[str]] = defaultdict(set)
        times: Counter[str] = Counter()
        for row, person in zip(rows, persons, strict=True):
            if (cell := row[at]) is not None:
                times[cell] += 1
                of[cell] |= {person} - {None}
        filled, spans = sum(times.values()), [cell for cell in of if len(of[cell]) > 1]
        small = filled and len(times) * 20 >= filled and 2 * sum(n for n in times.values() if 2 <= n <= 20) >= filled
        digits = 2 * sum(n for cell, n in times.items() if cell.isdigit()) >= filled
        numbers = 10 * sum(n for cell, n in times.items() if cell.isdigit()) >= filled
        role, repeated = roles.get(name), [cell for cell in times if times[cell] > 1]
        code = name == "tax_code" and len(times) > 2 and digits
        if role is Role.IDENTIFIER:
            counts = name != "surname" or numbers or (small and 2 * len(spans) >= len(repeated))
        elif role in (Role.DROP, None):
            counts = (small and name != "postal_code") or code
        else:
            even = small and 2 * len(repeated) >= len(times)
            counts = code or (name == "case_no" and digits and even) or (even and told_alike(rows, at, of, roles))
        if spans and counts:
            found.append(SpanningColumn(column=name, rows=filled, people=len(times)))
    return found


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(st.tuples(*[CELLS] * len(NAMES)), min_size=1, max_size=60),
    roles=st.fixed_dictionaries(dict.fromkeys(NAMES, ROLES)),
    unit=st.sampled_from([None, ("u",), ("u", "case_no"), ("c1",)]),
)
def test_a_column_contradicts_a_unit_as_the_definition_says(
    rows: list[Row], roles: dict[str, Role | None], unit: tuple[str, ...] | None
) -> None:
    table, given_roles = table_of(NAMES, rows), {name: role for name, role in roles.items() if role}
    column = None if unit is None else person_column(table, unit, "person")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "MAX_FEW_VALUES", 0)  # The tables here have few values.
        found = spanning_columns(table, given_roles, column)
    assert list(found) == brute(rows, given_roles, None if unit is None else persons_of(rows, unit))


def told_alike(rows: list[Row], at: int, of: dict[str, set[str]], roles: dict[str, Role]) -> bool:
    """Whether most values in several rows are of several people, whose rows agree in quasi-identifiers."""
    times = Counter(row[at] for row in rows if row[at] is not None)
    spans = {cell for cell in of if len(of[cell]) > 1}
    if 2 * len(spans) < sum(n > 1 for n in times.values()):
        return False

    def by_chance(columns: list[int]) -> float:
        classes = Counter(tuple(row[i] for i in columns) for row in rows)
        return sum(n * n for n in classes.values()) / len(rows) ** 2

    agreeing = []
    for i, name in enumerate(NAMES):
        beside: dict[Cell, set[Cell]] = defaultdict(set)
        for row in rows:
            beside[row[at]].add(row[i])
        alike = sum(len(beside[cell]) == 1 for cell in spans)
        if i != at and roles.get(name) is Role.QUASI and by_chance([i]) <= 0.8 and alike >= 0.95 * len(spans):
            agreeing.append(i)
    if len(agreeing) < 2 or by_chance(agreeing) > 0.5:
        return False
    most = max(len({row[i] for row in rows}) for i in agreeing)
    return len({tuple(row[i] for i in agreeing) for row in rows}) >= 1.5 * most


def persons_of(rows: list[Row], unit: tuple[str, ...]) -> list[str | None]:
    at = [NAMES.index(name) for name in unit]
    return [None if any(row[i] is None for i in at) else repr([row[i] for i in at]) for row in rows]


def held(rows: list[Row], names: list[str], roles: dict[str, Role], unit: str | None) -> tuple[SpanningColumn, ...]:
    table = table_of(names, rows)
    return spanning_columns(table, roles, None if unit is None else column_of(table, unit))


def column_of(table: Table, name: str) -> Column:
    return table.column(name)


VISITS: list[Row] = [(f"P{n // 5:05}", f"C{n:06}", str(n % 7)) for n in range(1000)]
IDS = {"person": Role.IDENTIFIER, "case_no": Role.IDENTIFIER, "town": Role.QUASI}


def test_a_case_number_that_is_another_one_in_every_row_is_no_unit_beside_a_number_of_people() -> None:
    names = ["person", "case_no", "town"]
    wanted = (SpanningColumn(column="person", rows=1000, people=200),)
    assert held(VISITS, names, IDS, None) == wanted
    assert held(VISITS, names, IDS, "case_no") == wanted
    assert held(VISITS, names, IDS, "person") == ()


def test_a_part_of_a_composite_unit_is_held_against_the_whole() -> None:
    table = table_of(["person", "case_no", "town"], VISITS)
    both = person_column(table, ["person", "case_no"], "unit")
    assert [one.column for one in spanning_columns(table, IDS, both)] == ["person"]


def test_a_dropped_number_of_people_counts_and_dropped_classes_do_not() -> None:
    names = ["c1", "c2", "c3"]
    roles = dict.fromkeys(names, Role.DROP)
    assert [one.column for one in held(VISITS, names, roles, None)] == ["c1"], "c2 is unique, c3 has large groups"


def test_dropped_dates_and_places_that_repeat_in_small_groups_number_nobody() -> None:
    rows: list[Row] = [
        (f"2026-{n // 250 + 1:02}-{n // 10 % 25 + 1:02}", f"4{n // 10:04}", f"4{n // 10:04}") for n in range(1000)
    ]
    names = ["c1", "postal_code", "c2"]
    assert [one.column for one in held(rows, names, dict.fromkeys(names, Role.DROP), None)] == ["c2"]


def test_two_spellings_of_a_number_of_a_person_are_one_person() -> None:
    rows: list[Row] = [(f"rs{n // 2:04}a" if n % 2 else f" RS {n // 2:04}A", "x") for n in range(400)]
    found = held(rows, ["c1", "c2"], {"c1": Role.IDENTIFIER, "c2": Role.OTHER}, None)
    assert found == (SpanningColumn(column="c1", rows=400, people=200),)
    assert held(rows, ["c1", "c2"], {"c1": Role.IDENTIFIER, "c2": Role.OTHER}, "c1") != ()
    person = person_column(table_of(["c1", "c2"], rows), ["c1"], "person")
    assert spanning_columns(table_of(["c1", "c2"], rows), {"c1": Role.IDENTIFIER}, person) == ()


def test_a_tax_code_that_is_said_to_be_harmless_is_recognised_and_held_against_the_unit() -> None:
    codes: list[Row] = [(f"RSSMRA{n // 4 % 100:02}T10A{n // 4:03}S", "x") for n in range(400)]
    for role in Role:
        found = held(codes, ["c1", "c2"], {"c1": role, "c2": Role.OTHER}, None)
        assert [one.column for one in found] == ["c1"], role


def test_homonyms_contradict_no_unit_but_names_that_mostly_repeat_in_several_rows_do() -> None:
    names, roles = ["surname", "c1"], {"surname": Role.IDENTIFIER, "c1": Role.OTHER}

    def word(number: int) -> Cell:
        return "".join("abcdefghij"[int(digit)] for digit in str(number))

    homonyms: list[Row] = [(word(max(n, 10)), "x") for n in range(500)]
    assert held(homonyms, names, roles, None) == ()
    visits: list[Row] = [(word(n // 3), "x") for n in range(500)]
    assert [one.column for one in held(visits, names, roles, None)] == ["surname"]


DRAWN = random.Random(3)
TOLD = [(DRAWN.choice(["Alba", "Bria", "Elva"]), DRAWN.choice("FM"), str(DRAWN.randint(20, 59))) for _ in range(200)]
"""Town, sex and age of people."""
KNOWN = {"c1": Role.OTHER, "town": Role.QUASI, "sex": Role.QUASI, "age": Role.QUASI}
FORMS: dict[str, Callable[[int], str]] = {
    "hash": lambda person: hashlib.sha256(str(person).encode()).hexdigest(),
    "number": lambda person: str(100_000 + 7 * person),
    "word": lambda person: "".join("abcdefghij"[int(digit)] for digit in f"{person:05}"),
}


@pytest.mark.parametrize("role", [Role.OTHER, Role.QUASI, Role.SENSITIVE])
@pytest.mark.parametrize("form", FORMS)
def test_a_published_pseudonym_contradicts_that_rows_are_people_whatever_it_is_called(form: str, role: Role) -> None:
    """Six rows of each person, so that classes of one person were large enough for k = 5."""
    rows: list[Row] = [(FORMS[form](n % 200), *TOLD[n % 200]) for n in range(1200)]
    found = held(rows, list(KNOWN), {**KNOWN, "c1": role}, None)
    assert found == (SpanningColumn(column="c1", rows=1200, people=200),)
    moved = [(code, "Cusa" if n < 8 else town, sex, age) for n, (code, town, sex, age) in enumerate(rows)]
    assert [one.column for one in held(moved, list(KNOWN), KNOWN, None)] == ["c1"], "some have moved"


def test_published_values_whose_rows_are_of_different_people_contradict_nothing() -> None:
    names = [*KNOWN, "province"]
    roles = {**KNOWN, "province": Role.QUASI}
    streets: list[Row] = []
    for n in range(1200):
        town, sex, age = TOLD[n % 197] if n % 3 else TOLD[n % 200]
        streets.append((f"street {n % 200}", f"{town} {n % 200 // 4}", sex, age, town))
    assert held(streets, names, roles, None) == (), "a place agrees in town and province, which follow from each other"
    chance: list[Row] = [(f"x{n % 200}", *TOLD[(n * 7 + n // 200) % 200]) for n in range(1200)]
    assert held(chance, list(KNOWN), KNOWN, None) == ()
    alike: list[Row] = [(f"x{n % 200}", "Alba", "FM"[n % 200 == 0], TOLD[n % 200][2]) for n in range(1200)]
    assert held(alike, list(KNOWN), KNOWN, None) == (), "columns that hold nearly always the same say nothing"


def test_dates_of_birth_that_few_people_share_do_not_contradict_their_number() -> None:
    rows: list[Row] = [(f"date {n % 195}", *TOLD[n % 200], f"{n % 200:05}") for n in range(1200)]
    roles = {**KNOWN, "person": Role.IDENTIFIER}
    assert held(rows, [*KNOWN, "person"], roles, "person") == ()


def test_an_empty_table_contradicts_nothing() -> None:
    table = table_of(["c1"], [("1",)])
    empty = table.keep(np.array([False]))
    assert spanning_columns(empty, {}, None) == ()
    assert spanning_columns(table, {"c1": Role.IDENTIFIER}, None) == ()
