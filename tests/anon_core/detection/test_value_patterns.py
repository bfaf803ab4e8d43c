"""What values look like: specimen numbers that are published for the purpose, and what only resembles them."""

from __future__ import annotations

import datetime
import random
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.detection.roles import ProposedRole, patterns, propose
from anon_core.detection.roles.sampling import sample_of
from anon_core.measures.profile import profile
from anon_core.table import Column
from tests.properties.tables import Cell, table_of

TODAY = datetime.date(2026, 7, 1)


def proposed(cells: list[Cell], name: str = "c", today: datetime.date = TODAY) -> ProposedRole:
    column = table_of([name], [(cell,) for cell in cells]).column(name)
    return propose(column, profile(column), len(cells), today=today)


def twice(*cells: str) -> list[Cell]:
    """Each value often enough that none is an identifier by being alone."""
    return [cell for cell in cells for _ in range(10)]


@pytest.mark.parametrize(
    ("check", "specimens"),
    [
        (
            patterns.is_iban,
            ["DE89370400440532013000", "FR14 2004 1010 0505 0001 3M02 606", "ES9121000418450200051332",
             "IT60X0542811101000000123456", "GB29 NWBK 6016 1331 9268 19", "NO9386011117947"],
        ),
        (patterns.is_codice_fiscale, ["RSSMRA85T10A562S", "MRTMTT25D09F205Z", "rssmra85t10a562s"]),
        (patterns.is_dni, ["12345678Z", "00000000T", "X0000000T", "Y0000000Z", "12345678-z", "12.345.678-Z"]),
        (patterns.is_nir, ["255081416802538", "2 55 08 14 168 025 38"]),
        (patterns.is_steuer_id, ["86095742719", "47036892816", "65929970489"]),
        (patterns.is_german_pension_number, ["65170839J003", "65 170839 J 003"]),
        (patterns.is_luhn, ["4111111111111111", "5555-5555-5555-4444", "378282246310005", "6011 1111 1111 1117"]),
    ],
)  # fmt: skip
def test_a_specimen_passes_and_one_other_last_sign_fails(check, specimens: list[str]) -> None:
    for specimen in specimens:
        assert check(specimen)
        last = specimen[-1]
        others = "0123456789" if last.isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        assert not any(check(specimen[:-1] + other) for other in others if other != last.upper())


@pytest.mark.parametrize("number", ["12345678903", "11111111119", "11223456785"])
def test_a_german_tax_number_repeats_exactly_one_of_its_digits(number: str) -> None:
    assert not patterns.is_steuer_id(number), "though the check digit is right"


@pytest.mark.parametrize("text", ["", " ", "x", "DE", "٣" * 11, "12345678", "É2345678Z", "-", "0" * 200])
def test_what_has_not_the_form_is_no_such_number_and_no_error(text: str) -> None:
    checks = [patterns.is_iban, patterns.is_codice_fiscale, patterns.is_dni, patterns.is_nir]
    checks += [patterns.is_steuer_id, patterns.is_german_pension_number, patterns.is_ip_address]
    assert not any(check(text) for check in checks)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("e-mail address", ["ada@example.org", "g.m+x@mail.example.co.uk", "jürgen@straße.de"]),
        ("e-mail address", ["Ada <ada@example.org>", "mailto:bob@example.org"]),
        ("telephone number", ["+39 06 1234567", "+49 (0)30 123456", "+33 1 23 45 67 89", "+34 612 345 678"]),
        ("telephone number", ["0039 06 1234567", "00491701234567"]),
        ("telephone number", ["06 12345678", "347 1234567", "02/1234567", "333-1234567"]),
        ("telephone number", ["030 123456", "0171/1234567", "089-12345678", "01701234567"]),
        ("telephone number", ["01 23 45 67 89", "06.12.34.56.78", "0612345678"]),
        ("telephone number", ["612 345 678", "912 34 56 78", "612-345-678"]),
        ("telephone number", ["(202) 555-0143", "202-555-0187", "020 7946 0958"]),
        ("bank account", ["DE89 3704 0044 0532 0130 00", "IT60X0542811101000000123456", "GB29NWBK60161331926819"]),
        ("tax code", ["RSSMRA85T10A562S", "MRTMTT25D09F205Z"]),
        ("tax code", ["86095742719", "47036892816", "65 929 970 489"]),
        ("identity number", ["12345678Z", "X0000000T", "12.345.678-Z"]),
        ("identity number", ["255081416802538", "2 55 08 14 168 025 38"]),
        ("identity number", ["65170839J003", "65 170839 J 003"]),
        ("identity number", ["078-05-1120", "219-09-9999"]),
        ("identity number", ["AB123456C", "QQ 12 34 56 C".replace("QQ", "JG")]),
        ("payment card number", ["4111 1111 1111 1111", "5555555555554444", "378282246310005"]),
        ("IP address", ["192.0.2.1", "198.51.100.7:8080", "2001:db8::1", "::1", "10.0.0.0/8"]),
        ("device number", ["00:1B:44:11:3A:B7", "00-1b-44-11-3a-b7"]),
        ("record number", ["123e4567-e89b-12d3-a456-426614174000", "{00000000-0000-4000-8000-000000000001}"]),
        ("web profile", ["https://www.linkedin.com/in/somebody", "instagram.com/somebody", "https://orcid.org/0000-1"]),
    ],
)
def test_values_that_identify_a_person_are_known_by_their_form(kind: str, values: list[str]) -> None:
    found = proposed(twice(*values))
    assert (found.role, found.kind, found.evidence) == ("identifier", kind, "values")
    assert found.reason.startswith("100 % of its values ")
    assert not any(value in found.reason for value in values)


@pytest.mark.parametrize(
    "values",
    [
        ["1957", "1984", "2001"],
        ["1", "22", "333", "4444", "55555", "666666", "7777777", "88888888", "612345678", "3331234567"],
        ["0012345678", "0012345679"],  # a number with leading zeros
        ["09162000", "01001000"],  # a German municipality
        ["2019-05-15", "2020-01-31"],
        ["15.05.2019", "31/01/2020", "01-02-2020"],
        ["12:30:45", "23:59:59.123"],
        ["1.2.3", "2.0.1"],
        ["1690000000000", "1690000000001", "1690000000002", "1690000000003", "1690000000004", "1690000000006"],
        ["12345678901", "98765432109"],  # eleven digits, none of them twice among the first ten or no check digit
        ["a@b", "@", "x @ y.z"],
        ["+30", "+12", "-5"],
        ["000-12-3456", "666-12-3456", "900-12-3456"],
        ["Rosso", "Verde"],
        ["12.345", "9.876"],
        ["999.999.999.999", "1.2.3.256"],
        ["1.234.567", "612.345.678"],
    ],
)
def test_what_only_resembles_them_does_not_count(values: list[str]) -> None:
    assert proposed(twice(*values)).role == "quasi"


def test_nine_tenths_of_the_rows_make_a_pattern_and_the_reason_gives_the_share() -> None:
    cells: list[Cell] = ["020 7946 0958", "020 7946 0959"] * 49 + ["x", "x"]
    assert proposed(cells).reason == "98 % of its values look like telephone numbers"
    fewer: list[Cell] = ["020 7946 0958", "020 7946 0959"] * 44 + ["x"] * 12
    assert proposed(fewer).role == "quasi", "88 % of them are too few, and this form alone is not telling"


def test_rows_count_and_not_distinct_values() -> None:
    cells: list[Cell] = ["020 7946 0958"] * 95 + ["a", "b", "c", "d", "e"]
    assert proposed(cells).kind == "telephone number"


def test_gaps_do_not_speak_against_a_pattern() -> None:
    found = proposed([None] * 900 + twice("ada@example.org", "bob@example.org"))
    assert found.reason == "100 % of its values look like e-mail addresses"


@pytest.mark.parametrize("value", ["ada@example.org", "write to ada@example.org", "DE89370400440532013000",
                                   "RSSMRA85T10A562S", "+39 06 1234567"])  # fmt: skip
def test_a_few_telling_values_are_enough(value: str) -> None:
    found = proposed(["unknown", "none"] * 5000 + [value] * 5)
    assert (found.role, found.evidence) == ("identifier", "values")
    assert found.reason.startswith("some of its values (less than 1 %) ")
    assert value not in found.reason
    assert proposed(["unknown", "none"] * 5000 + [value] * 4).role == "quasi", "four rows of 10,004 are an accident"
    assert (
        proposed(["unknown", "none"] * 50 + [value]).reason.startswith("some of its values (less than 1 %) ") is False
    )


def test_one_percent_of_a_small_table_is_enough() -> None:
    assert proposed(["unknown", "none"] * 49 + ["ada@example.org"]).role == "identifier"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("identity number", ["12345678A", "12345678B", "87654321A"]),
        ("bank account", ["DE00370400440532013000", "DE01370400440532013000"]),
        ("tax code", ["RSSMRA85T10A562T", "MRTMTT25D09F205A"]),
        ("identity number", ["65170839J004", "65 170839 J 005"]),
    ],
)
def test_wrong_check_digits_make_no_number_of_a_person_harmless(kind: str, values: list[str]) -> None:
    found = proposed(twice(*values))
    assert (found.role, found.kind, found.evidence) == ("identifier", kind, "values")
    assert "though not all with the right " in found.reason


def test_check_digits_that_hold_by_chance_are_no_evidence() -> None:
    draw = random.Random(7)
    numbers: list[Cell] = [str(draw.randrange(4 * 10**15, 5 * 10**15)) for _ in range(1000)] * 2
    assert any(patterns.is_luhn(number or "") for number in numbers), "about one in ten does"
    found = proposed(numbers)
    assert (found.role, found.kind, found.evidence) == ("identifier", None, "statistics"), "a code, but no card"
    assert proposed(numbers[:10] * 30).role == "quasi"


def test_what_values_look_like_beats_what_the_name_says() -> None:
    assert proposed(twice("ada@example.org", "bob@example.org"), "municipality").role == "identifier"
    assert proposed(twice("ada@example.org", "bob@example.org"), "diagnosis").kind == "e-mail address"


def people(count: int) -> list[Cell]:
    first, last = ["Ada", "José", "Zoë", "Max", "Anna Maria"], ["Rossi", "de la Cruz", "O'Neill", "Müller-Lüdenscheidt"]
    suffix = [f"{a}{b}" for a in "abcdefghij" for b in "abcdefghij"]
    return [f"{first[n % 5]} {last[n % 4]}{suffix[n % 100]}" for n in range(count)]


def test_full_names_that_hardly_repeat_identify_people() -> None:
    found = proposed(people(100))
    assert (found.role, found.kind) == ("identifier", "personal name")
    assert found.reason == "100 % of its values look like full names of persons"
    assert proposed([name and name.upper() for name in people(100)]).kind == "personal name"
    strange = [name and f"Xq{name[1:]}" for name in people(100)]
    assert proposed(strange).role == "identifier"
    assert proposed(strange * 3).role == "identifier", "in doubt what repeats in small groups are persons"
    assert proposed(strange * 30).role == "quasi", "what repeats in large groups may be places"
    assert proposed(people(100), "comune").role == "quasi", "and its name may say so"


FEW_PEOPLE = (
    ["Anna Weber", "Thomas Brandl", "Xenia Kowalczyk", "Jürgen Groß", "Levin Aydin", "Petra von der Au"],
    ["Weber, Anna", "Brandl, Thomas", "Kowalczyk, Xenia", "de la Cruz, José", "Groß, Jürgen"],
    ["ANNA WEBER", "GIUSEPPE ROSSI", "JOSÉ GARCÍA", "ZYGMUNT NOWAK"],
    ["DUPONT Jean", "LEFÈVRE Hélène", "MARTIN-DURAND Marie-Claire"],
    ["Rossi Mario", "Bianchi Giulia", "Esposito Ciro"],
    ["Dr. Anna Weber", "Herr Thomas Brandl", "Frau Xenia Kowalczyk"],
    ["María José García López", "Juan Carlos de la Torre", "Itziar Etxeberria"],
)


@pytest.mark.parametrize("names", FEW_PEOPLE)
@pytest.mark.parametrize("header", ["c", "Verantwortlich", "income", "Antragsteller"])
def test_a_few_people_in_many_rows_are_known_by_common_given_names(names: list[str], header: str) -> None:
    found = proposed([name for name in names for _ in range(75)] + [None] * 20, header)
    assert (found.role, found.kind, found.evidence) == ("identifier", "personal name", "values")
    assert found.reason == "100 % of its values look like full names of persons, many with a common given name"


def test_nine_tenths_must_have_the_form_of_a_name_and_three_tenths_a_common_given_name() -> None:
    def role(given: int, others: int, formless: int) -> str:
        return proposed(["Anna Weber"] * given + ["Qwx Weber"] * others + ["n/a 7"] * formless).role

    assert role(30, 60, 10) == "identifier"
    assert role(29, 61, 10) == "quasi"
    assert role(30, 59, 11) == "quasi"


@pytest.mark.parametrize(
    "values",
    [
        ["San Pietro", "San Marco", "Santa Maria", "San Giovanni", "Sant'Angelo", "Monte Carlo"],
        ["Bad Homburg", "Bad Tölz", "Neustadt Nord", "Halle West"],
        ["Saint-Denis", "Saint-Pierre", "Sainte Marie", "Saint Louis"],
        ["New York", "New Orleans", "Los Angeles", "San Francisco", "San Jose"],
        ["Tischler Meister", "Software Entwickler", "Technical Writer", "Maestra Elementare"],
        ["Via Roma", "Piazza Antonio Gramsci", "Rue Victor Hugo", "Calle San Juan"],
        ["Roma", "Milano", "Aosta", "Florence", "Sofia"],
        ["April", "May", "June", "August"],
        ["Employé", "Cadre", "Ouvrier"],
        ["anna", "in arbeit", "paul"],
    ],
)
def test_places_and_professions_are_no_people(values: list[str]) -> None:
    assert proposed(twice(*values)).role == "quasi"


def test_common_first_names_identify_people_unless_the_header_says_better() -> None:
    names = twice("Anna", "José", "Jean-Luc", "Jürgen", "Xaver", "Yrsa")
    found = proposed(names)
    assert (found.role, found.kind) == ("identifier", "personal name")
    assert found.reason == "66 % of its values are common first names"
    assert proposed(names, "Straße").role == "quasi"
    assert proposed(twice("Anna", "José", "Paul", "Xaver", "Yrsa", "Zita")).role == "quasi", "half is not most"
    assert proposed(["Max"] * 60 + ["Min"] * 40).role == "quasi", "one name alone may be a word"


@pytest.mark.parametrize(
    "form",
    ["2024-05-{:02} 10:{:02}:17", "{:02}.05.2024 10:{:02}", "{:02}/05/2024, 10:{:02} PM", "2024-05-{:02}T10:{:02}Z"],
)
def test_points_in_time_that_are_all_different_can_be_made_coarser(form: str) -> None:
    cells: list[Cell] = [form.format(day, minute) for day in range(1, 29) for minute in range(10, 20)]
    for name in ("c", "created", "vaccination"):
        found = proposed(cells, name)
        assert (found.role, found.kind) == ("quasi", "date of an event")
        assert "points in time" in found.reason
    assert proposed([f"2024{n:04}" for n in range(300)]).role == "identifier", "a number is no time"


@pytest.mark.parametrize("name", ["latitude", "lon", "Breitengrad", "x_utm", "Rechtswert"])
def test_coordinates_of_houses_identify_and_coarse_ones_do_not(name: str) -> None:
    found = proposed([f"45.7{n}1" for n in range(100, 300)], name)
    assert (found.role, found.kind) == ("identifier", "coordinate")
    assert "as exact as a house" in found.reason
    assert proposed([f"4{n}1.5" for n in range(1000, 1300)], name).role == "identifier", "a grid in metres"
    assert proposed([f"45.{n}" for n in range(100, 300)], name).role == "quasi"
    assert proposed([f"45.7{n}1" for n in (100, 200)] * 50, name).role == "quasi"


def test_free_text_is_dropped() -> None:
    found = proposed([f"The person {n} has called twice and wants an answer" for n in range(60)])
    assert (found.role, found.kind) == ("drop", "free text")
    assert "no check finds" in found.reason
    repeated = twice("a sentence that many rows share, word by word", "another sentence that many rows share")
    assert proposed(repeated).role == "quasi"


def test_pairs_of_coordinates_and_postcodes_are_quasi_identifiers() -> None:
    assert proposed(twice("45.7372, 7.3205", "(45.7400; 7.3301)", "POINT (7.3205 45.7372)")).kind == "coordinate"
    assert proposed(twice("99.1234, 99.1234", "45.7372, 181.0000")).kind is None, "no such place"
    assert proposed([f"{n}.{n}1, 7.3{n}" for n in range(10, 90)]).role == "quasi", "unique, but it is known what it is"
    assert proposed([f"{n}.{n}01, 7.32{n}" for n in range(10, 90)]).role == "identifier", "and who lives there"
    assert proposed(twice("SW1A 1AA", "EC1A 1BB", "M1 1AE")).kind == "postcode"
    assert proposed(twice("01069", "80331", "10115")).kind == "postcode"
    assert proposed([f"{n:05}" for n in range(500)]).role == "identifier", "record numbers are written so too"
    assert proposed(twice("11069", "80331", "10115")).kind is None, "they may be amounts"


def born(years: list[int], form: str) -> list[Cell]:
    return [form.format(year=year, month=n % 12 + 1, day=n % 28 + 1) for n, year in enumerate(years * 3)]


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("{year}", "year of birth"),
        ("{year}-{month:02}-{day:02}", "date of birth"),
        ("{year}-{month:02}-{day:02} 00:00:00", "date of birth"),
        ("{day:02}.{month:02}.{year}", "date of birth"),
        ("{day}/{month}/{year}", "date of birth"),
        ("{year}{month:02}{day:02}", "date of birth"),
    ],
)
def test_dates_that_spread_like_ages_may_be_dates_of_birth(form: str, kind: str) -> None:
    found = proposed(born(list(range(1930, 2020)), form))
    assert (found.role, found.kind, found.evidence) == ("quasi", kind, "values")
    assert "from 1900 to this year" in found.reason
    assert proposed(born([*range(1930, 2020), 2026], form)).kind == kind, "years are compared, not days"
    assert proposed(born([*range(1930, 2020), 2027], form)).kind != kind, "nobody is born next year"
    assert proposed(born([*range(1930, 2020), 1899], form)).kind != kind
    assert proposed(born(list(range(2015, 2026)) * 5, form)).kind != kind, "a decade of events"


def test_a_cell_of_a_hundred_thousand_signs_costs_no_time() -> None:
    cells: list[Cell] = [
        sign * (100_000 // len(sign)) for sign in ("a", "@", "1", "A ", "a@", "::", "+1", "a.", " ", "é")
    ]
    begin = time.perf_counter()
    found = proposed(cells)
    assert time.perf_counter() - begin < 2
    assert found.role == "identifier"
    begin = time.perf_counter()
    proposed([cell and cell[:400] for cell in cells])
    assert time.perf_counter() - begin < 2


def test_of_very_many_values_a_sample_is_taken_which_is_always_the_same() -> None:
    many = Column(name="c", codes=np.arange(1000, dtype=np.int32), domain=pa.array([f"{n:04}" for n in range(1000)]))
    taken = sample_of(many, largest=100)
    assert not taken.whole
    assert taken.rows == 100
    assert taken.values.equals(sample_of(many, largest=100).values)
    assert "sample of 100 rows" in taken.words
    assert taken.values[0].as_py() < "0010" < "0990" < taken.values[-1].as_py(), "from one end to the other"


@settings(max_examples=60, deadline=None)
@given(weights=st.lists(st.integers(0, 30), min_size=1, max_size=40), largest=st.integers(1, 20), gap=st.booleans())
def test_a_sample_gives_every_value_the_share_of_its_rows(weights: list[int], largest: int, gap: bool) -> None:
    domain = [f"{n:02}" for n in range(len(weights))] + [None] * gap
    codes = np.repeat(np.arange(len(domain)), [*weights, *[7] * gap]).astype(np.int32)
    taken = sample_of(Column(name="c", codes=codes, domain=pa.array(domain, pa.string())), largest=largest)
    rows, seen = sum(weights), dict(zip(taken.values.to_pylist(), taken.weights.tolist(), strict=True))
    assert None not in seen
    assert taken.rows == (rows if taken.whole else largest)
    for at, weight in enumerate(weights):
        share = weight * taken.rows / max(rows, 1)
        assert abs(seen.get(domain[at], 0) - share) < (1e-9 if taken.whole else 1 + 1e-9)
