"""Which columns of a table a search uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from anon_core.errors import InvalidInputError, UnknownColumnError


def searched_columns(
    names: Sequence[str], columns: Sequence[str] | None, exclude: Sequence[str] = (), unit: Sequence[str] = ()
) -> tuple[str, ...]:
    """
    Return the columns to search, in the order in which they are named, else in the order of the table.

    The only column of the unit is not searched. One of several columns of the unit is searched only if it is named.

    >>> searched_columns(["id", "age", "town"], None, exclude=["age"], unit=["id"])
    ('town',)

    :raises UnknownColumnError: a name is not in the table, in any of the lists.
    :raises InvalidInputError: a name is given twice, or no column is left to search.
    """
    if columns is not None and not columns:
        raise InvalidInputError("columns= names no column; name some, or leave it out to search all")
    named = list(columns or ())
    for argument, given in (("columns", named), ("exclude", exclude)):
        if twice := [name for name, times in Counter(given).items() if times > 1]:
            raise InvalidInputError(f"{argument}= has columns named twice: {', '.join(twice)}; name each once")
    if unknown := [name for name in (*named, *exclude, *unit) if name not in names]:
        raise UnknownColumnError(unknown, names)
    if len(unit) == 1 and unit[0] in named:
        raise InvalidInputError(f"{unit[0]} says who is counted, so it is not searched; leave it out of columns=")
    left = [name for name in named or names if name not in exclude and (named or name not in unit)]
    if not left:
        raise InvalidInputError("no column is left to search; name others with columns= or exclude=")
    return tuple(left)
