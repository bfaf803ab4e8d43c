"""Distinct tuples with weights: the one intermediate that everything else is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.errors import UnknownColumnError
from anon_core.kernels import AnyCodes, Integers
from anon_core.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyTable:
    """
    The distinct tuples of some columns, and how many rows have each.

    ``codes[i][j]`` is the code of tuple ``j`` in column ``i``, an index into ``domains[i]``; a gap is a null entry of
    the domain, so it is a category like any other. Tuples are in the order of their codes.

    >>> table = FrequencyTable.from_codes(["sex"], [np.array([0, 1, 0])], [pa.array(["F", "M"])])
    >>> table.weights.tolist(), table.rows
    ([2, 1], 3)
    """

    names: tuple[str, ...]
    codes: tuple[AnyCodes, ...]
    domains: tuple[pa.Array, ...]
    weights: Integers

    @classmethod
    def from_codes(
        cls,
        names: Sequence[str],
        codes: Sequence[AnyCodes],
        domains: Sequence[pa.Array],
        weights: Integers | None = None,
    ) -> FrequencyTable:
        """Group equal tuples and add up their weights (1 each when there are none)."""
        groups = kernels.group(codes, [len(domain) for domain in domains], weights)
        return cls(
            names=tuple(names),
            codes=tuple(column[groups.first] for column in codes),
            domains=tuple(domains),
            weights=groups.weights,
        )

    @classmethod
    def of(cls, table: Table, columns: Sequence[str] | None = None) -> FrequencyTable:
        """Count a table over some of its columns, by default all."""
        chosen = table.select(table.names if columns is None else columns).columns
        if not chosen:
            return cls(names=(), codes=(), domains=(), weights=np.full(min(table.rows, 1), table.rows, np.int64))
        return cls.from_codes([c.name for c in chosen], [c.codes for c in chosen], [c.domain for c in chosen])

    @property
    def rows(self) -> int:
        return int(self.weights.sum())

    @property
    def tuples(self) -> int:
        return len(self.weights)

    def positions(self, columns: Sequence[str]) -> list[int]:
        """:raises UnknownColumnError: some are not columns of this table."""
        unknown = [name for name in columns if name not in self.names]
        if unknown:
            raise UnknownColumnError(unknown, self.names)
        return [self.names.index(name) for name in columns]

    def project(self, columns: Sequence[str]) -> FrequencyTable:
        """Count over fewer columns. Over none at all, every row is the same tuple."""
        at = self.positions(columns)
        return FrequencyTable.from_codes(
            columns, [self.codes[i] for i in at], [self.domains[i] for i in at], self.weights
        )

    def lift(self, column: str, code_map: AnyCodes, domain: pa.Array) -> FrequencyTable:
        """Replace each code of one column by ``code_map[code]``, an index into ``domain``, and count again."""
        (at,) = self.positions([column])
        codes = [code_map[old] if i == at else old for i, old in enumerate(self.codes)]
        domains = [domain if i == at else old for i, old in enumerate(self.domains)]
        return FrequencyTable.from_codes(self.names, codes, domains, self.weights)

    def class_sizes(self) -> Integers:
        """Return the number of rows of each class."""
        return self.weights

    @property
    def singletons(self) -> int:
        """How many rows are alone in their class."""
        return int(np.count_nonzero(self.weights == 1))
