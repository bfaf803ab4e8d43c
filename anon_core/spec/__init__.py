"""The publication file: one YAML per dataset, parsed and checked once.

Importing it is cheap on purpose: a DAG file loads every publication at every parse.
"""

from anon_core.spec.columns import Column, DateLevel, Decompose, Hierarchy, HierarchyKind, Part, Preset, Role, Unmapped
from anon_core.spec.publication import PartialPublication, Publication, load_spec
from anon_core.spec.sections import (
    AirflowSettings,
    Approval,
    Asset,
    Ckan,
    Detect,
    EngineKey,
    Expectation,
    Intervals,
    Metadata,
    Method,
    Missing,
    Mode,
    Portal,
    Recode,
    Replace,
    SingletonRecoding,
    Source,
    UtilityMeasure,
    Versions,
    Years,
)

__all__ = [
    "AirflowSettings",
    "Approval",
    "Asset",
    "Ckan",
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
    "Method",
    "Missing",
    "Mode",
    "Part",
    "PartialPublication",
    "Portal",
    "Preset",
    "Publication",
    "Recode",
    "Replace",
    "Role",
    "SingletonRecoding",
    "Source",
    "Unmapped",
    "UtilityMeasure",
    "Versions",
    "Years",
    "load_spec",
]
