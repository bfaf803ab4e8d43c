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
    Return a column in which capitals, blanks and signs that look alike make no other value; blanks alone are a gap.

    Two spellings of a tax code are one person. Taken for two, they would make a class look larger than it is. The other
    way round nothing is overstated, so in doubt it is one person.

    >>> from anon_core.table import from_arrow
    >>> codes = ["RSSMRA80", "rssmra80", "RSS MRA80 ", "BNCLCU75", " "]
    >>> one_spelling(from_arrow(pa.table({"id": codes})).column("id")).domain.to_pylist()
    ['bnclcu75', 'rssmra80', None]
    """
    known = column.domain.drop_null()
    plain = pc.replace_substring(pc.utf8_lower(plainly_written(known)), " ", "")
    empty = pc.any(pc.equal(plain, "")).as_py()
    if not empty and pc.count_distinct(plain).as_py() == len(known):
        return column
    words = pc.if_else(pc.equal(plain, ""), pa.scalar(None, plain.type), plain).to_pylist()
    return _column(column.name, column.codes, [*words, *([None] if column.has_gaps else [])])


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
