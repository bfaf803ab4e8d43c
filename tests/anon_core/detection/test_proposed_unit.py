"""The unit that a draft proposes, and roles that depend on how values repeat or on other columns."""

from __future__ import annotations

import datetime
import random

import pytest
from hypothesis import given, settings

from anon_core.detection.groups import ValueGroups
from anon_core.detection.proposed_unit import ProposedUnit, proposed_unit
from anon_core.detection.roles import ProposedRole, propose_all
from anon_core.measures.profile import profile
from anon_core.table import Table
from tests.properties.tables import Row, small_tables, table_of

TODAY = datetime.date(2026, 11, 1)


def roles(table: Table) -> dict[str, ProposedRole]:
    found = propose_all(table, [profile(column) for column in table.columns], today=TODAY)
    return dict(zip(table.names, found, strict=True))


def unit(names: list[str], rows: list[Row]) -> ProposedUnit:
    table = table_of(names, rows)
    return proposed_unit(table, roles(table))


PEOPLE = [random.Random(n).randrange(400) for n in range(1280)]


def test_a_municipal_export_with_a_case_number_in_every_row_is_counted_by_tax_code() -> None:
    rows: list[Row] = [
        (f"2026/{n:05}", f"RSSMRA{p % 100:02}T10A{p % 900 + 100}X", "FM"[p % 2]) for n, p in enumerate(PEOPLE)
    ]
    found = unit(["case_no", "tax_code", "sex"], rows)
    assert found.columns == ("tax_code",)
    assert "a tax code: 1,280 rows, " in found.reason and " rows each, at most " in found.reason


@pytest.mark.parametrize("name", ["person", "c1", "numero", "Nr", "code"])
def test_a_number_of_a_person_with_five_visits_is_an_identifier_and_the_unit_whatever_its_header(name: str) -> None:
    rows: list[Row] = [(str(20_000 + n // 5 * 3), str(n % 90), "FM"[n // 5 % 2]) for n in range(10_000)]
    table = table_of([name, "age", "sex"], rows)
    assert roles(table)[name].role == "identifier"
    found = proposed_unit(table, roles(table))
    assert found.columns == (name,)
    assert "10,000 rows, 2,000 people, 5.0 rows each, at most 5" in found.reason
    assert found.spanning == ()


@pytest.mark.parametrize(
    "name", ["person_id", "matricola", "Versichertennummer", "n° assuré", "DNI", "Codice Fiscale", "employee no", "NIR"]
)
def test_numbers_of_people_are_known_by_name_in_five_languages(name: str) -> None:
    rows: list[Row] = [(f"{n // 40}", f"{n}") for n in range(400)]
    assert unit([name, "id"], rows).columns == (name,), "even with 40 rows each"


def test_where_nothing_repeats_every_row_is_another_person() -> None:
    found = unit(["tax_code", "sex"], [(f"{n:05}", "FM"[n % 2]) for n in range(100)])
    assert (found.columns, found.verifiable) == ((), True)
    assert found.reason == "no value of tax_code stands in several rows"


def test_where_nothing_could_contradict_the_claim_it_is_not_verifiable() -> None:
    found = unit(["id", "age", "sex"], [(str(n), str(n % 50), "FM"[n % 2]) for n in range(500)])
    assert (found.columns, found.verifiable) == ((), False)
    assert found.reason == "not verifiable: no column tells people apart"


def test_names_with_a_date_of_birth_tell_people_apart_where_no_number_does() -> None:
    rows: list[Row] = [
        (f"Anna{'abcdefghij'[n // 30 % 10]}", f"{1950 + n // 3 % 50}-01-{n // 3 % 28 + 1:02}", "x") for n in range(900)
    ]
    found = unit(["surname", "date_of_birth", "service"], rows)
    assert found.columns == ("surname", "date_of_birth")
    assert found.reason.startswith("names, and homonyms are counted as one person: 900 rows, ")


def test_a_household_number_beside_a_unique_tax_code_is_named_as_spanning() -> None:
    rows: list[Row] = [(f"T{n:05}", f"H{n // 2:05}", "FM"[n % 2]) for n in range(400)]
    found = unit(["tax_code", "household_no", "sex"], rows)
    assert found.columns == ("tax_code",)
    assert [(one.column, one.rows, one.people) for one in found.spanning] == [("household_no", 400, 200)]


def test_among_equals_the_column_with_the_fewest_values_is_proposed() -> None:
    rows: list[Row] = [(f"A-{n // 2:05}", f"B-{n // 4:05}") for n in range(400)]
    assert unit(["c1", "c2"], rows).columns == ("c2",), "that counts the fewest people"


def test_rows_without_a_number_are_counted_in_the_reason() -> None:
    rows: list[Row] = [(None if n % 10 == 0 else f"P{n // 5:05}", "x") for n in range(1000)]
    assert unit(["person_id", "c"], rows).reason.endswith(", 100 rows without one")


@settings(max_examples=80, deadline=None)
@given(small=small_tables(max_rows=20))
def test_a_proposed_unit_is_of_columns_that_are_not_published_and_quotes_no_cell(small) -> None:  # type: ignore[no-untyped-def]
    table = small.table
    found = proposed_unit(table, roles(table))
    assert len(found.columns) != 1 or roles(table)[found.columns[0]].role in ("identifier", "drop")
    assert not found.columns or any(ValueGroups.of(table.column(name)).rows for name in found.columns)


def test_a_column_that_goes_with_an_identifier_one_to_one_is_an_identifier_too() -> None:
    rows: list[Row] = [(f"N{n % 50:04}", f"firm number {n % 50}", "FM"[n % 2]) for n in range(2000)]
    found = roles(table_of(["company_id", "c2", "sex"], rows))
    assert (found["company_id"].role, found["c2"].role, found["sex"].role) == ("identifier", "identifier", "quasi")
    assert found["c2"].reason.startswith("each of its values goes with one value of a column that is an identifier")


def test_a_company_and_its_number_get_the_same_role() -> None:
    rows: list[Row] = [(f"{n % 7:011}", f"Firm {n % 9}") for n in range(900)]
    found = roles(table_of(["partita_iva", "Azienda"], rows))
    assert {str(role.role) for role in found.values()} == {"identifier"}
    alone = roles(table_of(["sex", "Azienda"], rows))
    assert alone["Azienda"].role == "quasi", "nothing else tells companies apart"


def test_amounts_and_ages_that_meet_by_chance_are_no_numbers_of_people() -> None:
    draw = random.Random(3)
    rows: list[Row] = [
        (str(draw.randrange(90)), f"{draw.randrange(1, 9999)}.50", str(draw.randrange(20_000))) for _ in range(9000)
    ]
    found = roles(table_of(["c1", "c2", "c3"], rows))
    assert {name: str(role.role) for name, role in found.items()} == {"c1": "quasi", "c2": "quasi", "c3": "quasi"}
