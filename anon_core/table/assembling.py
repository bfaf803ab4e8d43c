"""Pieces of a column, each with a numbering of its own, put together into codes over one sorted domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.kernels import AnyCodes, Integers, spend
from anon_core.table.arrays import integers, nulls, numbers, texts
from anon_core.table.column import Codes, Column
from anon_core.table.numbering import number

_MAX_BYTES = 1 << 31
"""Of the texts in one array of the usual kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some rows of a column: ``codes`` are indices into ``words``, in which texts may repeat and a gap is null."""

    codes: AnyCodes
    words: pa.Array

    @property
    def text_bytes(self) -> int:
        """How many bytes the cells have when each is written out: a dictionary has a long text only once."""
        lengths = np.where(nulls(self.words), 0, numbers(pc.binary_length(self.words))).astype(np.int64)
        return int(lengths[self.codes].sum()) if len(lengths) else 0

    @property
    def cells(self) -> pa.Array:
        """The cells, each written out; beyond 2 GiB as texts of the large kind."""
        longest = pc.max(pc.binary_length(self.words)).as_py() or 0
        large = longest * len(self.codes) >= _MAX_BYTES and self.text_bytes >= _MAX_BYTES
        return (self.words.cast(pa.large_string()) if large else self.words).take(integers(self.codes))

    def narrow(self) -> Piece:
        """Return it with codes of two bytes where they suffice: it may have to wait for the other pieces."""
        return self if len(self.words) > 1 << 16 else Piece(codes=self.codes.astype(np.uint16), words=self.words)


def assemble(name: str, pieces: Sequence[Piece]) -> Column:
    """Put pieces below each other; a word that no row has does not get into the domain."""
    used = [_used(piece) for piece in pieces]
    words = [piece.words.take(integers(at)) for piece, at in zip(pieces, used, strict=True)]
    numbering = number(pa.concat_arrays([texts([]), *words]))
    codes = np.empty(sum(len(piece.codes) for piece in pieces), np.int32)
    row = first = 0
    for piece, at in zip(pieces, used, strict=True):
        new = np.zeros(len(piece.words), np.int32)
        new[at] = numbering.numbers[first : first + len(at)]
        renumber(piece.codes, new, codes[row : row + len(piece.codes)])
        row, first = row + len(piece.codes), first + len(at)
    return Column(name=name, codes=codes, domain=numbering.domain)


def stack(columns: Sequence[Column]) -> Column:
    """Put the columns of several tables below each other, under the name of the first."""
    return assemble(columns[0].name, [Piece(codes=column.codes, words=column.domain) for column in columns])


def renumber(codes: AnyCodes, new: Codes, out: Codes) -> None:
    """Write the new number of every code."""
    if spend(len(codes)):
        from anon_core.kernels.compiled import encoding

        encoding.renumber(codes, new, out)
    else:
        out[:] = new[codes]


def _used(piece: Piece) -> Integers:
    """Return which words occur."""
    used: np.ndarray[Any, np.dtype[np.bool_]] = np.zeros(len(piece.words), np.bool_)
    if spend(len(piece.codes)):
        from anon_core.kernels.compiled import encoding

        encoding.mark_used(piece.codes, used)
    else:
        used[piece.codes] = True
    return np.flatnonzero(used)
