"""How counts are put into words, and foreign text into a message, everywhere the same."""

from __future__ import annotations


def counted(number: int, noun: str = "") -> str:
    """
    Return a count with its thousands apart, and what is counted, in the singular where it is one.

    >>> counted(1, "row"), counted(12000, "distinct value"), counted(0, "person"), counted(12000)
    ('1 row', '12,000 distinct values', '0 people', '12,000')
    """
    several = "people" if noun == "person" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}" if noun else f"{number:,}"


def rows_not_people(rows: int) -> str:
    """
    Return how many rows there are, where it is not known whose they are.

    >>> rows_not_people(1), rows_not_people(2000)
    ('1 row, not people', '2,000 rows, not people')
    """
    return f"{counted(rows, 'row')}, not people"


def printable(text: str) -> str:
    """
    Return a text with a space in place of every character that cannot be printed, and could steer a terminal.

    >>> printable("a\\x1b[31m\\nb")
    'a [31m b'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)
