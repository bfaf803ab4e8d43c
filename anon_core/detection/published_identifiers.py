"""Which columns identify people by themselves, whichever role the publication file declares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable, different
from anon_core.kernels import AnyCodes
from anon_core.policy import IDENTIFYING


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """For every column the share of its rows that are alone with their value; ``limit`` or more identifies people."""

    shares: dict[str, float]
    limit: float

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that identify people."""
        return tuple(name for name, share in self.shares.items() if share >= self.limit)

    @property
    def largest(self) -> float:
        """The largest share of all columns."""
        return max(self.shares.values(), default=0.0)


def naming(frequencies: FrequencyTable, columns: Sequence[str], *, limit: float = IDENTIFYING) -> Naming:
    """
    Measure how many of the rows, or people, that have a value in a column are alone with it.

    Rows with a gap do not count: a telephone number identifies the people who have one, even if most have none. A
    column of gaps only identifies no person.

    >>> import pyarrow as pa
    >>> from anon_core.engines.arrow import ArrowEngine
    >>> from anon_core.table import from_arrow
    >>> table = from_arrow(pa.table({"phone": ["1", "2", "3", None, None], "sex": ["F", "F", "M", "M", "M"]}))
    >>> naming(ArrowEngine(table=table).count(table.names), ["phone", "sex"]).shares
    {'phone': 1.0, 'sex': 0.0}

    :raises UnknownColumnError: a column is not in the table.
    """
    return Naming(shares={name: _share(frequencies, name) for name in columns}, limit=limit)


def _share(frequencies: FrequencyTable, name: str) -> float:
    counted = frequencies.project([name])
    has_value = np.asarray(counted.domains[0].is_valid())[counted.codes[0]]
    alone = has_value & (counted.weights > 0) & counted.of_entries(counted.class_sizes() == 1)
    if counted.units is None:
        rows = int(counted.weights[has_value].sum())
        return int(np.count_nonzero(alone)) / rows if rows else 0.0
    people = _people(counted.units[has_value & (counted.weights > 0)])
    return _people(counted.units[alone]) / people if people else 0.0


def _people(units: AnyCodes) -> int:
    """Return how many people these are; a value that only unknown people have counts one person."""
    return different(units) + int(np.count_nonzero(units == UNKNOWN_PERSON))
