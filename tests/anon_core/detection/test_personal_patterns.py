"""Personal data in published texts: what is recognised, what chance may do, and what is told of it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.detection.personal_patterns import personal_data
from anon_core.detection.roles.patterns import is_luhn, is_nir, is_steuer_id
from anon_core.detection.roles.personal import NAMES, PERSONAL
from anon_core.frequency import FrequencyTable
from anon_core.models import Measurement, Subject
from anon_core.models.personal_patterns import PersonalPatterns
from anon_core.policy import PartialPolicy, PersonalPattern
from anon_core.table import ReadOptions, Table, read
from anon_core.waivers import ended, too_far
from tests.properties.tables import table_of

ONE_REFUSES = {
    "anna.rossi@example.org": "email",
    "ROSSI@EXAMPLE.CO.UK": "email",
    "jürgen@müller.de": "email",
    "GB82 WEST 1234 5698 7654 32": "iban",
    "de89370400440532013000": "iban",
    "RSSMRA85T10A562S": "tax_code",
    "86 095 742 719": "tax_code",
    "86095742719": "tax_code",
    "12345678Z": "identity_number",
    "X1234567L": "identity_number",
    "2 55 08 14 168 025 38": "identity_number",
    "255081416802538": "identity_number",
    "65 170839 J 003": "identity_number",
    "4111 1111 1111 1111": "payment_card",
    "4111111111111111": "payment_card",
}
FEW_REFUSE = {
    "GB82 WEST 1234 5698 7654 33": "iban_form",
    "078-05-1120": "social_security_number",
    "+39 0165 123456": "telephone",
    "0165 40 12 34": "telephone",
    "333 1234567": "telephone",
    "(212) 555-0123": "telephone",
    "AB 123 CD": "number_plate",
    "M-AB 1234": "number_plate",
    "192.168.7.77": "ip_address",
    "2001:db8::7": "ip_address",
    "00:1b:63:84:45:e6": "device_number",
    "linkedin.com/in/anna": "web_profile",
}
OTHERWISE = {
    "email": ["anna＠example.org", "anna\u200b@\u200bexample．org", "anna@exam\u00adple.o\u00adrg", "anna﹫example.org",
              "anna (at) example (dot) org", "anna[AT]example.org", "anna%40example.org",
              "anna @ example.org", "анна@пример.рф"],
    "iban": ["DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
             "DE89\u202f3704\u202f0044\u202f0532\u202f0130\u202f00",
             "ＤＥ89370400440532013000", "DE89  3704  0044  0532  0130  00", "DE89\t3704\t0044\t0532\t0130\t00",
             "DE89/3704/0044/0532/0130/00", "DE89‑3704‑0044‑0532‑0130‑00", "IBAN:DE89370400440532013000;"],
    "tax_code": ["RSS MRA 85T10 A562S", "cf:RSSMRA85T10A562S.", "RSSMRA\u200d85T10A562S", "Steuer-ID:86095742719",
                 "\u0668\u0666\u0660\u0669\u0665\u0667\u0664\u0662\u0667\u0661\u0669"],
    "telephone": ["+39\u00a00165\u00a0777777", "＋39 0165 777777", "tel:+39 0165 777777", "Tel.+390165777777",
                  "Tel. 0165/777777", "tel:0165 777777"],
    "number_plate": ["targa:AB123CD"],
    "ip_address": ["ip:192.168.0.77"],
}  # fmt: skip
"""The same as people and word processors write it: signs that cannot be told apart, or seen, change nothing."""
HARMLESS = [
    "2019-05-01", "2019-05-01 10:00", "12:30:45", "08:00-12:00", "320.123.456", "1.234.567,89", "-3.14159265358979",
    "version 1.10.2.31", "01.1.1.1", "ISO 9001:2015", "COVID-19", "A-12", "3/4", "12345678A", "86095742718",
    "a @ b", "@here", "see www.example.org/page", "100000000000", "66666666666", "1111 1111 1111 1111", "B-1",
    "office 12", "1e10", "2019/2020", "11010 Saint-Vincent", "$1,234.56", "RSSMRA85T10A562T", "::", "12345-6789",
]  # fmt: skip


def found_in(values: list[str | None], rows: int = 1) -> dict[str, tuple[int, int]]:
    table = FrequencyTable.of(table_of(["notes"], [(value,) for value in values for _ in range(rows)]))
    return {one.pattern.value: (one.values, one.rows) for one in personal_data(table, ["notes"], (*PERSONAL, *NAMES))}


@pytest.mark.parametrize(("value", "pattern"), [*ONE_REFUSES.items(), *FEW_REFUSE.items()])
@pytest.mark.parametrize("around", ["{}", "  {} ", "please write to ({}), not to her", "x; {}.", "Tel/Id: {}"])
def test_it_is_found_alone_and_within_a_longer_text(value: str, pattern: str, around: str) -> None:
    assert found_in([around.format(value)], rows=3) == {pattern: (1, 3)}


@pytest.mark.parametrize(("pattern", "value"), [(kind, value) for kind in OTHERWISE for value in OTHERWISE[kind]])
def test_it_is_found_however_it_is_written(pattern: str, value: str) -> None:
    assert found_in([value], rows=3) == {pattern: (1, 3)}


@pytest.mark.parametrize("value", HARMLESS)
def test_what_only_resembles_it_is_left_alone(value: str) -> None:
    assert found_in([value]) == {}
    assert found_in([f"it was {value} then"]) == {}


@pytest.mark.parametrize("value", ONE_REFUSES)
def test_one_among_ten_thousand_texts_is_one_too_many(value: str) -> None:
    assert found_in([*(f"visit {n}, ward {n % 7}" for n in range(10_000)), f"see {value}!"])


@pytest.mark.parametrize("value", FEW_REFUSE)
def test_what_has_no_check_digits_counts_from_one_percent_of_the_distinct_texts_on(value: str) -> None:
    others = [f"visit in ward {n}" for n in range(99)]
    assert found_in([value, *others])
    assert not found_in([value, *others, "one more"])


def numbers_with(digits: int, how_many: int) -> list[str]:
    draw = random.Random(digits)
    return [str(draw.randrange(10 ** (digits - 1), 10**digits)) for _ in range(how_many)]


@pytest.mark.parametrize("digits", [8, 10, 11, 13, 14, 15, 16, 19])
def test_long_numbers_that_meet_a_check_digit_by_chance_are_harmless(digits: int) -> None:
    assert found_in(numbers_with(digits, 5000)) == {}
    start = 4 * 10 ** (digits - 1)
    assert found_in([str(start + n) for n in range(5000)]) == {}
    assert found_in([f"{n}Z" for n in numbers_with(8, 500)]) == {}


def test_some_real_numbers_among_random_ones_are_more_than_chance() -> None:
    draws = (n for n in numbers_with(11, 400_000) if is_steuer_id(n))
    real = [next(draws) for _ in range(300)]
    assert found_in([*numbers_with(11, 3000), *real])["tax_code"][0] >= 300


@pytest.mark.parametrize(("digits", "check"), [(11, is_steuer_id), (15, is_nir), (16, is_luhn)])
def test_columns_of_digits_are_judged_as_single_texts_are(digits: int, check: object) -> None:
    form = next(one for one in PERSONAL if one.check is check)
    draw = random.Random(1)
    sample = numbers_with(digits, 3000) + [f"4{draw.randrange(10 ** (digits - 1)):0{digits - 1}}" for _ in range(3000)]
    matrix = np.array([[int(sign) for sign in one] for one in sample], np.int64)
    formed, right = form.numbers[digits](matrix)
    assert form.candidates is not None and form.check is not None
    for text, has_form, is_right in zip(sample, formed.tolist(), right.tolist(), strict=True):
        candidates = [one for one in form.candidates(text) if len(one) == digits]
        assert bool(candidates) == has_form
        assert any(map(form.check, candidates)) == is_right


def test_codes_that_are_padded_with_zeros_are_no_telephone_numbers() -> None:
    assert found_in([f"{n:010}" for n in range(0, 10**10, 1_234_567)]) == {}


def test_names_of_people_are_told_of_where_half_of_the_values_look_like_them() -> None:
    names = ["Anna Rossi", "Luca de Santis", "Maria Bianchi", "Rossi, Paolo", "Eva Maria Neri"]
    assert found_in(names) == {"name": (5, 5)}
    assert found_in([*names, "ward 1", "ward 2", "ward 3", "ward 4", "ward 5", "ward 6"]) == {}


@given(st.lists(st.text(alphabet="ab1@. -+0:AZ", max_size=25) | st.none(), max_size=30))
def test_whatever_the_texts_are_the_counts_fit_them(values: list[str | None]) -> None:
    there = Counter(values)
    table = FrequencyTable.of(table_of(["n"], [(value,) for value in [*values, "one"]]))
    for one in personal_data(table, ["n"], (*PERSONAL, *NAMES)):
        assert 0 < one.values <= one.rows <= sum(there.values()) - there[None] + 1
        assert one.values <= one.distinct == len({*values, "one"} - {None})


@given(st.text(alphabet="abcXYZ 019.,-", max_size=30), st.text(alphabet="abcXYZ ,.", max_size=30))
def test_an_address_is_found_whatever_stands_around_it(before: str, after: str) -> None:
    assert "email" in found_in([f"{before} a.b@example.org {after}"])


def measured(values: list[str], accepted: tuple[tuple[str, str], ...] = (), *, refuses: bool = True) -> Measurement:
    table = FrequencyTable.of(table_of(["notes"], [(value,) for value in values]))
    model = PersonalPatterns(columns=("notes",), accepted=accepted, refuses=refuses)
    return model.measured(Subject(names=table.names, rows=table.project))


SECRETS = ["Canary-77 anna@canary.example", "DE89 3704 0044 0532 0130 00", "+39 0165 777777", "Anna Canary"]


def test_a_measurement_has_counts_and_never_a_value() -> None:
    found = measured([*SECRETS, *SECRETS])
    assert not found.passed and found.observed == 3 and found.required == 0
    assert "notes (email): 1 of 4 distinct values in 2 rows has e-mail addresses" in found.sentence
    said = json.dumps([found.sentence, dict(found.counts)]).lower()
    assert not any(part in said for part in ("canary", "3704", "0165"))


def test_an_acceptance_names_one_pattern_of_one_column() -> None:
    assert measured(["a@example.org"], (("notes", "email"),)).passed
    assert not measured(["a@example.org"], (("notes", "telephone"),)).passed
    assert not measured(["a@example.org", "+39 0165 123456"], (("notes", "email"),)).passed
    accepted = measured(["a@example.org"], (("notes", "email"),)).counts["accepted"]
    assert accepted == [{"column": "notes", "pattern": "email", "values": 1, "rows": 1, "at_least": False}]
    assert not measured(["a"], (("notes", "mail"),)).measured


def test_names_only_warn_and_are_counted_among_no_checks() -> None:
    found = measured(["Anna Rossi", "Luca Neri", "Eva Bianchi", "Ada Verdi", "Ugo Bruni"], refuses=False)
    assert found.passed and found.holds and found.required is None and found.observed == 1
    assert not found.counts_as_check and "Rossi" not in found.sentence
    assert measured(["x"]).counts_as_check


def policy(until: str, **changes: object) -> PartialPolicy:
    one = {"column": "notes", "pattern": "email", "reason": "the office wants it", "by": "Anna", "until": until}
    return PartialPolicy.model_validate({"patterns": {"accept": [{**one, **changes}]}})


def test_an_acceptance_ends_and_is_given_for_a_year_at_most() -> None:
    today = date(2026, 11, 18)
    assert [one.kind for one in ended(policy("2026-11-17"), today)] == ["acceptance"]
    assert not [*ended(policy("2026-11-18"), today), *too_far(policy("2027-11-19"), today, 366)]
    (far,) = too_far(policy("2027-11-20"), today, 366)
    assert "privacy.patterns.accept[0]" in far.sentence and "at most 366 days" in far.sentence


@pytest.mark.parametrize(
    "wrong", [{"reason": "because 123456"}, {"reason": "x" + "\u3164" * 12}, {"pattern": "mail"}, {"by": " "}]
)
def test_an_acceptance_needs_a_reason_a_person_and_a_day(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        policy("2027-01-01", **wrong)


def test_every_pattern_of_the_policy_is_looked_for() -> None:
    assert {one.pattern for one in (*PERSONAL, *NAMES)} == set(PersonalPattern)


@pytest.mark.parametrize(
    "long", ["a" * 200_000, "1" * 200_000, "a@" * 100_000, "DE89 " * 40_000, "1 " * 100_000, ":" * 200_000]
)
def test_a_very_long_cell_takes_no_time_to_speak_of(long: str) -> None:
    begun = time.monotonic()
    found_in([long])
    assert time.monotonic() - begun < 20


REAL = {
    "adult.csv.gz": 15,
    "adult_arx/adult.csv": 9,
    "census_income_age_sex_race.csv.gz": 3,
    "driver_licences_valle_aosta.csv.gz": 14,
    "uccs/abalone.csv": 9,
    "uccs/bridges.csv": 13,
    "uccs/german_credit.csv": 21,
    "uccs/hepatitis.csv": 20,
    "uccs/iris_dedup.csv": 5,
    "uccs/letter_dedup.csv.gz": 17,
}
"""The reference tables and how many columns each has."""


def in_no_column(table: Table) -> None:
    for column in table.names:
        assert not personal_data(FrequencyTable.of(table, [column]), [column], PERSONAL), column
        assert not personal_data(FrequencyTable.of(table, [column]), [column], NAMES), column


@pytest.mark.reference
@pytest.mark.parametrize("name", REAL)
def test_real_tables_without_personal_data_are_not_refused(reference_data: Path, name: str) -> None:
    table = read(reference_data / name, ReadOptions(delimiter="auto"))
    assert len(table.names) == REAL[name]
    in_no_column(table)


def test_the_sample_of_the_demo_is_not_refused(tmp_path: Path) -> None:
    script, sample = Path(__file__).parents[3] / "include/samples/driver_licences.py", tmp_path / "licences.csv"
    subprocess.run([sys.executable, script, "--rows", "100000", "--output", sample], check=True, capture_output=True)
    in_no_column(read(sample))
