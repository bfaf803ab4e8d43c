"""The privacy models, one per file: each measures a table, and it alone decides whether the table keeps it."""

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
