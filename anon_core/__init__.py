"""
The statistics of anonflow: what singles people out, how to recode it, what was reached.

::

    import anon_core as ac

    found = ac.detect(frame, max_size=3)
    k = ac.measure(frame, ac.KAnonymity(k=5), quasi=["age", "sex", "town"], unit="person")
    released = ac.recode(frame, "people.yaml")
    ac.check(released).raise_if_unsafe()

docs/api.md has all public names. It knows nothing of Airflow, Great Expectations or the network. Importing it imports
nothing else, not even numpy: a name is loaded when it is used, and a DAG file imports :mod:`anon_core.spec` at every
parse.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anon_core.api.check import Checked, check
    from anon_core.api.detect import Detected, detect
    from anon_core.api.measure import Measured, Measurements, measure
    from anon_core.api.profile import Profile, ProfiledColumn, profile
    from anon_core.api.recode import Recoded, recode
    from anon_core.api.score import Scored, score
    from anon_core.api.select import Selected, select
    from anon_core.api.sources import read
    from anon_core.api.uccs import UniqueColumnSets, uccs
    from anon_core.errors import (
        AnonError,
        ComplianceError,
        HierarchyError,
        InternalError,
        InvalidInputError,
        PolicyNotMetError,
        RefusedError,
        SpecError,
        TableError,
        UnknownColumnError,
        UnmappedValuesError,
    )
    from anon_core.models import Measurement, PrivacyModel
    from anon_core.models.alpha_anonymity import AlphaAnonymity
    from anon_core.models.common_values import CommonValues
    from anon_core.models.half_of_class import HalfOfClass
    from anon_core.models.homogeneity import Homogeneity
    from anon_core.models.k_anonymity import KAnonymity
    from anon_core.models.l_diversity import LDiversity
    from anon_core.models.max_rows_per_person import MaxRowsPerPerson
    from anon_core.models.personal_patterns import PersonalPatterns
    from anon_core.models.published_uniqueness import PublishedUniqueness
    from anon_core.models.risk import MaxRisk
    from anon_core.models.row_sets import RowSets
    from anon_core.models.sensitive_alone import SensitiveAlone
    from anon_core.models.singletons import Singletons
    from anon_core.models.t_closeness import TCloseness
    from anon_core.models.unique_with_sensitive import UniqueWithSensitive
    from anon_core.spec import PartialPublication, Publication, load_spec
    from anon_core.table import Table

__version__ = "0.2.0"

_PLACES = {
    "api.check": ("Checked", "check"),
    "api.detect": ("Detected", "detect"),
    "api.measure": ("Measured", "Measurements", "measure"),
    "api.profile": ("Profile", "ProfiledColumn", "profile"),
    "api.recode": ("Recoded", "recode"),
    "api.score": ("Scored", "score"),
    "api.select": ("Selected", "select"),
    "api.sources": ("read",),
    "api.uccs": ("UniqueColumnSets", "uccs"),
    "errors": (
        "AnonError",
        "ComplianceError",
        "HierarchyError",
        "InternalError",
        "InvalidInputError",
        "PolicyNotMetError",
        "RefusedError",
        "SpecError",
        "TableError",
        "UnknownColumnError",
        "UnmappedValuesError",
    ),
    "models": ("Measurement", "PrivacyModel"),
    "models.alpha_anonymity": ("AlphaAnonymity",),
    "models.common_values": ("CommonValues",),
    "models.half_of_class": ("HalfOfClass",),
    "models.homogeneity": ("Homogeneity",),
    "models.k_anonymity": ("KAnonymity",),
    "models.l_diversity": ("LDiversity",),
    "models.max_rows_per_person": ("MaxRowsPerPerson",),
    "models.personal_patterns": ("PersonalPatterns",),
    "models.published_uniqueness": ("PublishedUniqueness",),
    "models.risk": ("MaxRisk",),
    "models.row_sets": ("RowSets",),
    "models.sensitive_alone": ("SensitiveAlone",),
    "models.singletons": ("Singletons",),
    "models.t_closeness": ("TCloseness",),
    "models.unique_with_sensitive": ("UniqueWithSensitive",),
    "spec": ("PartialPublication", "Publication", "load_spec"),
    "table": ("Table",),
}
_PLACE = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "AlphaAnonymity",
    "AnonError",
    "Checked",
    "CommonValues",
    "ComplianceError",
    "Detected",
    "HalfOfClass",
    "HierarchyError",
    "Homogeneity",
    "InternalError",
    "InvalidInputError",
    "KAnonymity",
    "LDiversity",
    "MaxRisk",
    "MaxRowsPerPerson",
    "Measured",
    "Measurement",
    "Measurements",
    "PartialPublication",
    "PersonalPatterns",
    "PolicyNotMetError",
    "PrivacyModel",
    "Profile",
    "ProfiledColumn",
    "Publication",
    "PublishedUniqueness",
    "Recoded",
    "RefusedError",
    "RowSets",
    "Scored",
    "Selected",
    "SensitiveAlone",
    "Singletons",
    "SpecError",
    "TCloseness",
    "Table",
    "TableError",
    "UniqueColumnSets",
    "UniqueWithSensitive",
    "UnknownColumnError",
    "UnmappedValuesError",
    "check",
    "detect",
    "load_spec",
    "measure",
    "profile",
    "read",
    "recode",
    "score",
    "select",
    "uccs",
]


def __getattr__(name: str) -> Any:
    """Return a public name, and load it now."""
    if name not in _PLACE:
        raise AttributeError(f"module 'anon_core' has no attribute {name!r}")
    found = getattr(import_module(f"anon_core.{_PLACE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
