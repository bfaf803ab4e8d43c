"""What one column looks like: type, distinct values, gaps, entropy, share of unique values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.table import Column

_TYPES: Sequence[tuple[str, str]] = (
    ("integer", r"^[+-]?\d+$"),
    ("decimal", r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"),
    ("date", r"^\d{4}-\d{2}-\d{2}$"),
    ("timestamp", r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*$"),
    ("boolean", r"^(true|false|True|False|TRUE|FALSE)$"),
)


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
    """Measure one column. ``distinct`` counts values without the gap; ``unique_share`` is the share of rows that are
    alone in having their value (a lone gap is one)."""
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
    """Return what every value looks like: integer, decimal, date, timestamp, boolean, text; or empty if only gaps.

    The type is for people; counting always uses the text.
    """
    values = domain.drop_null()
    if not len(values):
        return "empty"
    for name, pattern in _TYPES:
        # One value rules out most types; then look at all.
        if re.match(pattern, values[0].as_py()) and pc.all(pc.match_substring_regex(values, pattern)).as_py():
            return name
    return "text"
