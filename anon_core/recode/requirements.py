"""What every class of a release must keep: k rows, and what the policy asks of sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers
from anon_core.models import Asked, Need, PrivacyModel, required
from anon_core.models.classes import Classes
from anon_core.policy import PartialPolicy
from anon_core.score.classes import SensitiveClasses
from anon_core.table import Mask


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

    def by_class(self, after: FrequencyTable, member: Integers) -> FrequencyTable:
        """Count the column together with published classes; ``member`` is the class of each tuple, -1 if removed."""
        classes = np.repeat(member, np.diff(self.starts))
        kept = classes >= 0
        return FrequencyTable.from_codes(
            [*after.names, self.column],
            [*(codes[classes[kept]] for codes in after.codes), self.values[kept]],
            [*after.domains, self.domain],
            self.counts[kept],
        )

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
    What makes a class safe: ``k`` rows, and what ``others``, models of sensitive columns, say of its values.

    All of it is monotone: the union of two safe classes is safe. Closeness is held to the distribution over ``kept``,
    the tuples that are published; by default all of them.
    """

    k: int
    weights: Integers
    others: tuple[tuple[PrivacyModel, Occurrences], ...] = ()
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
        occurrences = {name: Occurrences.of(frequencies, pairs) for name, pairs in (sensitive or {}).items()}
        k = rows_needed(policy, frequencies.names)
        return cls(
            k=k,
            weights=frequencies.weights,
            others=_others(policy, frequencies.names, k, occurrences),
            climbed=climbed or {},
        )

    def of_policy(self, policy: PartialPolicy, quasi_identifiers: tuple[str, ...]) -> Requirements:
        """Return what another policy requires of the same tuples; it names the same sensitive columns."""
        k, occurrences = rows_needed(policy, quasi_identifiers), {one.column: one for _, one in self.others}
        return replace(self, k=k, others=_others(policy, quasi_identifiers, k, occurrences))

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
        for model, occurrences in self.others:
            some = np.flatnonzero(good)
            if not len(some):
                break
            number = np.full(groups, -1, np.int64)
            number[some] = np.arange(len(some))
            chosen = np.flatnonzero(good[group])
            within = occurrences.within(tuples[chosen], number[group[chosen]], len(some), self._whole(occurrences))
            good[some] = model.safe(Classes(sizes=within.sizes, sensitive=within, ladders=self.climbed))
        return good

    def _whole(self, occurrences: Occurrences) -> Integers:
        weights = occurrences.counts
        if self.kept is not None:
            weights = np.where(np.repeat(self.kept, np.diff(occurrences.starts)), weights, 0)
        return kernels.weigh(occurrences.values.astype(np.int64), len(occurrences.domain), weights)


def rows_needed(policy: PartialPolicy, quasi_identifiers: tuple[str, ...]) -> int:
    """Return how many rows every class needs, by all that a policy requires."""
    if policy.k is None:
        raise InternalError("policy without k", "recode.requirements")
    return max([policy.k, *(one.min_rows for one in _models(policy, quasi_identifiers, policy.k))])


def _models(policy: PartialPolicy, quasi_identifiers: tuple[str, ...], k: int) -> list[PrivacyModel]:
    asked = Asked(policy=policy, quasi_identifiers=quasi_identifiers, k=k, today=date.min)
    return [one.model for one in required(asked)]


def _others(
    policy: PartialPolicy, quasi_identifiers: tuple[str, ...], k: int, occurrences: Mapping[str, Occurrences]
) -> tuple[tuple[PrivacyModel, Occurrences], ...]:
    """Return the models of sensitive columns, each with what it looks at; a search goes by their being monotone."""
    models = [one for one in _models(policy, quasi_identifiers, k) if Need.SENSITIVE in one.needs]
    if strange := [one.key for one in models if not one.monotone]:
        raise InternalError(f"models that are not monotone ({', '.join(strange)})", "recode.requirements")
    return tuple((model, occurrences[str(model.column)]) for model in models)
