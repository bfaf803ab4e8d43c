"""Columns with codes of persons, in any role: tax, identity and personal numbers, accounts, addresses."""

from __future__ import annotations

import pyarrow.compute as pc

from anon_core.detection.roles.lexicon import is_numbered, meaning_of
from anon_core.detection.roles.patterns import PATTERNS
from anon_core.detection.roles.sampling import Sample, sample_of
from anon_core.detection.roles.values import points_in_time, rows_with
from anon_core.role import Role
from anon_core.table import Column
from anon_core.table.arrays import flags

CODES = frozenset({"tax code", "identity number", "bank account", "payment card number", "e-mail address"})
"""Kinds in which a value belongs to one person, by the form of values or by the name of the column."""
PERSONAL_NUMBER = "personal number"
_NUMBERED = frozenset({"record number", "case number", "person"})
"""Kinds of columns that may number people, if their codes repeat evenly: `id`, `case_no`, `customer`."""
_OF_RECORDS = frozenset({"record number", "case number"})
_SHARED = frozenset({"personal name", "postal address"})
_MIN_SHARE = (9, 10)


def personal_code(column: Column) -> str | None:
    """
    Return the kind of personal code that a column has; None where no kind is recognised.

    A kind is recognised if nine of ten values have its form, even with wrong check digits where the form alone is
    enough. It is also recognised if the name of the column means it, the column has more than two values, and half of
    the rows have a digit.
    """
    sample = sample_of(column)
    if not sample.rows:
        return None
    for pattern in PATTERNS:
        if pattern.kind in CODES and pattern.telling:
            passed, formed = rows_with(pattern, sample)
            if (formed if pattern.form_counts else passed) * _MIN_SHARE[1] >= sample.rows * _MIN_SHARE[0]:
                return pattern.kind
    meaning = meaning_of(column.name)
    kind = meaning.term.kind if meaning else None
    named = kind in CODES or kind == PERSONAL_NUMBER
    return kind if named and len(column.domain) - column.has_gaps > 2 and _are_codes(sample) else None


def may_number_people(column: Column) -> bool:
    """Whether the name of a column means a person, a case or a number of no other thing, and half of it has digits."""
    meaning = meaning_of(column.name)
    named = is_numbered(column.name) if meaning is None else meaning.term.kind in _NUMBERED
    return named and _are_codes(sample_of(column))


def numbers_records(column: Column) -> bool:
    """Whether a column is called after a record, a case or a number of nothing else: each row may have its own."""
    meaning = meaning_of(column.name)
    return is_numbered(column.name) if meaning is None else meaning.term.kind in _OF_RECORDS


def is_of_something_else(column: Column) -> bool:
    """Whether the name of a column means something that identifies no person, such as a place, or it has dates."""
    meaning = meaning_of(column.name)
    other = meaning is not None and meaning.term.role is not Role.IDENTIFIER and meaning.term.kind not in _NUMBERED
    return other or points_in_time(sample_of(column)) is not None


def is_shared(column: Column) -> bool:
    """Whether the name of a column means something that people may share, a name or an address, and it has no codes."""
    meaning = meaning_of(column.name)
    return meaning is not None and meaning.term.kind in _SHARED and not _are_numbers(sample_of(column))


def _are_codes(sample: Sample) -> bool:
    return _rows(sample, r"\d|@") * 2 >= sample.rows


def _are_numbers(sample: Sample) -> bool:
    """Whether a tenth of the rows begin with a digit or have no letter: numbers, not names."""
    return _rows(sample, r"^[^\p{L}]*$|^[A-Za-z]{0,3}[-./ ]?\d{3,}$") * 10 >= sample.rows


def _rows(sample: Sample, form: str) -> int:
    return int(sample.short_weights[flags(pc.match_substring_regex(sample.short, form))].sum()) if sample.rows else 0
