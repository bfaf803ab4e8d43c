"""An attacker who knows all classes of a person is left with enough values of a sensitive column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import ClassVar, Self

from anon_core.models import Measurement, PolicyContext, Subject
from anon_core.models.diverse_column import counted_values_of, refuse_other_values
from anon_core.models.sensitive_column import OfSensitiveColumn
from anon_core.policy import CountedValues, Diversity
from anon_core.wording import counted


@dataclass(frozen=True, kw_only=True)
class CommonValues(OfSensitiveColumn):
    """
    All classes of a person over ``columns`` have at least ``l`` values of ``sensitive`` in common.

    An attacker who knows the classes of a person intersects the values of these classes. If the person has one value in
    all rows, it is in the intersection. So this model is required where distinct l-diversity is; ``values`` are counted
    alike. Where more than one in twenty people with several rows has several values of the column, different classes
    tell nothing about one value, and the model holds.

    :raises InvalidInputError: ``values`` is none of those that :class:`DiverseColumnModel` has.
    """

    key: ClassVar[str] = "common_values"
    title: ClassVar[str] = "common values"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "all classes of a person over {columns} have {l} values of {sensitive} in common"
    page: ClassVar[Mapping[str, str]] = {"common_values": "The groups of one person leave enough values open together"}
    instead: ClassVar[str] = "generalise further, so that the rows of a person are in one class, or lower l"
    of_release: ClassVar[bool] = True

    values: str = CountedValues.BANDS.value
    l: float  # noqa: E741 - the name in the literature

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_other_values(self.title, self.values)

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if not context.tells_people:
            return
        strictest: dict[str, float] = {}
        for one in context.policy.l_diversity:
            if one.kind is Diversity.DISTINCT:
                strictest[one.column] = max(float(one.l), strictest.get(one.column, 0.0))
        for name, least in strictest.items():
            values = counted_values_of(context, name)
            yield cls(columns=context.quasi_identifiers, sensitive=name, values=values, l=least)

    @property
    def counted_values(self) -> CountedValues:
        return CountedValues(self.values)

    @property
    def limits(self) -> str:
        return f"l={self.l:g}"

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.diversity.bands import in_bands
        from anon_core.measures.diversity.common_values import common_values

        need = ceil(self.l)
        people = subject.known_people((*self.columns, self.sensitive))
        people = in_bands(people, self.sensitive, self.counted_values)
        found = common_values(people, self.columns, self.sensitive, need)
        passed = not found.people_failing
        several = f"{counted(found.changing, 'person')} of {found.people:,} "
        several += f"{'has' if found.changing == 1 else 'have'} several values of {self.sensitive}"
        if found.fewest is None:
            sentence = (
                f"{several}, so their classes are not intersected"
                if found.changing
                else "no row says whose it is, so no two classes are known to be of one person"
            )
        else:
            more = "at least " if found.fewest >= need else ""
            sentence = (
                f"all classes of a person have {more}{counted(found.fewest, 'value')} of {self.sensitive} in common"
            )
            sentence += f", {self.l:g} required"
            if found.changing:
                sentence += f"; {several} and {'is' if found.changing == 1 else 'are'} left out"
        if not passed:
            sentence += f"; {found.people_failing:,} of {subject.in_words(found.people)} have fewer: {self.instead}"
        return self.measurement(
            passed=passed,
            observed=found.fewest,
            required=self.l,
            sentence=sentence,
            counts={
                "fewest": found.fewest,
                "people": found.people,
                "people_failing": found.people_failing,
                "people_changing": found.changing,
            },
            rows_at_risk=found.people_failing,
        )
