"""Makes cells that a spreadsheet would run as a formula into text, before rows are written and measured.

If a reader opens a file in a spreadsheet, a cell that begins with ``=`` is a program. With ``csv: {escape_formulas:
true}`` such cells get an apostrophe in front, which marks a text in spreadsheets.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.engines.release import sort_rows
from anon_core.files.formula_signs import BREAKS, SIGNS
from anon_core.table import Mask, Table
from anon_core.table.assembling import Piece, assemble

_FORMULA = rf"^[{BREAKS}]|^[\pZ\pC]*[{re.escape(SIGNS)}]"
"""As :func:`~anon_core.files.formula_signs.begins_a_formula` has it, for whole columns."""
_NUMBER = r"^ *[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\z"


def looks_like_a_formula(words: pa.Array) -> Mask:
    """
    Return which texts a spreadsheet might run; a plain number with a sign is none, and a gap is none.

    >>> looks_like_a_formula(pa.array(["=1+1", "-5", "-5+cmd", "+39 0165", "@x", "a=b", None])).tolist()
    [True, False, True, True, True, False, False]
    """
    begins, number = pc.match_substring_regex(words, _FORMULA), pc.match_substring_regex(words, _NUMBER)
    found = pc.and_not(begins, number).fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)


def formula_safe(table: Table, *, keep_order: bool = False) -> Table:
    """
    Return the table with an apostrophe before every cell that a spreadsheet might run, its rows in order again.

    With ``keep_order`` they stay where they are. Where a text with the apostrophe was there before, the two become one
    value: classes only get larger.
    """
    columns, changed = [], False
    for column in table.columns:
        risky = looks_like_a_formula(column.domain)
        if risky.any():
            changed = True
            words = pc.if_else(pa.array(risky), pc.binary_join_element_wise("'", column.domain, ""), column.domain)
            column = assemble(column.name, [Piece(codes=column.codes, words=words)])
        columns.append(column)
    safe = Table(columns=tuple(columns), rows=table.rows) if changed else table
    return sort_rows(safe) if changed and not keep_order else safe
