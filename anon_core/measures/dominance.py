"""Which share of a class, or of a table, consists of the rows of one person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.comparison import how_many
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Dominance:
    """
    The largest share that one person has of the rows of a class, and the classes in which it is more than half.

    ``people`` counts all people, ``people_failing`` those in a failing class. Only people with two or more rows in a
    class have a share of it; k says how many other people a class has.
    """

    largest_share: float
    classes: int
    classes_failing: int
    people: int
    people_failing: int


def dominance(people: FrequencyTable) -> Dominance:
    """
    Measure which share of the rows of a class each person has. Rows whose person is not known count as one person's in
    a class without known people, and not at all in other classes.

    :raises InvalidInputError: the table counts rows, or there are none.
    """
    units, rows = people.units, people.unit_rows
    if units is None or rows is None or not len(units):
        raise InvalidInputError("whose rows a class has is not known without a unit, nor of a table without rows")
    starts = people.class_starts()
    of_class = people.of_entries(np.add.reduceat(rows, starts))
    several = rows > 1
    failing = np.logical_or.reduceat(several & (2 * rows > of_class), starts)
    inside = people.of_entries(failing)
    return Dominance(
        largest_share=float((rows[several] / of_class[several]).max(initial=0.0)),
        classes=len(failing),
        classes_failing=int(np.count_nonzero(failing)),
        people=people.people,
        people_failing=how_many(units[inside], people.weights[inside]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """How many rows the person with the most rows has, and how many people have more rows than allowed."""

    most: int
    people: int
    people_above: int


def contribution(people: FrequencyTable, allowed: int) -> Contribution:
    """
    Measure how many rows each person has. If no person is known, all rows count as one person's.

    :raises InvalidInputError: the table counts rows, or there are none.
    """
    whole = people.project([])
    if whole.unit_rows is None or not len(whole.unit_rows):
        raise InvalidInputError("how many rows a person has is not known without a unit, nor of a table without rows")
    return Contribution(
        most=int(whole.unit_rows.max()),
        people=len(whole.unit_rows),
        people_above=int(np.count_nonzero(whole.unit_rows > allowed)),
    )
