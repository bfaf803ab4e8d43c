"""k-anonymity: how small the smallest class is [Sweeney2002]_.

Sweeney: k-anonymity: a model for protecting privacy, 2002. Of the design's four k's this version has ``exact_k``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable


@dataclass(frozen=True, slots=True, kw_only=True)
class KAnonymity:
    """Where a table stands over its quasi-identifiers: ``k`` is its smallest class."""

    k: int
    singletons: int
    classes: int
    rows: int
    rows_below: int


def k_anonymity(frequencies: FrequencyTable, quasi_identifiers: Sequence[str], *, k: int = 2) -> KAnonymity:
    """
    Measure k-anonymity; ``*`` and gaps are taken literally, so a row alone in having one is alone.

    ``rows_below`` counts the rows in classes smaller than the wanted ``k``. Without quasi-identifiers all rows are one
    class.

    :raises UnknownColumnError: a quasi-identifier is not in the table.
    :raises InvalidInputError: there are no rows, so any k would hold.
    """
    projected = frequencies.project(quasi_identifiers)
    sizes = projected.class_sizes()
    if not len(sizes):
        raise InvalidInputError("k-anonymity of a table without rows is not defined")
    return KAnonymity(
        k=int(sizes.min()),
        singletons=projected.singletons,
        classes=len(sizes),
        rows=frequencies.rows,
        rows_below=int(sizes[sizes < k].sum()),
    )
