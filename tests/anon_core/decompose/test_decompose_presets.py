"""Telephone numbers, postcodes and the Italian tax code."""

from __future__ import annotations

import re

import pytest

from anon_core.decompose.splitting import _POSTCODES, check_letter, italian_tax_code
from anon_core.errors import InvalidInputError
from anon_core.spec import Preset
from anon_core.spec.parts import PRESET_PARTS
from tests.anon_core.decompose.decomposing import parts_of, split_of


@pytest.mark.parametrize(
    ("preset", "value", "parts"),
    [
        ("postcode-at", "6020", ("6", "0", "20")),
        ("postcode-ca", "k1a 0b1", ("K", "1A", "0B1")),
        ("postcode-ch", "8001", ("8", "0", "01")),
        ("postcode-de", "01067", ("0", "1", "067")),
        ("postcode-es", "28013", ("28", "013")),
        ("postcode-fr", "75008", ("75", "008")),
        ("postcode-fr", "97400", ("974", "00")),
        ("postcode-it", "11100", ("11", "100")),
        ("postcode-nl", "1012 ab", ("10", "12", "AB")),
        ("postcode-uk", "M1 1AE", ("M", "1", "1", "AE")),
        ("postcode-uk", "B33 8TH", ("B", "33", "8", "TH")),
        ("postcode-uk", "ec1a1bb", ("EC", "1A", "1", "BB")),
        ("postcode-us", "02139", ("021", "39", None)),
        ("postcode-us", "02139-4307", ("021", "39", "4307")),
        ("postcode-us", "021394307", ("021", "39", "4307")),
        ("postcode-at", " 60 20 ", ("6", "0", "20")),
    ],
)
def test_a_postcode_is_cut_as_its_country_defines_it(preset: str, value: str, parts: tuple[str | None, ...]) -> None:
    assert parts_of([value], preset=preset) == [parts]


@pytest.mark.parametrize(
    ("preset", "value"),
    [
        ("postcode-at", "0020"),
        ("postcode-ca", "D1A 0B1"),
        ("postcode-de", "1067"),
        ("postcode-es", "53013"),
        ("postcode-es", "00013"),
        ("postcode-fr", "9740"),
        ("postcode-fr", "974000"),
        ("postcode-it", "١١١٠٠"),
        ("postcode-nl", "1012 SS"),
        ("postcode-nl", "1012 ß"),
        ("postcode-uk", "M1 1CC"),
        ("postcode-us", "2139"),
        ("postcode-us", "02139-43"),
        ("postcode-us", "02139-"),
        ("postcode-us", "021-39"),
        ("postcode-us", "-02139"),
        ("postcode-us", "02139-4-307"),
        ("postcode-at", "-6020"),
        ("postcode-at", "6-0-2-0"),
        ("postcode-at", "6020-"),
        ("postcode-uk", "M1-1AE"),
        ("tax-code-it", "-RSSMRA85T10A562S"),
    ],
)
def test_what_is_no_postcode_does_not_fit(preset: str, value: str) -> None:
    assert set(parts_of([value], preset=preset)[0]) == {"*"}


@pytest.mark.parametrize("preset", _POSTCODES)
def test_every_postcode_has_as_many_groups_as_parts(preset: Preset) -> None:
    assert re.compile(_POSTCODES[preset]).groups == len(PRESET_PARTS[preset])


def test_every_preset_has_parts_and_a_way_to_be_split() -> None:
    assert set(PRESET_PARTS) == set(Preset)
    for preset in Preset:
        assert parts_of(["?"], preset=preset.value) == [("*",) * len(PRESET_PARTS[preset])]


def test_the_parts_of_a_preset_can_be_renamed() -> None:
    split = split_of(["75008"], preset="postcode-fr", names=["dep", "bureau"])
    assert [part.name for part in split.parts] == ["dep", "bureau"]


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("+39 06 1234567", ("39", "06", "1234567")),
        ("0039 06 1234567", ("39", "06", "1234567")),
        ("06/1234567", ("39", "06", "1234567")),
        ("312 345 6789", ("39", "312", "3456789")),
        ("+1 (650) 253-0000", ("1", "650", "2530000")),
        ("+44 20 7031 3000", ("44", "20", "70313000")),
        ("+45 32 12 34 56", ("45", None, "32123456")),
        ("+60 3-1234 5678", ("*", "*", "*")),
        ("12", ("*", "*", "*")),
        ("not a number", ("*", "*", "*")),
    ],
)
def test_a_telephone_number_is_a_country_an_area_and_a_number(value: str, parts: tuple[str | None, ...]) -> None:
    assert parts_of([value], preset="telephone", region="IT") == [parts]


def test_a_national_number_needs_a_region() -> None:
    assert parts_of(["06 1234567", "+39 06 1234567"], preset="telephone") == [("*",) * 3, ("39", "06", "1234567")]


def test_a_region_without_telephones_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="'XX'"):
        split_of(["06 1234567"], preset="telephone", region="XX")


def test_a_tax_code_tells_birth_sex_and_place() -> None:
    parts = ("RSS", "MRA", "85", "12", "10", "M", "A562")
    assert parts_of(["RSSMRA85T10A562S", "rss mra 85t10 a562s"], preset="tax-code-it") == [parts, parts]


def test_the_check_letter_is_no_part_for_it_tells_of_the_others() -> None:
    """Found by attack: here the 19th is the only day of the month with its letter."""
    letters = {day: check_letter(f"RSSMRA85T{day}A562") for day in range(10, 32)}
    assert [day for day, letter in letters.items() if letter == letters[19]] == [19]
    assert "check" not in PRESET_PARTS[Preset.TAX_CODE_IT]


def code(places: str) -> str:
    """A code with the letter that follows from its places, by the decree's own tables written out."""
    odd = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                   [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21,
                    2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23], strict=True))  # fmt: skip
    even = {sign: at for at, sign in enumerate("0123456789")} | {chr(65 + at): at for at in range(26)}
    total = sum((odd if at % 2 == 0 else even)[sign] for at, sign in enumerate(places))
    return places + chr(65 + total % 26)


@pytest.mark.parametrize(("letter", "month"), list(zip("ABCDEHLMPRST", range(1, 13), strict=True)))
def test_every_month_has_its_letter(letter: str, month: int) -> None:
    found = italian_tax_code(code(f"RSSMRA85{letter}28A562"))
    assert found is not None and found[3] == str(month)


def test_a_woman_has_forty_added_to_her_day() -> None:
    found = italian_tax_code(code("RSSMRA85T50A562"))
    assert found is not None and found[4:6] == ("10", "F")


def test_letters_that_stand_for_digits_are_read_as_these() -> None:
    plain, shared = italian_tax_code(code("RSSMRA85T10A562")), italian_tax_code(code("RSSMRAURTMLARSN"))
    assert plain is not None and shared is not None
    assert shared == ("RSS", "MRA", "85", "12", "10", "M", "A562") == plain


@pytest.mark.parametrize(
    "wrong",
    [
        "RSSMRA85T10A562T",  # the check letter
        code("RSSMRA85F10A562"),  # no month
        code("RSSMRA85T00A562"),  # no day
        code("RSSMRA85T32A562"),
        code("RSSMRA85B30A562"),  # 30 February
        code("RSSMRA85T72A562"),
        code("RSSMRA85T10A562")[:15],
        code("RSSMRA85TA0A562"),  # A stands for no digit
    ],
)
def test_what_is_no_tax_code_does_not_fit(wrong: str) -> None:
    assert italian_tax_code(wrong) is None


def test_the_check_letter_agrees_with_the_decree() -> None:
    for places in ("RSSMRA85T10A562", "RSSMRAURTMLARSN", "AAAAAA00A01A000", "ZZZZZZ99T71Z999"):
        assert places + check_letter(places) == code(places)
