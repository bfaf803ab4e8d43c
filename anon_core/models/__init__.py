"""The privacy models: each is one file, measures a table, and is the only judge of what it requires."""

from anon_core.models.measurement import Measurement, NotMeasurableError
from anon_core.models.model import Need, Over, PrivacyModel, Requirement, required
from anon_core.models.policy_context import PolicyContext
from anon_core.models.subject import Classes, Subject
from anon_core.registry import MODELS

__all__ = [
    "MODELS",
    "Classes",
    "Measurement",
    "Need",
    "NotMeasurableError",
    "Over",
    "PolicyContext",
    "PrivacyModel",
    "Requirement",
    "Subject",
    "required",
]
