"""Unique column sets as arrays, for the sums and products over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.kernels import Integers

Probabilities = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """
    Column sets, one matrix for each size: a row is a set, its entries are positions in ``names``, rising.

    The rows of a matrix are sorted and no two are equal, so sums do not depend on the order in which sets were found.
    ``reveal[i]`` is the probability that an adversary knows column ``i``.
    """

    names: tuple[str, ...]
    reveal: Probabilities
    by_size: tuple[Integers, ...]

    @classmethod
    def of(cls, columns: Sequence[str], unique_sets: Iterable[Sequence[str]], reveal: Mapping[str, float]) -> Family:
        """
        Number the columns and sort the sets. Columns of sets that ``columns`` does not have come last.

        >>> Family.of(["a", "b"], [["b", "a"], ["b"], ["a", "b"]], {"a": 0.5, "b": 0.5}).by_size
        (array([[1]]), array([[0, 1]]))

        :raises InvalidInputError: a reveal probability is missing, not a number or outside 0 to 1.
        """
        sized: dict[int, list[Sequence[str]]] = {}
        for one in unique_sets:
            sized.setdefault(len(one), []).append(one)
        position = {name: at for at, name in enumerate(columns)}
        flat = {size: [name for one in sets for name in one] for size, sets in sized.items()}
        for names in flat.values():
            for name in sorted(set(names) - position.keys()):
                position[name] = len(position)
        _check(list(position), reveal)
        return cls(
            names=tuple(position),
            reveal=np.array([reveal[name] for name in position], np.float64),
            by_size=tuple(
                _sorted(np.array([position[name] for name in flat[size]], np.int64).reshape(-1, size))
                for size in sorted(sized)
                if size
            ),
        )

    @property
    def sets(self) -> int:
        return sum(len(matrix) for matrix in self.by_size)

    @property
    def members(self) -> Integers:
        """The columns that are in some set, by position."""
        inside = np.zeros(len(self.names), np.bool_)
        for matrix in self.by_size:
            inside[matrix] = True
        return np.flatnonzero(inside)

    def possible(self) -> Family:
        """Return the family without the sets that an adversary cannot know as a whole."""
        kept = tuple(matrix[(self.reveal[matrix] > 0).all(axis=1)] for matrix in self.by_size)
        return self._with(kept)

    def each_column(self) -> Iterator[Family]:
        """Yield for every column, in order, the family of the sets with it."""
        index = []
        for matrix in self.by_size:
            flat = matrix.ravel()
            index.append((np.argsort(flat, kind="stable") // matrix.shape[1], np.cumsum(np.bincount(flat))))
        for column in range(len(self.names)):
            own = []
            for matrix, (rows, ends) in zip(self.by_size, index, strict=True):
                last = ends[min(column, len(ends) - 1)]
                first = 0 if column == 0 else ends[min(column - 1, len(ends) - 1)]
                own.append(matrix[rows[first:last]])
            yield self._with(tuple(own))

    def _with(self, matrices: tuple[Integers, ...]) -> Family:
        return Family(names=self.names, reveal=self.reveal, by_size=tuple(m for m in matrices if len(m)))


def _check(names: Sequence[str], reveal: Mapping[str, float]) -> None:
    missing = [name for name in names if name not in reveal]
    if missing:
        raise InvalidInputError(f"reveal probabilities are missing for: {', '.join(missing)}")
    wrong = [name for name in names if not 0 <= reveal[name] <= 1]  # A NaN is not between anything.
    if wrong:
        raise InvalidInputError(f"reveal probabilities must lie between 0 and 1: {', '.join(wrong)}")


def _sorted(matrix: Integers) -> Integers:
    """Return the distinct rows of a matrix in order, with the entries of each row sorted."""
    matrix = np.sort(matrix, axis=1)
    matrix = matrix[np.lexsort(matrix.T[::-1])]
    new = np.ones(len(matrix), np.bool_)
    new[1:] = (matrix[1:] != matrix[:-1]).any(axis=1)
    return matrix[new]
