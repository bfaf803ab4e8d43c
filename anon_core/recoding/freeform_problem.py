"""The problem of freeform recoding: quasi-identifiers and guarded columns together, and how sensitive labels are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.engines.engine import Engine
from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladders
from anon_core.hierarchy.ladder import Ladder
from anon_core.hierarchy.taxonomy import taxonomy, tree_of
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.freeform import (
    Definition,
    FreeformCheck,
    GuardedColumn,
    check_freeform,
    guarded,
    refuse_disarmed,
)
from anon_core.plan import RecodingPlan
from anon_core.policy import Freeform
from anon_core.spec import PartialPublication


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeformProblem:
    """
    A table over its quasi-identifiers and guarded columns, as collected.

    ``ladders`` say what a value becomes, ``columns`` how sensitive its labels are. ``places[i]`` has the position of
    each label of ladder ``i`` in the taxonomy of column ``i``, which may have values that no row has. Columns that are
    published as collected and make classes with the others come last, and only in ``frequencies``, ``ladders`` and
    ``weights``.
    """

    frequencies: FrequencyTable
    ladders: tuple[Ladder, ...]
    columns: tuple[GuardedColumn, ...]
    places: tuple[Integers, ...]
    weights: tuple[float, ...]
    sigma_t: float

    @classmethod
    def of_table(
        cls,
        publication: PartialPublication,
        policy: Freeform,
        engine: Engine,
        weights: Mapping[str, float],
        *,
        beside: Sequence[str] = (),
    ) -> FreeformProblem:
        """
        Return the problem of a publication file; columns that only freeform names have the weight 1.

        Columns ``beside`` are published as collected.

        :raises UnmappedValuesError: a guarded column has values that are not in its hierarchy.
        :raises InvalidInputError: a guard or a belief names no label.
        """
        quasi = publication.quasi_identifiers
        names = [name for name in publication.published if name in quasi or name in policy.columns]
        built = ladders(publication, engine, names)
        declared = publication.effective_columns
        columns = []
        for name in names:
            column, guard = engine.column(name), policy.columns.get(name)
            if guard is None:
                tree = tree_of(built[name], np.bincount(column.codes, minlength=len(column.domain)))
            else:
                tree = taxonomy(column, declared[name].hierarchy, publication.root)
            columns.append(guarded(tree, guard, policy.sigma_o))
            refuse_disarmed(columns[-1], guard)
        return cls(
            frequencies=engine.count([*names, *beside]),
            ladders=(
                *(built[name] for name in names),
                *(Ladder.as_collected(engine.column(name)) for name in beside),
            ),
            columns=tuple(columns),
            places=tuple(places_of(built[column.taxonomy.column].labels, column) for column in columns),
            weights=tuple(weights.get(name, 1.0) for name in [*names, *beside]),
            sigma_t=policy.sigma_t,
        )

    @property
    def by_name(self) -> dict[str, float]:
        return dict(zip(self.frequencies.names, self.weights, strict=True))

    def published(self, labels: list[AnyCodes], kept: Integers | None = None) -> FrequencyTable:
        """Return a table with these labels in place of values: labels of the ladders, as labels of the taxonomies."""
        rows = self.frequencies.weights if kept is None else self.frequencies.weights[kept]
        told = labels[: len(self.places)]
        codes = [place[own if kept is None else own[kept]] for place, own in zip(self.places, told, strict=True)]
        domains = [pa.nulls(len(column.floors)) for column in self.columns]
        return FrequencyTable.from_codes(self.frequencies.names[: len(told)], codes, domains, rows)

    def check(self, plan: RecodingPlan, definition: Definition = Definition.EXTENDED) -> FreeformCheck:
        """Find the breaches of the rows that a plan publishes; columns that it does not recode stay as collected."""
        return check_freeform(self.published(*self._labels(plan)), self.columns, self.sigma_t, definition=definition)

    def whole(self, plan: RecodingPlan) -> RecodingPlan:
        """
        Return a plan for some of these columns as one for all of them: the others stay as collected.

        :raises InternalError: it has other ladders, whose labels are not in the taxonomies.
        """
        member = self.member(plan.frequencies)
        at = {name: i for i, name in enumerate(plan.frequencies.names)}
        if any(not plan.ladders[at[own.column]].labels.equals(own.labels) for own in self.ladders if own.column in at):
            raise InternalError("labels of another hierarchy", "recode.freeform")
        as_collected = np.zeros(len(member), np.int8)
        levels = [plan.levels[at[name]][member] if name in at else as_collected for name in self.frequencies.names]
        return RecodingPlan(
            frequencies=self.frequencies,
            ladders=self.ladders,
            levels=np.stack(levels),
            removed=plan.removed[member],
        )

    def _labels(self, plan: RecodingPlan) -> tuple[list[AnyCodes], Integers]:
        """Return the published label of every tuple in every column, and which tuples are published."""
        whole = self.whole(plan)
        return [whole.released_codes(i) for i in range(len(self.ladders))], np.flatnonzero(~whole.removed)

    def member(self, some: FrequencyTable) -> Integers:
        """Return which tuple of fewer columns each tuple is, where both were counted from one table."""
        if not some.names:
            return np.zeros(len(self.frequencies.weights), np.int64)
        own = [self.frequencies.codes[at] for at in self.frequencies.positions(some.names)]
        found = kernels.group(own, [len(domain) for domain in some.domains])
        if len(found.weights) != len(some.weights):
            raise InternalError("tuples of another table", "recode.freeform")
        return found.member


def places_of(labels: pa.Array, column: GuardedColumn) -> Integers:
    """
    Return the positions of labels in a taxonomy.

    :raises InternalError: a label is not in it.
    """
    at = {label: place for place, label in enumerate(column.taxonomy.labels)}
    try:
        return np.array([at[label] for label in labels.to_pylist()], np.int64)
    except KeyError:
        raise InternalError("label outside its taxonomy", "recode.freeform") from None
