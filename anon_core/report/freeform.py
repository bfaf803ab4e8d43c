"""The freeform attacks on a table, as collected or already generalised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from anon_core.engines.engine import Engine
from anon_core.errors import InvalidInputError, UnplacedCellsError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.placing import PlacedCells, placed_column
from anon_core.kernels import Integers
from anon_core.measures.freeform import (
    Attack,
    ColumnBreaches,
    Definition,
    FreeformCheck,
    GuardedColumn,
    check_freeform,
    guarded,
    refuse_disarmed,
    simplest_attacks,
)
from anon_core.measures.freeform.values import ROUNDING
from anon_core.policy import Freeform, Sensitivity
from anon_core.recoding.freeform_problem import FreeformProblem, places_of
from anon_core.report.originals import prepared_original
from anon_core.spec import PartialPublication
from anon_core.table import Table

_MAX_ATTACKS_TRIED = 500
"""So many of the worst attacks on a column are simplified, to find the simplest ones."""


@dataclass(frozen=True, kw_only=True)
class FreeformFinding:
    """A table over its quasi-identifiers and guarded columns, as labels of taxonomies, and the attacks on it."""

    published: FrequencyTable
    columns: tuple[GuardedColumn, ...]
    policy: Freeform

    @cached_property
    def check(self) -> FreeformCheck:
        """All breaches of Definition 3.4, which decide whether the table passes."""
        return check_freeform(self.published, self.columns, self.policy.sigma_t, attacks=_MAX_ATTACKS_TRIED)

    @cached_property
    def plain(self) -> FreeformCheck:
        """The breaches of Definition 3.3 among them: those of values that are published themselves."""
        return check_freeform(
            self.published, self.columns, self.policy.sigma_t, definition=Definition.BREACHES, attacks=0
        )

    def worst(self, found: ColumnBreaches, count: int) -> list[Attack]:
        """Return the worst attacks on a column, simplified; if there are breaches, only breaches."""
        breaches = tuple(one for one in found.attacks if one.threat > self.policy.sigma_t + ROUNDING)
        some = replace(found, attacks=breaches or found.attacks)
        return simplest_attacks(self.published, self.columns, some, count)


def freeform_policy(publication: PartialPublication) -> Freeform:
    """:raises InvalidInputError: the publication file guards nothing."""
    policy = publication.privacy.freeform if publication.privacy else None
    if policy is None:
        raise InvalidInputError(
            f"{publication.file.name} has no privacy.freeform, which says what is guarded; write such as `privacy: "
            "{freeform: {sigma_o: 1, sigma_t: 0.5, columns: {disease: {guard: [...]}}}}` into it"
        )
    return policy


def find_attacks(table: Table, publication: PartialPublication, engine: type[Engine]) -> FreeformFinding:
    """
    Look for freeform attacks on a table whose cells are values or labels of the hierarchies, at any level.

    Coded columns are split, and rows with gaps dropped, if the file says so and the table still has them.

    :raises UnplacedCellsError: cells are neither values nor labels.
    :raises InvalidInputError: no value is guarded, a column is missing, a guard names no label, or the frequencies of
        values are needed and not known.
    """
    policy = freeform_policy(publication)
    cells = placed_cells(table, publication, policy)
    if unplaced := {one.column.name: one.counts for one in cells if one.unplaced.any()}:
        raise UnplacedCellsError(unplaced, [one.column.name for one in cells if one.from_values and one.unplaced.any()])
    columns = []
    for one in cells:
        guard = policy.columns.get(one.column.name)
        if guard is not None and guard.sensitivity is Sensitivity.FREQUENCY and one.generalised.any():
            raise InvalidInputError(
                f"column {one.column.name!r} is generalised, so how frequent its values were is no longer known, and "
                "`sensitivity: frequency` goes by that; give the table as collected, or use aggregate"
            )
        columns.append(guarded(one.taxonomy, guard, policy.sigma_o))
        refuse_disarmed(columns[-1], guard)
    rows = Table(columns=tuple(one.column for one in cells), rows=len(cells[0].column.codes))
    published = _as_labels(engine.of(rows), [one.places for one in cells], columns)
    return FreeformFinding(published=published, columns=tuple(columns), policy=policy)


def check_table(table: Table, publication: PartialPublication, engine: type[Engine]) -> FreeformCheck | None:
    """Return the attacks on a table; None if its columns or cells do not allow the search."""
    try:
        return find_attacks(table, publication, engine).check
    except InvalidInputError:
        return None


def check_release(released: Engine, problem: FreeformProblem) -> FreeformCheck:
    """
    Search the rows of a release for attacks; its cells are labels of the ladders that recoded it.

    :raises InternalError: a cell is no such label.
    """
    domains = released.count(problem.frequencies.names[: len(problem.columns)]).domains
    places = [places_of(domain, column) for domain, column in zip(domains, problem.columns, strict=True)]
    return check_freeform(_as_labels(released, places, problem.columns), problem.columns, problem.sigma_t)


def _as_labels(engine: Engine, places: Sequence[Integers], columns: Sequence[GuardedColumn]) -> FrequencyTable:
    """Return the rows as labels of taxonomies: ``places`` has the position of each cell of a column."""
    names = [column.taxonomy.column for column in columns]
    counted = engine.count(names)
    codes = [place[own] for place, own in zip(places, counted.codes, strict=True)]
    domains = [pa.nulls(len(column.taxonomy.labels)) for column in columns]
    return FrequencyTable.from_codes(names, codes, domains, counted.weights)


def placed_cells(table: Table, publication: PartialPublication, policy: Freeform) -> list[PlacedCells]:
    """
    Return the positions of the cells of the quasi-identifiers and the guarded columns, as far as they have one.

    :raises UnknownColumnError: a column is not in the table.
    """
    coded = [name for name, column in publication.columns.items() if column.decompose]
    if all(name in table.names for name in coded):
        table = prepared_original(table, publication)
    quasi, declared = publication.quasi_identifiers, publication.effective_columns
    names = [name for name in publication.published if name in quasi or name in policy.columns]
    return [
        placed_column(
            column,
            declared[column.name].hierarchy,
            publication.root,
            withheld=declared[column.name].withheld,
            guarded=column.name in policy.columns,
        )
        for column in table.select(names).columns
    ]
