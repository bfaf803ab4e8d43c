"""Whose rows they are: people with one to six rows each, and rows of nobody known, by their definition in plain Python.

Rows whose person is not known add nobody to a class that has people, and are one person where there is none.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from hypothesis import strategies as st

from tests.properties.tables import Cell, Row

PERSON = "whose"
"""The column that tells people apart."""
Person = Hashable


@st.composite
def persons(draw: st.DrawFn, rows: int) -> list[Cell]:
    """Return the person of each row, None where nobody knows."""
    found: list[Cell] = []
    while len(found) < rows:
        name = None if draw(st.integers(0, 4)) == 0 else f"p{len(found):02}"
        found += [name] * draw(st.integers(1, 6))
    return draw(st.permutations(found[:rows]))


def members(keys: Sequence[Hashable], people: Sequence[Person | None]) -> dict[Hashable, set[Person]]:
    """Return who is in each class: rows of nobody known are one person of their own where there is no other."""
    found: dict[Hashable, set[Person]] = {}
    for key, person in zip(keys, people, strict=True):
        found.setdefault(key, set()).update([] if person is None else [person])
    return {key: some or {("nobody", key)} for key, some in found.items()}


def entries(
    keys: Sequence[Hashable], values: Sequence[Cell], people: Sequence[Person | None]
) -> dict[Hashable, set[tuple[Person, Cell]]]:
    """Return who has which value in each class; the values of nobody known count where nobody is known."""
    inside = members(keys, people)
    found: dict[Hashable, set[tuple[Person, Cell]]] = {key: set() for key in inside}
    for key, value, person in zip(keys, values, people, strict=True):
        of = ("nobody", key) if person is None else person
        if of in inside[key]:
            found[key].add((of, value))
    return found


def everybody(classes: Iterable[Iterable[Person]]) -> set[Person]:
    return set().union(*map(set, classes))


def alone(keys: Sequence[Hashable], people: Sequence[Person | None]) -> set[Person]:
    """Return who is alone in a class."""
    return everybody(some for some in members(keys, people).values() if len(some) == 1)


def projected(rows: Sequence[Row], people: Sequence[Cell]) -> list[Row]:
    """Return the rows with their person as the last cell."""
    return [(*row, person) for row, person in zip(rows, people, strict=True)]
