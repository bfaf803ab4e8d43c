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

    With ``units`` (several rows per person) everything that is called rows counts units: there is one entry for each
    distinct pair of tuple and unit, ``units[j]`` is its unit, and a class is as large as the units in it are many. Rows
    whose unit is a gap count as one unit: that never makes a class look larger than it is.

    >>> table = FrequencyTable.from_codes(["sex"], [np.array([0, 1, 0])], [pa.array(["F", "M"])])
    >>> table.weights.tolist(), table.rows
    ([2, 1], 3)
    """

    names: tuple[str, ...]
    codes: tuple[AnyCodes, ...]
    domains: tuple[pa.Array, ...]
    weights: Integers
    units: AnyCodes | None = None

    @classmethod
    def from_codes(
        cls,
        names: Sequence[str],
        codes: Sequence[AnyCodes],
        domains: Sequence[pa.Array],
        weights: Integers | None = None,
        units: AnyCodes | None = None,
    ) -> FrequencyTable:
        """Group equal tuples and add up their weights (1 each when there are none, or when units are counted)."""
        cardinalities = [len(domain) for domain in domains]
        if units is None:
            found = kernels.distinct(codes, cardinalities, weights)
            return cls(names=tuple(names), codes=found.codes, domains=tuple(domains), weights=found.weights)
        pairs = kernels.distinct([*codes, units], [*cardinalities, int(units.max(initial=0)) + 1])
        return cls(
            names=tuple(names),
            codes=pairs.codes[:-1],
            domains=tuple(domains),
            weights=np.ones(len(pairs.weights), np.int64),
            units=pairs.codes[-1],
        )

    @classmethod
    def of(cls, table: Table, columns: Sequence[str] | None = None, *, unit: str | None = None) -> FrequencyTable:
        """Count a table over some of its columns, by default all but the unit."""
        names = [name for name in table.names if name != unit] if columns is None else columns
        chosen = table.select(names).columns
        units = None if unit is None else table.column(unit).codes
        if not chosen and units is None:
            return cls(names=(), codes=(), domains=(), weights=np.full(min(table.rows, 1), table.rows, np.int64))
        return cls.from_codes(
            [c.name for c in chosen], [c.codes for c in chosen], [c.domain for c in chosen], units=units
        )

    @property
    def rows(self) -> int:
        """How many rows there are; where units are counted, how many units."""
        return int(self.weights.sum()) if self.units is None else len(np.unique(self.units))

    @property
    def tuples(self) -> int:
        """How many distinct tuples there are."""
        return len(self.class_sizes())

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
            columns, [self.codes[i] for i in at], [self.domains[i] for i in at], self.weights, self.units
        )

    def lift(self, column: str, code_map: AnyCodes, domain: pa.Array) -> FrequencyTable:
        """Replace each code of one column by ``code_map[code]``, an index into ``domain``, and count again."""
        (at,) = self.positions([column])
        codes = [code_map[old] if i == at else old for i, old in enumerate(self.codes)]
        domains = [domain if i == at else old for i, old in enumerate(self.domains)]
        return FrequencyTable.from_codes(self.names, codes, domains, self.weights, self.units)

    def class_sizes(self) -> Integers:
        """Return the number of rows of each class; where units are counted, the number of units."""
        return self.weights if self.units is None else self._classes().weights

    @property
    def singletons(self) -> int:
        """How many rows are alone in their class; of units, how many are alone in one of theirs."""
        if self.units is None:
            return int(np.count_nonzero(self.weights == 1))
        classes = self._classes()
        return len(np.unique(self.units[classes.weights[classes.member] == 1]))

    def _classes(self) -> kernels.Groups:
        """Return which class each pair of tuple and unit is in."""
        return kernels.group(self.codes, [len(domain) for domain in self.domains], self.weights)
