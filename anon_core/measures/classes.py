"""The classes of a table and the sensitive values in them: what diversity and closeness are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.errors import InvalidInputError
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable, different
from anon_core.kernels import AnyCodes, Floats, Integers
from anon_core.table import Mask

MAX_CELLS = 1 << 26
"""Up to this many possible pairs of value and person, a table of all pairs is faster than sorting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveClasses:
    """
    How often each value of one sensitive column occurs in each class; a gap is a value of its own.

    The arrays have an entry for each pair of class and value, class by class: class ``c`` begins at ``starts[c]``,
    ``values`` are codes into ``domain``, ``counts`` are the rows of each pair. ``sizes`` are the rows of each class,
    and ``whole[code]`` is how many rows of the whole table have a value.

    Where people are counted, a value counts once for each person of the class who has it, in one row or in several. A
    person with two values in a class counts for both, so counts may add up to more than the size of the class;
    distributions divide by ``totals``, the sums of the counts. ``units`` are the people of each class, class by class;
    ``holders`` are the people who have the value of each pair, as positions in ``units``. Rows whose person is not
    known are left out, with their values, of a class that has known people. In a class without known people they are
    one person. For ``whole`` the rows with one value are a class.
    """

    sizes: Integers
    starts: Integers
    values: AnyCodes
    counts: Integers
    whole: Integers
    domain: pa.Array
    column: str
    rows: int
    units: AnyCodes | None = None
    holders: Integers | None = None

    @property
    def classes(self) -> int:
        return len(self.sizes)

    @property
    def distinct(self) -> Integers:
        """How many values each class has."""
        return np.diff(self.starts, append=len(self.counts))

    @property
    def totals(self) -> Integers:
        """The sum of the counts of each class."""
        return self.sizes if self.units is None else np.add.reduceat(self.counts, self.starts)

    @property
    def member(self) -> Integers:
        """The class of each pair."""
        return np.repeat(np.arange(self.classes), self.distinct)

    def shares(self) -> Floats:
        """Return the share of each pair in the distribution of its class."""
        return np.asarray(self.counts / np.repeat(self.totals, self.distinct))

    def rows_in(self, chosen: Mask) -> int:
        """Return how many rows are in the chosen classes; of people, how many are in at least one of them."""
        if self.units is None:
            return int(self.sizes[chosen].sum())
        units = self.units[np.repeat(chosen, self.sizes)]
        met = np.zeros(int(self.units.max()) + 1, np.bool_)
        met[units] = True
        return int(np.count_nonzero(met[UNKNOWN_PERSON + 1 :])) + int(np.count_nonzero(units == UNKNOWN_PERSON))

    @property
    def certain(self) -> Mask:
        """Which pairs of class and value are certain: all people of the class have the value, alone or among others."""
        return np.asarray(self.counts == np.repeat(self.sizes, self.distinct))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassMeasure:
    """
    The figure of the worst class, the figure that is required of every class, and how many classes and rows fail.

    ``rows`` counts people where the table does; ``failing`` says for every class whether it fails. With ``at_least``
    the search stopped at ``observed``: every class has that or more.
    """

    observed: float | None
    required: float
    classes: int
    classes_failing: int
    rows: int
    rows_failing: int
    failing: Mask = field(compare=False, repr=False)
    at_least: bool = False

    @staticmethod
    def counts(classes: SensitiveClasses, failing: Mask) -> dict[str, Any]:
        """Return the fields with the counts: classes and rows, and how many of them fail."""
        return {
            "classes": classes.classes,
            "classes_failing": int(np.count_nonzero(failing)),
            "rows": classes.rows,
            "rows_failing": classes.rows_in(failing),
            "failing": failing,
        }

    @property
    def holds(self) -> bool:
        """Whether every class has what is required."""
        return not self.classes_failing


def sensitive_classes(
    frequencies: FrequencyTable, quasi_identifiers: Sequence[str], sensitive: str
) -> SensitiveClasses:
    """
    Count the values of a sensitive column in every class; without quasi-identifiers all rows are one class.

    >>> frequencies = FrequencyTable.from_codes(
    ...     ["sex", "illness"],
    ...     [np.array([0, 1, 0]), np.array([0, 0, 1])],
    ...     [pa.array(["F", "M"]), pa.array(["flu", None])],
    ... )
    >>> found = sensitive_classes(frequencies, ["sex"], "illness")
    >>> found.sizes.tolist(), found.distinct.tolist(), found.whole.tolist()
    ([2, 1], [2, 1], [2, 1])

    :raises UnknownColumnError: some columns are not in the table.
    :raises InvalidInputError: there are no rows, so every requirement would hold.
    """
    pairs = frequencies.project([*quasi_identifiers, sensitive])
    *quasi, values = pairs.codes
    if not len(values):
        raise InvalidInputError("the diversity of a table without rows is not defined")
    opens = _changes(quasi, len(values))
    if pairs.units is None:
        starts = np.flatnonzero(opens)
        return SensitiveClasses(
            sizes=np.add.reduceat(pairs.weights, starts),
            starts=starts,
            values=values,
            counts=pairs.weights,
            whole=kernels.weigh(values.astype(np.int64), len(pairs.domains[-1]), pairs.weights),
            domain=pairs.domains[-1],
            column=sensitive,
            rows=pairs.rows,
        )
    return _of_units(pairs, pairs.units, opens)


def share_above(part: Integers, whole: Integers, limit: float | Fraction) -> Mask:
    """
    Return where ``part / whole`` is above a limit, computed exactly: 0.3 is three tenths, as it is written.

    >>> share_above(np.array([3, 4]), np.array([10, 10]), 0.3).tolist()
    [False, True]
    """
    fraction = exact(limit)
    # At least 1: a limit with very many digits does not fit into 64 bits even if there is nothing to multiply.
    largest = max(int(part.max(initial=1)) * fraction.denominator, int(whole.max(initial=1)) * fraction.numerator)
    kind = np.int64 if largest < 2**63 else object
    return np.asarray(part.astype(kind) * fraction.denominator > whole.astype(kind) * fraction.numerator, np.bool_)


def exact(number: float | Fraction) -> Fraction:
    """
    Return a number as it is written; the binary float nearest to 0.1 is a little more.

    >>> exact(0.1), exact(2)
    (Fraction(1, 10), Fraction(2, 1))
    """
    return Fraction(str(number))


def _changes(columns: Sequence[AnyCodes], rows: int) -> Mask:
    """Return where a tuple differs from the one before it; the first tuple counts as different."""
    opens = np.zeros(rows, np.bool_)
    opens[0] = True
    for column in columns:
        opens[1:] |= column[1:] != column[:-1]
    return opens


def _of_units(pairs: FrequencyTable, units: AnyCodes, opens: Mask) -> SensitiveClasses:
    """Count people in classes; there is one tuple for each class, value and unit, in this order."""
    values, domain = pairs.codes[-1], pairs.domains[-1]
    whole = _people_of_values(pairs, units)
    member = np.cumsum(opens) - 1
    kept = _with_people(member, units)
    if kept is not None:
        member, values, units = member[kept], values[kept], units[kept]
        opens = _changes([member], len(member))
    opens_pair = opens | _changes([values], len(values))
    first = np.flatnonzero(opens_pair)
    people = kernels.people_of_classes(member, units)
    in_class = people.first
    return SensitiveClasses(
        sizes=np.bincount(member[in_class]),
        starts=np.cumsum(opens_pair)[opens] - 1,
        values=values[first],
        counts=np.diff(first, append=len(values)),
        whole=whole,
        domain=domain,
        column=pairs.names[-1],
        rows=different(units) + int(np.count_nonzero(units[in_class] == UNKNOWN_PERSON)),
        units=units[in_class],
        holders=people.who,
    )


def _with_people(member: Integers, units: AnyCodes) -> Integers | None:
    """Return the entries that count: in classes with known people, only those of known people. None if all count."""
    known = units > UNKNOWN_PERSON
    if known.all():
        return None
    has_people = np.zeros(int(member[-1]) + 1, np.bool_)
    has_people[member[known]] = True
    return np.flatnonzero(known | ~has_people[member])


def _people_of_values(pairs: FrequencyTable, units: AnyCodes) -> Integers:
    """Return how many people of the table have each value; values of unknown people only have one person."""
    values, domain, most = pairs.codes[-1], pairs.domains[-1], int(units.max()) + 1
    if len(domain) * most > MAX_CELLS:
        found = kernels.people_of_tuples([values], [len(domain)], units)
        return np.bincount(found.codes[0], minlength=len(domain))
    has = np.zeros((len(domain), most), np.bool_)
    has.ravel()[values.astype(np.int64) * most + units] = True
    return np.asarray(
        np.maximum(np.count_nonzero(has[:, UNKNOWN_PERSON + 1 :], axis=1), has[:, UNKNOWN_PERSON]), np.int64
    )
