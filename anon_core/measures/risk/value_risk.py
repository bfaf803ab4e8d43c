"""Which values of a column the rows at risk have: the histogram of the user interface of [Bampoulidis2019]_."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.errors import InvalidInputError
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.risk.rows_by_size import RowsOrPeople, smallest_classes
from anon_core.table import Mask
from anon_core.table.arrays import integers


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRisk:
    """
    How many rows with each value of one column are safe, and how many are at risk: in a class smaller than ``k``.

    Only values that some row has are listed, in the order of the domain; a gap is one of them. ``counted`` says whether
    rows or people are counted.
    """

    column: str
    k: int
    counted: RowsOrPeople
    values: pa.Array
    safe: Integers
    at_risk: Integers

    @property
    def rows(self) -> Integers:
        """How many rows have each value."""
        return self.safe + self.at_risk


def rows_at_risk_by_value(
    frequencies: FrequencyTable, quasi_identifiers: Sequence[str], column: str, *, k: int
) -> ValueRisk:
    """
    Count the safe rows and the rows at risk by their value in one column, which need not be a quasi-identifier.

    Without quasi-identifiers all rows are one class; a table without rows has no values. Where units are counted, a
    person in a class smaller than k is at risk with all of their values, and counts once for each. If the person of no
    row with a value is known, the value has one person, who is at risk if one of these rows is.

    >>> frequencies = FrequencyTable.from_codes(
    ...     ["sex", "town"], [np.array([0, 0, 1]), np.array([0, 1, 1])], [pa.array(["F", "M"]), pa.array(["x", None])]
    ... )
    >>> found = rows_at_risk_by_value(frequencies, ["sex"], "town", k=2)
    >>> found.values.to_pylist(), found.safe.tolist(), found.at_risk.tolist()
    (['x', None], [1, 1], [0, 1])

    :raises UnknownColumnError: some columns are not in the table.
    :raises InvalidInputError: k is below 1.
    """
    if k < 1:
        raise InvalidInputError(f"k must be at least 1, not {k}")
    *_, at = frequencies.positions([*quasi_identifiers, column])
    found = _entries(frequencies, quasi_identifiers, column, k)
    codes, domain = found.codes.astype(np.int64), frequencies.domains[at]
    rows = kernels.weigh(codes, len(domain), found.weights)
    at_risk = kernels.weigh(codes, len(domain), np.where(found.at_risk, found.weights, 0))
    present = np.flatnonzero(rows)
    return ValueRisk(
        column=column,
        k=k,
        counted=RowsOrPeople.of(frequencies),
        values=domain.take(integers(present)),
        safe=(rows - at_risk)[present],
        at_risk=at_risk[present],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entries:
    """For distinct tuples: the code of the column, how many rows have the tuple, and whether they are at risk."""

    codes: AnyCodes
    weights: Integers
    at_risk: Mask


def _entries(frequencies: FrequencyTable, quasi_identifiers: Sequence[str], column: str, k: int) -> _Entries:
    """Return the entries with their risk: a tuple is at risk by its class, a unit by its smallest class."""
    if frequencies.units is None:
        tuples = frequencies.project([*quasi_identifiers, column])
        quasi, domains = tuples.codes[:-1], tuples.domains[:-1]
        classes = kernels.group(quasi, [len(domain) for domain in domains], tuples.weights)
        small = (classes.weights < k)[classes.member]
        return _Entries(codes=tuples.codes[-1], weights=tuples.weights, at_risk=small)
    classes_of, values_of = frequencies.project(quasi_identifiers), frequencies.project([column])
    units: AnyCodes = values_of.units  # type: ignore[assignment]
    at_risk = np.zeros(int(frequencies.units.max(initial=-1)) + 1, np.bool_)
    at_risk[classes_of.units] = smallest_classes(classes_of) < k
    small = at_risk[units]
    unknown = units == UNKNOWN_PERSON
    if unknown.any():
        small[unknown] = _of_unknown(frequencies, quasi_identifiers, column, k)[values_of.codes[0][unknown]]
    return _Entries(codes=values_of.codes[0], weights=values_of.weights, at_risk=small)


def _of_unknown(frequencies: FrequencyTable, quasi_identifiers: Sequence[str], column: str, k: int) -> Mask:
    """Return of each value whether a row with it whose person is not known is in a class smaller than k."""
    together = frequencies.project([*quasi_identifiers, column])
    *quasi, values = together.codes
    found = kernels.group(quasi, [len(domain) for domain in together.domains[:-1]], together.weights)
    # Both are in the order of the codes, and no class is only in one of them.
    small = (frequencies.project(quasi_identifiers).class_sizes() < k)[found.member]
    at_risk = np.zeros(len(together.domains[-1]), np.bool_)
    at_risk[values[(together.units == UNKNOWN_PERSON) & small]] = True
    return at_risk
