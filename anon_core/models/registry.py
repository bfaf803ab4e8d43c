"""All privacy models, and what a policy requires of a table by them.

Importing this imports no numpy: a DAG file that renders a suite is parsed every few seconds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from anon_core.models.alpha_anonymity import AlphaAnonymity
from anon_core.models.declared_types import DeclaredTypes
from anon_core.models.freeform import NoFreeformBreach
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.k_beside_original import KBesideOriginal
from anon_core.models.l_diversity import LDiversity
from anon_core.models.made_from_original import MadeFromOriginal
from anon_core.models.published_identifier import NoPublishedIdentifier
from anon_core.models.published_uniqueness import PublishedUniqueness
from anon_core.models.risk import MaxRisk
from anon_core.models.sensitivity import MaxSensitivity
from anon_core.models.singletons import Singletons
from anon_core.models.suppression import RowsSuppressedAtMost
from anon_core.models.t_closeness import TCloseness
from anon_core.models.undeclared_columns import NoUndeclaredColumn
from anon_core.waivers import waiver_of

if TYPE_CHECKING:
    from anon_core.models.asked import Asked
    from anon_core.models.measurement import Measurement
    from anon_core.models.model import PrivacyModel
    from anon_core.models.subject import Subject
    from anon_core.policy import PartialPolicy, Waiver

__all__ = ["MODELS", "Requirement", "required"]

MODELS: dict[str, type[PrivacyModel]] = {
    model.key: model
    for model in (
        NoUndeclaredColumn,
        DeclaredTypes,
        Singletons,
        KAnonymity,
        KBesideOriginal,
        MadeFromOriginal,
        MaxRisk,
        LDiversity,
        TCloseness,
        AlphaAnonymity,
        NoPublishedIdentifier,
        PublishedUniqueness,
        MaxSensitivity,
        RowsSuppressedAtMost,
        NoFreeformBreach,
    )
}
"""Every model by its key, in the order in which measurements are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing that is required of a table, under the name that its check has everywhere."""

    model: PrivacyModel
    name: str

    def measured(self, subject: Subject) -> Measurement:
        """Measure it; what cannot be measured has not passed."""
        return replace(self.model.measured(subject), name=self.name)

    def waiver(self, policy: PartialPolicy, today: date) -> Waiver | None:
        """Return the waiver by which somebody lets it fail today."""
        found = waiver_of(policy, self.name, self.model.column) if self.model.waivable else None
        return found if found and found.until >= today else None


def required(asked: Asked) -> tuple[Requirement, ...]:
    """
    Return everything that is required of a table; those that would have the same name carry their limits too.

    :raises HierarchyError: a hierarchy file that a model needs cannot be read.
    """
    found = [one for model in MODELS.values() for one in model.required_by(asked)]
    times = Counter(one.name for at, one in enumerate(found) if one not in found[:at])
    return tuple(Requirement(model=one, name=_full(one) if times[one.name] > 1 else one.name) for one in found)


def _full(model: PrivacyModel) -> str:
    return f"{model.name.removesuffix(')')}, {model.limits})" if model.limits else model.name
