"""The publication file: one YAML per dataset, parsed and checked once.

Importing it is cheap on purpose: a DAG file loads every publication at every parse.
"""

from anon_core.spec.columns import Column, DateLevel, Decompose, Hierarchy, HierarchyKind, Part, Preset, Role, Unmapped
from anon_core.spec.member_sections import PortalSettings, SourceSettings
from anon_core.spec.publication import PartialPublication, Publication, load_spec
from anon_core.spec.recode import Intervals, Mode, Recode, Replace, UtilityMeasure, Years
from anon_core.spec.sections import (
    AirflowSettings,
    Approval,
    Asset,
    Detect,
    EngineKey,
    Expectation,
    Metadata,
    Missing,
)

__all__ = [
    "AirflowSettings",
    "Approval",
    "Asset",
    "Column",
    "DateLevel",
    "Decompose",
    "Detect",
    "EngineKey",
    "Expectation",
    "Hierarchy",
    "HierarchyKind",
    "Intervals",
    "Metadata",
    "Missing",
    "Mode",
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
    "load_spec",
]
