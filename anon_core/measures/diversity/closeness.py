"""How far the values of a sensitive column in a class are from those of the whole table: t-closeness [Li2007]_.

Li, Li, Venkatasubramanian: t-closeness: privacy beyond k-anonymity and l-diversity, 2007. The distance is the earth
mover's: the least work to turn one distribution into the other, where moving a share costs it times the ground distance
of two values, which is at most 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core import kernels
from anon_core.errors import InvalidInputError
from anon_core.hierarchy.ladder import Ladder
from anon_core.hierarchy.numbers import number_in
from anon_core.kernels import AnyCodes, Floats, Integers
from anon_core.measures.classes import ClassMeasure, SensitiveClasses
from anon_core.policy import Distance
from anon_core.table import Mask
from anon_core.table.arrays import integers, nulls, numbers

ABSOLUTE_ROUNDING = 1e-9
"""By how much a distance may exceed the required t: sums of shares are not exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness(ClassMeasure):
    """t-closeness: ``observed`` is the distance of the class that is furthest from the whole table."""

    distance: Distance


def t_closeness(
    classes: SensitiveClasses, *, t: float, distance: Distance = Distance.EQUAL, ladder: Ladder | None = None
) -> Closeness:
    """
    Measure t-closeness. A class fails if its distance is above ``t``, with a billionth allowed for rounding.

    Where people are counted, who may have several values, t-closeness is not monotone: the union of two classes that
    keep it may break it.

    - ``equal``: any two values are 1 apart, so the distance is the total variation.
    - ``ordered``: values are sorted, as numbers if all are numbers (spellings of one number have one position), else as
      texts; a gap is last. The ground distance is ``|i-j| / (m-1)``; with a single value it is 0.
    - ``hierarchical``: the level of the lowest common ancestor by the height of the ``ladder``. A gap without a path
      and a value that the hierarchy does not know are 1 away from everything else.

    :raises InvalidInputError: the distance is hierarchical, and the ladder of this column is missing.
    """
    away = class_distances(classes, distance=distance, ladder=ladder)
    failing = away > t + ABSOLUTE_ROUNDING
    return Closeness(
        observed=float(away.max()),
        required=t,
        distance=distance,
        **ClassMeasure.counts(classes, failing),
    )


def class_distances(classes: SensitiveClasses, *, distance: Distance, ladder: Ladder | None = None) -> Floats:
    """Return how far each class is from the whole table, between 0 and 1."""
    if distance is Distance.EQUAL:
        away = _variation(classes, classes.values)
    elif distance is Distance.ORDERED:
        away = _ordered(classes)
    elif ladder is not None:
        away = _hierarchical(classes, ladder)
    else:
        raise InvalidInputError(f"the hierarchical distance of column {classes.column!r} needs its hierarchy")
    return np.clip(away, 0.0, 1.0)


def _variation(classes: SensitiveClasses, values: AnyCodes, node_of: AnyCodes | None = None) -> Floats:
    """
    Return the total variation of each class: by how much its shares of values exceed those of the whole table.

    With ``node_of`` all values of one node count as one value. Values that a class does not have add nothing.
    """
    whole, counts, starts = classes.whole, classes.counts, classes.starts
    if node_of is not None:
        nodes, most = node_of[values], int(node_of.max()) + 1
        groups = kernels.group([classes.member, nodes], [classes.classes, most], counts)
        whole = kernels.weigh(node_of.astype(np.int64), most, whole)
        counts, values = groups.weights, nodes[groups.first]
        starts = np.searchsorted(classes.member[groups.first], np.arange(classes.classes))
    per_class = np.diff(starts, append=len(counts))
    beyond = counts / np.repeat(classes.totals, per_class) - whole[values] / whole.sum()
    return np.asarray(np.add.reduceat(np.maximum(beyond, 0.0), starts))


def _hierarchical(classes: SensitiveClasses, ladder: Ladder) -> Floats:
    """
    Return the distances over a tree in which all values are equally deep.

    The paper adds up, over inner nodes, level/height times the share that has to be moved between the children. A share
    that is moved below a node of level n goes up n edges and down n, each 1/(2 height) long. So the same sum is the
    mean, over all levels below the root, of the total variation of the labels of that level.
    """
    if ladder.column != classes.column or not _same_values(classes, ladder):
        raise InvalidInputError(
            f"the hierarchy of column {ladder.column!r} was not built for the values of column {classes.column!r}"
        )
    own = np.arange(len(classes.domain)) + len(ladder.labels)
    away = _variation(classes, classes.values)
    for labels in ladder.maps[1 : ladder.height]:
        # A value that the hierarchy does not know stands at the root, but is not equal to other unknown values.
        away = away + _variation(classes, classes.values, np.where(ladder.unmapped, own, labels))
    return away / ladder.height


def _same_values(classes: SensitiveClasses, ladder: Ladder) -> bool:
    """Whether a ladder was built for the domain of this column: the values that it knows are its lowest labels."""
    if ladder.maps.shape[1] != len(classes.domain):
        return False
    known = integers(np.flatnonzero(~ladder.unmapped))
    return bool(ladder.labels.take(integers(ladder.maps[0])).take(known).equals(classes.domain.take(known)))


def _ordered(classes: SensitiveClasses) -> Floats:
    """
    Return the distances of ordered values: the mean difference of the two cumulative distributions.

    The cumulative share of a class is constant from each of its values to the next. On that step the share of the whole
    table rises, so the difference changes its sign once, and prefix sums before and after that position add it up.
    """
    place = places(classes.domain, classes.whole > 0)
    last = int(place.max())
    if last == 0:
        return np.zeros(classes.classes)
    steps = _merged(classes, place[classes.values])
    rows = int(classes.whole.sum())
    risen = np.cumsum(np.bincount(place[place >= 0], classes.whole[place >= 0], minlength=last + 1)) / rows
    summed = np.concatenate([[0.0], np.cumsum(risen)])
    begin, end = steps.places, np.append(steps.places[1:], last)
    end[steps.starts[1:] - 1] = last
    end[-1] = last
    level = steps.cumulated
    turn = np.clip(np.searchsorted(risen, level), begin, end)
    below = level * (turn - begin) - (summed[turn] - summed[begin])
    above = (summed[end] - summed[turn]) - level * (end - turn)
    return np.asarray((np.add.reduceat(below + above, steps.starts) + summed[begin[steps.starts]]) / last)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """The cumulative distribution of every class: for each position of its values, the share up to that position."""

    places: Integers
    cumulated: Floats
    starts: Integers


def _merged(classes: SensitiveClasses, stand: Integers) -> _Steps:
    """Sort the values of every class, and merge those with one position."""
    member = classes.member
    groups = kernels.group([member, stand], [classes.classes, int(stand.max()) + 1], classes.counts)
    starts = np.searchsorted(member[groups.first], np.arange(classes.classes))
    per_class = np.diff(starts, append=len(groups.first))
    before = np.cumsum(groups.weights)
    opening = before[starts] - groups.weights[starts]
    return _Steps(
        places=stand[groups.first],
        cumulated=np.asarray((before - np.repeat(opening, per_class)) / np.repeat(classes.totals, per_class)),
        starts=starts,
    )


def places(domain: pa.Array, present: Mask) -> Integers:
    """
    Return the position of each code in the order of the values that are present; -1 for the others.

    Spellings of one number (``1`` and ``1.0``) have one position. A gap is no number, and comes last.

    >>> places(pa.array(["10", "9", None, "x"]), np.array([True, True, True, False])).tolist()
    [1, 0, 2, -1]
    """
    at = np.flatnonzero(present)
    values = domain.take(integers(at))
    gaps = nulls(values)
    known = values.drop_null()
    rank = _whole(known) if _are_whole(known) else _spelled(known.to_pylist())
    found = np.full(len(domain), -1, np.int64)
    found[at[gaps]] = int(rank.max(initial=-1)) + 1
    found[at[~gaps]] = rank
    return found


def _are_whole(values: pa.Array) -> bool:
    """Whether every value is a plain whole number: then all of them are sorted at once."""
    return bool(pc.all(pc.match_substring_regex(values, "^-?[0-9]{1,18}$"), min_count=0).as_py())


def _whole(values: pa.Array) -> Integers:
    return np.unique(numbers(values.cast(pa.int64())), return_inverse=True)[1].astype(np.int64)


def _spelled(values: list[str]) -> Integers:
    found = []
    for value in values:
        number = number_in(value)
        if number is None:
            return _ranked(values)
        found.append(number)
    return _ranked(found)


def _ranked(values: list[str] | list[Decimal]) -> Integers:
    rank = {value: at for at, value in enumerate(sorted(set(values)))}  # type: ignore[type-var]
    return np.array([rank[value] for value in values], np.int64)
