"""Whether each released row was made from a row as collected of its own, of the same person.

Published files do not say whose their rows are, nor what they were. The private witness of a recoding does: beside
every released row it has the quasi-identifiers as collected, and the number of the person where people have several
rows. The gate trusts it only after this comparison with the table as collected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.engines.engine import Engine
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import Integers
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """
    How many released rows cannot have been made as the witness says.

    ``strangers`` are rows beyond those that were collected of their person with their values; ``uncovered`` rows have a
    label in some column that does not cover the value beside it.
    """

    strangers: int
    uncovered: int

    @property
    def holds(self) -> bool:
        return not self.strangers and not self.uncovered


def provenance(
    before: Engine, witness: Engine, ladders: Sequence[Ladder], *, beside: Mapping[str, str], equal: Sequence[str]
) -> Provenance:
    """
    Compare a witness with the rows as collected.

    ``beside[name]`` is the column of the witness with the values of a recoded column as collected; ``ladders`` say
    which labels cover them. Columns in ``equal``, the person among them, are released as collected.

    :raises UnknownColumnError: a column is not in one of the tables.
    """
    names = [ladder.column for ladder in ladders]
    values = [beside[name] for name in names]
    said = witness.count([*names, *values])
    return Provenance(
        strangers=_strangers(before.count([*names, *equal]), witness.count([*values, *equal])),
        uncovered=int(said.weights[_uncovered(before, said, ladders, beside)].sum()),
    )


def _strangers(collected: FrequencyTable, said: FrequencyTable) -> int:
    """Return how many rows the witness has beyond those that were collected, added up over tuples."""
    if not said.codes:
        return max(int(said.weights.sum()) - int(collected.weights.sum()), 0)
    both, sizes = [], []
    for own, domain, codes, words in zip(collected.codes, collected.domains, said.codes, said.domains, strict=True):
        known = {value: code for code, value in enumerate(domain.to_pylist())}
        aligned = np.array([known.get(value, len(known)) for value in words.to_pylist()], np.int64)[codes]
        both.append(np.concatenate([own, aligned]))
        sizes.append(len(known) + 1)
    counts = np.concatenate([-collected.weights, said.weights])
    found = kernels.group(both, sizes)
    more: Integers = np.zeros(len(found.first), np.int64)
    np.add.at(more, found.member, counts)
    return int(more[more > 0].sum())


def _uncovered(before: Engine, said: FrequencyTable, ladders: Sequence[Ladder], beside: Mapping[str, str]) -> Mask:
    """Return which tuples have a label that does not cover the value as collected."""
    found = np.zeros(len(said.weights), np.bool_)
    for ladder in ladders:
        at, there = said.positions([beside[ladder.column], ladder.column])
        values = _places(before.column(ladder.column).domain, said.domains[at])[said.codes[at]]
        labels = _places(ladder.labels, said.domains[there])[said.codes[there]]
        covers = (ladder.maps[:, np.maximum(values, 0)] == labels).any(axis=0)
        found |= ~(covers & (values >= 0) & (labels >= 0))
    return found


def _places(words: pa.Array, among: pa.Array) -> Integers:
    """Return the position of each word in a list; -1 where the list does not have it."""
    at = {word: place for place, word in enumerate(words.to_pylist())}
    return np.array([at.get(word, -1) for word in among.to_pylist()], np.int64)
