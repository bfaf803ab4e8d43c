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
from anon_core.frequency import FrequencyTable
from anon_core.kernels import AnyCodes, Floats, Integers
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveClasses:
    """
    How often each value of one sensitive column occurs in each class; a gap is a value of its own.

    Pairs of class and value stand class by class: class ``c`` has those from ``starts[c]`` on, ``values`` are codes
    into ``domain``, ``counts`` the rows of each pair, and ``sizes`` the rows of each class. ``whole[code]`` is how many
    rows of the table have a value.

    Where units are counted, rows are units: a value that two units of a class have counts twice, one that a unit has in
    several rows once. A unit with two values in a class counts for both, so counts may add up to more than the size;
    distributions are made from ``totals``, what they add up to.
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

    @property
    def classes(self) -> int:
        return len(self.sizes)

    @property
    def distinct(self) -> Integers:
        """How many values each class has."""
        return np.diff(self.starts, append=len(self.counts))

    @property
    def totals(self) -> Integers:
        """What the counts of each class add up to."""
        return self.sizes if self.units is None else np.add.reduceat(self.counts, self.starts)

    @property
    def member(self) -> Integers:
        """The class of each pair."""
        return np.repeat(np.arange(self.classes), self.distinct)

    def shares(self) -> Floats:
        """Return the share of each pair in the distribution of its class."""
        return np.asarray(self.counts / np.repeat(self.totals, self.distinct))

    def rows_in(self, chosen: Mask) -> int:
        """Return how many rows are in the chosen classes; of units, how many are in at least one."""
        if self.units is None:
            return int(self.sizes[chosen].sum())
        met = np.zeros(int(self.units.max()) + 1, np.bool_)
        met[self.units[np.repeat(chosen, self.sizes)]] = True
        return int(np.count_nonzero(met))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassMeasure:
    """
    What the worst class has against what every class must have, and how many classes and rows fail it.

    ``rows`` counts units where the table does; ``failing`` says of every class whether it fails.
    """

    observed: float | None
    required: float
    classes: int
    classes_failing: int
    rows: int
    rows_failing: int
    failing: Mask = field(compare=False, repr=False)

    @staticmethod
    def counts(classes: SensitiveClasses, failing: Mask) -> dict[str, Any]:
        """Return how many classes and rows fail, of how many."""
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
    :raises InvalidInputError: there are no rows, so anything would hold.
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
    Return where ``part / whole`` is above a limit, exactly: 0.3 is three tenths, as it is written.

    >>> share_above(np.array([3, 4]), np.array([10, 10]), 0.3).tolist()
    [False, True]
    """
    fraction = exact(limit)
    # At least 1: a limit of very many digits is too long for 64 bits even where it is multiplied by none.
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
    """Return where a tuple differs from the one before it; the first one does."""
    opens = np.zeros(rows, np.bool_)
    opens[0] = True
    for column in columns:
        opens[1:] |= column[1:] != column[:-1]
    return opens


def _of_units(pairs: FrequencyTable, units: AnyCodes, opens: Mask) -> SensitiveClasses:
    """Count units in classes; there is one tuple for each class, value and unit, in this order."""
    values, domain = pairs.codes[-1], pairs.domains[-1]
    opens_pair = opens | _changes([values], len(values))
    first = np.flatnonzero(opens_pair)
    member = np.cumsum(opens) - 1
    most = int(units.max()) + 1
    in_class = kernels.group([member, units], [int(member[-1]) + 1, most]).first
    in_table = kernels.group([values, units], [len(domain), most]).first
    return SensitiveClasses(
        sizes=np.bincount(member[in_class]),
        starts=np.cumsum(opens_pair)[opens] - 1,
        values=values[first],
        counts=np.diff(first, append=len(values)),
        whole=np.bincount(values[in_table], minlength=len(domain)),
        domain=domain,
        column=pairs.names[-1],
        rows=pairs.rows,
        units=units[in_class],
    )
