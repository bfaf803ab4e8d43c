"""Check digits of account, tax and identity numbers, each from its public definition.

Every function takes the text as found, in any case and with the usual separators, and says whether the check holds.
What does not have the form is simply not such a number.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter

from anon_core.hierarchy.decompose.tax_codes import check_letter

_SEPARATORS = re.compile(r"[ ./-]")
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PENSION_FACTORS = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)


def bare(text: str) -> str:
    """
    Return a number without separators, in capitals.

    >>> bare("gb82 WEST-1234")
    'GB82WEST1234'
    """
    return _SEPARATORS.sub("", text).upper()


def is_iban(text: str) -> bool:
    """
    Whether an account number leaves 1 when divided by 97 (ISO 13616), its first four characters put last.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    number = bare(text)
    if not re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", number):
        return False
    return int("".join(str(int(letter, 36)) for letter in number[4:] + number[:4])) % 97 == 1


def is_luhn(text: str) -> bool:
    """
    Whether the digits pass Luhn's check (ISO/IEC 7812), as those of payment cards do.

    >>> is_luhn("4111 1111 1111 1111"), is_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(digit) for digit in bare(text) if digit.isdigit()][::-1]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def is_codice_fiscale(text: str) -> bool:
    """
    Whether the last letter of an Italian tax code follows from the others (decree of 23 December 1976).

    >>> is_codice_fiscale("RSSMRA85T10A562S"), is_codice_fiscale("RSSMRA85T10A562T")
    (True, False)
    """
    code = bare(text)
    return bool(re.fullmatch(r"[A-Z]{6}[0-9A-Z]{9}[A-Z]", code)) and check_letter(code[:15]) == code[15]


def is_dni(text: str) -> bool:
    """
    Whether the letter of a Spanish DNI or NIE follows from its number modulo 23.

    >>> is_dni("12345678Z"), is_dni("X1234567L"), is_dni("12345678A")
    (True, True, False)
    """
    code = bare(text)
    if not re.fullmatch(r"([0-9]|[XYZ])[0-9]{7}[A-Z]", code):
        return False
    number = int(code[:8].translate(str.maketrans("XYZ", "012")))
    return _DNI_LETTERS[number % 23] == code[8]


def is_nir(text: str) -> bool:
    """
    Whether the key of a French social security number is 97 less its number modulo 97; Corsica's 2A is 19, 2B is 18.

    >>> is_nir("2 55 08 14 168 025 38"), is_nir("2 55 08 14 168 025 39")
    (True, False)
    """
    code = bare(text)
    if not re.fullmatch(r"[1-478][0-9]{4}(?:[0-9]{2}|2[AB])[0-9]{8}", code):
        return False
    number = int(code[:13].replace("2A", "19").replace("2B", "18"))
    return 97 - number % 97 == int(code[13:])


def is_steuer_id(text: str) -> bool:
    """
    Whether a German tax number has its check digit (ISO 7064, modulo 11, 10) and repeats one of its first ten digits.

    >>> is_steuer_id("86 095 742 719"), is_steuer_id("86095742718"), is_steuer_id("12345678901")
    (True, False, False)
    """
    number = bare(text)
    if not re.fullmatch(r"[1-9][0-9]{10}", number):
        return False
    repeated = [times for times in Counter(number[:10]).values() if times > 1]
    product = 10
    for digit in number[:10]:
        product = ((int(digit) + product - 1) % 10 + 1) * 2 % 11
    return repeated in ([2], [3]) and (11 - product) % 10 == int(number[10])


def is_german_pension_number(text: str) -> bool:
    """
    Whether a German pension insurance number has its check digit: weighted cross sums modulo 10.

    >>> is_german_pension_number("65 170839 J 003"), is_german_pension_number("65170839J004")
    (True, False)
    """
    code = bare(text)
    if not re.fullmatch(r"[0-9]{8}[A-Z][0-9]{3}", code):
        return False
    digits = f"{code[:8]}{_LATIN.index(code[8]) + 1:02}{code[9:11]}"
    crossed = [sum(divmod(int(digit) * factor, 10)) for digit, factor in zip(digits, _PENSION_FACTORS, strict=True)]
    return sum(crossed) % 10 == int(code[11])


def is_ip_address(text: str) -> bool:
    """
    Whether a text is an IPv4 or IPv6 address.

    >>> is_ip_address("192.0.2.1"), is_ip_address("2001:db8::1"), is_ip_address("12:30:45")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
