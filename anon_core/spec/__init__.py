"""The publication file: one YAML per dataset, parsed and checked once.

Importing it is cheap on purpose: a DAG file loads every publication at every parse.
"""

from anon_core.role import Role
from anon_core.spec.coarsen import Coarsen
from anon_core.spec.columns import DateLevel, Decompose, Hierarchy, HierarchyKind, Part, Unmapped
from anon_core.spec.member_sections import PortalSettings, SourceSettings
from anon_core.spec.parts import Preset
from anon_core.spec.publication import PartialPublication, Publication, load_spec
from anon_core.spec.recode import Intervals, Mode, Recode, Replace, UtilityMeasure, Years
from anon_core.spec.sections import AirflowSettings, Approval, Asset, Event, Missing, Notification, length

__all__ = [
    "AirflowSettings",
    "Approval",
    "Asset",
    "Coarsen",
    "DateLevel",
    "Decompose",
    "Event",
    "Hierarchy",
    "HierarchyKind",
    "Intervals",
    "Missing",
    "Mode",
    "Notification",
    "Part",
    "PartialPublication",
    "PortalSettings",
    "Preset",
    "Publication",
    "Recode",
    "Replace",
    "Role",
    "SourceSettings",
    "Unmapped",
    "UtilityMeasure",
    "Years",
    "length",
    "load_spec",
]
