"""A hierarchy of codes: their first characters, fewer on every level."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.hierarchy.ladder import ROOT
from anon_core.hierarchy.levels import Levels


def by_prefix(values: Sequence[str], lengths: Sequence[int]) -> Levels:
    """
    Return the first characters and a star; what is not longer stays as it is.

    >>> by_prefix(["12345", "12"], [3]).paths
    {'12345': ['123*'], '12': ['12']}
    """
    return Levels(
        paths={
            value: [value if len(value) <= length else value[:length] + ROOT for length in lengths] for value in values
        },
        names=[f"first {length} characters" for length in lengths],
    )
