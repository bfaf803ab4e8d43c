"""Pieces of a column, each with a numbering of its own, put together into codes over one sorted domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from anon_core.kernels import AnyCodes, Integers, spend
from anon_core.table.arrays import integers, texts
from anon_core.table.column import Codes, Column
from anon_core.table.numbering import number


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some rows of a column: ``codes`` are indices into ``words``, in which texts may repeat and a gap is null."""

    codes: AnyCodes
    words: pa.Array

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
