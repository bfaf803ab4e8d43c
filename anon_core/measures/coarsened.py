"""Cells of coarsened columns that other columns restore, which are published as collected, or coarser themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from anon_core.frequency import unit_codes
from anon_core.hierarchy.coarsen import finer
from anon_core.kernels import AnyCodes
from anon_core.measures.restored import Paired, Restored, restored
from anon_core.role import Role
from anon_core.spec import PartialPublication
from anon_core.table import Column, Table


def restored_coarsened(
    collected: Table, coarser: Table, publication: PartialPublication, people: Column | None
) -> tuple[Restored, ...]:
    """
    Return what is restored of every column with ``coarsen``, in the order of the file; none where nothing is.

    ``coarser`` has the same rows as published, ``people`` whose they are, where a column tells that. The rules are
    those of :mod:`anon_core.measures.restored`. Quasi-identifiers restore nothing here: recoding makes them coarser
    later, and classes over them have k people.
    """
    roles = (Role.SENSITIVE, Role.OTHER)
    names = [name for name, column in publication.effective_columns.items() if column.role in roles]
    units = None if people is None else unit_codes(people)
    found = (
        restored(_paired(collected.column(name), coarser, names, publication, units))
        for name, column in publication.columns.items()
        if column.coarsen is not None and name in collected.names and name in names
    )
    return tuple(one for one in found if one.people)


def _paired(
    collected: Column, coarser: Table, names: Sequence[str], publication: PartialPublication, units: AnyCodes | None
) -> Paired:
    """Put a column as collected, at the levels between, and as published beside all others; codes are of all words."""
    levels = finer(collected, publication.columns[collected.name], publication.root)
    *below, label = _in_one_list([*levels, coarser.column(collected.name)])
    others = [coarser.column(name) for name in names if name != collected.name and name in coarser.names]
    return Paired(
        column=collected.name,
        levels=tuple(below),
        label=label,
        names=tuple(one.name for one in others),
        codes=tuple(one.codes for one in others),
        sizes=tuple(len(one.domain) for one in others),
        weights=np.ones(coarser.rows, np.int64),
        units=units,
    )


def _in_one_list(columns: Sequence[Column]) -> Iterator[AnyCodes]:
    """Yield the codes of columns as places in one list of all their words; a gap is a word."""
    places: dict[str | None, int] = {}
    for column in columns:
        own = [places.setdefault(word, len(places)) for word in column.domain.to_pylist()]
        yield np.array(own, np.int64)[column.codes]
