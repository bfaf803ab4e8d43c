"""The forms of values that identify people or say where they live.

Arrow matches the expressions (RE2) in time linear in the length of a cell, for any content. The check digits of
account, tax and identity numbers follow their public definitions. The functions take the text as found, in any case and
with the usual separators. A text without the form is not such a number.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anon_core.decompose.splitting import check_letter
from anon_core.role import Role

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """
    A form that values may have.

    ``check`` tests values that have the form more closely. A ``telling`` form counts even if few values have it: one
    e-mail address in a hundred rows is one too many. ``numbers`` are forms that whole numbers can have too. With
    ``form_counts`` it is enough if most values have the form, even if the check fails: a tax code with wrong check
    digits is no harmless word.
    """

    kind: str
    looks: str
    form: str
    role: Role = Role.IDENTIFIER
    check: Callable[[str], bool] | None = None
    telling: bool = True
    numbers: bool = False
    form_counts: bool = False


def _is_phone(text: str) -> bool:
    return 8 <= sum(sign.isdigit() for sign in text) <= 15


def _is_ip(text: str) -> bool:
    """Whether it is an IP address, with or without a port or a network length; a time of day is none."""
    host = text.split("/")[0]
    return is_ip_address(host.split(":")[0] if host.count(":") == 1 else host)


def _is_card(text: str) -> bool:
    return 13 <= len(bare(text)) <= 19 and is_luhn(text)


def _is_position(text: str) -> bool:
    """Whether two decimal numbers can be a latitude and a longitude, in either order."""
    one, other = (abs(float(number)) for number in re.findall(r"[0-9]+\.[0-9]+", text)[:2])
    return min(one, other) <= 90 and max(one, other) <= 180


_OCTET = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_NUMBER = r"[+-]?\d{1,3}\.\d{3,}"
_HANDLES = (
    r"(linkedin\.com/in|facebook\.com|instagram\.com|twitter\.com|x\.com|tiktok\.com|xing\.com|orcid\.org|t\.me)/"
)
_PHONES = (
    r"\+[ ]?[1-9]\d{0,2}([ ./()-]{0,3}\d{1,12}){1,7}",  # international
    r"00(39|49|33|34|44|41|43)([ ./()-]{0,3}\d{2,12}){1,6}",
    r"0[1-9]([ .-]?\d{2}){4}",  # France
    r"0\d{1,5}[ /-]\d{3,9}([ -]\d{1,5})?",  # Germany, Italy
    r"01[5-7]\d{8,9}",  # German mobiles
    r"3\d{2}[ ./-]\d{3}[ .-]?\d{3,4}",  # Italian mobiles
    r"[6-9]\d{2}[ -]\d{3}[ -]\d{3}|[6-9]\d{2}[ -]\d{2}[ -]\d{2}[ -]\d{2}",  # Spain
    r"(\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}",  # North America
    r"\(?0\d{2,4}\)? \d{3,4} \d{3,4}",  # United Kingdom
)
_PARTICLE = r"(de|di|da|do|dos|del|della|van|von|vom|der|den|zu|zur|du|des|la|las|los|le|el|y|e|bin)"
_POSTCODES = (
    r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}",  # United Kingdom
    r"\d{5}-\d{4}",  # United States
    r"[A-CEGHJ-NPR-TVXY]\d[A-Z] ?\d[A-Z]\d",  # Canada
    r"[1-9]\d{3} ?[A-Z]{2}",  # Netherlands
)
_NAME = r"\p{Lu}[\p{L}'’.-]*"
_PART = rf"({_PARTICLE} ){{0,2}}{_NAME}"
FULL_NAME = rf"^{_PART}( {_PART}){{1,3}}$|^{_PART}( {_PART}){{0,2}}, ?{_PART}( {_PART}){{0,2}}$"
FIRST_NAME = r"^\p{Lu}[\p{L}'’-]+$"

PATTERNS: Sequence[Pattern] = (
    Pattern(
        kind="e-mail address",
        looks="look like e-mail addresses",
        form=r"^[^\s@<>,;:]+@[^\s@<>,;:]+\.[^\s@<>,;:.0-9]{2,24}$",
    ),
    Pattern(
        kind="bank account",
        looks="look like IBANs with the right check digits",
        form=r"(?i)^[A-Z]{2}\d{2}([ -]?[A-Z0-9]){11,30}$",
        check=is_iban,
        form_counts=True,
    ),
    Pattern(
        kind="tax code",
        looks="look like Italian tax codes with the right check letter",
        form=r"(?i)^[A-Z]{6} ?[0-9L-NP-V]{2}[A-EHLMPR-T][0-9L-NP-V]{2} ?[A-Z][0-9L-NP-V]{3} ?[A-Z]$",
        check=is_codice_fiscale,
        form_counts=True,
    ),
    Pattern(
        kind="identity number",
        looks="look like Spanish identity numbers with the right check letter",
        form=r"(?i)^(\d{1,2}\.?\d{3}\.?\d{3}|[XYZ]-?\d{7})-?[A-Z]$",
        check=is_dni,
        form_counts=True,
    ),
    Pattern(
        kind="identity number",
        looks="look like French social security numbers with the right key",
        form=r"(?i)^[1-478] ?\d{2} ?\d{2} ?(\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}$",
        check=is_nir,
        numbers=True,
    ),
    Pattern(
        kind="tax code",
        looks="look like German tax numbers with the right check digit",
        form=r"^[1-9]\d ?\d{3} ?\d{3} ?\d{3}$",
        check=is_steuer_id,
        numbers=True,
    ),
    Pattern(
        kind="identity number",
        looks="look like German pension insurance numbers with the right check digit",
        form=r"(?i)^\d{2} ?\d{6} ?[A-Z] ?\d{3}$",
        check=is_german_pension_number,
        form_counts=True,
    ),
    Pattern(
        kind="identity number",
        looks="look like US social security numbers",
        form=r"^(00[1-9]|0[1-9]\d|[1-578]\d\d|6[0-57-9]\d|66[0-57-9])-(0[1-9]|[1-9]\d)-(\d{3}[1-9]|\d{2}[1-9]0|\d[1-9]00|[1-9]000)$",
    ),
    Pattern(
        kind="identity number",
        looks="look like UK national insurance numbers",
        form=r"(?i)^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]$",
        telling=False,
    ),
    Pattern(
        kind="payment card number",
        looks="look like payment card numbers with the right check digit",
        form=r"^[2-6]\d{3}([ -]?\d{2,6}){2,4}\d$",
        check=_is_card,
        numbers=True,
    ),
    Pattern(
        kind="IP address",
        looks="look like IP addresses",
        form=rf"^({_OCTET}\.){{3}}{_OCTET}(:\d{{1,5}}|/\d{{1,2}})?$|^[0-9A-Fa-f]{{0,4}}:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$",
        check=_is_ip,
    ),
    Pattern(
        kind="device number",
        looks="look like MAC addresses",
        form=r"^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$|^([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}$",
    ),
    Pattern(
        kind="record number",
        looks="look like UUIDs",
        form=r"^\{?[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\}?$",
    ),
    Pattern(
        kind="web profile",
        looks="look like links to personal pages",
        form=rf"(?i)^(https?://)?([a-z]+\.)?{_HANDLES}\S+$",
    ),
    Pattern(
        kind="telephone number",
        looks="look like telephone numbers",
        form=f"^({'|'.join(_PHONES)})$",
        check=_is_phone,
        telling=False,
        numbers=True,
    ),
    Pattern(
        kind="telephone number",
        looks="look like international telephone numbers",
        form=f"^({_PHONES[0]})$",
        check=_is_phone,
        numbers=True,
    ),
    Pattern(
        kind="e-mail address",
        looks="contain e-mail addresses",
        form=r"[A-Za-z0-9_]@[A-Za-z0-9][A-Za-z0-9.-]*\.[A-Za-z]{2}",
    ),
    Pattern(
        kind="personal name",
        looks="look like full names of persons",
        form=FULL_NAME,
        telling=False,
    ),
    Pattern(
        role=Role.QUASI,
        kind="coordinate",
        looks="look like pairs of coordinates",
        form=rf"(?i)^(POINT ?)?[(\[]?\s*{_NUMBER}\s*[,; ]\s*{_NUMBER}\s*[)\]]?$",
        check=_is_position,
        telling=False,
    ),
    Pattern(
        role=Role.QUASI,
        kind="postcode",
        looks="look like postcodes",
        form=f"(?i)^({'|'.join(_POSTCODES)})$",
        telling=False,
    ),
)
