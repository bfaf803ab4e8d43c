"""The forms of personal data that may be anywhere in a published text: their names, and when they refuse a release.

Arrow matches every form (RE2) in time linear in the length of a cell, for any content. Numbers with check digits are
then tested in Python, with expressions whose every step is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anon_core.detection.roles.patterns import (
    FULL_NAME,
    PATTERNS,
    bare,
    is_codice_fiscale,
    is_dni,
    is_german_pension_number,
    is_iban,
    is_ip_address,
    is_luhn,
    is_nir,
    is_steuer_id,
)
from anon_core.policy import PersonalPattern
from anon_core.table import Mask

Digits = np.ndarray[Any, np.dtype[np.int64]]
"""Numbers of equal length: one column per digit."""
ANY_SHARE = 0.0
"""One value is one too many."""
ONE_PERCENT = 0.01
"""From this share of the distinct values of a column on, a form is no coincidence."""
HALF = 0.5
"""From this share on, names of people are reported: a fifth of the names of towns look like them."""
MIN_NAMES = 5
"""From so many distinct names on, names of people are reported."""

SOME_DIGITS = r"(?:\d[^\d]*){5}"
"""The hint of IP addresses that are no version numbers, and of codes with letters between their digits."""
SEVEN_DIGITS = r"\d(?:[ ./()-]{0,3}\d){6}"
"""The hint of all other numbers, whose digits are close together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Personal:
    """
    One form of personal data.

    ``form`` finds it anywhere in a text (RE2). If it has check digits, ``candidates`` yields the parts of a text that
    have the form, and ``check`` says which of them are right; ``chance`` is the share of candidates that are right by
    chance, 0 where the form alone is enough. The form counts if it is found in the share ``limit`` of the distinct
    values of a column, and in at least ``least`` values. ``hint`` is a cheaper form that every text with this form has:
    only texts with the hint are searched. A ``plain`` form is also the form of amounts, dates and account numbers, so
    these are skipped. Values of digits only are tested as numbers: ``numbers`` has, by number of digits, the function
    that returns which have the form and which are right.
    """

    pattern: PersonalPattern
    noun: str
    limit: float
    form: str
    least: int = 1
    hint: str = SEVEN_DIGITS
    candidates: Callable[[str], Iterator[str]] | None = None
    check: Callable[[str], bool] | None = None
    chance: float = 0.0
    plain: bool = False
    numbers: Mapping[int, Callable[[Digits], tuple[Mask, Mask]]] = field(default_factory=dict)


def _finder(expression: str) -> Callable[[str], Iterator[str]]:
    """Return a function that yields every occurrence of an expression in a text, overlapping ones too."""
    found = re.compile(rf"(?<![0-9A-Za-z])(?<![0-9][.,])(?=({expression})(?![0-9A-Za-z]))")
    return lambda text: (each[1] for each in found.finditer(text))


IBAN_LENGTHS = {
    country: int(length)
    for country, length in re.findall(
        r"([A-Z]{2})([0-9]{2})",
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 "
        "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 "
        "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 "
        "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 "
        "YE30",
    )
}
"""The length of the account numbers of each country (ISO 13616, the registry of SWIFT)."""
IBAN = r"(?i:(?:^|[^0-9A-Z])[A-Z]{2}\d{2}(?:[ ./-]{0,3}[0-9A-Z]){11})"
_MIN_IBAN_DIGITS = 10
"""The shortest IBAN, a Norwegian one, has 13 digits; others have letters too, but more digits than a sentence has."""
_IBAN_START = re.compile(r"(?<![0-9A-Za-z])(?=([A-Za-z]{2}[0-9]{2}(?:[ ./-]{0,3}[0-9A-Za-z]){11,40}))")


def ibans(text: str) -> Iterator[str]:
    """
    Yield the parts of a text with the form of an IBAN: a country, then letters and digits of the length of that
    country.

    >>> list(ibans("to DE89 3704 0044 0532 0130 00 or DE12-1234"))
    ['DE89370400440532013000']
    """
    for each in _IBAN_START.finditer(text):
        number, length = bare(each[1]), IBAN_LENGTHS.get(each[1][:2].upper())
        if length is None or len(number) < length:
            continue
        number = number[:length]
        if sum(sign.isdigit() for sign in number) >= _MIN_IBAN_DIGITS and _ends_there(text, each.start(), length):
            yield number


def _ends_there(text: str, start: int, length: int) -> bool:
    """Whether a word ends after so many letters and digits."""
    seen = 0
    for at in range(start, len(text)):
        if text[at] not in " ./-":
            seen += 1
        if seen == length:
            return at + 1 == len(text) or not (text[at + 1].isascii() and text[at + 1].isalnum())
    return False


def _repeats_a_digit(number: str) -> bool:
    """Whether exactly one of the first ten digits occurs twice or three times, as in all German tax numbers."""
    return sorted(number[:10].count(digit) for digit in set(number[:10]))[-2:] in ([1, 2], [1, 3])


def _steuer_ids(text: str) -> Iterator[str]:
    return filter(_repeats_a_digit, map(bare, _STEUER_ID(text)))


def _steuer_numbers(digits: Digits) -> tuple[Mask, Mask]:
    """Do as :func:`is_steuer_id` does, for whole columns of digits."""
    counts = np.stack([(digits[:, :10] == digit).sum(axis=1) for digit in range(10)])
    formed = (digits[:, 0] > 0) & ((counts > 1).sum(axis=0) == 1) & (counts.max(axis=0, initial=0) <= 3)
    product = np.full(len(digits), 10)
    for at in range(10):
        product = ((digits[:, at] + product - 1) % 10 + 1) * 2 % 11
    return formed, formed & ((11 - product) % 10 == digits[:, 10])


def _nir_numbers(digits: Digits) -> tuple[Mask, Mask]:
    """Do as :func:`is_nir` does, for whole columns of digits."""
    number = digits[:, :13] @ (10 ** np.arange(12, -1, -1, dtype=np.int64))
    month = digits[:, 3] * 10 + digits[:, 4]
    formed = np.isin(digits[:, 0], (1, 2, 3, 4, 7, 8)) & ((month >= 1) & (month <= 12) | (month >= 20))
    return formed, formed & (97 - number % 97 == digits[:, 13] * 10 + digits[:, 14])


def _card_numbers(digits: Digits) -> tuple[Mask, Mask]:
    """Do as :func:`is_luhn` does, for whole columns, and only for numbers in the ranges of the issuers."""
    four = digits[:, 0] * 1000 + digits[:, 1] * 100 + digits[:, 2] * 10 + digits[:, 3]
    formed = np.zeros(len(digits), np.bool_)
    for length, first, last in _CARD_RANGES:
        if length == digits.shape[1]:
            formed |= (four >= first) & (four <= last)
    doubled = digits[:, ::-1].copy()
    doubled[:, 1::2] = (2 * doubled[:, 1::2]) // 10 + (2 * doubled[:, 1::2]) % 10
    varied = (digits != digits[:, :1]).any(axis=1)
    return formed, formed & varied & (doubled.sum(axis=1) % 10 == 0)


_CARD_RANGES = (
    *((16, first, last) for first, last in ((4000, 4999), (5100, 5599), (2200, 2799), (6011, 6011), (6500, 6599))),
    *((16, 3520, 3589), (15, 3400, 3499), (15, 3700, 3799), (14, 3000, 3059), (14, 3600, 3699), (14, 3800, 3899)),
)
"""How many digits a card number has, and the first four digits of the ranges of each issuer."""
_STEUER_ID = _finder(r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}")
_NIR = r"[1-478] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?(?:[0-9]{2}|2[ABab]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}"
_SIGN = "[0-9L-NP-Vl-np-v]"  # a digit, or the letter that stands for it where two people would have one code
_BIRTHDAY = rf"{_SIGN}{{2}} ?[A-EHLMPR-Ta-ehlmpr-t] ?{_SIGN}{{2}}"
_CODICE = rf"[A-Za-z]{{3}} ?[A-Za-z]{{3}} ?{_BIRTHDAY} ?[A-Za-z] ?{_SIGN}{{3}} ?[A-Za-z]"
_DNI = r"(?:[0-9]{1,2}\.?[0-9]{3}\.?[0-9]{3}|[XYZxyz]-?[0-9]{7})-?[A-Za-z]"
_PENSION = r"[0-9]{2} ?[0-9]{2}(?:0[1-9]|1[0-2])[0-9]{2} ?[A-Za-z] ?[0-9]{3}"
_CARD = (  # by the ranges of the issuers: Visa, Mastercard, American Express, Discover, Diners, JCB
    r"(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6(?:011|5[0-9]{2})|35[2-8][0-9])(?:[ -]?[0-9]{4}){3}"
    r"|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5}|3(?:0[0-5]|[68][0-9])[0-9][ -]?[0-9]{6}[ -]?[0-9]{4}"
)

_BEFORE, _AFTER = r"(?:^|[^0-9A-Za-z.,/:+-]|(?:^|[^0-9])[.,/:+-])", r"(?:$|[^0-9A-Za-z])"
_BEFORE_A_PHONE = r"(?:^|[^0-9A-Za-z.,/: -]|(?:^|[^0-9.,/:-])[.,/: -]{1,2})"  # not in the midst of a longer number
_AT = r"(?:@|%40|&#64;| ?[(\[{<] ?(?i:at|chiocciola|arroba|arobase|@) ?[)\]}>] ?)"
_DOT = r"(?: ?\. ?| ?[(\[{<] ?(?i:dot|punto|punkt|point|\.) ?[)\]}>] ?)"
_PHONES = (
    r"(?:\+ ?[1-9]|00(?:39|49|33|34|44|41|43))(?:[ ./()-]{0,3}\d){7,14}",  # international
    r"0[1-9](?:[ .-]?\d{2}){4}",  # France
    r"0\d{1,4}[ /-]\d{5,9}|0\d{1,4}[ /-]\d{3,4}[ -]\d{3,5}",  # Germany, Italy
    r"01[5-7]\d{8,9}",  # German mobiles
    r"3\d{2}[ /-]\d{3}[ -]?\d{3,4}",  # Italian mobiles
    r"[6-9]\d{2}[ -]\d{3}[ -]\d{3}|[6-9]\d{2}[ -]\d{2}[ -]\d{2}[ -]\d{2}",  # Spain
    r"\(\d{3}\) ?\d{3}[-. ]\d{4}|\d{3}[-. ]\d{3}[-. ]\d{4}",  # North America
    r"\(?0\d{2,4}\)? \d{3,4} \d{3,4}",  # United Kingdom
)
_PLATES = (
    r"[A-HJ-NPR-TV-Z]{2}[ -]?\d{3}[ -]?[A-HJ-NPR-TV-Z]{2}",  # Italy, France
    r"[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} ?[1-9]\d{0,3}[EH]?",  # Germany
    r"[A-Z]{2}\d{2} [A-Z]{3}",  # United Kingdom
)
_SPANISH_PLATE = r"^\d{4}[ -]?[BCDFGHJKLMNPRSTVWXYZ]{3}$"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}(?:$|[^0-9A-Za-z.]|\.(?:$|\D))"
_IPS = rf"(?:^|[^0-9A-Za-z.])(?:{_IPV4}|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:]*:)"
_IP = re.compile(
    r"(?:(?<![0-9A-Za-z.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?<![0-9A-Za-z.:])[0-9A-Fa-f:]{6,39})(?![0-9A-Za-z])"
)
_MAX_VERSION_NUMBER = 31


def _is_address(text: str) -> bool:
    """
    Whether it is an IP address; four small numbers are a version or the number of a section.

    >>> _is_address("192.168.0.7"), _is_address("1.10.2.31"), _is_address("2001:db8::1"), _is_address("12:30:45")
    (True, False, True, False)
    """
    if "." in text:
        return is_ip_address(text) and any(int(part) > _MAX_VERSION_NUMBER for part in text.split("."))
    return text.count(":") >= 2 and is_ip_address(text)


def _ips(text: str) -> Iterator[str]:
    return (each[0] for each in _IP.finditer(text))


def _of(kind: str, looks: str) -> str:
    """Return the form of a pattern that `profile` recognises in whole cells."""
    return next(one.form for one in PATTERNS if one.kind == kind and looks in one.looks)


def _wrong(text: str) -> bool:
    return not is_iban(text)


def _anywhere(expression: str) -> str:
    return rf"(?i){_BEFORE}(?:{expression}){_AFTER}"


PERSONAL: tuple[Personal, ...] = (
    Personal(
        pattern=PersonalPattern.EMAIL,
        noun="e-mail addresses",
        hint=_AT,
        limit=ANY_SHARE,
        form=rf"[\pL\pN_%+-]{_AT}[\pL\pN][\pL\pN.-]*{_DOT}\pL{{2}}|[\pL\pN_%+-] ?@ ?[\pL\pN][\pL\pN.-]*\.\pL{{2}}"
        rf"|{_of('e-mail address', 'look like')}",
    ),
    Personal(
        pattern=PersonalPattern.IBAN,
        noun="IBANs with the right check digits",
        limit=ANY_SHARE,
        form=IBAN,
        candidates=ibans,
        check=is_iban,
    ),
    Personal(
        pattern=PersonalPattern.IBAN_FORM,
        noun="texts in the form of IBANs, with wrong check digits",
        limit=ONE_PERCENT,
        form=IBAN,
        candidates=ibans,
        check=_wrong,
    ),
    Personal(
        pattern=PersonalPattern.TAX_CODE,
        noun="Italian tax codes with the right check letter",
        hint=SOME_DIGITS,
        limit=ANY_SHARE,
        form=_anywhere(_CODICE),
        candidates=_finder(_CODICE),
        check=is_codice_fiscale,
    ),
    Personal(
        pattern=PersonalPattern.TAX_CODE,
        noun="German tax numbers with the right check digit",
        limit=ANY_SHARE,
        form=_anywhere(r"[1-9]\d ?\d{3} ?\d{3} ?\d{3}"),
        candidates=_steuer_ids,
        check=is_steuer_id,
        chance=1 / 10,
        numbers={11: _steuer_numbers},
    ),
    Personal(
        pattern=PersonalPattern.IDENTITY_NUMBER,
        noun="Spanish identity numbers with the right check letter",
        limit=ANY_SHARE,
        form=_anywhere(_DNI),
        candidates=_finder(_DNI),
        check=is_dni,
        chance=1 / 23,
    ),
    Personal(
        pattern=PersonalPattern.IDENTITY_NUMBER,
        noun="French social security numbers with the right key",
        limit=ANY_SHARE,
        form=_anywhere(_NIR),
        candidates=_finder(_NIR),
        check=is_nir,
        chance=1 / 97,
        numbers={15: _nir_numbers},
    ),
    Personal(
        pattern=PersonalPattern.IDENTITY_NUMBER,
        noun="German pension insurance numbers with the right check digit",
        limit=ANY_SHARE,
        form=_anywhere(_PENSION),
        candidates=_finder(_PENSION),
        check=is_german_pension_number,
        chance=1 / 10,
    ),
    Personal(
        pattern=PersonalPattern.PAYMENT_CARD,
        noun="payment card numbers with the right check digit",
        limit=ANY_SHARE,
        form=_anywhere(_CARD),
        candidates=_finder(_CARD),
        check=is_luhn,
        chance=1 / 10,
        numbers={14: _card_numbers, 15: _card_numbers, 16: _card_numbers},
    ),
    Personal(
        pattern=PersonalPattern.SOCIAL_SECURITY_NUMBER,
        noun="texts in the form of social security numbers, which have no check digits",
        hint=SOME_DIGITS,
        limit=ONE_PERCENT,
        form=_anywhere(
            r"(?:00[1-9]|0[1-9]\d|[1-578]\d\d|6[0-57-9]\d|66[0-57-9])-(?:0[1-9]|[1-9]\d)-\d{4}"
            r"|[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
        ),
    ),
    Personal(
        pattern=PersonalPattern.TELEPHONE,
        noun="telephone numbers",
        limit=ONE_PERCENT,
        form=rf"{_BEFORE_A_PHONE}(?:{'|'.join(_PHONES)}){_AFTER}",
        plain=True,
    ),
    Personal(
        pattern=PersonalPattern.NUMBER_PLATE,
        noun="number plates",
        hint=r"[A-ZÄÖÜ][ -]?\d|\d[ -]?[A-Z]{2}",
        limit=ONE_PERCENT,
        form=rf"{_BEFORE}(?:{'|'.join(_PLATES)}){_AFTER}|{_SPANISH_PLATE}",
    ),
    Personal(
        pattern=PersonalPattern.IP_ADDRESS,
        noun="IP addresses",
        hint=rf"{SOME_DIGITS}|::",
        limit=ONE_PERCENT,
        form=_IPS,
        candidates=_ips,
        check=_is_address,
    ),
    Personal(
        pattern=PersonalPattern.DEVICE_NUMBER,
        noun="MAC addresses",
        hint=SOME_DIGITS,
        limit=ONE_PERCENT,
        form=rf"{_BEFORE}(?:(?:[0-9A-Fa-f]{{2}}[:-]){{5}}[0-9A-Fa-f]{{2}}|(?:[0-9A-Fa-f]{{4}}\.){{2}}[0-9A-Fa-f]{{4}}){_AFTER}",
    ),
    Personal(
        pattern=PersonalPattern.WEB_PROFILE,
        noun="links to personal pages",
        hint="/",
        limit=ONE_PERCENT,
        form=r"(?i)(?:^|[^0-9A-Z])(?:linkedin\.com/in|facebook\.com|instagram\.com|twitter\.com|x\.com|tiktok\.com"
        r"|xing\.com|orcid\.org|t\.me)/[0-9A-Z@_.-]",
    ),
)
"""The forms that refuse a release, each from its limit on."""

NAMES: tuple[Personal, ...] = (
    Personal(
        pattern=PersonalPattern.NAME, noun="full names of people", hint=" ", limit=HALF, least=MIN_NAMES, form=FULL_NAME
    ),
)
"""The forms that are only reported: towns, streets and firms have such names too."""
