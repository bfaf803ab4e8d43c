"""What every class of a release must keep: k people, and what the policy requires of sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.classes import SensitiveClasses
from anon_core.measures.diversity.bands import bands
from anon_core.models import Classes, PolicyContext, PrivacyModel, required
from anon_core.models.half_of_class import HalfOfClass
from anon_core.models.k_anonymity import KAnonymity
from anon_core.policy import CountedValues, PartialPolicy
from anon_core.recoding.people import SensitivePeople, TuplePeople, expanded
from anon_core.spec import PartialPublication
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrences:
    """
    How often each value of a sensitive column occurs in each tuple of quasi-identifiers.

    Tuple ``t`` has the values ``values[starts[t]:starts[t + 1]]``, each in ``counts`` rows.
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
        """Return the occurrences from rows counted over the tuples and one more column, the last one."""
        *quasi, values = pairs.codes
        member = kernels.group(quasi, [len(domain) for domain in pairs.domains[:-1]]).member if quasi else 0 * values
        starts = np.searchsorted(member, np.arange(len(frequencies.weights) + 1))
        if len(values) and int(member[-1]) + 1 != len(frequencies.weights):
            raise InternalError("sensitive values of other tuples", "recode.requirements")
        return cls(column=pairs.names[-1], domain=pairs.domains[-1], starts=starts, values=values, counts=pairs.weights)

    def counted_as(self, values: CountedValues) -> Occurrences:
        """Return them with bands in place of values; removed tuples count too, so bands are never too fine."""
        stands_for = bands(self.domain, np.ones(len(self.domain), np.bool_), values)
        return self if stands_for is None else replace(self, values=stands_for[self.values])

    def within(self, tuples: Integers, group: Integers, groups: int, whole: Integers) -> SensitiveClasses:
        """Return the values in groups of tuples, none of them empty; closeness compares with ``whole``."""
        at, lengths = expanded(self.starts, tuples)
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
    What makes a class safe: it has ``k`` people, and keeps ``others``, the models that require more than people.

    ``people`` are the people of the tuples; None where every row is another person. Then all requirements are monotone:
    the union of two safe classes is safe. Where people are counted, those of sensitive columns are not: a person in
    both classes has the values of both in the union, so fewer values may cover all people. Closeness compares with the
    distribution over ``kept``, the tuples that are published; by default all of them.
    """

    k: int
    frequencies: FrequencyTable
    people: TuplePeople | None = None
    others: tuple[PrivacyModel, ...] = ()
    occurrences: Mapping[str, Occurrences] = field(default_factory=dict)
    sensitive_people: Mapping[str, SensitivePeople] = field(default_factory=dict)
    climbed: Mapping[str, Ladder] = field(default_factory=dict)
    folder: Path | None = None
    kept: Mask | None = None
    _judged: dict[tuple[str, CountedValues], Occurrences] = field(default_factory=dict, repr=False, compare=False)
    _people_judged: dict[tuple[str, CountedValues], SensitivePeople] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def of(
        cls,
        frequencies: FrequencyTable,
        models: Sequence[PrivacyModel],
        *,
        sensitive: Mapping[str, FrequencyTable] | None = None,
        climbed: Mapping[str, Ladder] | None = None,
        folder: Path | None = None,
        people: FrequencyTable | None = None,
        sensitive_people: Mapping[str, FrequencyTable] | None = None,
    ) -> Requirements:
        """
        Return the requirements of some models; ``sensitive`` counts the tuples together with each column that they
        name.

        ``people`` and ``sensitive_people`` count people over the same, where a person may have several rows.
        """
        behind = None if people is None else TuplePeople.of(frequencies, people)
        if behind is not None and behind.each_is_another(frequencies.rows):
            behind = None  # Then people are rows, which are counted faster.
        return cls(
            k=max(one.min_rows for one in models),
            frequencies=frequencies,
            people=behind,
            sensitive_people={
                name: SensitivePeople.of(frequencies, pairs)
                for name, pairs in (sensitive_people or {}).items()
                if behind is not None
            },
            others=(*_others(models), *(() if behind is None else (HalfOfClass(columns=frequencies.names),))),
            occurrences={name: Occurrences.of(frequencies, pairs) for name, pairs in (sensitive or {}).items()},
            climbed=climbed or {},
            folder=folder,
        )

    def of_models(self, models: Sequence[PrivacyModel]) -> Requirements:
        """Return the requirements of other models of the same tuples; they name the same sensitive columns."""
        kept = tuple(one for one in self.others if isinstance(one, HalfOfClass))
        return replace(self, k=max(one.min_rows for one in models), others=(*_others(models), *kept))

    @property
    def required_beyond_k(self) -> tuple[PrivacyModel, ...]:
        """The models that the policy requires beside k, without those that come only from several rows of a person."""
        return tuple(one for one in self.others if not isinstance(one, HalfOfClass))

    @property
    def by_k_alone(self) -> Requirements:
        """The requirements of a policy with nothing beside k: the number of people, and the rows of each."""
        return replace(self, others=tuple(one for one in self.others if isinstance(one, HalfOfClass)))

    @property
    def monotone(self) -> bool:
        """Whether the union of two safe classes is always safe."""
        return self.people is None or all(one.column is None for one in self.others)

    def sizes(self, tuples: Integers, group: Integers, groups: int) -> Integers:
        """Return how many people are in groups of tuples: ``group[i]``, from 0 on, is that of tuple ``tuples[i]``."""
        if self.people is not None:
            return self.people.sizes(tuples, group, groups)
        return kernels.weigh(group, groups, self.frequencies.weights[tuples])

    def without(self, removed: Mask) -> Requirements:
        """Return the requirements where some tuples are not published."""
        return replace(self, kept=~removed)

    def safe(self, tuples: Integers, group: Integers, groups: int) -> Mask:
        """
        Return which groups of tuples may be classes: ``group[i]``, from 0 on, is that of tuple ``tuples[i]``.

        Models judge only groups that have k people.
        """
        sizes = self.sizes(tuples, group, groups)
        good = sizes >= self.k
        for model in self.others:
            some = np.flatnonzero(good)
            if not len(some):
                break
            number = np.full(groups, -1, np.int64)
            number[some] = np.arange(len(some))
            chosen = np.flatnonzero(good[group])
            good[some] = model.safe(self._classes(model, tuples[chosen], number[group[chosen]], sizes[some]))
        return good

    def all_rows(self, model: PrivacyModel) -> Classes:
        """Return the whole table as one class, for a model to judge."""
        tuples = np.arange(len(self.frequencies.weights))
        group = np.zeros_like(tuples)
        return self._classes(model, tuples, group, self.sizes(tuples, group, 1))

    def broken_by(self, tuples: Integers, group: Integers, groups: int) -> tuple[PrivacyModel, ...]:
        """Return the models that some group of k people does not keep."""
        enough = replace(self, others=()).safe(tuples, group, groups)
        kept = [replace(self, others=(model,)).safe(tuples, group, groups) for model in self.others]
        return tuple(model for model, safe in zip(self.others, kept, strict=True) if (enough & ~safe).any())

    def _classes(self, model: PrivacyModel, tuples: Integers, group: Integers, sizes: Integers) -> Classes:
        within, of_one = None, None
        if self.people is not None:
            of_one = self.people.contributions(tuples, group, len(sizes))
            if model.column is not None:
                within = self._people_judged_by(model, model.column).within(tuples, group, len(sizes), self.kept)
        elif model.column is not None:
            occurrences = self._judged_by(model, model.column)
            within = occurrences.within(tuples, group, len(sizes), self._whole(occurrences))
        return Classes(
            sizes=sizes,
            frequencies=self.frequencies,
            tuples=tuples,
            group=group,
            sensitive=within,
            ladders=self.climbed,
            folder=self.folder,
            largest=None if of_one is None else of_one.largest,
            known_rows=None if of_one is None else of_one.rows,
        )

    def _judged_by(self, model: PrivacyModel, column: str) -> Occurrences:
        """Return the values of a column as a model counts them; the result is kept, because a search needs it often."""
        key = (column, model.counted_values)
        if key not in self._judged:
            self._judged[key] = self.occurrences[column].counted_as(model.counted_values)
        return self._judged[key]

    def _people_judged_by(self, model: PrivacyModel, column: str) -> SensitivePeople:
        key = (column, model.counted_values)
        if key not in self._people_judged:
            self._people_judged[key] = self.sensitive_people[column].counted_as(model.counted_values)
        return self._people_judged[key]

    def _whole(self, occurrences: Occurrences) -> Integers:
        weights = occurrences.counts
        if self.kept is not None:
            weights = np.where(np.repeat(self.kept, np.diff(occurrences.starts)), weights, 0)
        return kernels.weigh(occurrences.values.astype(np.int64), len(occurrences.domain), weights)


def models_reached(
    policy: PartialPolicy, quasi_identifiers: tuple[str, ...], publication: PartialPublication | None = None
) -> tuple[PrivacyModel, ...]:
    """Return the models of a policy that depend on the classes of a recoding; others are measured on released files."""
    if policy.k is None:
        raise InternalError("policy without k", "recode.requirements")
    k = (KAnonymity(columns=quasi_identifiers, k=policy.k),)  # Also if another k is meant, and without columns.

    def required_with(k: int) -> list[PrivacyModel]:
        context = PolicyContext(
            policy=policy, quasi_identifiers=quasi_identifiers, k=k, today=date.min, publication=publication
        )
        return [one.model for one in required(context) if not one.model.of_release]

    rows = max(one.min_rows for one in (*k, *required_with(policy.k)))
    return (*k, *required_with(rows))


def _others(models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    """Return the models that require more than rows and are monotone, which the search needs; the gate has the rest."""
    return tuple(one for one in models if one.monotone and type(one).safe is not PrivacyModel.safe)
