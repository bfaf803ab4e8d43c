"""What one column looks like: type, distinct values, gaps, entropy, share of unique values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.frequency import FrequencyTable
from anon_core.table import Column, Mask
from anon_core.value_type import ValueType

_PATTERNS = {
    ValueType.INTEGER: r"^[+-]?\d+$",
    ValueType.DECIMAL: r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    ValueType.DATE: r"^\d{4}-\d{2}-\d{2}$",
    ValueType.TIMESTAMP: r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*$",
    ValueType.BOOLEAN: r"^(true|false|True|False|TRUE|FALSE)$",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProfile:
    """The figures of one column. Entropy is in bits, over all rows, gaps being a category of their own."""

    name: str
    type: str
    distinct: int
    missing: int
    entropy: float
    unique_share: float


def profile(column: Column) -> ColumnProfile:
    """Measure one column. ``distinct`` counts values without the gap; ``unique_share`` is the share of rows whose value
    no other row has (a lone gap is one)."""
    counts = np.bincount(column.codes, minlength=len(column.domain))
    rows = len(column.codes)
    shares = counts[counts > 0] / rows if rows else np.zeros(0)
    return ColumnProfile(
        name=column.name,
        type=type_of(column.domain),
        distinct=len(column.domain) - int(column.has_gaps),
        missing=int(counts[-1]) if column.has_gaps else 0,
        entropy=max(0.0, -float((shares * np.log2(shares)).sum())),
        unique_share=int(np.count_nonzero(counts == 1)) / rows if rows else 0.0,
    )


def type_of(domain: pa.Array) -> str:
    """Return the type that all values read as: integer, decimal, date, timestamp, boolean, text; empty if only gaps.

    The type is for readers; counting always uses the text.
    """
    values = domain.drop_null()
    if not len(values):
        return "empty"
    for kind, pattern in _PATTERNS.items():
        # The first value rules out most types; only the others are tried on all values.
        if re.match(pattern, values[0].as_py()) and pc.all(pc.match_substring_regex(values, pattern)).as_py():
            return kind.value
    return ValueType.TEXT.value


def reads_as(domain: pa.Array, kind: ValueType) -> Mask:
    """
    Return which values read as a type. A gap reads as every type; a day that no calendar has is no date.

    >>> reads_as(pa.array(["7", "7.5", "ill since May", None]), ValueType.DECIMAL).tolist()
    [True, True, False, True]
    """
    if kind is ValueType.TEXT:
        return np.ones(len(domain), np.bool_)
    # `$` also matches before a line break at the end, which is not part of a number.
    fits = pc.match_substring_regex(domain, _PATTERNS[kind].replace("$", r"\z"))
    found = np.asarray(fits.fill_null(True).to_numpy(zero_copy_only=False), np.bool_)
    if kind in (ValueType.DATE, ValueType.TIMESTAMP):
        found &= [text is None or _is_moment(text) for text in domain.to_pylist()]
    return found


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def cells_of_another_type(frequencies: FrequencyTable, types: Mapping[str, ValueType]) -> dict[str, int]:
    """
    Return how many cells of each column do not read as its type, without columns that have none; a gap reads as any.

    >>> import pyarrow as pa
    >>> from anon_core.engines.arrow import ArrowEngine
    >>> from anon_core.table import from_arrow
    >>> table = from_arrow(pa.table({"points": ["3", "4", "ask her", None]}))
    >>> cells_of_another_type(ArrowEngine(table=table).count(table.names), {"points": ValueType.INTEGER})
    {'points': 1}

    :raises UnknownColumnError: a column is not in the table.
    """
    wrong = {}
    for name, at in zip(types, frequencies.positions(list(types)), strict=True):
        reads = reads_as(frequencies.domains[at], types[name])[frequencies.codes[at]]
        if cells := int(frequencies.weights[~reads].sum()):
            wrong[name] = cells
    return wrong
