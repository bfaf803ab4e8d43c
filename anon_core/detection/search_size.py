"""The largest size of column sets in a search, and when the caller must give it."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

from anon_core.errors import InvalidInputError
from anon_core.limits import COLUMN_SETS

MAX_COLUMNS_ANY_SIZE = 50
"""A search over at most so many columns needs no largest size.

Of 500 random rows, 30 columns have 50,000 minimal unique sets and 40 have 370,000 (17 s, 370 MB on a busy core); 60
columns took more than 40 s. With 1,000 columns a search filled 4 GB in a minute and a half.
"""


def check_search_size(columns: int, max_size: int | None) -> None:
    """
    Check the largest size of a set, for a search over so many columns; None means any size.

    >>> check_search_size(50, None), check_search_size(1_000, 3)
    (None, None)

    :raises InvalidInputError: it is below 1, or there are too many columns to search for sets of any size.
    """
    if max_size is not None and max_size < 1:
        raise InvalidInputError(f"the largest set must have at least 1 column, not {max_size}")
    if max_size is None and columns > MAX_COLUMNS_ANY_SIZE:
        raise InvalidInputError(
            f"{columns:,} columns have too many sets to search without a largest size, which is done for up to "
            f"{MAX_COLUMNS_ANY_SIZE} columns: give the largest size (max_size=3), or search fewer columns (columns=, "
            "exclude=)"
        )


def column_sets(columns: int, max_size: int) -> int:
    """
    Return how many sets of up to ``max_size`` columns there are.

    >>> column_sets(4, 2)
    10
    """
    return sum(comb(columns, size) for size in range(1, min(max_size, columns) + 1))


def check_column_sets(searches: Mapping[str, tuple[int, int]]) -> None:
    """
    Check that scheduled searches end in time: each is a number of columns and a largest size, by the key of that size.

    >>> check_column_sets({"detect.max_size": (2_000, 2)})

    :raises InvalidInputError: a search has more column sets than the limit; the message names all such searches.
    """
    limit = COLUMN_SETS.value()
    problems = []
    for key, (columns, max_size) in searches.items():
        if (sets := column_sets(columns, max_size)) > limit:
            fitting = next((size for size in range(max_size - 1, 0, -1) if column_sets(columns, size) <= limit), None)
            advice = f"lower `{key}` to {fitting}" if fitting else "publish fewer columns"
            problems.append(f"{columns:,} columns have {sets:,} sets of up to {max_size} columns: {advice}")
    if problems:
        raise InvalidInputError(
            f"beyond {COLUMN_SETS.words()}: {'; '.join(problems)}. Columns with `role: drop` are not searched; "
            f"{COLUMN_SETS.advice}"
        )
