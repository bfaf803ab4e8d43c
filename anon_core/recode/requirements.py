"""What every class of a release must keep: k rows, and what the policy asks of sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.check_names import Requirement
from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers
from anon_core.policy import LDiversity, PartialPolicy, TCloseness
from anon_core.score.classes import ClassMeasure, SensitiveClasses, exact
from anon_core.score.closeness import t_closeness
from anon_core.score.diversity import alpha_anonymity, l_diversity
from anon_core.table import Mask


def rows_for_risk(max_risk: float | None) -> int:
    """
    Return how many rows a class needs so that nobody in it is at a higher risk than allowed; any where none is told.

    A risk of 0 is kept by no class: then more than any table has.

    >>> rows_for_risk(None), rows_for_risk(0.2), rows_for_risk(0.3), rows_for_risk(1)
    (1, 5, 4, 1)
    """
    if max_risk is None:
        return 1
    return ceil(1 / exact(max_risk)) if max_risk > 0 else 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrences:
    """
    How often each value of a sensitive column occurs in each tuple of quasi-identifiers.

    Tuple ``t`` has the values ``values[starts[t]:starts[t + 1]]``, ``counts`` rows of each.
    """

    column: str
    domain: pa.Array
    starts: Integers
    values: AnyCodes
    counts: Integers

    @classmethod
    def of(cls, frequencies: FrequencyTable, pairs: FrequencyTable) -> Occurrences:
        """Return the occurrences from tuples counted together with one more column, which stands last."""
        *quasi, values = pairs.codes
        member = kernels.group(quasi, [len(domain) for domain in pairs.domains[:-1]]).member if quasi else 0 * values
        starts = np.searchsorted(member, np.arange(len(frequencies.weights) + 1))
        if len(values) and int(member[-1]) + 1 != len(frequencies.weights):
            raise InternalError("sensitive values of other tuples", "recode.requirements")
        return cls(column=pairs.names[-1], domain=pairs.domains[-1], starts=starts, values=values, counts=pairs.weights)

    def within(self, tuples: Integers, group: Integers, groups: int, whole: Integers) -> SensitiveClasses:
        """Return the values in groups of tuples, none of them empty; closeness is held to ``whole``."""
        lengths = np.diff(self.starts)[tuples]
        at = np.repeat(self.starts[tuples] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
        member, values = np.repeat(group, lengths), self.values[at]
        found = kernels.group([member, values], [groups, len(self.domain)], self.counts[at])
        starts = np.searchsorted(member[found.first], np.arange(groups))
        sizes = np.add.reduceat(found.weights, starts) if groups else np.zeros(0, np.int64)
        return SensitiveClasses(
            sizes=sizes,
            starts=starts,
            values=values[found.first],
            counts=found.weights,
            whole=whole,
            domain=self.domain,
            column=self.column,
            rows=int(sizes.sum()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """
    What makes a class safe. All of it is monotone: the union of two safe classes is safe.

    Closeness is held to the distribution over ``kept``, the tuples that are published; by default all of them.
    """

    k: int
    weights: Integers
    others: tuple[tuple[Requirement, Occurrences], ...] = ()
    climbed: Mapping[str, Ladder] = field(default_factory=dict)
    kept: Mask | None = None

    @classmethod
    def of(
        cls,
        frequencies: FrequencyTable,
        policy: PartialPolicy,
        *,
        sensitive: Mapping[str, FrequencyTable] | None = None,
        climbed: Mapping[str, Ladder] | None = None,
    ) -> Requirements:
        """Return what a policy requires; ``sensitive`` counts the tuples together with each column that it names."""
        if policy.k is None:
            raise InternalError("policy without k", "recode.requirements")
        occurrences = {name: Occurrences.of(frequencies, pairs) for name, pairs in (sensitive or {}).items()}
        required: tuple[Requirement, ...] = (*policy.l_diversity, *policy.t_closeness, *policy.alpha)
        return cls(
            k=max(policy.k, rows_for_risk(policy.max_risk)),
            weights=frequencies.weights,
            others=tuple((one, occurrences[one.column]) for one in required),
            climbed=climbed or {},
        )

    def without(self, removed: Mask) -> Requirements:
        """Return the requirements where some tuples are not published."""
        return replace(self, kept=~removed)

    def safe(self, tuples: Integers, group: Integers, groups: int) -> Mask:
        """
        Return which groups of tuples may be classes: ``group[i]``, from 0 on, is that of tuple ``tuples[i]``.

        Sensitive values are counted only in groups that have k rows.
        """
        sizes = kernels.weigh(group, groups, self.weights[tuples])
        good = sizes >= self.k
        for required, occurrences in self.others:
            some = np.flatnonzero(good)
            if not len(some):
                break
            number = np.full(groups, -1, np.int64)
            number[some] = np.arange(len(some))
            chosen = np.flatnonzero(good[group])
            classes = occurrences.within(tuples[chosen], number[group[chosen]], len(some), self._whole(occurrences))
            good[some] = ~self._measured(required, classes).failing
        return good

    def measured(self, member: Integers, classes: int) -> list[tuple[Requirement, ClassMeasure]]:
        """Return how classes stand to everything but k; ``member`` is the class of each tuple, -1 if it is removed."""
        tuples = np.flatnonzero(member >= 0)
        return [
            (required, self._measured(required, occ.within(tuples, member[tuples], classes, self._whole(occ))))
            for required, occ in self.others
        ]

    def _whole(self, occurrences: Occurrences) -> Integers:
        weights = occurrences.counts
        if self.kept is not None:
            weights = np.where(np.repeat(self.kept, np.diff(occurrences.starts)), weights, 0)
        return kernels.weigh(occurrences.values.astype(np.int64), len(occurrences.domain), weights)

    def _measured(self, required: Requirement, classes: SensitiveClasses) -> ClassMeasure:
        if isinstance(required, LDiversity):
            return l_diversity(classes, kind=required.kind, l=required.l, c=required.c)
        if isinstance(required, TCloseness):
            ladder = self.climbed.get(required.column)
            return t_closeness(classes, t=required.t, distance=required.distance, ladder=ladder)
        return alpha_anonymity(classes, alpha=required.alpha, k=self.k)
