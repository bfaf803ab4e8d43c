"""What a policy requires of a table: every privacy model is asked, and each requirement gets its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from anon_core.errors import InvalidInputError
from anon_core.registry import MODELS
from anon_core.waivers import waiver_of

if TYPE_CHECKING:
    from anon_core.models.asked import Asked
    from anon_core.models.measurement import Measurement
    from anon_core.models.model import PrivacyModel
    from anon_core.models.subject import Subject
    from anon_core.policy import PartialPolicy, Waiver

__all__ = ["Requirement", "named", "required"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing that is required of a table, under the name that its check has everywhere."""

    model: PrivacyModel
    name: str

    def measured(self, subject: Subject) -> Measurement:
        """Measure it; what cannot be measured has not passed."""
        return replace(self.model.measured(subject), name=self.name)

    def waiver(self, policy: PartialPolicy, today: date) -> Waiver | None:
        """Return the waiver by which a person lets it fail today."""
        found = waiver_of(policy, self.name, self.model.column) if self.model.waivable else None
        return found if found and found.until >= today else None


def required(asked: Asked) -> tuple[Requirement, ...]:
    """
    Return everything that is required of a table.

    :raises InvalidInputError: the policy asks for a model that no installed package brings.
    :raises HierarchyError: a hierarchy file that a model needs cannot be read.
    """
    members = MODELS.members()
    if absent := [key for key in asked.policy.model_extra or () if key not in members or members[key].section != key]:
        raise InvalidInputError(
            f"privacy.{', privacy.'.join(absent)}: no installed package brings such a privacy model; install the one "
            "that does, or remove the key"
        )
    return named([one for model in members.values() for one in model.required_by(asked)])


def named(models: Sequence[PrivacyModel]) -> tuple[Requirement, ...]:
    """Return requirements by their names; those that would have the same name carry their limits too."""
    times = Counter(one.name for at, one in enumerate(models) if one not in models[:at])
    return tuple(Requirement(model=one, name=_full(one) if times[one.name] > 1 else one.name) for one in models)


def _full(model: PrivacyModel) -> str:
    return f"{model.name.removesuffix(')')}, {model.limits})" if model.limits else model.name
