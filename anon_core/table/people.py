"""Whose rows they are: the columns that tell people apart, as one column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core import kernels
from anon_core.kernels import AnyCodes
from anon_core.table import Column, Table
from anon_core.table.assembling import Piece, assemble
from anon_core.table.plain_writing import plainly_written

_WHOLE_NUMBER = r"^0*(\d+?)(?:[.,]0{1,2})?$"
_SEPARATORS = r"[-./_]"
_MIN_BARE = 7
"""Shorter ones may be counted anew each year, or in each office: `1/23` is no spelling of 123."""
_SIGNS_ALONE = r"^[^\pL\pN]*$"
_WRITTEN_BY_PROGRAMS = "nan nat none null (null) nil na n/a n.a. <na> #n/a #na #null! undefined"
_WRITTEN_BY_PEOPLE = """
    nd n.d. n/d k.a. k/a unknown anonymous missing notavailable sconosciuto sconosciuta ignoto anonimo nondisponibile
    unbekannt anonym keineangabe inconnu inconnue anonyme nonrenseigné desconocido desconocida anónimo nodisponible
"""
_NOTHING = (*_WRITTEN_BY_PROGRAMS.split(), *_WRITTEN_BY_PEOPLE.split())
"""What programs, and people who fill in forms, write where there is no value."""


def person_column(table: Table, columns: Sequence[str], name: str) -> Column:
    """
    Return one column that tells people apart as several do together.

    The person of a row with a gap in one of them is not known: the missing value could tell more people apart, or
    fewer. Two spellings of one value are one person, see :func:`one_spelling`.

    :raises UnknownColumnError: a column is not in the table.
    """
    parts = [one_spelling(part) for part in table.select(columns).columns]
    found = kernels.group([part.codes for part in parts], [len(part.domain) for part in parts])
    words: list[str | None] = []
    domains = [part.domain.to_pylist() for part in parts]
    for codes in zip(*(part.codes[found.first].tolist() for part in parts), strict=True):
        cells = [domain[code] for domain, code in zip(domains, codes, strict=True)]
        # With its length before it no cell runs into the next one.
        words.append(None if None in cells else "".join(f"{len(cell)}:{cell}" for cell in cells))
    return _column(name, found.member, words)


def one_spelling(column: Column) -> Column:
    """
    Return a column in which no way to write a value makes another one of it, and words for no value are a gap.

    Two spellings of a tax code are one person. Taken for two, they would make a class look larger than it is. The other
    way round nothing is overstated, so in doubt it is one person: capitals, blanks, signs that look alike, zeros before
    a whole number and after its point make no difference, nor do ``- . / _`` where the value, of seven signs or more,
    is there without them too: ``1-23`` and ``12-3`` are two case numbers. Words for a missing value, and signs
    alone, are a gap: they would be one more person everywhere.

    >>> from anon_core.table import from_arrow
    >>> codes = ["RSSMRA80", "rssmra80", "RSS MRA80 ", "RSS-MRA80", "007", "7.0", "BNC-LCU", "NaN", "--", " "]
    >>> one_spelling(from_arrow(pa.table({"id": codes})).column("id")).domain.to_pylist()
    ['7', 'bnc-lcu', 'rssmra80', None]
    """
    known = column.domain.drop_null()
    if _are_numbered_alike(known):
        return column
    plain = pc.replace_substring(pc.utf8_lower(plainly_written(known)), " ", "")
    plain = pc.replace_substring_regex(plain, _WHOLE_NUMBER, r"\1")
    nothing = pc.or_(pc.is_in(plain, pa.array(_NOTHING)), pc.match_substring_regex(plain, _SIGNS_ALONE))
    plain = _without_separators(plain)
    if not pc.any(nothing).as_py() and len(pc.unique(plain)) == len(known):  # Much faster than to count them.
        return column
    words = pc.if_else(nothing, pa.scalar(None, plain.type), plain).to_pylist()
    return _column(column.name, column.codes, [*words, *([None] if column.has_gaps else [])])


def _without_separators(plain: pa.Array) -> pa.Array:
    """Leave separators out of each long enough text that is there without them too."""
    separated = pc.match_substring_regex(plain, _SEPARATORS)
    if not pc.any(separated).as_py():
        return plain
    bare = pc.replace_substring_regex(plain.filter(separated), _SEPARATORS, "")
    long = pc.greater_equal(pc.utf8_length(bare), _MIN_BARE)
    there = pc.and_(long, pc.is_in(bare, plain.filter(pc.invert(separated))))
    return pc.replace_with_mask(plain, separated, pc.if_else(there, bare, plain.filter(separated)))


def _are_numbered_alike(words: pa.Array) -> bool:
    """Whether all are digits, equally many: so written, as the numbers of :func:`numbered`, no two are one."""
    lengths = pc.min_max(pc.binary_length(words)).as_py()
    return lengths["min"] == lengths["max"] and bool(pc.all(pc.match_substring_regex(words, r"^[0-9]+$")).as_py())


def numbered(column: Column, generator: np.random.Generator) -> Column:
    """Return the same people under numbers that say nothing of them; a gap stays one."""
    people = len(column.domain) - column.has_gaps
    width = len(str(people))
    words: list[str | None] = [f"{number:0{width}}" for number in generator.permutation(people)]
    return _column(column.name, column.codes, [*words, *([None] if column.has_gaps else [])])


def _column(name: str, codes: AnyCodes, words: Sequence[str | None]) -> Column:
    return assemble(name, [Piece(codes=codes, words=pa.array(words, pa.string()))])


def fresh_name(wanted: str, names: Sequence[str]) -> str:
    """
    Return a name that none of these is.

    >>> fresh_name("person", ["sex", "person"])
    'person_'
    """
    while wanted in names:
        wanted += "_"
    return wanted
