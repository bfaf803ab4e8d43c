"""Which sets of columns leave nearly all people alone, where people have several rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anon_core.detection import Progress
from anon_core.detection.partition import Partition
from anon_core.detection.unique_columns.problem import rows_to_spare
from anon_core.frequency import FrequencyTable, different


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleFound:
    """
    The minimal ``sets``, as positions; how many ``people`` were searched, and how many are ``never_alone``.

    ``exists``: there is such a set of some size.
    """

    people: int
    never_alone: int
    sets: tuple[tuple[int, ...], ...]
    exists: bool


def unique_columns_of_people(
    frequencies: FrequencyTable,
    *,
    max_size: int | None,
    approximate: float,
    ignore_duplicates: bool,
    progress: Progress | None,
) -> PeopleFound:
    """
    Find the minimal sets of columns on which all people but a share of ``approximate`` are alone.

    A person is alone who is alone in one of their classes. People who share all their rows with others are alone on no
    set; with ``ignore_duplicates`` they are left out. Rows whose person is not known are left out.
    """
    known, whole = different(frequencies.units) if frequencies.units is not None else 0, _alone_on_all(frequencies)
    searched = whole if ignore_duplicates else known
    wanted = searched - rows_to_spare(approximate, searched)
    found: tuple[tuple[int, ...], ...] = ()
    if whole and whole >= wanted:
        width = len(frequencies.names)
        search = _Search(
            frequencies=frequencies, wanted=wanted, max_size=min(max_size or width, width), progress=progress
        )
        found = search.run()
    return PeopleFound(people=searched, never_alone=known - whole, sets=found, exists=bool(whole) and whole >= wanted)


def _alone_on_all(frequencies: FrequencyTable) -> int:
    """Return how many people are alone on all columns."""
    return Partition.by(frequencies, range(len(frequencies.names))).singletons


@dataclass(slots=True, kw_only=True)
class _Search:
    """The depth-first search over column sets, in a fixed order of columns, so that each set is visited once."""

    frequencies: FrequencyTable
    wanted: int
    max_size: int
    progress: Progress | None
    order: list[int] = field(default_factory=list)
    found: list[frozenset[int]] = field(default_factory=list)
    examined: int = 0

    def run(self) -> tuple[tuple[int, ...], ...]:
        """Return the sets, smallest first, then by position."""
        codes, names = self.frequencies.codes, self.frequencies.names
        values = [int(np.count_nonzero(np.bincount(column))) for column in codes]
        self.order = sorted(range(len(names)), key=lambda at: (-values[at], names[at]))
        self._visit(frozenset(), Partition.whole(self.frequencies), 0)
        minimal = {one for one in self.found if not any(other < one for other in self.found)}
        return tuple(sorted((tuple(sorted(one)) for one in minimal), key=lambda one: (len(one), one)))

    def _visit(self, chosen: frozenset[int], partition: Partition, start: int) -> None:
        for at in range(start, len(self.order)):
            columns = chosen | {self.order[at]}
            if any(one <= columns for one in self.found):
                continue
            self.examined += 1
            if self.progress:
                self.progress(self.examined)
            refined = partition.refine(self.order[at])
            if refined.singletons >= self.wanted:
                self.found.append(columns)
            elif len(columns) < self.max_size and not (chosen and refined.classes == partition.classes):
                self._visit(columns, refined, at + 1)  # A column that splits no class is not needed.
